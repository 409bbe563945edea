"""The command `kubectl annotate`, for the deletion costs of pods.

Source: staging/src/k8s.io/kubectl/pkg/cmd/annotate/annotate.go (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from kubectl_spread.engine import steps
from kubectl_spread.errors import RefusedError
from kubectl_spread.kubectl import targets
from kubectl_spread.kubectl.parsing import Command, StepError
from kubectl_spread.kubectl.situation import CommandEffect, Situation
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading.read import DELETION_COST
from kubectl_spread.objects.selectors.labels import key_errors
from kubectl_spread.text.scalars import natural


def annotate(command: Command, situation: Situation) -> CommandEffect:
    """Change annotations: the deletion cost of pods decides which of them a scale-down deletes."""
    found = targets.find_targets(command, situation, has_pairs=True)
    if not found.rest:
        raise StepError("at least one annotation update is required")
    changes = dict(_annotation(word) for word in found.rest)
    pods = [target for target in found.targets if target.kind == "Pod"]
    if DELETION_COST not in changes or not pods:
        return CommandEffect(notes=(f"of annotations, only {DELETION_COST} of pods changes what happens",))
    wanted = {(target.namespace, target.name) for target in pods}
    chosen = [pod for pod in situation.cluster.pods if (pod.namespace, pod.name) in wanted]
    cost = _cost(changes[DELETION_COST])
    if cost is not None and not command.has("overwrite"):
        _refuse_overwriting(chosen, cost)
    return _with_cost(chosen, cost, situation)


def _refuse_overwriting(pods: Sequence[Pod], cost: int) -> None:
    """Check that no pod has another cost already.

    Raises:
        RefusedError: kubectl would refuse to overwrite the annotation.
    """
    for pod in pods:
        if pod.deletion_cost not in (0, cost):
            before = f"'{DELETION_COST}' already has a value ({pod.deletion_cost})"
            raise RefusedError(f"error: {before}, and --overwrite is false")


def _with_cost(chosen: Sequence[Pod], cost: Optional[int], situation: Situation) -> CommandEffect:
    """Set the cost of pods in the situation, or remove it; return the effect."""
    cluster = situation.cluster
    keys = {cluster.top_owner(pod) for pod in chosen}
    op = steps.SetCost(tuple(pod.uid for pod in chosen), cost or 0)
    changed = {pod.uid: pod._replace(deletion_cost=cost or 0) for pod in chosen}
    situation.cluster = cluster._replace(pods=tuple(changed.get(pod.uid, pod) for pod in cluster.pods))
    return CommandEffect((op,), labelled=frozenset(key for key in keys if key is not None))


def _annotation(word: str) -> tuple[str, Optional[str]]:
    """Return the annotation that KEY=VALUE sets or KEY- removes."""
    key, equals, value = word.partition("=")
    name = key if equals else key.removesuffix("-")
    errors = key_errors(name)
    if errors:
        raise StepError(f'invalid annotation "{word}": {errors[0]}')
    return name, value if equals else None


def _cost(text: Optional[str]) -> Optional[int]:
    """Return the deletion cost of an annotation; None if it is removed.

    Raises:
        RefusedError: the API server would refuse the pod.
    """
    if text is None:
        return None
    digits = natural(text.removeprefix("-"))
    if digits is None or str(int(text)) != text or not -(2**31) <= int(text) < 2**31:
        raise RefusedError(f'metadata.annotations[{DELETION_COST}]: Invalid value: "{text}": must be a 32bit integer')
    return int(text)
