"""Job: a fixed number of pods at a time. No pod succeeds here; deleted pods count as failed.

Source: pkg/controller/job/job_controller.go, syncJob, isPodFailed, manageJob, onlyReplaceFailedPods;
pod_failure_policy.go, matchPodFailurePolicy; indexed_job_utils.go, firstPendingIndexes (v1.36.2).
Differences: a failed pod counts when its deletion is requested; a Job with a podFailurePolicy really counts it once it
has ended. Exit codes are unknown, so that rules about them match no pod. backoffLimitPerIndex is ignored.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.engine.controllers import replicaset
from kubectl_spread.engine.draft import Draft
from kubectl_spread.engine.state import P, PENDING
from kubectl_spread.engine.world import World

BACKOFF_S = 10  # after the first failure; it doubles
BACKOFF_LIMIT = 6


class FailureAction(Enum):
    """Consequence of a failed pod."""

    COUNT = "Count"
    IGNORE = "Ignore"
    FAIL_JOB = "FailJob"


class JobSpec(NamedTuple):
    """Spec of a Job.

    replicas: its number of pods at a time; earlier successes do not count. completed: the indexes that need
    no pod. backoff_limit: failures that it endures; None for any number. on_disruption: consequence of a pod that an
    eviction, preemption or a taint removes. waits_for_end: a pod is replaced once it is gone.
    """

    replicas: int
    rev: int
    is_indexed: bool = False
    completions: int = 0
    completed: frozenset[int] = frozenset()
    backoff_limit: Optional[int] = BACKOFF_LIMIT
    on_disruption: FailureAction = FailureAction.COUNT
    waits_for_end: bool = False


class JobState(NamedTuple):
    """State that a Job's controller remembers; failures: number of failed pods, one more than the limit at most."""

    spec: int
    failures: int = 0


def has_failed(spec: JobSpec, own: JobState) -> bool:
    """Return whether a Job has ended because of its failed pods."""
    return spec.backoff_limit is not None and own.failures > spec.backoff_limit


def count_failed(draft: Draft, pods: Sequence[P], *, is_disruption: bool) -> None:
    """Count pods that somebody else deletes, and that have not been deleted before."""
    for pod in pods:
        own = draft.sets[pod.owner] if pod.owner >= 0 else None
        if pod.end or not isinstance(own, JobState):
            continue
        spec: JobSpec = draft.world.specs[own.spec]
        action = spec.on_disruption if is_disruption else FailureAction.COUNT
        if action is not FailureAction.IGNORE and spec.backoff_limit is not None:
            most = spec.backoff_limit + 1
            failures = most if action is FailureAction.FAIL_JOB else min(most, own.failures + 1)
            draft.sets[pod.owner] = own._replace(failures=failures)


def waits_for_end(world: World, spec: JobSpec) -> bool:
    """Return whether a Job replaces a deleted pod only after it is gone, or after a backoff that is as long."""
    return spec.waits_for_end or world.patience_s < BACKOFF_S


def act(draft: Draft, owner: int) -> bool:
    """Create missing pods, or delete all pods of a failed Job; return whether anything changed."""
    own: JobState = draft.sets[owner]
    spec: JobSpec = draft.world.specs[own.spec]
    every = draft.of(owner)
    mine = replicaset.active(every)
    if has_failed(spec, own):
        draft.delete(mine)
        return bool(mine)
    missing = spec.replicas - len(mine)
    if waits_for_end(draft.world, spec):
        missing -= len(every) - len(mine)
    if missing <= 0:
        return False
    if not spec.is_indexed:
        return replicaset.create(draft, spec.rev, missing)
    taken = {pod.ordinal for pod in (every if spec.waits_for_end else mine)}
    pending = (index for index in range(spec.completions) if index not in taken and index not in spec.completed)
    created = [draft.create(spec.rev, index) for index in itertools.islice(pending, missing)]
    return any(created)


def excess(world: World, pods: Sequence[P], own: JobState) -> list[replicaset.Shrinking]:
    """Return the Job if it has too many pods (ActivePods, which ignores nodes and costs here)."""
    spec: JobSpec = world.specs[own.spec]
    mine = replicaset.active(pods)
    count = len(mine) - spec.replicas
    if spec.is_indexed:  # Each ordinal has a rank of its own.
        return replicaset.shrinking(mine, lambda pod: (-pod.ordinal,), count)
    return replicaset.shrinking(mine, lambda pod: (pod.node != PENDING, pod.stage, pod.age), count)


def is_complete(world: World, pods: Sequence[P], own: JobState) -> bool:
    """Return whether all pods that may run have a node."""
    spec: JobSpec = world.specs[own.spec]
    counts = Counter(pod.node != PENDING for pod in replicaset.active(pods))
    return counts[True] == spec.replicas and not counts[False] and not has_failed(spec, own)
