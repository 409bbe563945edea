"""Deployment: the arithmetic of a rollout and of scaling, on the sizes of its ReplicaSets.

Source: pkg/controller/deployment/deployment_controller.go, syncDeployment; rolling.go; recreate.go; sync.go, scale;
util/deployment_util.go, NewRSNewReplicas, ResolveFenceposts (v1.36.2).
Difference: minReadySeconds is ignored: a ready pod is available.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple, Optional

from kubectl_spread.engine.controllers import replicaset
from kubectl_spread.engine.draft import Draft
from kubectl_spread.engine.state import Deletion, EventKind, Move, P, Stage, to_be_ready
from kubectl_spread.engine.world import World
from kubectl_spread.objects.resources import scaled_value

_ALIVE, _READY = int(Deletion.ALIVE), int(Stage.READY)  # perf: members of enums are slow


class DeploymentSpec(NamedTuple):
    """Spec of a Deployment; surge and unavailable are numbers or percentages as written."""

    replicas: int
    rev: int
    surge: object = "25%"
    unavailable: object = "25%"
    is_recreate: bool = False
    is_paused: bool = False
    is_orphaned: bool = False  # Only its ReplicaSets are left.

    def fenceposts(self) -> tuple[int, int]:
        """Return the resolved maxSurge and maxUnavailable, in pods (ResolveFenceposts)."""
        return _fenceposts(self.surge, self.unavailable, self.replicas)

    @property
    def max_surge(self) -> int:
        return 0 if self.is_recreate else self.fenceposts()[0]

    @property
    def max_unavailable(self) -> int:
        """Return the resolved maxUnavailable, in pods (MaxUnavailable)."""
        if self.is_recreate or not self.replicas:
            return 0
        return min(self.fenceposts()[1], self.replicas)


@functools.lru_cache(maxsize=1024)  # perf: called in every state
def _fenceposts(surge: object, unavailable: object, replicas: int) -> tuple[int, int]:
    more = scaled_value(surge, replicas, round_up=True) or 0
    fewer = scaled_value(unavailable, replicas, round_up=False) or 0
    return more, fewer if more or fewer else 1


class Set(NamedTuple):
    """A ReplicaSet of the Deployment: its size, and the numbers in its annotations."""

    rev: int
    size: int
    desired: int
    most: int


class DeploymentState(NamedTuple):
    """State that a Deployment's controller remembers; `sets` are sorted from the oldest to the youngest."""

    spec: int
    sets: tuple[Set, ...] = ()
    order: tuple[int, ...] = ()  # Revisions, the most recently used last.


class Sync(NamedTuple):
    """Result of one reconciliation: the new ReplicaSets, and whether old ones were scaled down for new pods."""

    sets: tuple[Set, ...]
    is_scale_down: bool


def sync(spec: DeploymentSpec, sets: tuple[Set, ...], seen: RevisionPods) -> Optional[Sync]:
    """Return the changes of one reconciliation; None if it changes nothing."""
    available = tuple([seen.available.get(item.rev, 0) for item in sets])
    return _synced(spec, sets, available, frozenset(seen.active) if spec.is_recreate else frozenset())


@functools.lru_cache(maxsize=65536)  # perf: the same sizes occur in thousands of states
def _synced(
    spec: DeploymentSpec, sets: tuple[Set, ...], available: tuple[int, ...], revisions: frozenset[int]
) -> Optional[Sync]:
    """Return the changes of one reconciliation; `revisions` are those with any pods, for Recreate."""
    if spec.is_orphaned and sum(item.size > 0 for item in sets) > 1:
        return None
    if spec.is_paused or any(item.size and item.desired != spec.replicas for item in sets):
        return _scale(spec, sets, available)
    if spec.is_recreate:  # Old ReplicaSets are scaled to 0, then the new one up (rolloutRecreate).
        changed = _only_new(spec, sets)
        if changed != sets:
            return Sync(changed, is_scale_down=False)
        return None if revisions - {spec.rev} else _with_new(spec, sets, spec.replicas)
    # The new one is scaled up within maxSurge (reconcileNewReplicaSet).
    size = sum(item.size for item in sets if item.rev == spec.rev)
    room = max(0, spec.replicas + spec.max_surge - sum(item.size for item in sets))
    return _with_new(spec, sets, min(spec.replicas, size + room)) or _old_sets(spec, sets, available)


_KIND = itemgetter(*map(P._fields.index, ("rev", "end", "stage")))


class RevisionPods(NamedTuple):
    """Pods as a Deployment's controller sees them, per revision: available and active ones; 0 if all are ending."""

    available: dict[int, int]
    active: dict[int, int]


def see(pods: Iterable[P]) -> RevisionPods:
    """Return the pods of a Deployment as its controller sees them."""
    available: dict[int, int] = {}
    active: dict[int, int] = {}
    for (rev, end, stage), number in Counter(map(_KIND, pods)).items():  # perf: few kinds
        active[rev] = active.get(rev, 0) + number * (end == _ALIVE)
        if end == _ALIVE and stage == _READY:
            available[rev] = available.get(rev, 0) + number
    return RevisionPods(available, active)


def _sized(item: Set, size: int, spec: DeploymentSpec) -> Set:
    """Return a ReplicaSet with another size; its annotations are updated, too (ScaleReplicaSet)."""
    return Set(item.rev, size, spec.replicas, spec.replicas + spec.max_surge)


def _with_new(spec: DeploymentSpec, sets: tuple[Set, ...], size: int) -> Optional[Sync]:
    """Return the ReplicaSets with a new size of the newest, created if missing; None if nothing changes."""
    newest = _newest(spec, sets)
    if newest is None:
        return Sync((*sets, _sized(Set(spec.rev, 0, 0, 0), size, spec)), is_scale_down=False)
    return _resized(spec, sets, newest, size=size)


def _newest(spec: DeploymentSpec, sets: Iterable[Set]) -> Optional[Set]:
    return next((item for item in sets if item.rev == spec.rev), None)


def _resized(spec: DeploymentSpec, sets: tuple[Set, ...], one: Set, *, size: int) -> Optional[Sync]:
    """Return the ReplicaSets with a new size of one of them; None if it has this size."""
    if one.size == size:
        return None
    return Sync(tuple(_sized(item, size, spec) if item is one else item for item in sets), is_scale_down=False)


def _only_new(spec: DeploymentSpec, sets: tuple[Set, ...]) -> tuple[Set, ...]:
    """Return the ReplicaSets with all old ones scaled to 0."""
    return tuple(_sized(item, 0, spec) if item.size and item.rev != spec.rev else item for item in sets)


def _old_sets(spec: DeploymentSpec, sets: tuple[Set, ...], available: Sequence[int]) -> Optional[Sync]:
    """Return the ReplicaSets after scaling down old ones within maxUnavailable (reconcileOldReplicaSets)."""
    old = [at for at, item in enumerate(sets) if item.size and item.rev != spec.rev]
    least = spec.replicas - spec.max_unavailable
    sizes = [item.size for item in sets]
    new_unavailable = sum(sizes[at] - available[at] for at, item in enumerate(sets) if item.rev == spec.rev)
    most_down = sum(sizes) - least - new_unavailable  # maxScaledDown
    if not old or most_down <= 0:
        return None
    _reduce(sizes, {at: max(0, sizes[at] - available[at]) for at in old}, most_down)  # cleanupUnhealthyReplicas
    room = max(0, sum(available) - least)
    _reduce(sizes, {at: sizes[at] for at in old}, room)  # scaleDownOldReplicaSetsForRollingUpdate
    changed = tuple(
        _sized(item, size, spec) if size != item.size else item for item, size in zip(sets, sizes, strict=True)
    )
    return Sync(changed, is_scale_down=True) if changed != sets else None


def _reduce(sizes: list[int], spare: dict[int, int], total: int) -> None:
    """Reduce sizes one after the other, each by at most its spare pods, until `total` pods are taken."""
    for at, most in spare.items():
        down = min(total, most)
        sizes[at] -= down
        total -= down


def _scale(spec: DeploymentSpec, sets: tuple[Set, ...], available: Sequence[int]) -> Optional[Sync]:
    """Return the ReplicaSets after a scaling event (scale)."""
    if not sets:
        return None
    active, new = [item for item in sets if item.size], _newest(spec, sets)
    if len(active) <= 1:  # the one with replicas, else the newest one, else the youngest (FindActiveOrLatest)
        return _resized(spec, sets, active[0] if active else new or sets[-1], size=spec.replicas)
    # The newest ReplicaSet has all its pods, and they are available (IsSaturated).
    if new is not None and new.size == spec.replicas == new.desired == available[sets.index(new)]:
        changed = _only_new(spec, sets)
    elif spec.is_recreate:
        return None
    else:
        changed = _proportional(spec, sets)
    return Sync(changed, is_scale_down=False) if changed != sets else None


def _proportional(spec: DeploymentSpec, sets: tuple[Set, ...]) -> tuple[Set, ...]:
    """Return the ReplicaSets after adding or removing replicas in proportion to their sizes."""
    allowed = spec.replicas + spec.max_surge if spec.replicas else 0
    total = sum(item.size for item in sets)
    add = left = allowed - total
    order = [at for at, item in enumerate(sets) if item.size]
    # Of equal ReplicaSets, the younger grows first and the older shrinks first.
    order.sort(key=lambda at: (-sets[at].size, -at if add > 0 else at))
    sizes = [item.size for item in sets]
    for at in order:  # What one gains or loses: GetReplicaSetProportion
        if not left:
            break
        before = sets[at].most or total
        share = (2 * sizes[at] * allowed + before) // (2 * before) - sizes[at]  # the quotient is rounded half up
        share = min(share, left) if left > 0 else max(share, left)
        sizes[at] += share
        left -= share
    sizes[order[0]] = max(0, sizes[order[0]] + left)
    return tuple(_sized(item, size, spec) if item.size else item for item, size in zip(sets, sizes, strict=True))


def act(draft: Draft, owner: int) -> bool:
    """Make all changes without a choice: scale up and create missing pods. Return whether any was made."""
    own: DeploymentState = draft.sets[owner]
    spec: DeploymentSpec = draft.world.specs[own.spec]
    seen = see(draft.of(owner))
    found = sync(spec, own.sets, seen)
    if found is not None and not found.is_scale_down:
        put(draft, owner, found.sets)
        return True
    created = [replicaset.create(draft, item.rev, item.size - seen.active.get(item.rev, 0)) for item in own.sets]
    return any(created)


def put(draft: Draft, owner: int, sets: tuple[Set, ...]) -> None:
    """Store the sizes of the ReplicaSets."""
    own: DeploymentState = draft.sets[owner]
    before = {item.rev: item.size for item in own.sets}
    for item in sets:
        if item.size != before.get(item.rev, 0):
            draft.moves.append(Move(EventKind.SCALED, owner=owner, rev=item.rev, number=item.size))
    draft.sets[owner] = own._replace(sets=sets)


def scale_downs(spec: DeploymentSpec, own: DeploymentState, pods: Sequence[P]) -> Iterator[tuple[int, tuple[Set, ...]]]:
    """Yield how many bound pods become ready before old ReplicaSets are scaled down, and the new sizes."""
    if all(not item.size or item.rev == spec.rev for item in own.sets):
        return
    seen = see(pods)
    bound = to_be_ready(pods)
    available = dict(seen.available)
    for count in range(len(bound) + 1):
        if count:
            rev = bound[count - 1].rev
            available[rev] = available.get(rev, 0) + 1
        found = sync(spec, own.sets, RevisionPods(available, seen.active))
        if found is not None and found.is_scale_down:
            yield count, found.sets


def excess(world: World, pods: Sequence[P], own: DeploymentState) -> list[replicaset.Shrinking]:
    """Return the ReplicaSets that have too many pods and have not chosen which to delete.

    Each ranks its pods on what it sees: any part of what the others have deleted (getIndirectlyRelatedPods).
    """
    active = see(pods).active
    if all(active.get(item.rev, 0) <= item.size for item in own.sets):
        return []
    related = replicaset.active(pods)
    have_chosen = {pod.rev for pod in related if pod.is_chosen}
    rank = replicaset.rank_on_any_node if world.is_widened else replicaset.ranks(related)
    found: list[replicaset.Shrinking] = []
    for item in own.sets:
        if item.rev not in have_chosen:
            mine = [pod for pod in related if pod.rev == item.rev]
            found += replicaset.shrinking(mine, rank, len(mine) - item.size)
    return found


def is_complete(world: World, pods: Sequence[P], own: DeploymentState) -> bool:
    """Return whether the rollout is over (DeploymentComplete)."""
    spec: DeploymentSpec = world.specs[own.spec]
    mine = replicaset.active(pods)
    updated = [pod for pod in mine if pod.rev == spec.rev]
    return len(mine) == len(updated) == spec.replicas and all(pod.stage == Stage.READY for pod in mine)


def previous(own: DeploymentState, spec: DeploymentSpec) -> Optional[int]:
    """Return the revision for an undo; None if there is none."""
    older = [rev for rev in own.order if rev != spec.rev]
    return older[-1] if older else None
