"""ReplicaSet and ReplicationController: the active pods, and the choice of pods to delete; autoscalers.

Source: pkg/controller/replicaset/replica_set.go, manageReplicas, getPodsToDelete; pkg/controller/controller_utils.go,
ActivePodsWithRanks.Less (v1.36.2).
Differences: upstream breaks ties by UID or map order; here every choice among equal pods is possible. Restart counts
of containers are ignored.

Source: pkg/controller/podautoscaler/horizontal.go, reconcileAutoscaler (v1.36.2). Replicas outside the range of an
autoscaler go back to its nearer end at once; 0 replicas turn it off.
Difference: autoscalers know no metrics, so they keep each number in their range.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple, Union

from kubectl_spread.engine.draft import Draft
from kubectl_spread.engine.state import P, PENDING, Stage, State
from kubectl_spread.engine.world import World
from kubectl_spread.objects.workloads.workload import REPLICATED_KINDS

_FIRST = itemgetter(0)
_READY = int(Stage.READY)  # perf: members of enums are slow
_RUNNING = (int(Stage.UNREADY), _READY)

MOST_CHOICES = 1_000  # A search that meets as many choices at once is not exhaustive.


class ReplicaSetSpec(NamedTuple):
    """Spec of a ReplicaSet without a Deployment."""

    replicas: int
    rev: int


class Shrinking(NamedTuple):
    """A ReplicaSet, or a Job, that has too many pods.

    choices: every choice of the pods to delete, on what it sees now. is_whole: all its pods go, so it ranks none.
    """

    choices: Sequence[tuple[P, ...]]
    is_whole: bool


class ReplicaSetState(NamedTuple):
    """State that a ReplicaSet's controller remembers."""

    spec: int


def active(pods: Iterable[P]) -> list[P]:
    """Return the pods of a controller that count for it (IsPodActive), including pods of earlier templates."""
    return [pod for pod in pods if not pod.end]


def create(draft: Draft, rev: int, missing: int) -> bool:
    """Create the missing pods of a revision, and return whether the API server admits any."""
    for at in range(missing):
        if not draft.create(rev):
            return at > 0
    return missing > 0


def act(draft: Draft, owner: int) -> bool:
    """Create the missing pods of a ReplicaSet without a Deployment, from its current template."""
    spec: ReplicaSetSpec = draft.world.specs[draft.sets[owner].spec]
    return create(draft, spec.rev, spec.replicas - len(active(draft.of(owner))))


def excess(world: World, pods: Sequence[P], own: ReplicaSetState) -> list[Shrinking]:
    """Return the ReplicaSet if it has too many pods."""
    spec: ReplicaSetSpec = world.specs[own.spec]
    mine = active(pods)
    return shrinking(mine, rank_on_any_node if world.is_widened else ranks(mine), len(mine) - spec.replicas)


def is_complete(world: World, pods: Sequence[P], own: ReplicaSetState) -> bool:
    """Return whether all pods are ready."""
    spec: ReplicaSetSpec = world.specs[own.spec]
    mine = active(pods)
    return len(mine) == spec.replicas and all(pod.stage == Stage.READY for pod in mine)


Rank = Callable[[P], tuple[int, ...]]  # the sort key of deletion; the lowest is deleted first


def shrinking(pods: Sequence[P], rank: Rank, count: int) -> list[Shrinking]:
    """Return a controller of some active pods if it has a number of them to delete."""
    if count <= 0:
        return []
    found = order(pods, rank, count)
    every = [(*found.certain, *rest) for rest in choices(found.tied, found.left)]
    return [Shrinking(every, count >= len(pods))]


class DeletionOrder(NamedTuple):
    """Pods that are deleted for certain, and pods of one rank, any `left` of which are deleted, too."""

    certain: list[P]
    tied: list[P]
    left: int


def order(pods: Sequence[P], rank: Rank, count: int) -> DeletionOrder:
    """Return which of some active pods are deleted."""
    if count <= 0:
        return DeletionOrder([], [], 0)
    if count >= len(pods):
        return DeletionOrder(list(pods), [], 0)
    ranked = sorted([(rank(pod), pod) for pod in pods], key=_FIRST)
    last = ranked[count - 1][0]
    certain = [pod for key, pod in ranked if key < last]
    tied = [pod for key, pod in ranked if key == last]
    return DeletionOrder(certain, tied, count - len(certain))


def ranks(related: Sequence[P]) -> Rank:
    """Return the ranks of pods, given the active pods of all ReplicaSets of the same controller."""
    on_node = Counter(pod.node for pod in related)
    return lambda pod: (*rank_on_any_node(pod), -on_node[pod.node], pod.age)


def rank_on_any_node(pod: P) -> tuple[int, ...]:
    """Return the rank by node, phase, readiness and deletion cost, without other pods on the node and ages."""
    stage = pod.stage
    return (pod.node != PENDING, stage in _RUNNING, stage == _READY, pod.cost)


def choices(pods: Sequence[P], count: int) -> Iterator[tuple[P, ...]]:
    """Yield every way to choose some of the pods, or `MOST_CHOICES` of them; equal pods are interchangeable."""
    kinds = sorted(Counter(pods).items())
    ways = [1] + [0] * count  # to choose 0, 1, ... pods of the kinds so far
    for _, there in kinds:
        ways = [sum(ways[max(0, size - there) : size + 1]) for size in range(count + 1)]
    if ways[count] < MOST_CHOICES:
        if len(kinds) == len(pods):  # perf: of hundreds of DaemonSet's pods, each is a kind of its own
            yield from reversed([*itertools.combinations([pod for pod, _ in kinds], count)])
        else:
            yield from _taken(kinds, count)
        return
    generator = random.Random(0)  # noqa: S311 (a simulation's choice, no secret)
    ordered = sorted(pods)
    yield tuple(ordered[:count])
    for _ in range(MOST_CHOICES - 1):
        yield tuple(generator.sample(ordered, count))


def _taken(kinds: Sequence[tuple[P, int]], count: int) -> Iterator[tuple[P, ...]]:
    if count == 0:
        yield ()
        return
    if not kinds:
        return
    (pod, there), *others = kinds
    room = sum(number for _, number in others)
    for taken in range(max(0, count - room), min(there, count) + 1):
        for rest in _taken(others, count - taken):
            yield (*[pod] * taken, *rest)


def out_of_range(world: World, state: Union[State, Draft]) -> Iterator[tuple[int, int]]:
    """Yield the workloads whose replicas are outside the range of their autoscaler, with the replicas it sets."""
    for key, scaler in world.facts[state.facts].cluster.autoscalers.items():
        own = world.own(state.sets, key)
        if own is None or key.kind not in REPLICATED_KINDS:
            continue
        replicas = world.specs[own.spec].replicas
        wanted = scaler.nearest(replicas)
        if wanted != replicas:
            yield world.owner_at[key], wanted
