"""The command `kubectl delete`.

Source: staging/src/k8s.io/kubectl/pkg/cmd/delete/delete.go; pkg/controller/volume/pvcprotection, pvprotection
(v1.36.2). A claim stays while a pod with a node uses it, and a volume stays while a claim is bound to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Optional

from kubectl_spread.engine import steps
from kubectl_spread.kubectl.kinds import kind_of, OTHERS, records
from kubectl_spread.kubectl.parsing import Command, StepError
from kubectl_spread.kubectl.situation import CommandEffect, Situation
from kubectl_spread.kubectl.targets import find_targets, selector, short_name
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.selectors import Selector
from kubectl_spread.objects.storage import NamespacedName
from kubectl_spread.text.scalars import natural

_ORPHANING = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job")
# The category `all`, as far as commands act on its kinds. Services come without their labels.
_ALL = (
    *("deployments", "statefulsets", "daemonsets", "replicasets", "replicationcontrollers", "jobs", "cronjobs"),
    *("pods", "services", "horizontalpodautoscalers"),
)


def delete(command: Command, situation: Situation) -> CommandEffect:
    """Delete pods, nodes, workloads, and objects around workloads."""
    cascade = command.value("cascade", "background")
    if cascade not in ("background", "foreground", "orphan", "true", "false"):
        raise StepError(f'invalid cascade value ({cascade}). Must be "background", "foreground", or "orphan"')
    is_forced = command.has("force") and command.value("grace-period", "0") == "0"
    is_orphaning = cascade in ("orphan", "false")
    if not is_orphaning and command.arguments == ("all",) and (command.has("selector") or command.has("all")):
        targets = _everything(command, situation)
    else:
        selected = None if is_orphaning else _selected_pods(command, situation, is_forced=is_forced)
        if selected is not None:
            return selected
        targets = find_targets(command, situation)
    of_kind: dict[str, list[ObjectKey]] = {kind: [] for kind in ("Pod", "Node", "PodDisruptionBudget")}
    for target in targets:
        of_kind.setdefault(target.kind, []).append(target)
    effect = CommandEffect()
    for kind, keys in of_kind.items():
        if kind == "Pod" and keys:
            effect += _pods(keys, situation, is_forced=is_forced and not is_orphaning)
        elif kind in _PROTECTED:
            for key in keys:
                effect += _PROTECTED[kind](key, situation)
        elif kind in OTHERS and keys:
            effect += situation.change(kind, dict.fromkeys(keys))
        else:
            for key in keys:
                effect += _workload(key, situation, is_orphaning=is_orphaning and kind in _ORPHANING)
    return effect


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


def _selected_pods(command: Command, situation: Situation, *, is_forced: bool) -> Optional[CommandEffect]:
    """Return the effect of deleting all pods with some labels; None if other kinds are deleted."""
    words = command.arguments
    if len(words) != 1 or "/" in words[0] or not (command.has("selector") or command.has("all")):
        return None
    if kind_of(words[0]) != "Pod":
        return None
    chosen = selector(command.value("selector")) if command.has("selector") else Selector(())
    namespace = "" if command.has("all-namespaces") else situation.namespace
    cluster = situation.cluster
    keys = {
        cluster.top_owner(pod)
        for pod in cluster.pods
        if namespace in ("", pod.namespace) and chosen.matches(pod.labels)
    }
    op = steps.DeleteSelected(namespace, chosen, is_forced)
    return CommandEffect((op,), frozenset(key for key in keys if key is not None))


def _pods(targets: list[ObjectKey], situation: Situation, *, is_forced: bool) -> CommandEffect:
    """Delete pods: by name, and by workload and ordinal those of StatefulSets, which may not exist yet."""
    cluster = situation.cluster
    known = records("Pod", cluster)
    concerns: set[ObjectKey] = set()
    uids: list[str] = []
    ordinals: dict[ObjectKey, list[int]] = {}
    for target in targets:
        pod = known.get(target)
        ordinal = natural(target.name.rpartition("-")[2])
        is_of_a_set = pod is None or (pod.owner is not None and pod.owner.kind == "StatefulSet")
        if pod is None or (is_of_a_set and ordinal is not None):
            owner = ObjectKey("StatefulSet", target.namespace, target.name.rpartition("-")[0])
            ordinals.setdefault(owner, []).append(ordinal or 0)
            continue
        uids.append(pod.uid)
        key = cluster.top_owner(pod)
        concerns.update(() if key is None else (key,))
    ops: list[steps.Op] = [steps.DeletePods(tuple(uids), is_forced)] if uids else []
    for key, numbers in ordinals.items():
        ops.append(steps.DeleteSome(steps.PodMatch(key, ordinals=tuple(numbers)), is_forced=is_forced))
    return CommandEffect(tuple(ops), frozenset({*concerns, *ordinals}))


def _workload(target: ObjectKey, situation: Situation, *, is_orphaning: bool) -> CommandEffect:
    above = situation.cluster.owners.get(target) or situation.orphans.get(target)
    if not is_orphaning and target.kind == "ReplicaSet" and above is not None and above.kind == "Deployment":
        effect = CommandEffect((steps.DeleteSet(above, target.name),), frozenset([above]))
        if above not in situation.cluster.controllers:
            situation.remove(target)
            return effect
        note = f"{above.kind} {above.name} creates {short_name(target)} again if its template is the newest"
        return effect._replace(notes=(note,))
    if above is None or above.kind != "CronJob":  # It creates only the next Job.
        situation.workload_to_change(target)
    situation.remove(target, is_orphaning=is_orphaning)
    if not is_orphaning:
        return CommandEffect((steps.Delete(target),), frozenset([target]))
    what = "its ReplicaSets stay, and keep their pods" if target.kind == "Deployment" else "its pods stay as they are"
    note = f"{short_name(target)} is deleted, {what}"
    return CommandEffect((steps.Orphan(target),), frozenset([target]), notes=(note,))


def _claim(key: ObjectKey, situation: Situation) -> CommandEffect:
    """Delete a claim; one that a pod with a node uses stays until the pod is gone."""
    cluster = situation.cluster
    claim, nodes = records(key.kind, cluster)[key], {node.name for node in cluster.nodes}
    users = [
        pod
        for pod in cluster.bound_pods()
        if pod.node_name in nodes
        and pod.namespace == key.namespace
        and any(volume.claim == key.name for volume in pod.cls.volumes)
    ]
    notes = [f"claim {key.name} stays until {users[0].name}, which uses it, is gone"] if users else []
    if claim.volume_name:
        notes.append(
            f"the data in volume {claim.volume_name} is lost with claim {key.name}, unless its reclaim policy is Retain"
        )
    situation.change(key.kind, {key: claim._replace(is_deleted=True) if users else None})
    owners = frozenset(owner for pod in users if (owner := cluster.top_owner(pod)) is not None)
    op = steps.DeleteClaims((NamespacedName(key.namespace, key.name),))
    return CommandEffect((op,), owners, notes=tuple(notes))


def _volume(key: ObjectKey, situation: Situation) -> CommandEffect:
    """Delete a volume; one that is bound to a claim stays until the claim is gone."""
    volume = records(key.kind, situation.cluster)[key]
    if any(claim.volume_name == key.name for claim in situation.cluster.storage.claims.values()):
        effect = situation.change(key.kind, {key: volume._replace(is_deleted=True)})
        return effect + CommandEffect(notes=(f"volume {key.name} stays until its claim is gone",))
    return situation.change(key.kind, {key: None})


def _autoscaler(key: ObjectKey, situation: Situation) -> CommandEffect:
    note = f"without autoscaler {key.name}, the workload keeps the replicas that it has"
    return situation.change(key.kind, {key: None}) + CommandEffect(notes=(note,))


def _priority_class(key: ObjectKey, situation: Situation) -> CommandEffect:
    """Delete a priority class: pods keep their priority, and new ones that name it are refused."""
    cluster = situation.cluster
    users = [
        f"{owner.kind} {owner.name}"
        for owner, controller in sorted(cluster.controllers.items())
        if owner not in cluster.owners
        and (controller.workload.template.get("spec") or {}).get("priorityClassName") == key.name
    ]
    what = f"without priority class {key.name} is not simulated: they get the priority 0"
    notes = tuple(f"that the API server refuses new pods of {user} {what}" for user in users[:1])
    return situation.change(key.kind, {key: None}) + CommandEffect(notes=notes)


def _namespace(key: ObjectKey, situation: Situation) -> CommandEffect:
    """Delete a namespace with everything in it."""
    cluster, name = situation.cluster, key.name
    effect = CommandEffect()
    for workload in [item for item in cluster.controllers if item.namespace == name and item not in cluster.owners]:
        situation.remove(workload)
        effect += CommandEffect((steps.Delete(workload),), frozenset([workload]))
    for kind in ("Service", "PodDisruptionBudget", "HorizontalPodAutoscaler"):
        every = records(kind, situation.cluster)
        situation.change(kind, dict.fromkeys(item for item in every if item.namespace == name))
    effect += situation.change(key.kind, {key: None})
    bare = tuple(pod.uid for pod in cluster.pods if pod.namespace == name and cluster.top_owner(pod) is None)
    claims = tuple(item for item in cluster.storage.claims if item.namespace == name)
    note = f"namespace {name} is deleted with all its objects, also those outside the simulation, such as Secrets"
    ops: tuple[steps.Op, ...] = (steps.DeletePods(bare), steps.DeleteClaims(claims))
    return effect + CommandEffect(ops, notes=(note,))


# Kinds whose deletion has more effects than the missing object.
_PROTECTED: dict[str, Callable[[ObjectKey, Situation], CommandEffect]] = {
    "PersistentVolumeClaim": _claim,
    "PersistentVolume": _volume,
    "HorizontalPodAutoscaler": _autoscaler,
    "PriorityClass": _priority_class,
    "Namespace": _namespace,
}
