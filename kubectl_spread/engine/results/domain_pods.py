"""Pods of workloads per domain, as ranges over many outcomes.

Interchangeable domains share one range. The work grows with the pods of the outcomes, not with domains times outcomes.
A domain that some outcomes lack, such as the zone of a node that is added or lost, has no pods in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple, TypeVar

from kubectl_spread.containers import Numbering
from kubectl_spread.engine.results.answer import Outcome
from kubectl_spread.objects.keys import ObjectKey, Range, range_of

T = TypeVar("T", bound=Hashable)
Counts = dict[str, Counter[int]]  # pods by domain and number of the revision; only domains with pods


class DomainPods(NamedTuple):
    """Pods of a workload in one domain; `revisions`: after the step, by the number of the revision."""

    value: str
    before: Range
    after: Range
    revisions: dict[int, Range]


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
    before, after = (
        [(item.by_revision(keys, topology_key), item.interchange.alike(topology_key)) for item in each]
        for each in outcomes
    )

    def ranges(
        counted: Iterable[tuple[Counts, Mapping[str, object]]], number: Callable[[Counter[int]], int]
    ) -> dict[str, Range]:
        return merged_ranges(
            values,
            (
                ({value: some for value, each in counts.items() if (some := number(each))}, kinds)
                for counts, kinds in counted
            ),
        )

    befores, afters = ranges(before, Counter.total), ranges(after, Counter.total)
    every = sorted({revision for counts, _ in after for numbers in counts.values() for revision in numbers})
    revisions = {revision: ranges(after, itemgetter(revision)) for revision in every}
    return tuple(
        DomainPods(value, befores[value], afters[value], {number: found[value] for number, found in revisions.items()})
        for value in values
    )


_Counted = tuple[Mapping[str, int], Mapping[str, object]]  # pods; domains with equal values are interchangeable


def merged_ranges(values: Sequence[str], counted: Iterable[_Counted]) -> dict[str, Range]:
    """Return the range of each domain; outcomes with the same interchangeable domains are added up together."""
    by_kinds: dict[int, tuple[Mapping[str, object], list[Mapping[str, int]]]] = {}  # by identity of the kinds
    for counts, kinds in counted:
        by_kinds.setdefault(id(kinds), (kinds, []))[1].append(counts)
    found = [ranges_of(values, *item) for item in by_kinds.values()]
    return {value: range_of(number for ranges in found for number in ranges[value]) for value in values}


def ranges_of(values: Sequence[T], alike: Mapping[T, object], counts: Sequence[Mapping[T, int]]) -> dict[T, Range]:
    """Return the range of each domain, or node, over some outcomes; those with equal values of `alike` share one."""
    numbered = Numbering[object]()
    group_of = {value: numbered[alike.get(value, value)] for value in values}
    sizes = Counter(group_of.values())
    numbers: list[list[int]] = [[] for _ in sizes]
    for found in counts:
        for value, number in found.items():
            numbers[group_of[value]].append(number)
    zero = {group: [0] * (len(numbers[group]) < size * len(counts)) for group, size in sizes.items()}
    ranges = [range_of(zero[group] + own) for group, own in enumerate(numbers)]
    return {value: ranges[group_of[value]] for value in values}
