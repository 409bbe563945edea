"""StatefulSet: pods with names of their own, one after another or all at once.

Source: pkg/controller/statefulset/stateful_set_control.go, updateStatefulSet, processReplica, processCondemned,
rollingUpdateStatefulSet (v1.36.2); updateStatefulSetAfterInvariantEstablished, where MaxUnavailableStatefulSet is on
(v1.35.0, and from 1.37 on); KEP 3541 for the strategy Recreate.

Equal pods of a Parallel StatefulSet may exchange their ordinals until one of them decides something. The controller
creates the pods at once, and the scheduler takes them in any order. Each way to share out their ordinals is possible,
and until an ordinal matters, all ways have the same future. One state therefore represents them:

    web-0 a1   web-1 b1   web-2 b1   also stands for   web-0 b1   web-1 b1   web-2 a1

When the controller deletes the highest pod, it may be any of the group, and the search looks at each.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple, Optional, Union

from kubectl_spread.containers import grouped
from kubectl_spread.engine import claims
from kubectl_spread.engine.draft import Draft
from kubectl_spread.engine.state import Deletion, P, slot, Stage, to_be_ready
from kubectl_spread.engine.world import World
from kubectl_spread.objects.amounts.quantity import scaled_value

_NAMING = ("delete", "evict")  # commands that name pods by their slots

Groups = tuple[tuple[int, ...], ...]  # disjoint groups of ordinals; each has at least two


def with_group(world: World, groups: Groups, created: Iterable[P]) -> Groups:
    """Return the groups after pods have been created at once."""
    taken = {ordinal for group in groups for ordinal in group}
    alike = grouped(
        ((pod.rev, world.shape(pod.cls)), pod.ordinal)
        for pod in created
        if pod.ordinal not in taken and world.is_anonymous(pod.cls)
    )
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
    if spec.is_on_delete or spec.is_recreate or own.current == spec.rev or group[-1] not in spec.ordinals:
        return False
    if spec.max_unavailable > 1:
        return True
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


class StatefulSetSpec(NamedTuple):
    """Spec of a StatefulSet."""

    replicas: int
    rev: int
    start: int = 0
    is_parallel: bool = False
    is_on_delete: bool = False
    partition: int = 0
    deletes_claims: bool = False  # Deletes the claims of ordinals that are scaled down.
    unavailable: Union[int, str, None] = None  # maxUnavailable; None where its feature gate is off
    is_recreate: bool = False

    @property
    def max_unavailable(self) -> int:
        """Return the resolved maxUnavailable, in pods (getStatefulSetMaxUnavailable)."""
        return max(1, scaled_value(self.unavailable, self.replicas, round_up=False) or 0)

    @property
    def ordinals(self) -> range:
        return range(self.start, self.start + self.replicas)


class StatefulSetState(NamedTuple):
    """State that a StatefulSet's controller remembers.

    current: the revision of pods below the partition. free: groups of ordinals that equal pods may exchange.
    """

    spec: int
    current: int
    free: Groups = ()


def act(draft: Draft, owner: int) -> bool:
    """Run the controller once, and return whether it changed anything."""
    own: StatefulSetState = draft.sets[owner]
    spec: StatefulSetSpec = draft.world.specs[own.spec]
    pods = [pod for pod in draft.of(owner) if pod.ordinal >= 0]  # Other names are ignored (newStatefulSetPods).
    if undecided_ordinal(draft.world, own, pods) is not None:
        return False
    by_ordinal = {pod.ordinal: pod for pod in pods}
    if _finish(draft, owner, spec=spec, by_ordinal=by_ordinal):
        return True
    if spec.is_recreate and (old := [pod for pod in pods if pod.rev != spec.rev]):
        alive = [pod for pod in old if not is_terminating(pod)]
        draft.delete(alive)
        return bool(alive)  # New pods wait until every old one is gone.
    done = _replicas(draft, owner, spec=spec, by_ordinal=by_ordinal)
    if done is None:
        done = _condemned(draft, spec, by_ordinal)
    if done is None:
        done = _update(draft, spec, by_ordinal)
    return bool(done)


def _finish(draft: Draft, owner: int, *, spec: StatefulSetSpec, by_ordinal: dict[int, P]) -> bool:
    """Make the update revision the current one once all pods have it and are ready."""
    own: StatefulSetState = draft.sets[owner]
    if own.current == spec.rev or spec.is_on_delete or set(by_ordinal) != set(spec.ordinals):
        return False
    if not all(pod.rev == spec.rev and is_healthy(pod) for pod in by_ordinal.values()):
        return False
    draft.sets[owner] = own._replace(current=spec.rev)
    return True


def is_terminating(pod: P) -> bool:
    """Return whether a pod's deletion was requested."""
    return pod.end != Deletion.ALIVE


def is_healthy(pod: Optional[P]) -> bool:
    """Return whether a pod runs, is ready and is not terminating."""
    return pod is not None and pod.stage == Stage.READY and not is_terminating(pod)


def _replicas(draft: Draft, owner: int, *, spec: StatefulSetSpec, by_ordinal: dict[int, P]) -> Optional[bool]:
    """Create missing pods.

    Returns True if it has created pods, None if it has nothing to do, and False if it waits: for an unhealthy pod, or
    for the API server to admit a pod.
    """
    done: Optional[bool] = None
    for ordinal in spec.ordinals:
        if ordinal not in by_ordinal:
            is_created = _create(draft, owner, spec=spec, ordinal=ordinal)
            done = is_created or bool(done)
            if not spec.is_parallel:
                return done
        else:
            pod = by_ordinal[ordinal]
            if pod.stage <= Stage.BOUND and not is_terminating(pod):
                claims.ensure(draft, owner, ordinal)
            if not spec.is_parallel and not is_healthy(pod):
                return bool(done)
    if done and spec.is_parallel:
        _group(draft, owner, by_ordinal)
    return done


def _group(draft: Draft, owner: int, before: Container[int]) -> None:
    """Remember which pods were created at once."""
    own: StatefulSetState = draft.sets[owner]
    created = [pod for pod in draft.of(owner) if pod.ordinal not in before]
    draft.sets[owner] = own._replace(free=with_group(draft.world, own.free, created))


def _create(draft: Draft, owner: int, *, spec: StatefulSetSpec, ordinal: int) -> bool:
    if _is_taken(draft, owner, ordinal):
        return False
    own: StatefulSetState = draft.sets[owner]
    is_below = not spec.is_on_delete and ordinal < spec.start + spec.partition
    claims.ensure(draft, owner, ordinal)
    return draft.create(own.current if is_below else spec.rev, ordinal)


def _is_taken(draft: Draft, owner: int, ordinal: int) -> bool:
    """Return whether a pod that the controller has released still has the name of an ordinal (AlreadyExists)."""
    revisions = draft.world.revisions
    return any(
        pod.owner < 0 and pod.ordinal == ordinal and pod.rev >= 0 and revisions[pod.rev].owner == owner
        for pod in draft.pods
    )


def _condemned(draft: Draft, spec: StatefulSetSpec, by_ordinal: dict[int, P]) -> Optional[bool]:
    """Delete pods with ordinals out of range, the highest first.

    Returns True if it has deleted pods, False if it waits for a pod, and None if an update may go on.
    """
    descending = sorted(set(by_ordinal).difference(spec.ordinals), reverse=True)
    condemned = [by_ordinal[ordinal] for ordinal in descending]
    if spec.is_parallel:
        remaining = [pod for pod in condemned if not is_terminating(pod)]
        draft.delete(remaining)
        return True if remaining else None
    if not condemned:
        return None
    highest = condemned[0]
    in_range = [by_ordinal.get(ordinal) for ordinal in spec.ordinals]
    # Upstream looks at the condemned pods, which are in descending order, from the last to the first.
    first_unhealthy = next((pod for pod in (*in_range, *reversed(condemned)) if not is_healthy(pod)), None)
    if is_terminating(highest) or not (is_healthy(highest) or highest is first_unhealthy):
        return False
    draft.delete([highest])
    return True


def _update(draft: Draft, spec: StatefulSetSpec, by_ordinal: dict[int, P]) -> bool:
    """Delete the highest pod of an old revision, unless a higher one is not ready yet.

    Where maxUnavailable counts, delete as many from the highest down as it leaves after the unavailable pods.
    """
    if spec.is_on_delete:
        return False
    if spec.unavailable is not None:
        unavailable = sum(not is_healthy(by_ordinal.get(ordinal)) for ordinal in spec.ordinals)
        in_range = (by_ordinal.get(ordinal) for ordinal in reversed(spec.ordinals[spec.partition :]))
        old = [pod for pod in in_range if pod is not None and pod.rev != spec.rev and not is_terminating(pod)]
        chosen = old[: max(0, spec.max_unavailable - unavailable)]
        draft.delete(chosen)
        return bool(chosen)
    for ordinal in reversed(spec.ordinals):
        if ordinal < spec.start + spec.partition:
            return False
        pod = by_ordinal.get(ordinal)
        if pod is not None and pod.rev != spec.rev and not is_terminating(pod):
            draft.delete([pod])
            return True
        if not is_healthy(pod):
            return False
    return False


def waits_for_ready(world: World, pods: Sequence[P], own: StatefulSetState) -> list[P]:
    """Return the bound pods for whose readiness the controller waits."""
    spec: StatefulSetSpec = world.specs[own.spec]
    bound = to_be_ready(pods)
    if not spec.is_parallel:
        return bound
    is_updating = not spec.is_on_delete and any(pod.rev != spec.rev for pod in pods)
    return bound if is_updating else []


def is_complete(world: World, pods: Sequence[P], own: StatefulSetState) -> bool:
    """Return whether `kubectl rollout status` is satisfied."""
    spec: StatefulSetSpec = world.specs[own.spec]
    mine = [pod for pod in pods if not is_terminating(pod)]
    ready = [pod for pod in mine if pod.stage == Stage.READY]
    if len(ready) < spec.replicas or len(mine) != spec.replicas:
        return False
    updated = sum(pod.rev == spec.rev for pod in mine)
    if spec.is_on_delete:
        return True
    return updated >= spec.replicas - spec.partition
