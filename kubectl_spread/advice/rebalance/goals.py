"""Goals of a plan: constraints that must hold at its end, and their counts in the states of a simulation.

A plan of k evictions takes at most k pods out of domains, and adds at most k pods to domains. So it needs at least

    min over m of max( sum of max(0, count - (m + maxSkew)),  sum of max(0, m - count) )

evictions to bring every domain into m .. m + maxSkew. That is the lower bound of the search.

Nested constraints can conflict: no distribution of the pods satisfies all of them. Every domain of a nested key lies in
one domain of the key before it. A domain may have m .. m + maxSkew pods, and its inner domains together must have as
many:

    zone a: 3..4 pods    nodes a1, a2, a3: 1..2 each, so 3..6     possible
    zone b: 3..4 pods    node b1:          1..2     , so 1..2     impossible
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Optional

from kubectl_spread.advice.rebalance.plan import ConstraintChange, DomainChange
from kubectl_spread.caching import cached_method
from kubectl_spread.cluster.columns import refines
from kubectl_spread.containers import grouped
from kubectl_spread.engine.results.domain_pods import ranges_of
from kubectl_spread.engine.state import Deletion, P, PENDING, State
from kubectl_spread.engine.world import World
from kubectl_spread.explain.status import ConstraintState, ConstraintStatus, WorkloadStatus
from kubectl_spread.objects.constraints.constraint import ConstraintCounts
from kubectl_spread.objects.keys import ObjectKey, Range, range_of, sum_of
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.selectors import Selector

NEVER = 1_000_000_000  # Lower bound of a goal that no eviction reaches.
_BROKEN = (ConstraintState.VIOLATED, ConstraintState.UNEVEN)


class Goal(NamedTuple):
    """A constraint of a workload, with the nodes that it counts.

    status: the constraint at the beginning. most_skew: the skew that it may have at the end. domain_of: domain of each
    counted node, by the node's name. pods: those on counted nodes that match.
    """

    key: ObjectKey
    status: ConstraintStatus
    selector: Selector
    most_skew: int
    domain_of: dict[str, str]
    pods: tuple[Pod, ...]

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

    def fewest(self, counts: GoalCounts) -> Need:
        """Return the lower bound of evictions; each moves a movable pod, and others may arrive without any."""
        numbers = [counts.all[value] for value in self.values]
        able = [counts.movable[value] for value in self.values]
        if not numbers:
            return Need(NEVER, 0)
        minima = range(1) if self.status.counts.is_below_min_domains else range(min(numbers), max(numbers) + 1)
        found = Need(NEVER, minima[0])
        for least in minima:
            missing = sum(least - number for number in numbers if number < least) - counts.arriving
            if missing > found.evictions:
                break  # It only grows.
            over = [max(0, number - least - self.most_skew) for number in numbers]
            is_able = all(number <= own for number, own in zip(over, able, strict=True))
            need = max(missing, sum(over)) if is_able else NEVER
            if need < found.evictions:
                found = Need(need, least)
        if found.evictions or max(numbers) - minima[0] <= self.most_skew:
            return found
        return found._replace(evictions=1)  # The pods that could arrive did not.


class Need(NamedTuple):
    """Evictions that a goal needs at least, and the minimum per domain for which this is enough."""

    evictions: int
    least: int


def is_broken(status: ConstraintStatus, *, has_soft: bool) -> bool:
    """Return whether evictions may repair a constraint that is violated, or uneven if soft ones are included."""
    if status.state not in _BROKEN or not status.counts.domains:
        return False
    return has_soft or status.is_hard


def goals(
    workloads: Iterable[WorkloadStatus], nodes: Sequence[Node], wanted: Iterable[ObjectKey], *, has_soft: bool
) -> Iterator[Goal]:
    """Yield the constraints that a plan must repair or must not break, with the skew that they may have at the end.

    Args:
        workloads: all workloads of the cluster, with their counts.
        nodes: of the cluster.
        wanted: the workloads to repair; a violated constraint of another workload must not get worse.
        has_soft: include ScheduleAnyway constraints.
    """
    repaired = frozenset(wanted)
    for item in workloads:
        key = item.key
        for status, counts in zip(item.constraints, item.counts, strict=False):
            is_goal = status.state in (ConstraintState.OK, *_BROKEN) and bool(status.counts.domains)
            if not is_goal or status.skew is None or not (has_soft or status.is_hard):
                continue
            skew = status.max_skew if key in repaired else max(status.max_skew, status.skew)
            topology = counts.topology
            counted = counts.included & (topology.codes >= 0) & counts.eligible[topology.codes]
            domain_of = {nodes[at].name: topology.values[topology.codes[at]] for at in counted.nonzero()[0].tolist()}
            yield Goal(key, status, counts.constraint.selector, skew, domain_of, tuple(counts.pods()))


class GoalCounts(NamedTuple):
    """Counts of a goal in a state: matching pods per domain, and those of them that may be evicted."""

    all: Counter[str]
    movable: Counter[str]
    arriving: int


class Tally:
    """Counter of a world's pods for some goals."""

    def __init__(self, world: World, goals: Sequence[Goal], owners: Iterable[int]) -> None:
        """Count the pods that take no part once.

        `owners` are the workloads, by their index, whose pods may be evicted.
        """
        self.goals = tuple(goals)
        self._world = world
        self._owners = frozenset(owners)
        others = {pod.uid for pod in world.background if not pod.terminating}
        on = [[pod.node_name for pod in goal.pods if pod.uid in others] for goal in self.goals]
        self._fixed = [
            Counter(goal.domain_of[node] for node in nodes if node in goal.domain_of)
            for goal, nodes in zip(self.goals, on, strict=True)
        ]
        self._domain = [
            {world.node_at[name]: value for name, value in goal.domain_of.items() if name in world.node_at}
            for goal in self.goals
        ]

    def counts(self, state: State) -> tuple[GoalCounts, ...]:
        """Return the counts of every goal."""
        every = []
        for at, (fixed, domain_of) in enumerate(zip(self._fixed, self._domain, strict=True)):
            found, movable, arriving = Counter(fixed), Counter[str](), 0
            for pod in state.pods:
                if pod.end != Deletion.ALIVE or not self.is_counted(at, pod.cls):
                    continue
                arriving += pod.node == PENDING
                value = domain_of.get(pod.node)
                if value is not None:
                    found[value] += 1
                    movable[value] += self.is_movable(pod)
            every.append(GoalCounts(found, movable, arriving))
        return tuple(every)

    def is_movable(self, pod: P) -> bool:
        """Return whether a pod may be evicted."""
        return pod.owner in self._owners and not pod.is_new and pod.end == Deletion.ALIVE and pod.node != PENDING

    @cached_method
    def is_counted(self, at: int, cls: int) -> bool:
        """Return whether a goal counts pods of a class."""
        return self.goals[at].is_counted(self._world.classes[cls])

    def domain(self, at: int, node: int) -> str | None:
        """Return the domain of a node for a goal; None if the node is not counted."""
        return self._domain[at].get(node)

    @cached_method
    def needs(self, state: State) -> tuple[Need, ...]:
        """Return how many evictions each goal still needs at least."""
        return tuple(goal.fewest(item) for goal, item in zip(self.goals, self.counts(state), strict=True))

    def need(self, states: Iterable[State]) -> int:
        """Return how many evictions are still needed at least, in the worst of several states."""
        return max((need.evictions for state in states for need in self.needs(state)), default=0)


Alike = Callable[[str], Mapping[str, object]]  # by topology key: signature of each domain


def constraint_change(
    key: ObjectKey,
    status: ConstraintStatus,
    *,
    has_soft: bool,
    counts: Sequence[Mapping[str, int]] = (),
    alike: Optional[Mapping[str, object]] = None,
) -> ConstraintChange:
    """Return a constraint before, and after if there are `counts` of domains for each outcome.

    alike: signature of each domain; a domain may have any count of the domains with the same one.
    """
    low = status.counts.is_below_min_domains
    numbers = [{value: item.get(value, 0) for value in status.counts.domains} for item in counts]
    ranges = ranges_of(list(status.counts.domains), alike or {}, numbers) if numbers else {}
    skews = [ConstraintCounts(item, low).skew or 0 for item in numbers]
    return ConstraintChange(
        key,
        status,
        is_broken(status, has_soft=has_soft),
        tuple(DomainChange(value, matching, ranges.get(value)) for value, matching in status.counts.domains.items()),
        range_of(skews) if skews else None,
    )


def changes(
    keys: Collection[ObjectKey], tally: Tally, states: Iterable[State], *, alike: Alike, has_soft: bool
) -> tuple[ConstraintChange, ...]:
    """Return the constraints of some workloads before and after, over all states."""
    found = [tally.counts(state) for state in states]
    return tuple(
        constraint_change(
            goal.key,
            goal.status,
            has_soft=has_soft,
            counts=[item[at].all for item in found],
            alike=alike(goal.status.topology_key),
        )
        for at, goal in enumerate(tally.goals)
        if goal.key in keys
    )


_MOST_TRIED = 100_000


def conflict(goals: Sequence[Goal], counts: Sequence[GoalCounts]) -> tuple[Goal, ...]:
    """Return constraints of one workload that no distribution of its pods satisfies; none if unknown.

    Return a single constraint if it cannot be satisfied alone, otherwise all of them.

    Args:
        goals: the constraints to satisfy.
        counts: their present counts.
    """
    by_key = grouped(
        ((goal.key, goal.selector), (goal, found))
        for goal, found in zip(goals, counts, strict=True)
        if not goal.status.also_counted  # Other workloads' pods may leave the counted nodes.
    )
    for part in (part for same in by_key.values() for part in (*([item] for item in same), same)):
        nested = _nested(part)
        if nested is not None and not _is_possible(nested):
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
    total = max(sum(counts.all.values()) for _, counts in nested)
    most = total + max(counts.arriving for _, counts in nested)  # These may arrive, or stay Pending.
    choices = [
        range(1) if goal.status.counts.is_below_min_domains else range(most // len(goal.values) + 1)
        for goal, _ in nested
    ]
    if math.prod(map(len, choices)) > _MOST_TRIED:
        return True
    bounds = (_together(nested, minima) for minima in itertools.product(*choices))
    return any(item is not None and item.least <= most and total <= item.most for item in bounds)


def _together(nested: Sequence[tuple[Goal, GoalCounts]], minima: Sequence[int]) -> Optional[Range]:
    """Return the bounds of all pods if each constraint's emptiest domain has a given number; None if impossible."""
    inner: dict[str, Range] = {}
    outer_of: dict[str, str] = {}
    for at in reversed(range(len(nested))):
        goal, counts = nested[at]
        own: dict[str, Range] = {}
        for value in goal.values:
            fixed = counts.all[value] - counts.movable[value]
            least, most = max(minima[at], fixed), minima[at] + goal.most_skew
            if inner:
                inside = [bounds for name, bounds in inner.items() if outer_of[name] == value]
                least = max(least, sum(item.least for item in inside))
                most = min(most, sum(item.most for item in inside))
            if least > most:
                return None
            own[value] = Range(least, most)
        inner = own
        if at:
            outer_of = {goal.domain_of[node]: nested[at - 1][0].domain_of[node] for node in goal.domain_of}
    return sum_of(inner.values())
