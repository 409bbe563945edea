"""A descheduler as users have it: each constraint alone, and no look at where the new pods land.

It follows RemovePodsViolatingTopologySpreadConstraint of kubernetes-sigs/descheduler: domains with many pods give up
pods until the skew of the present counts is small enough. A pod is evicted only if it fits on a node of a domain with
few pods, by taints and requests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from kubectl_spread.cluster.snapshot import Cluster, OwnerKey
from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.configuration.profiles import profiles
from kubectl_spread.simulate.running.status import ConstraintStatus, statuses
from kubectl_spread.timeline import steps
from kubectl_spread.timeline.run import Limits, Mode, play


class Round(NamedTuple):
    """One run: the evicted pods, and the cluster once it is at rest."""

    evicted: tuple[str, ...]
    after: Cluster


def rounds(cluster: Cluster, key: OwnerKey, *, most: int) -> list[Round]:
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


def _to_evict(cluster: Cluster, key: OwnerKey) -> Iterator[str]:
    (status,) = statuses(cluster, profiles(), wants=lambda found, _: found == key)
    for item in status.constraints:
        yield from _balanced(cluster, item)


def _balanced(cluster: Cluster, status: ConstraintStatus) -> Iterator[str]:
    """Yield the pods that leave domains above the average, from the fullest on."""
    of = {node.name: node.labels.get(status.topology_key, "") for node in cluster.nodes}
    pods: dict[str, list[Pod]] = {domain.value: [] for domain in status.domains}
    for pod in cluster.bound():
        if status.selector is not None and status.selector.matches(dict(pod.cls.labels)):
            pods[of[pod.node_name]].append(pod)
    counts = {value: len(found) for value, found in pods.items()}
    average = sum(counts.values()) / len(counts)
    while max(counts.values()) - min(counts.values()) > status.max_skew:
        full, free = max(counts, key=counts.__getitem__), min(counts, key=counts.__getitem__)
        skew = counts[full] - counts[free]
        number = min(
            math.ceil(counts[full] - average),
            math.ceil(average - counts[free]),
            math.ceil((skew - status.max_skew) / 2),
        )
        targets = {name for name, value in of.items() if value in counts and counts[value] < average}
        chosen = [pod for pod in pods[full] if _fits(pod, targets, cluster)][:number]
        if not chosen:
            return
        yield from (pod.uid for pod in chosen)
        pods[full] = [pod for pod in pods[full] if pod not in chosen]
        counts[full] -= len(chosen)
        counts[free] += len(chosen)


def _fits(pod: Pod, targets: set[str], cluster: Cluster) -> bool:
    """Return whether a target node has room and repels no pod; constraints are not considered."""
    used: dict[str, int] = {}
    for other in cluster.bound():
        used[other.node_name] = used.get(other.node_name, 0) + dict(other.cls.requests).get("cpu", 0)
    wanted = dict(pod.cls.requests).get("cpu", 0)
    return any(
        node.name in targets
        and not any(taint.repels for taint in node.taints)
        and used.get(node.name, 0) + wanted <= node.allocatable["cpu"]
        for node in cluster.nodes
    )
