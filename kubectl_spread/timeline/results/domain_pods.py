"""Pods of workloads per domain, as ranges over many outcomes.

Interchangeable domains share one range. The work grows with the pods of the outcomes, not with domains times outcomes:
a domain without pods is counted once for all outcomes in which it exists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Optional

from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.records import NamedTuple
from kubectl_spread.timeline.results.answer import Outcome

Counts = dict[str, Counter[int]]  # pods by domain and number of the revision; only domains with pods


class Range(NamedTuple):
    """Lowest and highest value over all outcomes."""

    least: int
    most: int


class DomainPods(NamedTuple):
    """Pods of a workload in one domain; `revisions`: after the step, by the number of the revision."""

    value: str
    before: Range
    after: Range
    revisions: dict[int, Range]


def range_of(numbers: Iterable[int]) -> Range:
    """Return the lowest and the highest number; 0 and 0 without any."""
    found = list(numbers)
    return Range(min(found, default=0), max(found, default=0))


def counts_of(outcome: Outcome, keys: Sequence[OwnerKey], topology_key: str) -> Counts:
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
    keys: Sequence[OwnerKey],
    *,
    topology_key: str,
    kinds: Mapping[str, object],
) -> tuple[DomainPods, ...]:
    """Return the ranges of each domain.

    Args:
        values: all domains, sorted.
        outcomes: before and after the step.
        keys: the workloads, counted together.
        topology_key: of the domains.
        kinds: a signature of each domain; equal ones are interchangeable after the step.
    """
    before, after = outcomes
    alone = _Ranges({value: at for at, value in enumerate(values)})
    for outcome in before:
        alone.add(_totals(counts_of(outcome, keys, topology_key)), values)
    groups = _groups(values, kinds)
    there = [outcome.domain_values(topology_key) for outcome in after]
    counts = [counts_of(outcome, keys, topology_key) for outcome in after]
    totals = _Ranges(groups)
    for item, domains in zip(counts, there, strict=True):
        totals.add(_totals(item), domains)
    befores, afters, revisions = alone.ranges(), totals.ranges(), _by_revision(groups, counts, there)
    return tuple(
        DomainPods(
            value,
            befores[at],
            afters[groups[value]],
            {number: ranges[groups[value]] for number, ranges in revisions.items()},
        )
        for at, value in enumerate(values)
    )


def _by_revision(
    groups: dict[str, int], counts: Sequence[Counts], there: Sequence[Sequence[str]]
) -> dict[int, list[Range]]:
    """Return the range of each group for each revision; `there`: the domains of each outcome."""
    made: dict[int, list[Range]] = {}
    for number in sorted({number for item in counts for found in item.values() for number in found}):
        ranges = _Ranges(groups)
        for item, domains in zip(counts, there, strict=True):
            ranges.add({value: found[number] for value, found in item.items() if found[number]}, domains)
        made[number] = ranges.ranges()
    return made


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

    def ranges(self) -> list[Range]:
        """Return the range of each group."""
        there = [0] * len(self._seen)
        for domains, times in self._times.values():
            for value in domains:
                there[self._group_of[value]] += times
        return [
            Range(0 if least is None or there[group] > self._seen[group] else least, self._most[group])
            for group, least in enumerate(self._least)
        ]
