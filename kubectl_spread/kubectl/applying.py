"""The commands `kubectl create` and `kubectl apply`.

Source: staging/src/k8s.io/kubectl/pkg/cmd/create/create.go, create_deployment.go, create_job.go; cmd/apply/apply.go
(v1.36.2).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from kubectl_spread.cluster import build
from kubectl_spread.cluster.build import admitted_workload, autoscaler
from kubectl_spread.cluster.shapes import LAST_APPLIED
from kubectl_spread.engine import steps
from kubectl_spread.engine.reading import with_owners
from kubectl_spread.errors import RefusedError
from kubectl_spread.kubectl import merging
from kubectl_spread.kubectl.kinds import full_name, kind_of, records
from kubectl_spread.kubectl.nodes import put_nodes
from kubectl_spread.kubectl.parsing import Command, StepError
from kubectl_spread.kubectl.situation import controller_of, Part, plain_workload, Situation
from kubectl_spread.kubectl.targets import key_of_object, objects_of_files, require, selector, short_name
from kubectl_spread.kubectl.workloads import count_of
from kubectl_spread.objects import selectors
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.reading.plain import fields, Plain
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.objects.workloads.workload import REPLICATED_KINDS, workload
from kubectl_spread.text.wording import join_with_and


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
