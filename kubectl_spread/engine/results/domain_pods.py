"""Pods of workloads per domain, as ranges over many outcomes.

Interchangeable domains share one range. The work grows with the pods of the outcomes, not with domains times outcomes.
A domain without pods is counted once for all outcomes in which it exists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Optional

from kubectl_spread.engine.results.answer import Outcome
from kubectl_spread.objects.keys import ObjectKey, Range, range_of

Counts = dict[str, Counter[int]]  # pods by domain and number of the revision; only domains with pods


class DomainPods(NamedTuple):
    """Pods of a workload in one domain; `revisions`: after the step, by the number of the revision."""

    value: str
    before: Range
    after: Range
    revisions: dict[int, Range]


def counts_of(outcome: Outcome, keys: Sequence[ObjectKey], topology_key: str) -> Counts:
    """Return the pods of some workloads in each domain that has any, without terminating pods."""
    domains = outcome.domains_of(topology_key)
    found: Counts = {}
    for pod in outcome.pods:
        if pod.owner in keys and not pod.is_terminating and pod.node in domains:
            found.setdefault(domains[pod.node], Counter())[pod.number] += 1
    return found


def domain_pods(
    values: Sequence[str],
    outcomes: tuple[Sequence[Outcome], Sequence[Outcome]],
    keys: Sequence[ObjectKey],
    *,
    topology_key: str,
) -> tuple[DomainPods, ...]:
    """Return the ranges of each domain.

    Args:
        values: all domains, sorted.
        outcomes: before and after the step.
        keys: the workloads, counted together.
        topology_key: of the domains.
    """
    before, after = ([_counted(item, keys, topology_key) for item in each] for each in outcomes)
    befores, afters = _ranges(values, before, _totals), _ranges(values, after, _totals)
    numbers = {number for item in after for found in item.counts.values() for number in found}
    revisions = {number: _ranges(values, after, _of_revision(number)) for number in sorted(numbers)}
    return tuple(
        DomainPods(value, befores[at], afters[at], {number: ranges[at] for number, ranges in revisions.items()})
        for at, value in enumerate(values)
    )


def ranges_of(counts: Sequence[Mapping[str, int]], alike: Mapping[str, object]) -> dict[str, Range]:
    """Return the range of each domain over some outcomes; domains with equal values of `alike` share one."""
    numbers: dict[object, list[int]] = {}
    for value, number in (item for found in counts for item in found.items()):
        numbers.setdefault(alike.get(value, value), []).append(number)
    ranges = {kind: range_of(found) for kind, found in numbers.items()}
    return {value: ranges[alike.get(value, value)] for found in counts for value in found}


class _Counted(NamedTuple):
    """Pods of an outcome, its domains, and a value for each domain; domains with equal values are interchangeable."""

    counts: Counts
    domains: Sequence[str]
    kinds: Mapping[str, object]


def _counted(outcome: Outcome, keys: Sequence[ObjectKey], topology_key: str) -> _Counted:
    kinds = outcome.interchange.alike(topology_key)
    return _Counted(counts_of(outcome, keys, topology_key), outcome.domain_values(topology_key), kinds)


def _ranges(
    values: Sequence[str], counted: Iterable[_Counted], amounts: Callable[[Counts], dict[str, int]]
) -> list[Range]:
    """Return the range of each domain; outcomes with the same interchangeable domains are added up together."""
    by_kinds: dict[int, tuple[dict[str, int], _Ranges]] = {}  # by identity of the kinds
    for item in counted:
        known = by_kinds.get(id(item.kinds))
        if known is None:
            groups = _groups(values, item.kinds)
            known = by_kinds[id(item.kinds)] = (groups, _Ranges(groups))
        known[1].add(amounts(item.counts), item.domains)
    found = [(groups, ranges.ranges()) for groups, ranges in by_kinds.values()]
    return [_over(ranges[groups[value]] for groups, ranges in found) for value in values]


def _over(ranges: Iterable[Optional[Range]]) -> Range:
    """Return the range over several ones; 0 and 0 without any."""
    known = [item for item in ranges if item is not None]
    return Range(min((item.least for item in known), default=0), max((item.most for item in known), default=0))


def _of_revision(number: int) -> Callable[[Counts], dict[str, int]]:
    return lambda counts: {value: found[number] for value, found in counts.items() if found[number]}


def _totals(counts: Counts) -> dict[str, int]:
    return {value: found.total() for value, found in counts.items()}


def _groups(values: Sequence[str], kinds: Mapping[str, object]) -> dict[str, int]:
    """Return the number of each domain's group; interchangeable domains have the same one."""
    numbers: dict[object, int] = {}
    return {value: numbers.setdefault(kinds.get(value, value), len(numbers)) for value in values}


class _Ranges:
    """Ranges of groups of domains, over outcomes that are added one by one."""

    def __init__(self, group_of: dict[str, int]) -> None:
        number = max(group_of.values(), default=-1) + 1
        self._group_of = group_of
        self._least: list[Optional[int]] = [None] * number
        self._most = [0] * number
        self._seen = [0] * number  # domains with pods, over all outcomes
        self._times: dict[int, tuple[Sequence[str], int]] = {}  # how often each list of domains was added, by its id

    def add(self, counts: Mapping[str, int], domains: Sequence[str]) -> None:
        """Add an outcome: pods in the domains that have any, and all its domains."""
        _, times = self._times.get(id(domains), (domains, 0))
        self._times[id(domains)] = (domains, times + 1)
        for value, pods in counts.items():
            group = self._group_of[value]
            least = self._least[group]
            self._least[group] = pods if least is None else min(least, pods)
            self._most[group] = max(self._most[group], pods)
            self._seen[group] += 1

    def ranges(self) -> list[Optional[Range]]:
        """Return the range of each group; None if no outcome has a domain of it."""
        there = [0] * len(self._seen)
        for domains, times in self._times.values():
            for value in domains:
                there[self._group_of[value]] += times
        return [
            Range(0 if least is None or number > seen else least, most) if number or seen else None
            for number, seen, least, most in zip(there, self._seen, self._least, self._most, strict=True)
        ]
