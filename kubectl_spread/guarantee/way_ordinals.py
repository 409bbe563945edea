"""Ordinals of the pods of StatefulSets along a way to a violation.

States do not always tell the pods of a StatefulSet apart. Its controller does: a new pod has the lowest free ordinal.
With podManagementPolicy OrderedReady, it creates no pod while one with a lower ordinal is on a lost node.

Source: pkg/controller/statefulset/stateful_set_control.go, updateStatefulSet (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple, Optional

from kubectl_spread.guarantee.event import TransitionKind
from kubectl_spread.guarantee.model import LossKind
from kubectl_spread.guarantee.search import TraceStep
from kubectl_spread.guarantee.states.space import Space

_MOST_NAMINGS = 500  # that are followed at a time

Homes = tuple[int, ...]  # node of each ordinal, -1 for none


class _PodStep(NamedTuple):
    """A pod that is placed on a node or leaves it; ordinal: -1 if states do not tell. dead: lost nodes then."""

    is_placed: bool
    node: int
    ordinal: int
    dead: frozenset[int]


def way_ordinals(space: Space, steps: Sequence[TraceStep], *, is_from_running: bool) -> Optional[list[int]]:
    """Return the ordinal of each step's pod, -1 for none; None if a controller cannot create the pods in this order.

    Args:
        space: the states.
        steps: from the start to the violation.
        is_from_running: the way begins with the pods that run now.
    """
    found = [-1] * len(steps)
    pod_steps = list(_pod_steps(space, steps))
    for owner, spec in enumerate(space.group.owners):
        mine = [at for at, step in enumerate(steps) if step.owner == owner and pod_steps[at] is not None]
        if not spec.is_stateful or not mine:
            continue
        own_steps = [item for at in mine if (item := pod_steps[at]) is not None]
        named = _named(_homes(space, owner, is_from_running=is_from_running), own_steps, is_ordered=spec.is_ordered)
        if named is None:
            return None
        for at, ordinal in zip(mine, named, strict=True):
            found[at] = ordinal
    return found


def _pod_steps(space: Space, steps: Sequence[TraceStep]) -> Iterator[Optional[_PodStep]]:
    """Yield each step as one of a pod; None for other steps."""
    dead: frozenset[int] = frozenset()
    for step in steps:
        if step.event.kind is TransitionKind.DISRUPTED:
            is_loss = space.disruptions[step.event.disruption].kind is LossKind.LOSS
            dead = frozenset(step.nodes if is_loss else ())
        elif step.event.kind is TransitionKind.RETURNED:
            dead = frozenset()
        if step.pods < 0 or step.node < 0:
            yield None
            continue
        is_placed = step.event.kind is TransitionKind.PLACED
        yield _PodStep(is_placed, step.node, space.group.kinds[step.pods].ordinal, dead)


def _homes(space: Space, owner: int, *, is_from_running: bool) -> Homes:
    """Return where the pods of a workload are at first."""
    found = [-1] * space.group.owners[owner].most
    mine = [pod for pod in space.group.placed if is_from_running and space.group.kinds[pod.kind].owner == owner]
    for pod in sorted(mine, key=lambda pod: pod.ordinal, reverse=True):
        at = pod.ordinal if 0 <= pod.ordinal < len(found) else found.index(-1)
        found[at] = pod.node
    return tuple(found)


def _named(begin: Homes, steps: Sequence[_PodStep], *, is_ordered: bool) -> Optional[list[int]]:
    """Return the ordinals of the pods of one workload, step by step; None if there are none.

    A pod that leaves can be any of those on its node. All choices are followed together.
    """
    levels: list[dict[Homes, tuple[Homes, int]]] = []
    beliefs: dict[Homes, tuple[Homes, int]] = {begin: (begin, -1)}
    for step in steps:
        after: dict[Homes, tuple[Homes, int]] = {}
        for homes in islice(beliefs, _MOST_NAMINGS if is_ordered else 1):
            for ordinal in _possible(homes, step, is_ordered=is_ordered):
                node = step.node if step.is_placed else -1
                after.setdefault((*homes[:ordinal], node, *homes[ordinal + 1 :]), (homes, ordinal))
        levels.append(after)
        beliefs = after
    if not beliefs:
        return None
    homes = next(iter(beliefs))
    found = []
    for level in reversed(levels):
        homes, ordinal = level[homes]
        found.append(ordinal)
    return found[::-1]


def _possible(homes: Homes, step: _PodStep, *, is_ordered: bool) -> list[int]:
    """Return the ordinals that a pod can have, the most natural first."""
    if not step.is_placed:
        there = [at for at, node in enumerate(homes) if node == step.node and step.ordinal in (-1, at)]
        return there if step.dead else there[::-1]
    free = [at for at, node in enumerate(homes) if node < 0 and step.ordinal in (-1, at)]
    if not free or (is_ordered and any(node in step.dead for node in homes[: free[0]])):
        return []
    return free[:1]
