"""Goals of a plan: constraints that must hold at its end.

A plan of k evictions takes at most k pods out of domains, and adds at most k pods to domains. So it needs at least

    min over m of max( sum of max(0, count - (m + maxSkew)),  sum of max(0, m - count) )

evictions to bring every domain into m .. m + maxSkew. That is the lower bound of the search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Optional

from kubectl_spread.objects.constraints.constraint import ConstraintCounts, DO_NOT_SCHEDULE
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.selectors import Selector
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts
from kubectl_spread.simulate.running.status import ConstraintState, ConstraintStatus, CountedWorkload

NEVER = 1_000_000_000  # Lower bound of a goal that no eviction reaches.
_BROKEN = (ConstraintState.VIOLATED, ConstraintState.UNEVEN)


class Goal(NamedTuple):
    """A constraint of a workload, with the nodes that it counts.

    status: the constraint at the beginning. most_skew: the skew that it may have at the end. domain_of: domain of each
    counted node, by the node's name.
    """

    key: ObjectKey
    status: ConstraintStatus
    selector: Selector
    most_skew: int
    domain_of: dict[str, str]

    @property
    def values(self) -> tuple[str, ...]:
        """Return the eligible domains."""
        return tuple(self.status.counts.domains)

    def is_counted(self, cls: PodClass) -> bool:
        """Return whether the constraint counts pods of a class."""
        return (
            cls.namespace == self.key.namespace
            and not self.selector.is_empty
            and self.selector.matches(dict(cls.labels))
        )

    def counts(self, counts: Mapping[str, int]) -> ConstraintCounts:
        """Return counts per domain as a record."""
        domains = {value: counts.get(value, 0) for value in self.values}
        return ConstraintCounts(domains, self.status.counts.is_below_min_domains)

    def fewest(self, counts: Mapping[str, int], movable: Mapping[str, int], *, arriving: int = 0) -> Need:
        """Return the lower bound of evictions; each eviction moves one of the `movable` pods.

        Args:
            counts: matching pods per domain.
            movable: those of them that may be evicted.
            arriving: pods without a node, which may arrive without any eviction.
        """
        found = self._bound(counts, movable, arriving=arriving)
        if found.evictions or self._holds(counts):
            return found
        return found._replace(evictions=1)  # The pods that could arrive did not.

    def _holds(self, counts: Mapping[str, int]) -> bool:
        skew = self.counts(counts).skew
        return skew is not None and skew <= self.most_skew

    def _bound(self, counts: Mapping[str, int], movable: Mapping[str, int], *, arriving: int) -> Need:
        numbers = [counts.get(value, 0) for value in self.values]
        able = [movable.get(value, 0) for value in self.values]
        if not numbers:
            return Need(NEVER, 0)
        if self.status.counts.is_below_min_domains:
            return Need(_to_remove(numbers, able, self.most_skew), 0)
        found = Need(NEVER, min(numbers))
        for least in range(min(numbers), max(numbers) + 1):
            missing = sum(least - number for number in numbers if number < least) - arriving
            if missing > found.evictions:
                break  # It only grows.
            need = max(missing, _to_remove(numbers, able, least + self.most_skew))
            if need < found.evictions:
                found = Need(need, least)
        return found


class Need(NamedTuple):
    """Evictions that a goal needs at least, and the minimum per domain for which this is enough."""

    evictions: int
    least: int


def _to_remove(numbers: Sequence[int], able: Sequence[int], most: int) -> int:
    """Return the number of pods to remove so that each domain has at most `most`."""
    over = [number - most for number in numbers]
    if any(number > own for number, own in zip(over, able, strict=True) if number > 0):
        return NEVER
    return sum(number for number in over if number > 0)


def is_broken(status: ConstraintStatus, *, has_soft: bool) -> bool:
    """Return whether evictions may repair a constraint that is violated, or uneven if soft ones are included."""
    if status.state not in _BROKEN or not status.counts.domains:
        return False
    return has_soft or status.when_unsatisfiable == DO_NOT_SCHEDULE


def goals(
    workloads: Iterable[CountedWorkload], nodes: Sequence[Node], wanted: Iterable[ObjectKey], *, has_soft: bool
) -> Iterator[Goal]:
    """Yield the constraints that a plan must repair or must not break.

    Args:
        workloads: all workloads of the cluster, with their counts.
        nodes: of the cluster.
        wanted: the workloads to repair; a violated constraint of another workload must not get worse.
        has_soft: include ScheduleAnyway constraints.
    """
    repaired = frozenset(wanted)
    for item in workloads:
        key = item.status.key
        for status, counts in zip(item.status.constraints, item.counts, strict=False):
            skew = _most_skew(status, is_repaired=key in repaired, has_soft=has_soft)
            if skew is not None:
                yield Goal(key, status, counts.constraint.selector, skew, _domain_of(counts, nodes))


def _most_skew(status: ConstraintStatus, *, is_repaired: bool, has_soft: bool) -> Optional[int]:
    """Return the skew that a constraint may have at the end; None if the constraint is not a goal."""
    is_goal = status.state in (ConstraintState.OK, *_BROKEN) and bool(status.counts.domains)
    if not is_goal or status.skew is None or not (has_soft or status.when_unsatisfiable == DO_NOT_SCHEDULE):
        return None
    return status.max_skew if is_repaired else max(status.max_skew, status.skew)


def _domain_of(counts: DomainCounts, nodes: Sequence[Node]) -> dict[str, str]:
    topology = counts.topology
    codes = topology.codes
    counted = counts.included & (codes >= 0) & counts.eligible[codes]
    return {nodes[at].name: topology.values[codes[at]] for at in counted.nonzero()[0].tolist()}
