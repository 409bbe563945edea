"""The commands `kubectl create`, `kubectl apply` and `kubectl delete`.

Source: staging/src/k8s.io/kubectl/pkg/cmd/create/create.go, create_deployment.go, create_job.go; cmd/apply/apply.go;
cmd/delete/delete.go; pkg/controller/volume/pvcprotection, pvprotection (v1.36.2). A claim stays while a pod with a node
uses it, and a volume stays while a claim is bound to it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kubectl_spread.cluster import build
from kubectl_spread.cluster.build import admitted_workload, autoscaler
from kubectl_spread.cluster.shapes import LAST_APPLIED
from kubectl_spread.engine import steps
from kubectl_spread.engine.reading import with_owners
from kubectl_spread.errors import RefusedError
from kubectl_spread.kubectl import merging
from kubectl_spread.kubectl.kinds import full_name, kind_of, OTHERS, records
from kubectl_spread.kubectl.nodes import put_nodes
from kubectl_spread.kubectl.parsing import Command, StepError
from kubectl_spread.kubectl.situation import controller_of, Part, plain_workload, Situation
from kubectl_spread.kubectl.targets import find_targets, key_of_object, objects_of_files, require, selector, short_name
from kubectl_spread.kubectl.workloads import count_of
from kubectl_spread.objects import selectors
from kubectl_spread.objects.keys import NamespacedName, ObjectKey
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.reading.plain import fields, Plain
from kubectl_spread.objects.selectors import Selector
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.objects.workloads.workload import REPLICATED_KINDS, workload
from kubectl_spread.text.scalars import natural
from kubectl_spread.text.wording import comma_list, join_with_and


def create(command: Command, situation: Situation) -> Iterator[Part]:
    """Create objects that do not exist yet."""
    if command.values("filename") or command.values("kustomize"):
        if command.arguments:
            raise StepError(f"Unexpected args: [{' '.join(command.arguments)}]; name the manifests with -f")
        objects = objects_of_files(command, situation)
    else:
        objects = [_generated(command, situation)]
    for plain in objects:
        key = key_of_object(plain, situation)
        if key in records(key.kind, situation.cluster):
            what = f'{full_name(key.kind)} "{key.name}" already exists'
            raise RefusedError(f"Error from server (AlreadyExists): {what}")
    return apply_objects(objects, situation)


def _generated(command: Command, situation: Situation) -> Plain:
    """Return the object of `create deployment`, `job`, `priorityclass` or `quota`."""
    if not command.arguments:
        raise StepError("must specify one of -f and -k, or `create deployment NAME` or `create job NAME`")
    word, *names = command.arguments
    kind = kind_of(word)
    if kind not in _GENERATED:
        raise StepError(f"`create {word}` is not simulated: use `apply -f`")
    # After --image, the arguments of a container follow.
    if not names or (len(names) > 1 and not command.has("image")):
        raise StepError(f"exactly one NAME is required, got {len(names)}")
    name = names[0]
    errors = selectors.subdomain_errors(name)
    if errors:
        full = f"{kind}.{full_name(kind).partition('.')[2]}"
        why = f'metadata.name: Invalid value: "{name}": {errors[0]}'
        raise RefusedError(f'error: failed to create {kind.lower()}: {full} "{name}" is invalid: {why}')
    version, fields = _GENERATED[kind](command, name, situation)
    metadata = {"name": name} if kind == "PriorityClass" else {"name": name, "namespace": situation.namespace}
    return {"apiVersion": version, "kind": kind, **fields, "metadata": {**metadata, **fields.get("metadata", {})}}


def _priority_class(command: Command, *_: Any) -> tuple[str, Plain]:
    return "scheduling.k8s.io/v1", {
        "value": command.number("value"),
        "globalDefault": command.has("global-default"),
        "preemptionPolicy": command.value("preemption-policy", "PreemptLowerPriority"),
    }


def _quota(command: Command, *_: Any) -> tuple[str, Plain]:
    pairs = [word.partition("=") for word in command.value("hard").split(",") if word]
    if any(not equals for _, equals, _ in pairs):
        raise StepError(f"Invalid argument syntax {command.value('hard')}, expected <resource>=<value>")
    spec: Plain = {"hard": {name: amount for name, _, amount in pairs}}
    if command.value("scopes"):
        spec["scopes"] = command.value("scopes").split(",")
    return "v1", {"spec": spec}


def _deployment(command: Command, name: str, _: Situation) -> tuple[str, Plain]:
    own = {"app": name}
    template = {"metadata": {"labels": own}, "spec": {"containers": _containers(command)}}
    replicas = count_of(command) if command.has("replicas") else 1
    spec = {"replicas": replicas, "selector": {"matchLabels": own}, "template": template}
    return "apps/v1", {"metadata": {"labels": own}, "spec": spec}


def _job(command: Command, _: str, situation: Situation) -> tuple[str, Plain]:
    """Return a Job of an image, or one with the template of a CronJob."""
    if command.has("from") == command.has("image"):
        raise StepError("either --image or --from must be specified")
    if command.has("image"):
        return "batch/v1", {
            "spec": {"template": {"spec": {"containers": _containers(command), "restartPolicy": "Never"}}}
        }
    word, slash, name = command.value("from").partition("/")
    if not slash or kind_of(word) != "CronJob":
        what = f"from must be an existing cronjob, as in --from=cronjob/NAME, not {command.value('from')}"
        raise RefusedError(f"error: {what}")
    target = ObjectKey("CronJob", situation.namespace, name)
    require(target, situation.cluster)
    job_template = situation.cluster.controllers[target].spec.get("jobTemplate") or {}
    return "batch/v1", {"spec": copy.deepcopy(fields(job_template, "spec"))}


def _containers(command: Command) -> list[Plain]:
    images = [image for value in command.values("image") for image in value.split(",")]
    if not images:
        raise StepError('required flag(s) "image" not set')
    return [{"name": f"c{at}", "image": image} for at, image in enumerate(images)]


_GENERATED = {"Deployment": _deployment, "Job": _job, "PriorityClass": _priority_class, "ResourceQuota": _quota}


def apply(command: Command, situation: Situation) -> Iterator[Part]:
    """Create objects, or change them to match the manifests."""
    if command.arguments:
        raise StepError(f"Unexpected args: [{' '.join(command.arguments)}]; name the manifests with -f")
    if not command.values("filename") and not command.values("kustomize"):
        raise StepError("must specify one of -f and -k")
    objects = objects_of_files(command, situation)
    if command.has("selector"):
        chosen = selector(command.value("selector"))
        objects = [plain for plain in objects if chosen.matches(fields(plain, "metadata", "labels"))]
    for metadata in (fields(plain, "metadata") for plain in objects):
        if metadata.get("generateName") and not metadata.get("name"):
            raise RefusedError(f"error: from {metadata['generateName']}: cannot use generate name with apply")
    return apply_objects(objects, situation)


def apply_objects(objects: list[Plain], situation: Situation) -> Iterator[Part]:
    """Apply objects; supporting objects, which replace budgets and autoscalers, come before workloads."""
    around = [plain for plain in objects if plain.get("kind") in build.APPLIED_KINDS]
    if around:
        budgets = [key_of_object(plain, situation) for plain in around if plain.get("kind") == "PodDisruptionBudget"]
        situation.change("PodDisruptionBudget", dict.fromkeys(budgets))
        situation.cluster = build.add_objects(situation.cluster, around, situation.namespace)
        yield steps.ChangeFacts(situation.cluster)
        yield from (autoscaler(plain)[0] for plain in around if plain.get("kind") == "HorizontalPodAutoscaler")
    for plain in objects:
        kind = str(plain.get("kind"))
        if kind == "Node":
            yield from put_nodes(situation, [read.node(plain)])
        elif kind == "Pod":
            key = key_of_object(plain, situation)
            if key in records("Pod", situation.cluster):
                yield f"pod {key.name} exists already: changing it moves no pod"
                continue
            owner = admitted_workload(workload(plain, "Pod", namespace=key.namespace), situation.cluster)
            pod = replica(owner, 0)
            if pod.node_name:
                text = f"pod {key.name} bypasses the scheduler, because nodeName is set; "
                exists = any(node.name == pod.node_name for node in situation.cluster.nodes)
                fate = f"whether the kubelet of {pod.node_name} accepts it is not simulated"
                yield text + (fate if exists else f"{pod.node_name} does not exist, so it is deleted again")
                if not exists:
                    continue
            yield steps.CreatePod(key.name, pod.cls._replace(node_name=pod.node_name))
        elif kind in KINDS and kind not in ("PodTemplate", "Service"):
            yield from _workload(plain, situation)


def _workload(manifest: Plain, situation: Situation) -> Iterator[Part]:
    key, note = key_of_object(manifest, situation), ""
    if key in situation.cluster.controllers:
        known = situation.cluster.controllers[key]
        live = plain_workload(known)
        last = situation.applied.get(key) or merging.last_applied(known.annotations)
        try:
            plain = merging.three_way_merge(live, manifest, last)
        except merging.PatchError as error:
            raise RefusedError(f"error: error when applying patch: {short_name(key)}: {error}") from None
        replicas = live["spec"].get("replicas", 1)
        if last is None and live["spec"] != plain["spec"]:
            what = "so fields that the manifest leaves out stay as they are"
            note = f"{short_name(key)} has no annotation {LAST_APPLIED} in the cluster facts, {what}"
        elif last is not None and "replicas" not in plain["spec"] and replicas != 1 and key.kind in REPLICATED_KINDS:
            what = "goes back to 1 replica: the manifest leaves out spec.replicas, which the last one had"
            note = f"{short_name(key)} {what}"
    else:  # A new workload adopts ReplicaSets without a controller.
        plain, cluster = manifest, situation.cluster
        owners = with_owners(cluster, [controller_of(plain)]).cluster.owners
        own = sorted(made for made, owner in owners.items() if owner == key and made not in cluster.owners)
        situation.cluster = cluster._replace(owners={**cluster.owners, **dict.fromkeys(own, key)})
        if own:
            names = join_with_and(list(map(short_name, own)))
            note = f"{short_name(key)} adopts {names}, which no controller has"
    situation.unknown.discard(key)
    situation.applied[key] = manifest
    writes_replicas = fields(manifest, "spec").get("replicas") is not None
    yield situation.put(plain, writes_replicas=writes_replicas)
    if note:
        yield note


_ORPHANING = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job")
# The kinds of the category `all` on which commands act. The records of Services have no labels.
_ALL = (
    *("deployments", "statefulsets", "daemonsets", "replicasets", "replicationcontrollers", "jobs", "cronjobs"),
    *("pods", "services", "horizontalpodautoscalers"),
)


def delete(command: Command, situation: Situation) -> Iterator[Part]:
    """Delete pods, nodes, workloads, and objects around workloads."""
    cascade = command.value("cascade", "background")
    if cascade not in ("background", "foreground", "orphan", "true", "false"):
        raise StepError(f'invalid cascade value ({cascade}). Must be "background", "foreground", or "orphan"')
    is_forced = command.has("force") and command.value("grace-period", "0") == "0"
    is_orphaning = cascade in ("orphan", "false")
    words, is_selecting = command.arguments, command.has("selector") or command.has("all")
    if not is_orphaning and is_selecting and words == ("all",):
        targets = _everything(command, situation)
    elif not is_orphaning and is_selecting and len(words) == 1 and "/" not in words[0] and kind_of(words[0]) == "Pod":
        chosen = selector(command.value("selector")) if command.has("selector") else Selector(())
        namespace = "" if command.has("all-namespaces") else situation.namespace
        yield steps.DeleteSelected(namespace, chosen, is_forced)
        return
    else:
        targets = find_targets(command, situation)
    of_kind: dict[str, list[ObjectKey]] = {kind: [] for kind in ("Pod", "Node", "PodDisruptionBudget")}
    for target in targets:
        of_kind.setdefault(target.kind, []).append(target)
    for kind, keys in of_kind.items():
        if kind == "Pod" and keys:
            yield from _pods(keys, situation, is_forced=is_forced and not is_orphaning)
        elif kind in _PROTECTED:
            for key in keys:
                yield from _PROTECTED[kind](key, situation)
        elif kind in OTHERS and keys:
            yield from situation.change(kind, dict.fromkeys(keys))
        else:
            for key in keys:
                yield from _deleted_workload(key, situation, is_orphaning=is_orphaning and kind in _ORPHANING)


def _everything(command: Command, situation: Situation) -> tuple[ObjectKey, ...]:
    """Return the objects of the category `all`. Leave out objects that their controllers delete."""
    cluster = situation.cluster
    kinds = _ALL[:-2] if command.has("selector") else _ALL
    targets = find_targets(command._replace(arguments=(",".join(kinds),)), situation)
    owned = {pod.name for pod in cluster.pods if pod.owner is not None and pod.namespace == situation.namespace}
    return tuple(
        target
        for target in targets
        if target not in cluster.owners and not (target.kind == "Pod" and target.name in owned)
    )


def _pods(targets: list[ObjectKey], situation: Situation, *, is_forced: bool) -> Iterator[Part]:
    """Delete pods by name. Pods of StatefulSets may not exist yet: delete them by workload and ordinal."""
    known = records("Pod", situation.cluster)
    uids: list[str] = []
    ordinals: dict[ObjectKey, list[int]] = {}
    for target in targets:
        pod = known.get(target)
        ordinal = natural(target.name.rpartition("-")[2])
        is_of_a_set = pod is None or (pod.owner is not None and pod.owner.kind == "StatefulSet")
        if pod is None or (is_of_a_set and ordinal is not None):
            owner = ObjectKey("StatefulSet", target.namespace, target.name.rpartition("-")[0])
            ordinals.setdefault(owner, []).append(ordinal or 0)
        else:
            uids.append(pod.uid)
    if uids:
        yield steps.DeletePods(tuple(uids), is_forced)
    for key, numbers in ordinals.items():
        yield steps.DeleteSome(steps.PodMatch(key, ordinals=tuple(numbers)), is_forced=is_forced)


def _deleted_workload(target: ObjectKey, situation: Situation, *, is_orphaning: bool) -> Iterator[Part]:
    above = situation.cluster.owners.get(target) or situation.orphans.get(target)
    if not is_orphaning and target.kind == "ReplicaSet" and above is not None and above.kind == "Deployment":
        yield steps.DeleteSet(above, target.name)
        if above in situation.cluster.controllers:
            yield f"{above.kind} {above.name} creates {short_name(target)} again if its template is the newest"
        else:
            situation.remove(target)
        return
    if above is None or above.kind != "CronJob":  # It creates only the next Job.
        situation.workload_to_change(target)
    controller = situation.cluster.controllers.get(target)
    situation.remove(target, is_orphaning=is_orphaning)
    if not is_orphaning:
        yield steps.Delete(target)
        retention = fields(controller.spec if controller else {}, "persistentVolumeClaimRetentionPolicy")
        if controller is not None and retention.get("whenDeleted") == "Delete":
            names = [f"{item}-{target.name}" for item in controller.workload.claim_templates]
            claims = [item for item in situation.cluster.storage.claims if item.namespace == target.namespace]
            own = [item for item in claims if item.name.rpartition("-")[0] in names]
            yield steps.DeleteClaims(tuple(own))
        return
    yield steps.Orphan(target)
    what = "its ReplicaSets stay, and keep their pods" if target.kind == "Deployment" else "its pods stay as they are"
    yield f"{short_name(target)} is deleted, {what}"


def _claim(key: ObjectKey, situation: Situation) -> Iterator[Part]:
    """Delete a claim; one that a pod with a node uses stays until the pod is gone."""
    cluster = situation.cluster
    claim, nodes = records(key.kind, cluster)[key], {node.name for node in cluster.nodes}
    name = NamespacedName(key.namespace, key.name)
    users = [pod for pod in cluster.bound_pods() if pod.node_name in nodes and name in pod.cls.claims()]
    if users:
        yield f"claim {key.name} stays until {users[0].name}, which uses it, is gone"
    if claim.volume_name:
        yield lost_data([claim.volume_name])
    situation.change(key.kind, {key: claim._replace(is_deleted=True) if users else None})
    yield steps.DeleteClaims((name,))


def lost_data(volumes: Sequence[str]) -> str:
    """Say that the data in volumes is lost whose claims are deleted."""
    s, its, claims = ("", "its", "claim") if len(volumes) == 1 else ("s", "their", "claims")
    names = comma_list(volumes, most=3)
    return f"the data in volume{s} {names} is lost with {its} {claims}, unless {its} reclaim policy is Retain"


def _volume(key: ObjectKey, situation: Situation) -> Iterator[Part]:
    """Delete a volume; one that is bound to a claim stays until the claim is gone."""
    volume = records(key.kind, situation.cluster)[key]
    is_bound = any(claim.volume_name == key.name for claim in situation.cluster.storage.claims.values())
    yield from situation.change(key.kind, {key: volume._replace(is_deleted=True) if is_bound else None})
    if is_bound:
        yield f"volume {key.name} stays until its claim is gone"


def _autoscaler(key: ObjectKey, situation: Situation) -> Iterator[Part]:
    yield from situation.change(key.kind, {key: None})
    yield f"without autoscaler {key.name}, the workload keeps the replicas that it has"


def _deleted_priority_class(key: ObjectKey, situation: Situation) -> Iterator[Part]:
    """Delete a priority class: pods keep their priority, and new ones that name it are refused."""
    cluster = situation.cluster
    users = [
        f"{owner.kind} {owner.name}"
        for owner, controller in sorted(cluster.controllers.items())
        if owner not in cluster.owners
        and fields(controller.workload.template, "spec").get("priorityClassName") == key.name
    ]
    what = f"without priority class {key.name} is not simulated: they get the priority 0"
    yield from situation.change(key.kind, {key: None})
    yield from (f"that the API server refuses new pods of {user} {what}" for user in users[:1])


def _namespace(key: ObjectKey, situation: Situation) -> Iterator[Part]:
    """Delete a namespace with everything in it."""
    cluster, name = situation.cluster, key.name
    for owner in [item for item in cluster.controllers if item.namespace == name and item not in cluster.owners]:
        situation.remove(owner)
        yield steps.Delete(owner)
    for kind in ("Service", "PodDisruptionBudget", "HorizontalPodAutoscaler"):
        every = records(kind, situation.cluster)
        situation.change(kind, dict.fromkeys(item for item in every if item.namespace == name))
    yield from situation.change(key.kind, {key: None})
    yield steps.DeletePods(
        tuple(pod.uid for pod in cluster.pods if pod.namespace == name and cluster.top_owner(pod) is None)
    )
    yield steps.DeleteClaims(tuple(item for item in cluster.storage.claims if item.namespace == name))
    yield f"namespace {name} is deleted with all its objects, also those outside the simulation, such as Secrets"


# Kinds whose deletion has more effects than the missing object.
_PROTECTED: dict[str, Callable[[ObjectKey, Situation], Iterator[Part]]] = {
    "PersistentVolumeClaim": _claim,
    "PersistentVolume": _volume,
    "HorizontalPodAutoscaler": _autoscaler,
    "PriorityClass": _deleted_priority_class,
    "Namespace": _namespace,
}
