"""The command `kubectl delete`.

Source: staging/src/k8s.io/kubectl/pkg/cmd/delete/delete.go; pkg/controller/volume/pvcprotection, pvprotection
(v1.36.2). A claim stays while a pod with a node uses it, and a volume stays while a claim is bound to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kubectl_spread.engine import steps
from kubectl_spread.kubectl.kinds import kind_of, OTHERS, records
from kubectl_spread.kubectl.parsing import Command, StepError
from kubectl_spread.kubectl.situation import Part, Situation
from kubectl_spread.kubectl.targets import find_targets, selector, short_name
from kubectl_spread.objects.keys import NamespacedName, ObjectKey
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.selectors import Selector
from kubectl_spread.text.scalars import natural
from kubectl_spread.text.wording import comma_list

_ORPHANING = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job")
# The category `all`, as far as commands act on its kinds. Services come without their labels.
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
                yield from _workload(key, situation, is_orphaning=is_orphaning and kind in _ORPHANING)


def _everything(command: Command, situation: Situation) -> tuple[ObjectKey, ...]:
    """Return the objects of the category `all`, without those that go with their controllers."""
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
    """Delete pods: by name, and by workload and ordinal those of StatefulSets, which may not exist yet."""
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


def _workload(target: ObjectKey, situation: Situation, *, is_orphaning: bool) -> Iterator[Part]:
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


def _priority_class(key: ObjectKey, situation: Situation) -> Iterator[Part]:
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
    for workload in [item for item in cluster.controllers if item.namespace == name and item not in cluster.owners]:
        situation.remove(workload)
        yield steps.Delete(workload)
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
    "PriorityClass": _priority_class,
    "Namespace": _namespace,
}
