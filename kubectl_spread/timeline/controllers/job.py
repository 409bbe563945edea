"""Job: a fixed number of pods at a time. No pod finishes here.

Source: pkg/controller/job/job_controller.go, manageJob; indexed_job_utils.go, firstPendingIndexes (v1.36.2).
Difference: no pod succeeds or fails, so that neither completions nor backoffLimit are ever reached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from kubectl_spread.timeline.controllers import replicaset
from kubectl_spread.timeline.draft import Draft
from kubectl_spread.timeline.state import P, PENDING
from kubectl_spread.timeline.world import World

BACKOFF_S = 10  # after the first failure; it doubles


class JobSpec(NamedTuple):
    """Spec of a Job: `replicas` is its number of pods at a time."""

    replicas: int
    rev: int
    is_indexed: bool = False


class JobState(NamedTuple):
    """State that a Job's controller remembers."""

    spec: int


def act(draft: Draft, owner: int) -> bool:
    """Create missing pods, and return whether there were any."""
    spec: JobSpec = draft.world.specs[draft.sets[owner].spec]
    mine = [pod for pod in draft.of(owner) if replicaset.is_active(pod)]
    missing = spec.replicas - len(mine)
    if draft.world.patience_s < BACKOFF_S:
        # A deleted pod counts as failed, and is replaced after a while.
        missing -= sum(not replicaset.is_active(pod) for pod in draft.of(owner))
    if missing <= 0:
        return False
    if not spec.is_indexed:
        return replicaset.create(draft, spec.rev, missing)
    there = {pod.ordinal for pod in mine}
    absent = [index for index in range(spec.replicas) if index not in there]
    created = [draft.create(spec.rev, index) for index in absent[:missing]]
    return any(created)


def excess(world: World, pods: Sequence[P], owner: int, own: JobState) -> replicaset.Excess:
    """Return every choice of the pods to delete now (ActivePods, which ignores nodes and costs here)."""
    spec: JobSpec = world.specs[own.spec]
    mine = [pod for pod in pods if pod.owner == owner and replicaset.is_active(pod)]
    count = len(mine) - spec.replicas
    if count <= 0:
        return replicaset.Excess([])
    if spec.is_indexed:
        return replicaset.Excess([tuple(sorted(mine, key=lambda pod: -pod.ordinal)[:count])])
    ranked = sorted(mine, key=_rank)
    last = _rank(ranked[count - 1])
    certain = [pod for pod in ranked if _rank(pod) < last]
    tied = [pod for pod in ranked if _rank(pod) == last]
    return replicaset.Excess([(*certain, *rest) for rest in replicaset.choices(tied, count - len(certain))])


def _rank(pod: P) -> tuple[int, ...]:
    return (pod.node != PENDING, pod.stage, pod.age)


def is_complete(world: World, pods: Sequence[P], owner: int, own: JobState) -> bool:
    """Return whether all pods that may run have a node."""
    spec: JobSpec = world.specs[own.spec]
    counts = Counter(pod.node != PENDING for pod in pods if pod.owner == owner and replicaset.is_active(pod))
    return counts[True] == spec.replicas and not counts[False]
