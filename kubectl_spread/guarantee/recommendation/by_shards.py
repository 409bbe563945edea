"""Recommended constraints for each number of shards: the limits of shares depend on the number of pods."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_spread.guarantee.policy.rule import PolicyRule
from kubectl_spread.guarantee.recommendation.result import (
    Recommendation,
    RecommendationRequest,
    ShardLimit,
    ShardRecommendation,
)
from kubectl_spread.guarantee.recommendation.search import recommend
from kubectl_spread.guarantee.setup.member import Member
from kubectl_spread.guarantee.setup.shards import more_shards


def recommend_for_group(request: RecommendationRequest) -> Recommendation:
    """Return constraints for a group as it is, and for each number of its shards.

    Each number of shards gets an equal part of the states.
    """
    members = request.members
    shards = members[0].shards
    if shards is None:
        return recommend(request)
    constant = [member._replace(shards=None) for member in members]
    numbers = list(dict.fromkeys((len(constant), *range(shards.least, shards.most + 1))))
    part = request.effort._replace(max_states=-(-request.effort.max_states // len(numbers)))
    found = {number: recommend(request._replace(members=_of_size(constant, number), effort=part)) for number in numbers}
    by_shards = [
        ShardRecommendation(number, _pods(constant, number), _limits(constant, number, request.rules), found[number])
        for number in range(shards.least, shards.most + 1)
    ]
    return found[len(constant)]._replace(by_shards=tuple(by_shards))


def _of_size(members: Sequence[Member], number: int) -> list[Member]:
    more = more_shards(members, max(0, number - len(members)))
    return [*members[:number], *(item._replace(is_extra=False) for item in more)]


def _pods(members: Sequence[Member], number: int) -> int:
    return sum(item.controller.workload.replicas or 0 for item in _of_size(members, number))


def _limits(members: Sequence[Member], number: int, rules: Sequence[PolicyRule]) -> tuple[ShardLimit, ...]:
    """Return the most pods that each rule lets into a domain."""
    limits = ((rule, rule.most(_pods(members, number))) for rule in rules)
    return tuple(ShardLimit(rule, most) for rule, most in limits if most is not None)
