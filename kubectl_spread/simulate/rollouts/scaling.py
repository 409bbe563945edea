"""Smallest skew of the running pods that a scale-down leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Optional

from kubectl_spread.engine.scale_down import remaining_pods, RemainingPods
from kubectl_spread.objects.constraints.constraint import ConstraintCounts
from kubectl_spread.simulate.first_replica import CountedConstraint

_MOST_DOMAINS = 64  # Limit of the cost: each remaining pod searches the emptiest domain.


def smallest_skew(hard: CountedConstraint, replicas: int, *, read_at: str) -> Optional[ConstraintCounts]:
    """Return the counts with the smallest skew that a scale-down of a ReplicaSet's running pods can leave.

    Returns None if no pod is deleted, if the pods are not of one ReplicaSet, or if there are many domains.

    Args:
        hard: the constraint.
        replicas: the new number of pods.
        read_at: when the cluster facts were read; empty if unknown.
    """
    own = hard.evidence.own
    if len({pod.owner for pod in own}) != 1 or any(pod.phase != "Running" for pod in own) or replicas >= len(own):
        return None
    matching = hard.own_matching()
    base = {item.value: item.matching - matching.get(item.value, 0) for item in hard.report.domains if item.eligible}
    if not 1 < len(base) <= _MOST_DOMAINS:
        return None
    left = remaining_pods(own, replicas, read_at=read_at)
    domains = {pod.node_name: hard.domain_of(pod) for pod in own}
    return least_uneven(left, domains, base)


def least_uneven(
    left: RemainingPods, domains: Mapping[str, Optional[str]], others: Mapping[str, int]
) -> ConstraintCounts:
    """Return the counts with the smallest skew, over all choices of the remaining pods.

    Args:
        left: the remaining pods.
        domains: domain of each node; None if its pods are not counted.
        others: domain -> pods counted there in addition to these.
    """
    kept = Counter(domains[pod.node_name] for pod in left.kept)
    tied = Counter(domains[pod.node_name] for pod in left.tied)
    base = {domain: count + kept[domain] for domain, count in others.items()}
    uncounted = sum(number for domain, number in tied.items() if domain not in base)
    fewest = max(0, left.number - uncounted)
    found = (_filled(base, tied, number) for number in range(fewest, left.number + 1))
    return min(found, key=lambda counts: counts.skew or 0)


def _filled(base: Mapping[str, int], tied: Counter[Optional[str]], number: int) -> ConstraintCounts:
    """Return the counts if some pods of equal rank stay, each in the emptiest domain."""
    counts, room = dict(base), Counter({domain: tied[domain] for domain in base})
    for _ in range(number):
        open_to = [domain for domain in counts if room[domain]]
        if not open_to:
            break
        emptiest = min(open_to, key=lambda domain: counts[domain])
        counts[emptiest] += 1
        room[emptiest] -= 1
    return ConstraintCounts(counts)
