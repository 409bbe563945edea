"""Recommended constraints for each number of shards: the limits of shares depend on the number of pods."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.guarantee.recommendation.result import Recommendation, ShardLimit, ShardRecommendation
from kubectl_spread.guarantee.recommendation.search import recommend
from kubectl_spread.guarantee.setup.member import Member
from kubectl_spread.guarantee.setup.shards import more_shards
from kubectl_spread.guarantee.verdict import Effort
from kubectl_spread.policy.policy import Regime, REGIMES
from kubectl_spread.policy.rule import PolicyRule
from kubectl_spread.scheduler.framework.profile import Profile


def recommend_for_group(
    members: Sequence[Member],
    cluster: Cluster,
    profiles: Mapping[str, Profile],
    rules: Sequence[PolicyRule],
    *,
    effort: Effort,
    regimes: Sequence[Regime] = REGIMES,
) -> Recommendation:
    """Return constraints for a group as it is, and for each number of its shards.

    Args:
        members: the workloads.
        cluster: the cluster facts.
        profiles: of the scheduler.
        rules: of the policy.
        effort: limits of the searches; each number of shards gets an equal part of the time.
        regimes: in which the policy is to hold.
    """
    shards = members[0].shards
    if shards is None:
        return recommend(members, cluster, profiles, rules, effort=effort, regimes=regimes)
    constant = [member._replace(shards=None) for member in members]
    numbers = list(dict.fromkeys((len(constant), *range(shards.least, shards.most + 1))))
    found: dict[int, Recommendation] = {}
    for at, number in enumerate(numbers):
        group = _of_size(constant, number)
        part = _part(effort, len(numbers) - at)
        found[number] = recommend(group, cluster, profiles, rules, effort=part, regimes=regimes)
    by_shards = [
        ShardRecommendation(number, _pods(constant, number), tuple(_limits(constant, number, rules)), found[number])
        for number in range(shards.least, shards.most + 1)
    ]
    return found[len(constant)]._replace(by_shards=tuple(by_shards))


def _of_size(members: Sequence[Member], number: int) -> list[Member]:
    more = more_shards(members, max(0, number - len(members)))
    return [*members[:number], *(item._replace(is_extra=False) for item in more)]


def _part(effort: Effort, parts: int) -> Effort:
    """Return the limits for the first of several parts."""
    if effort.deadline is None:
        return effort
    now = time.monotonic()
    return effort._replace(deadline=now + max(0.0, effort.deadline - now) / parts)


def _pods(members: Sequence[Member], number: int) -> int:
    return sum(item.controller.workload.replicas or 0 for item in _of_size(members, number))


def _limits(members: Sequence[Member], number: int, rules: Sequence[PolicyRule]) -> Iterator[ShardLimit]:
    """Yield the most pods that each rule lets into a domain."""
    for rule in rules:
        most = rule.most(_pods(members, number))
        if most is not None:
            yield ShardLimit(rule, most)
