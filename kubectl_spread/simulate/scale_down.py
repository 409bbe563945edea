"""Deletion order of a ReplicaSet's pods when it is scaled down.

All pods are assumed to run, to be ready and to have no deletion cost. Pods on the nodes with the most of them are
deleted first, counted once before any deletion. Of pods with equal counts the youngest is deleted, but ages are unknown
here. So whole groups of equal counts are deleted, and any pods of the last group: the best choice is assumed.

Source: pkg/controller/controller_utils.go, ActivePodsWithRanks (v1.36.2); pkg/controller/replicaset/replica_set.go,
getPodsRankedByRelatedPodsOnSameNode.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Optional

from kubectl_spread.objects.constraints.constraint_counts import ConstraintCounts

_MOST_DOMAINS = 64  # Limit of the cost: each remaining pod searches the emptiest domain.


def least_uneven(
    pods: Sequence[tuple[str, Optional[str]]], others: Mapping[str, int], replicas: int
) -> Optional[ConstraintCounts]:
    """Return the counts with the smallest skew that a scale-down can leave.

    Returns None if no pod is deleted, or if there are many domains.

    Args:
        pods: node and domain of each pod; the domain is None if the pod is not counted.
        others: domain -> pods counted there in addition to these.
        replicas: number of pods to leave.
    """
    if replicas >= len(pods) or not 1 < len(others) <= _MOST_DOMAINS:
        return None
    kept, last, left = _kept(pods, replicas)
    base = {domain: count + kept[domain] for domain, count in others.items()}
    uncounted = sum(number for domain, number in last.items() if domain not in base)
    fewest = max(0, left - uncounted)
    return min((_filled(base, last, number) for number in range(fewest, left + 1)), key=lambda live: live.skew or 0)


def _kept(
    pods: Sequence[tuple[str, Optional[str]]], replicas: int
) -> tuple[Counter[Optional[str]], Counter[Optional[str]], int]:
    """Return the domains of pods that stay for certain, and the group of equal pods from which the rest is chosen.

    The last value is the number of pods that stay of this group.
    """
    ranks = Counter(node for node, _ in pods)
    kept: Counter[Optional[str]] = Counter()
    left = replicas
    for rank in sorted(set(ranks.values())):
        group = [domain for node, domain in pods if ranks[node] == rank]
        if len(group) > left:
            return kept, Counter(group), left
        kept.update(group)
        left -= len(group)
    return kept, Counter(), 0


def _filled(base: Mapping[str, int], last: Counter[Optional[str]], number: int) -> ConstraintCounts:
    """Return the counts if some pods of the last group stay, each in the emptiest domain."""
    counts, room = dict(base), Counter({domain: last[domain] for domain in base})
    for _ in range(number):
        open_to = [domain for domain in counts if room[domain]]
        if not open_to:
            break
        emptiest = min(open_to, key=lambda domain: counts[domain])
        counts[emptiest] += 1
        room[emptiest] -= 1
    return ConstraintCounts(counts)
