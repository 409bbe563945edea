"""Running pods that a scale-down leaves, in every outcome, and the smallest skew."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Optional

from kubectl_spread.cluster.snapshot import Cluster, Controller, key_of
from kubectl_spread.cluster.tables.columns import Columns
from kubectl_spread.objects.constraints.constraint_counts import ConstraintCounts
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.simulate import scale_down
from kubectl_spread.simulate.first_replica import CountedConstraint
from kubectl_spread.timeline import steps
from kubectl_spread.timeline.run import Limits, play

_LIMITS = Limits(max_states=200, samples=1, seconds=1.0, has_messages=False, first_run_s=0, clock=time.process_time)
_MOST_PODS = 40


def smallest_skew(
    hard: CountedConstraint, replicas: int, cluster: Cluster, profiles: Mapping[str, Profile], *, bound: Columns
) -> Optional[ConstraintCounts]:
    """Return the counts with the smallest skew that a scale-down of a ReplicaSet's running pods can leave.

    They are the best over all simulated outcomes, or else a bound.
    """
    own = hard.evidence.own
    if len({pod.owner for pod in own}) != 1 or any(pod.phase != "Running" for pod in own):
        return None
    pods = [(pod.node_name, hard.domain_of(pod)) for pod in own]
    matching = hard.own_matching()
    base = {item.value: item.matching - matching.get(item.value, 0) for item in hard.report.domains if item.eligible}
    limit = scale_down.least_uneven(pods, base, replicas)
    if limit is None or not any(map(_is_deleted_early, own)):
        return limit  # It is exact for pods that are all ready and equally cheap to delete.
    running = hard.evidence.owner._replace(replicas=len(own))
    outcomes = remaining_pods(running, replicas, cluster, profiles, bound=bound)
    if not outcomes or any(len(nodes) != replicas for nodes in outcomes):
        return limit
    best = _best(base, dict(pods), outcomes)
    return limit if best.skew == limit.skew else best  # Of equal domains the limit names the same each time.


def _is_deleted_early(pod: Pod) -> bool:
    """Return whether readiness or deletion cost decides when a pod is deleted."""
    return pod.is_ready is False or bool(pod.deletion_cost)


def _best(
    base: Mapping[str, int], domains: Mapping[str, Optional[str]], outcomes: Sequence[Sequence[str]]
) -> ConstraintCounts:
    """Return the counts with the smallest skew.

    Args:
        base: other matching pods, by domain.
        domains: of the nodes.
        outcomes: the nodes of the pods that are left, for each outcome.
    """
    left = [Counter(domains.get(node) for node in nodes) for nodes in outcomes]
    results = [ConstraintCounts({value: base[value] + pods[value] for value in base}) for pods in left]
    return min(results, key=lambda counts: counts.skew or 0)


def remaining_pods(
    workload: Workload, replicas: int, cluster: Cluster, profiles: Mapping[str, Profile], *, bound: Columns
) -> Optional[list[list[str]]]:
    """Return the nodes of the pods that are left, for each outcome; None if there may be outcomes that were not found.

    Args:
        workload: with all its pods running.
        replicas: the new number of pods.
        cluster: the cluster of the pods.
        profiles: of the scheduler.
        bound: the bound pods of the cluster.
    """
    key = key_of(workload)
    if (workload.replicas or 0) > _MOST_PODS:
        return None
    controllers = {key: Controller(workload), **cluster.controllers}
    known = cluster._replace(controllers=controllers)
    found = play(known, profiles, [steps.Scale(key, replicas)], limits=_LIMITS, bound=bound).last
    if not found.is_exact:
        return None
    return [
        [pod.node for pod in outcome.pods if pod.owner == key and pod.node and not pod.is_terminating]
        for outcome in found.outcomes
    ]
