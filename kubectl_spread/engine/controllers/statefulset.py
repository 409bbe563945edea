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

from collections.abc import Sequence
from typing import NamedTuple, Optional, Union

from kubectl_spread.containers import grouped
from kubectl_spread.engine import claims
from kubectl_spread.engine.draft import Draft
from kubectl_spread.engine.state import P, slot, Stage, to_be_ready, with_slots
from kubectl_spread.engine.world import World
from kubectl_spread.objects.resources import scaled_value

Groups = tuple[tuple[int, ...], ...]  # disjoint groups of ordinals; each has at least two


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
        world = draft.world
        changed = {
            pod: pod._replace(ordinal=at, cls=world.cls_of(pod.rev, at, admission=world.admission_of(pod.cls)))
            for pod, at in ((chosen, ordinal), (holder, other))
            if pod is not None
        }
        draft.pods = [changed.get(pod, pod) for pod in draft.pods]
        slots = {slot(pod): slot(new) for pod, new in changed.items()}
        draft.todo = with_slots(draft.todo, lambda named: slots.get(named, named))
    rest = tuple(item for item in group if item != ordinal)
    groups = [item for item in own.free if item != group]
    draft.sets[owner] = own._replace(free=tuple(sorted([*groups, rest] if len(rest) > 1 else groups)))


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
    has_all = own.current != spec.rev and not spec.is_on_delete and set(by_ordinal) == set(spec.ordinals)
    if has_all and all(pod.rev == spec.rev and _is_healthy(pod) for pod in by_ordinal.values()):
        draft.sets[owner] = own._replace(current=spec.rev)
        return True
    if spec.is_recreate and (old := [pod for pod in pods if pod.rev != spec.rev]):
        alive = [pod for pod in old if not pod.end]
        draft.delete(alive)
        return bool(alive)  # New pods wait until every old one is gone.
    done = _replicas(draft, owner, spec, by_ordinal)
    if done is None:
        done = _condemned(draft, spec, by_ordinal)
    return _update(draft, spec, by_ordinal) if done is None else done


def _is_healthy(pod: Optional[P]) -> bool:
    """Return whether a pod runs, is ready and is not terminating."""
    return pod is not None and pod.stage == Stage.READY and not pod.end


def _replicas(draft: Draft, owner: int, spec: StatefulSetSpec, by_ordinal: dict[int, P]) -> Optional[bool]:
    """Create missing pods.

    Returns True if it has created pods, None if it has nothing to do, and False if it waits: for an unhealthy pod, or
    for the API server to admit a pod.
    """
    done: Optional[bool] = None
    own: StatefulSetState = draft.sets[owner]
    # Pods that the controller has released still have their names (AlreadyExists).
    revisions = draft.world.revisions
    taken = {pod.ordinal for pod in draft.of(-1) if pod.rev >= 0 and revisions[pod.rev].owner == owner}
    for ordinal in spec.ordinals:
        if ordinal not in by_ordinal:
            is_below = not spec.is_on_delete and ordinal < spec.start + spec.partition
            is_created = False
            if ordinal not in taken:
                claims.ensure(draft, owner, ordinal)
                is_created = draft.create(own.current if is_below else spec.rev, ordinal)
            done = is_created or bool(done)
            if not spec.is_parallel:
                return done
        else:
            pod = by_ordinal[ordinal]
            if pod.stage <= Stage.BOUND and not pod.end:
                claims.ensure(draft, owner, ordinal)
            if not spec.is_parallel and not _is_healthy(pod):
                return bool(done)
    if done and spec.is_parallel:  # Remember which pods were created at once.
        known = {ordinal for group in own.free for ordinal in group}.union(by_ordinal)
        alike = grouped(
            ((pod.rev, draft.world.shape(pod.cls)), pod.ordinal)
            for pod in draft.of(owner)
            if pod.ordinal not in known and draft.world.is_anonymous(pod.cls)
        )
        groups = (tuple(sorted(group)) for group in alike.values() if len(group) > 1)
        draft.sets[owner] = own._replace(free=tuple(sorted((*own.free, *groups))))
    return done


def _condemned(draft: Draft, spec: StatefulSetSpec, by_ordinal: dict[int, P]) -> Optional[bool]:
    """Delete pods with ordinals out of range, the highest first.

    Returns True if it has deleted pods, False if it waits for a pod, and None if an update may go on.
    """
    descending = sorted(set(by_ordinal).difference(spec.ordinals), reverse=True)
    condemned = [by_ordinal[ordinal] for ordinal in descending]
    if spec.is_parallel:
        remaining = [pod for pod in condemned if not pod.end]
        draft.delete(remaining)
        return True if remaining else None
    if not condemned:
        return None
    highest = condemned[0]
    in_range = [by_ordinal.get(ordinal) for ordinal in spec.ordinals]
    # Upstream looks at the condemned pods, which are in descending order, from the last to the first.
    first_unhealthy = next((pod for pod in (*in_range, *reversed(condemned)) if not _is_healthy(pod)), None)
    if highest.end or not (_is_healthy(highest) or highest is first_unhealthy):
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
        unavailable = sum(not _is_healthy(by_ordinal.get(ordinal)) for ordinal in spec.ordinals)
        in_range = (by_ordinal.get(ordinal) for ordinal in reversed(spec.ordinals[spec.partition :]))
        old = [pod for pod in in_range if pod is not None and pod.rev != spec.rev and not pod.end]
        chosen = old[: max(0, spec.max_unavailable - unavailable)]
        draft.delete(chosen)
        return bool(chosen)
    for ordinal in reversed(spec.ordinals):
        if ordinal < spec.start + spec.partition:
            return False
        pod = by_ordinal.get(ordinal)
        if pod is not None and pod.rev != spec.rev and not pod.end:
            draft.delete([pod])
            return True
        if not _is_healthy(pod):
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
    mine = [pod for pod in pods if not pod.end]
    ready = [pod for pod in mine if pod.stage == Stage.READY]
    if len(ready) < spec.replicas or len(mine) != spec.replicas:
        return False
    return spec.is_on_delete or sum(pod.rev == spec.rev for pod in mine) >= spec.replicas - spec.partition
