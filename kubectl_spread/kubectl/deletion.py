"""The command `kubectl delete`.

Source: staging/src/k8s.io/kubectl/pkg/cmd/delete/delete.go (v1.36.2).
"""

from __future__ import annotations

from typing import Optional

from kubectl_spread.engine import steps
from kubectl_spread.kubectl import around, rollout, targets
from kubectl_spread.kubectl.kinds import kind_of
from kubectl_spread.kubectl.parsing import Command, StepError
from kubectl_spread.kubectl.situation import CommandEffect, Situation
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.selectors.selector import Selector
from kubectl_spread.text.scalars import natural


def delete(command: Command, situation: Situation) -> CommandEffect:
    """Delete pods, nodes, workloads, and objects around workloads."""
    if _is_orphaning(command):
        return _orphaned(targets.find_targets(command, situation).targets, situation)
    is_forced = command.has("force") and command.value("grace-period", "0") == "0"
    if command.arguments == ("all",) and (command.has("selector") or command.has("all")):
        return _deleted(_everything(command, situation), situation, is_forced=is_forced)
    selected = _selected_pods(command, situation, is_forced=is_forced)
    if selected is not None:
        return selected
    return _deleted(targets.find_targets(command, situation).targets, situation, is_forced=is_forced)


def _is_orphaning(command: Command) -> bool:
    """Return whether the pods of a workload stay.

    Raises:
        StepError: --cascade has no such value.
    """
    cascade = command.value("cascade", "background")
    if cascade not in ("background", "foreground", "orphan", "true", "false"):
        raise StepError(f'invalid cascade value ({cascade}). Must be "background", "foreground", or "orphan"')
    return cascade in ("orphan", "false")


def _orphaned(found: tuple[ObjectKey, ...], situation: Situation) -> CommandEffect:
    """Return the effect of deleting workloads without the objects that they have created."""
    done = CommandEffect()
    for target in found:
        if target.kind not in _ORPHANING:
            done += _deleted((target,), situation, is_forced=False)
            continue
        rollout.workload_object(target, situation)
        situation.remove(target)
        what = (
            "its ReplicaSets stay, and keep their pods" if target.kind == "Deployment" else "its pods stay as they are"
        )
        done += CommandEffect(
            (steps.Orphan(target),),
            frozenset([target]),
            notes=(f"{targets.short_name(target)} is deleted, {what}",),
        )
    return done


_ORPHANING = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job")


# The category `all`, as far as commands act on its kinds. Services come without their labels.
_ALL = (
    *("deployments", "statefulsets", "daemonsets", "replicasets", "replicationcontrollers", "jobs", "cronjobs"),
    *("pods", "services", "horizontalpodautoscalers"),
)


def _everything(command: Command, situation: Situation) -> tuple[ObjectKey, ...]:
    """Return the objects of the category `all`, without those that go with their controllers."""
    cluster = situation.cluster
    kinds = _ALL[:-2] if command.has("selector") else _ALL
    found = targets.find_targets(command._replace(arguments=(",".join(kinds),)), situation).targets
    owned = {pod.name for pod in cluster.pods if pod.owner is not None and pod.namespace == situation.namespace}
    return tuple(
        target
        for target in found
        if target not in cluster.owners and not (target.kind == "Pod" and target.name in owned)
    )


def _selected_pods(command: Command, situation: Situation, *, is_forced: bool) -> CommandEffect | None:
    """Return the effect of deleting all pods with some labels; None if other kinds are deleted."""
    words = command.arguments
    if len(words) != 1 or "/" in words[0] or not (command.has("selector") or command.has("all")):
        return None
    if kind_of(words[0]) != "Pod":
        return None
    selector = targets.selector(command.value("selector")) if command.has("selector") else Selector(())
    namespace = "" if command.has("all-namespaces") else situation.namespace
    cluster = situation.cluster
    keys = {
        cluster.top_owner(pod)
        for pod in cluster.pods
        if namespace in ("", pod.namespace) and selector.matches(dict(pod.cls.labels))
    }
    op = steps.DeleteSelected(namespace, selector, is_forced)
    return CommandEffect((op,), frozenset(key for key in keys if key is not None))


def _deleted(found: tuple[ObjectKey, ...], situation: Situation, *, is_forced: bool) -> CommandEffect:
    """Return the effect of deleting objects: pods first, then nodes, budgets and the others in their order."""
    of_kind = {kind: [target for target in found if target.kind == kind] for kind in _FIRST}
    done = _pods(of_kind["Pod"], situation, is_forced=is_forced) if of_kind["Pod"] else CommandEffect()
    done += _nodes(of_kind["Node"], situation)
    done += _budgets(of_kind["PodDisruptionBudget"], situation)
    for target in found:
        if target.kind not in _FIRST:
            done += _other(target, situation)
    return done


_FIRST = ("Pod", "Node", "PodDisruptionBudget")


def _nodes(found: list[ObjectKey], situation: Situation) -> CommandEffect:
    names = tuple(target.name for target in found)
    situation.remove_nodes(names)
    return CommandEffect((steps.DeleteNodes(names),)) if names else CommandEffect()


def _budgets(found: list[ObjectKey], situation: Situation) -> CommandEffect:
    if not found:
        return CommandEffect()
    named = {(target.namespace, target.name) for target in found}
    cluster = situation.cluster
    left = tuple(item for item in cluster.budgets if (item.namespace, item.name) not in named)
    situation.cluster = cluster._replace(budgets=left)
    return CommandEffect((steps.ChangeFacts(situation.cluster),))


def _other(target: ObjectKey, situation: Situation) -> CommandEffect:
    """Delete a workload, or an object around workloads."""
    if target.kind in around.KINDS and target not in situation.cluster.controllers:
        return around.delete(target.kind, [(target.namespace, target.name)], situation)
    above = situation.cluster.owners.get(target)
    if target.kind == "ReplicaSet" and above is not None and above.kind == "Deployment":
        note = f"{above.kind} {above.name} creates {targets.short_name(target)} again if its template is the newest"
        return CommandEffect((steps.DeleteSet(above, target.name),), frozenset([above]), notes=(note,))
    rollout.workload_object(target, situation)
    situation.remove(target)
    return CommandEffect((steps.Delete(target),), frozenset([target]))


def _pods(found: list[ObjectKey], situation: Situation, *, is_forced: bool) -> CommandEffect:
    cluster = situation.cluster
    wanted = {(target.namespace, target.name) for target in found}
    keys: set[ObjectKey] = set()
    uids: list[str] = []
    for pod in cluster.pods:
        is_of_a_set = pod.owner is not None and pod.owner.kind == "StatefulSet" and _ordinal(pod.name) is not None
        if (pod.namespace, pod.name) in wanted and not is_of_a_set:
            uids.append(pod.uid)
            key = cluster.top_owner(pod)
            keys.update(() if key is None else (key,))
    ops: list[steps.Op] = [steps.DeletePods(tuple(uids), is_forced)] if uids else []
    named_uids = {(pod.namespace, pod.name) for pod in cluster.pods if pod.uid in set(uids)}
    ordinals: dict[ObjectKey, list[int]] = {}
    for target in found:
        if (target.namespace, target.name) not in named_uids:
            owner = ObjectKey("StatefulSet", target.namespace, target.name.rpartition("-")[0])
            ordinals.setdefault(owner, []).append(_ordinal(target.name) or 0)
    for key, numbers in ordinals.items():
        ops.append(steps.DeleteSome(steps.PodMatch(key, ordinals=tuple(numbers)), is_forced=is_forced))
    return CommandEffect(tuple(ops), frozenset({*keys, *ordinals}))


def _ordinal(name: str) -> Optional[int]:
    return natural(name.rpartition("-")[2])
