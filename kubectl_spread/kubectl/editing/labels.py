"""The commands `kubectl label` and `kubectl taint`.

Source: staging/src/k8s.io/kubectl/pkg/cmd/label/label.go; pkg/cmd/taint/taint.go, utils.go (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Optional

from kubectl_spread.engine import steps
from kubectl_spread.errors import RefusedError
from kubectl_spread.kubectl import around, targets
from kubectl_spread.kubectl.parsing import Command, StepError
from kubectl_spread.kubectl.situation import CommandEffect, Situation
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.selectors.labels import key_errors, Labels, value_errors
from kubectl_spread.objects.taints import NO_EXECUTE, NO_SCHEDULE, PREFER_NO_SCHEDULE, Taint

_EFFECTS = (NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE)


def label(command: Command, situation: Situation) -> CommandEffect:
    """Change labels of nodes and pods."""
    if command.arguments:
        _changes(targets.pairs_of(command))  # As kubectl does, before it looks for the objects.
    found = targets.find_targets(command, situation, has_pairs=True)
    changes = _changes(found.rest)
    nodes = tuple(target for target in found.targets if target.kind == "Node")
    pods = [target for target in found.targets if target.kind == "Pod"]
    done = CommandEffect()
    if nodes:
        done += _nodes(nodes, changes, situation, overwrites=command.has("overwrite"))
    if pods:
        for target in pods:
            _check(of_pod(target, situation), changes, overwrites=command.has("overwrite"))
        done += of_pods(pods, changes, situation)
    for target in found.targets:
        if target.kind == "Namespace":
            done += _namespace(target, changes, situation, overwrites=command.has("overwrite"))
    others = [target for target in found.targets if target.kind not in ("Node", "Pod", "Namespace")]
    if others:
        done += CommandEffect(notes=("labels of a workload itself move no pod; those of its pods are in its template",))
    return done


def _changes(words: Sequence[str]) -> dict[str, Optional[str]]:
    """Return the labels that KEY=VALUE sets and KEY- removes."""
    if not words:
        raise StepError("at least one label update is required")
    found: dict[str, Optional[str]] = {}
    for word in words:
        key, equals, value = word.partition("=")
        name = key if equals else key.removesuffix("-")
        errors = [*key_errors(name), *(value_errors(value) if equals else ())]
        if errors:
            raise StepError(f'invalid label "{word}": {errors[0]}')
        found[name] = value if equals else None
    return found


def _check(before: Labels, changes: Mapping[str, Optional[str]], *, overwrites: bool) -> None:
    for key, value in changes.items():
        if value is not None and key in before and before[key] != value and not overwrites:
            raise RefusedError(f"error: '{key}' already has a value ({before[key]}), and --overwrite is false")


def _nodes(
    found: tuple[ObjectKey, ...], changes: dict[str, Optional[str]], situation: Situation, *, overwrites: bool
) -> CommandEffect:
    changed = []
    for target in found:
        node = situation.node(target.name)
        _check(node.labels, changes, overwrites=overwrites)
        labels = {**node.labels, **changes}
        changed.append(node._replace(labels={key: value for key, value in labels.items() if value is not None}))
    situation.put_nodes(changed)
    return CommandEffect((steps.ChangeNodes(tuple(changed)),))


def _namespace(
    target: ObjectKey, changes: Mapping[str, Optional[str]], situation: Situation, *, overwrites: bool
) -> CommandEffect:
    """Change labels of a namespace, which the namespaceSelector of affinity terms selects."""
    before = situation.cluster.namespaces.get(target.name, {})
    _check(before, changes, overwrites=overwrites)
    labels = {key: value for key, value in {**before, **changes}.items() if value is not None}
    return around.apply_patch("Namespace", ("", target.name), {"metadata": {"labels": labels}}, situation)


def of_pod(target: ObjectKey, situation: Situation) -> Labels:
    """Return the labels of a pod; none if the pod does not exist yet."""
    for pod in situation.cluster.pods:
        if (pod.namespace, pod.name) == (target.namespace, target.name):
            return dict(pod.cls.labels)
    return {}


def of_pods(found: Sequence[ObjectKey], changes: Mapping[str, Optional[str]], situation: Situation) -> CommandEffect:
    """Return the effect of changing labels of pods."""
    cluster = situation.cluster
    wanted = {(target.namespace, target.name) for target in found}
    pods = [pod for pod in cluster.pods if (pod.namespace, pod.name) in wanted]
    keys = {cluster.top_owner(pod) for pod in pods}
    op = steps.LabelPods(tuple(pod.uid for pod in pods), tuple(sorted(changes.items(), key=lambda item: item[0])))
    return CommandEffect((op,), labelled=frozenset(ObjectKey(*key) for key in keys if key is not None))


class _Removal(NamedTuple):
    """Taints to remove: those with a key and an effect, or with any effect if it is empty."""

    key: str
    effect: str

    def matches(self, taint: Taint) -> bool:
        return taint.key == self.key and self.effect in ("", taint.effect)

    def __str__(self) -> str:
        return f"{self.key}:{self.effect}" if self.effect else self.key


class _Taints(NamedTuple):
    """Taints to add and to remove."""

    added: tuple[Taint, ...]
    removed: tuple[_Removal, ...]


def taint(command: Command, situation: Situation) -> CommandEffect:
    """Add taints to nodes, or remove them."""
    words = command.arguments
    at = next((at for at, word in enumerate(words) if "=" in word or ":" in word or word.endswith("-")), len(words))
    written = _taints(words[at:])
    targets_only = command._replace(arguments=words[:at])
    found = targets.find_targets(targets_only, situation).targets
    if any(target.kind != "Node" for target in found):
        raise StepError("invalid resource type, only node(s) is supported")
    changed = []
    for target in found:
        node = situation.node(target.name)
        changed.append(_tainted(node, written, overwrites=command.has("overwrite")))
    situation.put_nodes(changed)
    names = tuple(node.name for node in changed)
    added: list[steps.Op] = [steps.TaintNodes(names, item) for item in written.added]
    removed: list[steps.Op] = [steps.Untaint(names, item.key, item.effect) for item in written.removed]
    return CommandEffect((*removed, *added))


def _taints(words: Sequence[str]) -> _Taints:
    if not words:
        raise StepError("at least one taint update is required")
    added = tuple(taint_of(word) for word in words if not word.endswith("-"))
    removed = tuple(_removal(word) for word in words if word.endswith("-"))
    return _Taints(added, removed)


def _removal(word: str) -> _Removal:
    """Return the taints that KEY:EFFECT- or KEY- removes."""
    pair, _, effect = word.removesuffix("-").partition(":")
    _check_effect(effect or NO_SCHEDULE)
    return _Removal(pair.partition("=")[0], effect)


def taint_of(word: str) -> Taint:
    """Return the taint of KEY=VALUE:EFFECT or KEY:EFFECT.

    Raises:
        StepError: it is invalid.
    """
    pair, colon, effect = word.partition(":")
    key, _, value = pair.partition("=")
    if not colon or not effect:
        raise StepError(f"invalid taint spec: {word}; write it as KEY=VALUE:EFFECT")
    errors = [*key_errors(key), *value_errors(value)]
    if errors:
        raise StepError(f"invalid taint spec: {word}, {errors[0]}")
    _check_effect(effect)
    return Taint(key, value, effect)


def _check_effect(effect: str) -> None:
    if effect not in _EFFECTS:
        raise StepError(f"invalid taint effect: {effect}, unsupported taint effect")


def _tainted(node: Node, written: _Taints, *, overwrites: bool) -> Node:
    added = {(item.key, item.effect) for item in written.added}
    clashes = {item.key for item in node.taints if (item.key, item.effect) in added}
    if clashes and not overwrites:
        keys = ",".join(sorted(clashes))
        raise RefusedError(
            f"error: node {node.name} already has {keys} taint(s) with same effect(s) and --overwrite is false"
        )
    for removal in written.removed:
        if not any(map(removal.matches, node.taints)):
            raise RefusedError(f'error: taint "{removal}" not found')
    removed = {taint for taint in node.taints for removal in written.removed if removal.matches(taint)}
    kept = [item for item in node.taints if item not in removed and (item.key, item.effect) not in added]
    return node._replace(taints=(*kept, *written.added))
