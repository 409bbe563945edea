"""Constraints before and after a plan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Optional

from kubectl_spread.advice.rebalance.goals import is_broken
from kubectl_spread.advice.rebalance.plan import ConstraintChange, DomainChange
from kubectl_spread.advice.rebalance.tally import Tally
from kubectl_spread.engine.state import State
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.simulate.running.status import ConstraintStatus, WorkloadStatus

Alike = Callable[[str], Mapping[str, object]]  # by topology key: signature of each domain


def before(status: WorkloadStatus, *, has_soft: bool) -> tuple[ConstraintChange, ...]:
    """Return the violated constraints of a workload as they are."""
    broken = (item for item in status.constraints if is_broken(item, has_soft=has_soft))
    return tuple(change(status.key, item, is_violated=True) for item in broken)


def change(
    key: ObjectKey,
    status: ConstraintStatus,
    *,
    is_violated: bool,
    counts: Sequence[Mapping[str, int]] = (),
    alike: Optional[Mapping[str, object]] = None,
) -> ConstraintChange:
    """Return a constraint before, and after if there are `counts` of domains for each outcome.

    alike: signature of each domain; a domain may have any count of the domains with the same one.
    """
    values = list(status.counts.domains)
    kinds: dict[object, list[str]] = {}
    for value in values:
        kinds.setdefault((alike or {}).get(value, value), []).append(value)
    ranges: dict[str, Range] = {}
    for same in kinds.values():
        numbers = [item.get(value, 0) for item in counts for value in same]
        ranges.update(dict.fromkeys(same, Range(min(numbers, default=0), max(numbers, default=0))))
    skews = [_skew(status, item) for item in counts]
    return ConstraintChange(
        key,
        status.position,
        status.topology_key,
        status.max_skew,
        status.when_unsatisfiable,
        status.min_domains,
        status.is_default,
        is_violated,
        tuple(
            DomainChange(value, matching, ranges[value] if counts else None)
            for value, matching in status.counts.domains.items()
        ),
        status.skew,
        Range(min(skews), max(skews)) if skews else None,
    )


def _skew(status: ConstraintStatus, counts: Mapping[str, int]) -> int:
    numbers = [counts.get(value, 0) for value in status.counts.domains]
    return max(numbers) - (0 if status.counts.is_below_min_domains else min(numbers))


def after(
    keys: Collection[ObjectKey], tally: Tally, states: Iterable[State], *, alike: Alike, has_soft: bool
) -> tuple[ConstraintChange, ...]:
    """Return the constraints of some workloads before and after, over all states."""
    found = [tally.counts(state) for state in states]
    return tuple(
        change(
            goal.key,
            goal.status,
            is_violated=is_broken(goal.status, has_soft=has_soft),
            counts=[item[at].all for item in found],
            alike=alike(goal.status.topology_key),
        )
        for at, goal in enumerate(tally.goals)
        if goal.key in keys
    )
