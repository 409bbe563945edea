"""The command `kubectl patch`.

Source: staging/src/k8s.io/kubectl/pkg/cmd/patch/patch.go (v1.36.2).
"""

from __future__ import annotations

from typing import Any

from kubectl_spread.cluster.building.shapes import SHAPES
from kubectl_spread.cluster.snapshot import DisruptionBudget
from kubectl_spread.engine import steps
from kubectl_spread.engine.nodes import set_cordon
from kubectl_spread.errors import RefusedError
from kubectl_spread.kubectl import around, rollout, targets
from kubectl_spread.kubectl.editing import merging
from kubectl_spread.kubectl.editing.manifests import refuse_changes
from kubectl_spread.kubectl.kinds import full_name
from kubectl_spread.kubectl.parsing import Command, StepError
from kubectl_spread.kubectl.situation import CommandEffect, Situation
from kubectl_spread.objects import validation
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import mappings
from kubectl_spread.objects.taints import Taint

Plain = dict[str, Any]

_TYPES = ("strategic", "merge", "json")


def patch(command: Command, situation: Situation) -> CommandEffect:
    """Change fields of workloads, nodes and budgets."""
    kind = command.value("type", "strategic").lower()
    if kind not in _TYPES:
        raise StepError(f'--type must be one of [json merge strategic], not "{kind}"')
    found = targets.find_targets(command, situation).targets
    change = _written(command, situation)
    if command.value("subresource") == "scale":
        return _scale(found, change, situation)
    if command.has("subresource"):
        raise StepError(f"--subresource={command.value('subresource')} of `patch` is not simulated")
    done = CommandEffect()
    for target in found:
        done += _patched(target, change, kind, situation)
    return done


def _written(command: Command, situation: Situation) -> Any:
    """Return the value of the patch, which is JSON or YAML."""
    text, file = command.value("patch"), command.value("patch-file")
    if bool(text) == bool(file):
        raise StepError("must specify --patch or --patch-file containing the contents of the patch")
    return situation.read.value(text, "--patch") if text else situation.read.value_of_file(file)


def _patched(target: ObjectKey, change: Any, kind: str, situation: Situation) -> CommandEffect:
    if target.kind == "Node":
        return _node(target, change, kind, situation)
    if target.kind == "PodDisruptionBudget":
        return _budget(target, change, kind, situation)
    if target.kind == "Pod":
        return _pod(target, change, kind, situation)
    if target.kind in around.KINDS and target not in situation.cluster.controllers:
        return _around(target, change, kind, situation)
    plain = rollout.workload_object(target, situation)
    after = _with(plain, change, kind, target)
    _check(after, target)
    refuse_changes(plain, after)
    return rollout.change_workload(situation, target, after)


def _check(after: Plain, target: ObjectKey) -> None:
    """Check that the API server would accept a patched object.

    Raises:
        RefusedError: it does not decode, or has become another object.
    """
    problems = decode.problems(after, SHAPES[target.kind])
    if problems:
        where = decode.path_text(problems[0].route)
        raise RefusedError(f"Error from server (BadRequest): {where}: {problems[0].message}")
    name = (after.get("metadata") or {}).get("name")
    if name != target.name:
        what = f"the name of the object ({name or ''}) does not match the name on the URL ({target.name})"
        raise RefusedError(f"Error from server (BadRequest): {what}")
    if after.get("kind") != target.kind:
        raise RefusedError(f"Error from server (BadRequest): the kind of {target.kind} {target.name} cannot be changed")
    for error in validation.count_errors(after.get("spec")):
        raise RefusedError(f'The {target.kind} "{target.name}" is invalid: {error.text()}')


def _with(plain: Plain, change: Any, kind: str, target: ObjectKey) -> Plain:
    """Return an object with a patch applied.

    Raises:
        RefusedError: it does not fit.
    """
    try:
        found = merging.apply_patch(plain, change, kind)
    except merging.PatchError as error:
        named = f'{full_name(target.kind)} "{target.name}"'
        raise RefusedError(f"The request is invalid: the server rejected our request: {named}: {error}") from None
    return found


def _scale(found: tuple[ObjectKey, ...], change: Any, situation: Situation) -> CommandEffect:
    from kubectl_spread.kubectl import workloads

    replicas = (change.get("spec") or {}).get("replicas") if isinstance(change, dict) else None
    if type(replicas) is not int or replicas < 0:
        raise StepError("a patch of the scale subresource has a number in spec.replicas")
    done = CommandEffect()
    for target in found:
        targets.only([target], workloads.SCALED, "scaling")
        done += workloads.scale_workload(target, situation, replicas)
    return done


def _node(target: ObjectKey, change: Any, kind: str, situation: Situation) -> CommandEffect:
    """Patch the labels, taints and cordon of a node."""
    node = situation.node(target.name)
    after = _with(_plain_node(node), change, kind, target)
    _check(after, target)
    spec = after.get("spec") or {}
    taints = tuple(
        Taint(item.get("key") or "", item.get("value") or "", item.get("effect") or "")
        for item in mappings(spec.get("taints"))
    )
    changed = node._replace(labels=dict((after.get("metadata") or {}).get("labels") or {}), taints=taints)
    if bool(spec.get("unschedulable")) != node.unschedulable:
        changed = set_cordon(changed, is_cordoned=bool(spec.get("unschedulable")))
    situation.put_nodes([changed])
    return CommandEffect((steps.ChangeNodes((changed,)),))


def _plain_node(node: Node) -> Plain:
    taints = [
        {"key": taint.key, "effect": taint.effect, **({"value": taint.value} if taint.value else {})}
        for taint in node.taints
    ]
    spec: Plain = {"taints": taints} if taints else {}
    spec |= {"unschedulable": True} if node.unschedulable else {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": node.name, "labels": dict(node.labels), "annotations": {}},
        "spec": spec,
    }


def _budget(target: ObjectKey, change: Any, kind: str, situation: Situation) -> CommandEffect:
    """Patch the limits of a budget."""
    cluster = situation.cluster
    known = next(item for item in cluster.budgets if (item.namespace, item.name) == (target.namespace, target.name))
    before = {
        "minAvailable": known.min_available,
        "maxUnavailable": known.max_unavailable,
        "unhealthyPodEvictionPolicy": known.unhealthy_policy or None,
    }
    plain: Plain = {"metadata": {}, "spec": {key: value for key, value in before.items() if value is not None}}
    spec = _with(plain, change, kind, target).get("spec") or {}
    if "selector" in spec:
        raise StepError("a patch of a budget's selector is not simulated; use `apply -f`")
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        why = "spec: Invalid value: minAvailable and maxUnavailable cannot be both set"
        raise RefusedError(f'The PodDisruptionBudget "{target.name}" is invalid: {why}')
    changed = known._replace(
        min_available=_number_or_share(spec.get("minAvailable")),
        max_unavailable=_number_or_share(spec.get("maxUnavailable")),
        unhealthy_policy=str(spec.get("unhealthyPodEvictionPolicy") or ""),
    )
    situation.cluster = cluster._replace(budgets=_replaced(cluster.budgets, known, changed))
    return CommandEffect((steps.ChangeFacts(situation.cluster),))


def _around(target: ObjectKey, change: Any, kind: str, situation: Situation) -> CommandEffect:
    """Patch the fields of a Service, a volume or the like that matter to pods."""
    if target.kind in _APPLIED:
        raise StepError(f"a patch of {full_name(target.kind)} is not simulated; use `delete` and `create`")
    name = (target.namespace, target.name)
    after = _with(around.plain_of(target.kind, name, situation.cluster), change, kind, target)
    problems = decode.problems(after, SHAPES[target.kind])
    if problems:
        where = decode.path_text(problems[0].route)
        raise RefusedError(f"Error from server (BadRequest): {where}: {problems[0].message}")
    return around.apply_patch(target.kind, name, after, situation)


_APPLIED = frozenset({"PriorityClass", "LimitRange", "ResourceQuota"})


def _replaced(
    budgets: tuple[DisruptionBudget, ...], known: DisruptionBudget, changed: DisruptionBudget
) -> tuple[DisruptionBudget, ...]:
    return tuple(changed if item is known else item for item in budgets)


def _number_or_share(value: Any) -> int | str | None:
    return value if isinstance(value, str) or type(value) is int else None


def _pod(target: ObjectKey, change: Any, kind: str, situation: Situation) -> CommandEffect:
    """Patch a pod's labels; no other field can be patched here."""
    from kubectl_spread.kubectl.editing import labels

    before = labels.of_pod(target, situation)
    after = _with({"metadata": {"labels": dict(before)}, "spec": {}}, change, kind, target)
    if after.get("spec"):
        raise StepError("of a pod only the labels can be patched here: changes of its spec are not simulated")
    now = (after.get("metadata") or {}).get("labels") or {}
    gone = {key: None for key in before if key not in now}
    return labels.of_pods([target], {**now, **gone}, situation)
