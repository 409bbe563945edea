"""A descheduler as users have it: each constraint alone, and no look at where the new pods land.

It follows RemovePodsViolatingTopologySpreadConstraint of kubernetes-sigs/descheduler: domains with many pods give up
pods until the skew of the present counts is small enough. A pod is evicted only if it fits on a node of a domain with
few pods, by taints and requests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine import steps
from kubectl_spread.engine.run import Limits, Mode, play
from kubectl_spread.explain.status import ConstraintStatus, statuses
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.profiles import profiles


class Round(NamedTuple):
    """One run: the evicted pods, and the cluster once it is at rest."""

    evicted: tuple[str, ...]
    after: Cluster


def rounds(cluster: Cluster, key: ObjectKey, *, most: int) -> list[Round]:
    """Return the runs until one evicts nothing; at most `most`."""
    found: list[Round] = []
    for _ in range(most):
        pods = tuple(dict.fromkeys(_to_evict(cluster, key)))
        ops = [steps.DeletePods(pods)]
        answer = play(cluster, profiles(), [ops], limits=Limits(mode=Mode.FIRST))
        cluster = answer.last.outcomes[0].cluster()
        found.append(Round(pods, cluster))
        if not pods:
            break
    return found


def _to_evict(cluster: Cluster, key: ObjectKey) -> Iterator[str]:
    (status,) = statuses(cluster, profiles(), wants=lambda found, _: found == key)
    for item in status.constraints:
        yield from _balanced(cluster, item)


def _balanced(cluster: Cluster, status: ConstraintStatus) -> Iterator[str]:
    """Yield the pods that leave domains above the average: the fullest give to the emptiest, as `balanceDomains` does.

    A pod that fits nowhere stays, but is counted as moved.
    """
    of = {node.name: node.labels.get(status.topology_key, "") for node in cluster.nodes}
    pods: dict[str, list[Pod]] = {domain.value: [] for domain in status.domains}
    for pod in cluster.bound_pods():
        is_counted = status.selector is not None and status.selector.matches(dict(pod.cls.labels))
        if is_counted and not pod.terminating and of[pod.node_name] in pods:
            pods[of[pod.node_name]].append(pod)
    average = sum(map(len, pods.values())) / len(pods)
    targets = {name for name, value in of.items() if value in pods and len(pods[value]) < average}
    domains = sorted(pods.values(), key=len)
    low, high = 0, len(domains) - 1
    while low < high:
        if len(domains[high]) <= average:
            high -= 1
            continue
        number = _to_move(len(domains[high]), len(domains[low]), average, most_skew=status.max_skew)
        if number <= 0:
            low += 1
            continue
        chosen = domains[high][-number:]
        yield from (pod.uid for pod in chosen if _fits(pod, targets, cluster))
        del domains[high][-number:]
        domains[low] += chosen


def _to_move(full: int, empty: int, average: float, *, most_skew: int) -> int:
    """Return how many pods one domain gives to another: neither crosses the average, and half the skew is enough."""
    if full - empty <= most_skew:
        return 0
    half = math.ceil((full - empty - most_skew) / 2)
    return min(math.ceil(full - average), math.ceil(average - empty), half)


def _fits(pod: Pod, targets: set[str], cluster: Cluster) -> bool:
    """Return whether a target node has room and repels no pod; constraints are not considered."""
    used: dict[str, int] = {}
    for other in cluster.bound_pods():
        used[other.node_name] = used.get(other.node_name, 0) + dict(other.cls.requests).get("cpu", 0)
    wanted = dict(pod.cls.requests).get("cpu", 0)
    return any(
        node.name in targets
        and not any(taint.repels for taint in node.taints)
        and used.get(node.name, 0) + wanted <= node.allocatable["cpu"]
        for node in cluster.nodes
    )
