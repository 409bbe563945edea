"""Pod counts of simulated outcomes, for constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Optional

from kubectl_spread.cluster.snapshot import Cluster, OwnerKey
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.suggest import effect
from kubectl_spread.suggest.problem import PendingPodProblem
from kubectl_spread.timeline.run import StepAnswer
from kubectl_spread.timeline.setup import reading


def scheduler_of(problem: PendingPodProblem, cluster: Cluster) -> Scheduler:
    """Return a scheduler for a cluster that shares most pods with the problem's."""
    known = {pod.uid for pod in problem.columns.bound_pods}
    bound = [pod for pod in cluster.pods if pod.node_name and pod.is_visible]
    there = {pod.uid for pod in bound}
    columns = problem.columns.copy_for_cluster(cluster._replace(pods=()), known - there)
    for pod in bound:
        at = columns.index.get(pod.node_name)
        if pod.uid not in known and at is not None:
            columns.bind(pod, at)
    return Scheduler(columns, _counting(problem.profiles), all_nodes=True)


def _counting(profiles: Mapping[str, Profile]) -> dict[str, Profile]:
    """Return profiles that only count pods for constraints."""
    only = names.POD_TOPOLOGY_SPREAD
    return {
        name: profile._replace(
            pre_filter=tuple(plugin for plugin in profile.pre_filter if plugin.name == only), filter_order=(only,)
        )
        for name, profile in profiles.items()
    }


def ranges_of(found: Sequence[effect.Counts], answer: StepAnswer) -> effect.Ranges:
    """Return the fewest and most pods per domain over all outcomes; interchangeable domains share a range."""
    ranges: effect.Ranges = {}
    for key in found[0]:
        alike = answer.symmetry.alike(key)
        by_kind: dict[object, tuple[int, int]] = {}
        for counts in found:
            for value, number in counts.get(key, {}).items():
                kind = alike.get(value, value)
                least, most = by_kind.get(kind, (number, number))
                by_kind[kind] = (min(least, number), max(most, number))
        ranges[key] = {value: by_kind[alike.get(value, value)] for value in found[0][key]}
    return ranges


def key_of(problem: PendingPodProblem, start: Cluster) -> Optional[OwnerKey]:
    """Return the workload's key in the simulation; None for a bare pod or an unknown controller."""
    key = _named(problem)
    if not problem.exists:
        return key if key is not None and key.kind in reading.KINDS else None
    return key if key in start.controllers else None


def _named(problem: PendingPodProblem) -> Optional[OwnerKey]:
    owner = problem.owner
    if owner.kind == "Pod":
        return None
    if owner.kind == "CronJob" and problem.pod.owner is not None:
        return OwnerKey("Job", problem.pod.namespace, problem.pod.owner.name)
    return OwnerKey(owner.kind, owner.namespace, owner.name)
