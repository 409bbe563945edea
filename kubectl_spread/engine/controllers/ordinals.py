"""Ordinals that equal pods of a Parallel StatefulSet may exchange, until one of them decides something.

The controller creates the pods at once, and the scheduler takes them in any order. Each way to share out their ordinals
is possible, and until an ordinal matters, all ways have the same future. One state therefore represents them:

    web-0 a1   web-1 b1   web-2 b1   also stands for   web-0 b1   web-1 b1   web-2 a1

When the controller deletes the highest pod, it may be any of the group, and the search looks at each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Optional, TYPE_CHECKING

from kubectl_spread.engine.draft import Draft
from kubectl_spread.engine.state import P, slot, Stage
from kubectl_spread.engine.world import World

if TYPE_CHECKING:
    from kubectl_spread.engine.controllers.statefulset import StatefulSetSpec, StatefulSetState

_NAMING = ("delete", "evict")  # commands that name pods by their slots

Groups = tuple[tuple[int, ...], ...]  # disjoint groups of ordinals; each has at least two


def with_group(world: World, groups: Groups, created: Iterable[P]) -> Groups:
    """Return the groups after pods have been created at once."""
    grouped = {ordinal for group in groups for ordinal in group}
    alike: dict[tuple[int, int], list[int]] = {}
    for pod in created:
        if pod.ordinal not in grouped and world.is_anonymous(pod.cls):
            alike.setdefault((pod.rev, world.shape(pod.cls)), []).append(pod.ordinal)
    return tuple(sorted((*groups, *(tuple(sorted(group)) for group in alike.values() if len(group) > 1))))


def group_of(groups: Groups, ordinal: int) -> int:
    """Return the index of the group of an ordinal; -1 if it is in none."""
    return next((at for at, group in enumerate(groups) if ordinal in group), -1)


def undecided_ordinal(world: World, own: StatefulSetState, pods: Sequence[P]) -> Optional[int]:
    """Return an ordinal that matters to the controller now, and whose pod is still any one of its group."""
    if not own.free:
        return None
    spec: StatefulSetSpec = world.specs[own.spec]
    for group in own.free:
        inside = [ordinal for ordinal in group if ordinal in spec.ordinals]
        if 0 < len(inside) < len(group) or _is_updated_next(own, spec, group, pods=pods):
            return group[-1]
    return None


def _is_updated_next(
    own: StatefulSetState, spec: StatefulSetSpec, group: tuple[int, ...], *, pods: Sequence[P]
) -> bool:
    """Return whether a rollout treats the pods of a group differently now."""
    if spec.is_on_delete or own.current == spec.rev or group[-1] not in spec.ordinals:
        return False
    first = spec.start + spec.partition
    if group[0] < first <= group[-1]:
        return True
    if group[-1] < first or not any(pod.ordinal in group and pod.rev != spec.rev for pod in pods):
        return False
    updated = {pod.ordinal for pod in pods if pod.rev == spec.rev and pod.stage == Stage.READY and not pod.end}
    return all(ordinal in updated for ordinal in spec.ordinals if ordinal > group[-1])


def candidates(world: World, group: Sequence[int], pods: Sequence[P]) -> list[Optional[P]]:
    """Return one pod of each kind in a group, the one with the highest ordinal first; None if a pod is missing."""
    found: dict[object, Optional[P]] = {}
    members = [pod for pod in pods if pod.ordinal in group]
    for pod in reversed(members):
        found.setdefault(pod._replace(ordinal=0, cls=world.shape(pod.cls)), pod)
    if len(members) < len(group):
        found[None] = None
    return list(found.values())


def decide(draft: Draft, owner: int, ordinal: int, *, chosen: Optional[P]) -> None:
    """Give an ordinal to a pod of its group, or to the missing one; what had the ordinal gets the other in exchange."""
    own: StatefulSetState = draft.sets[owner]
    group = own.free[group_of(own.free, ordinal)]
    mine = {pod.ordinal: pod for pod in draft.of(owner) if pod.ordinal in group}
    holder = mine.get(ordinal)
    if chosen is not holder:
        other = chosen.ordinal if chosen is not None else next(item for item in group if item not in mine)
        _exchange(draft, ((chosen, ordinal), (holder, other)))
    rest = tuple(item for item in group if item != ordinal)
    groups = [item for item in own.free if item != group]
    draft.sets[owner] = own._replace(free=tuple(sorted([*groups, rest] if len(rest) > 1 else groups)))


def _exchange(draft: Draft, ordinals: Iterable[tuple[Optional[P], int]]) -> None:
    """Give pods other ordinals, also in the remaining commands of the user."""
    world = draft.world
    changed = {
        pod: pod._replace(ordinal=at, cls=world.cls_of(pod.rev, at, admission=world.admission_of(pod.cls)))
        for pod, at in ordinals
        if pod is not None
    }
    draft.pods = [changed.get(pod, pod) for pod in draft.pods]
    slots = {slot(pod): slot(other) for pod, other in changed.items()}
    draft.todo = tuple(
        (item[0], tuple(slots.get(named, named) for named in item[1]), *item[2:]) if item[0] in _NAMING else item
        for item in draft.todo
    )
