"""Conflicts of nested constraints: no distribution of the pods satisfies all of them.

Every domain of a nested key lies in one domain of the key before it. A domain may have m .. m + maxSkew pods, and its
inner domains together must have as many:

    zone a: 3..4 pods    nodes a1, a2, a3: 1..2 each, so 3..6     possible
    zone b: 3..4 pods    node b1:          1..2     , so 1..2     impossible
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Optional

from kubectl_spread.advice.rebalance.goals import Goal
from kubectl_spread.advice.rebalance.tally import GoalCounts
from kubectl_spread.cluster.nested_domains import refines
from kubectl_spread.objects.keys import Range

_MOST_TRIED = 100_000


def conflict(goals: Sequence[Goal], counts: Sequence[GoalCounts]) -> tuple[Goal, ...]:
    """Return constraints of one workload that no distribution of its pods satisfies together; none if unknown.

    Args:
        goals: the constraints to satisfy.
        counts: their present counts.
    """
    by_key: dict[object, list[tuple[Goal, GoalCounts]]] = {}
    for goal, found in zip(goals, counts, strict=True):
        by_key.setdefault((goal.key, goal.selector), []).append((goal, found))
    for same in by_key.values():
        nested = _nested(same)
        if nested is not None and len(nested) > 1 and not _is_possible(nested):
            return tuple(goal for goal, _ in nested)
    return ()


def _nested(found: Sequence[tuple[Goal, GoalCounts]]) -> Optional[list[tuple[Goal, GoalCounts]]]:
    """Return the constraints, coarsest first, if each refines the one before; else None."""
    ordered = sorted(found, key=lambda item: len(item[0].values))
    for (coarse, _), (fine, _) in itertools.pairwise(ordered):
        nodes = fine.domain_of.keys()
        if coarse.domain_of.keys() != nodes or not refines(fine.domain_of.values(), map(coarse.domain_of.get, nodes)):
            return None
    return ordered


def _is_possible(nested: Sequence[tuple[Goal, GoalCounts]]) -> bool:
    total = max(sum(counts.all.values()) + counts.arriving for _, counts in nested)
    choices = [_minima(goal, total) for goal, _ in nested]
    tried = itertools.islice(itertools.product(*choices), _MOST_TRIED)
    done = 0
    for minima in tried:
        done += 1
        bounds = _together(nested, minima)
        if bounds is not None and bounds.least <= total <= bounds.most:
            return True
    return done == _MOST_TRIED


def _minima(goal: Goal, total: int) -> range:
    if goal.status.counts.is_below_min_domains:
        return range(1)
    return range(total // len(goal.values) + 1)


def _together(nested: Sequence[tuple[Goal, GoalCounts]], minima: Sequence[int]) -> Optional[Range]:
    """Return the bounds of all pods if each constraint's emptiest domain has a given number; None if impossible."""
    inner: dict[str, Range] = {}
    outer_of: dict[str, str] = {}
    for at in reversed(range(len(nested))):
        goal, counts = nested[at]
        own = dict(_own(goal, counts, minima[at]))
        if inner:
            own = {value: _within(found, _sum(inner, outer_of, value)) for value, found in own.items()}
        if any(found.least > found.most for found in own.values()):
            return None
        inner = own
        if at:
            outer_of = {goal.domain_of[node]: nested[at - 1][0].domain_of[node] for node in goal.domain_of}
    return Range(sum(item.least for item in inner.values()), sum(item.most for item in inner.values()))


def _own(goal: Goal, counts: GoalCounts, least: int) -> Iterator[tuple[str, Range]]:
    floor = 0 if goal.status.counts.is_below_min_domains else least
    for value in goal.values:
        fixed = counts.all[value] - counts.movable[value]
        yield value, Range(max(floor, fixed), least + goal.most_skew)


def _within(one: Range, other: Range) -> Range:
    return Range(max(one.least, other.least), min(one.most, other.most))


def _sum(inner: Mapping[str, Range], outer_of: Mapping[str, str], value: str) -> Range:
    found = [bounds for name, bounds in inner.items() if outer_of[name] == value]
    return Range(sum(item.least for item in found), sum(item.most for item in found))
