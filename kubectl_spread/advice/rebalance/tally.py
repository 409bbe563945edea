"""Matching pods of each goal in the states of a simulation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kubectl_spread.advice.rebalance.goals import Goal, Need
from kubectl_spread.engine.state import Deletion, P, PENDING, State
from kubectl_spread.engine.world import World


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
        self._fixed = [self._background(goal) for goal in self.goals]
        self._domain = [
            {world.node_at[name]: value for name, value in goal.domain_of.items() if name in world.node_at}
            for goal in self.goals
        ]
        self._counted: list[dict[int, bool]] = [{} for _ in self.goals]  # by class
        self._needs: dict[State, tuple[Need, ...]] = {}

    def _background(self, goal: Goal) -> Counter[str]:
        found: Counter[str] = Counter()
        matches: dict[int, bool] = {}  # by id of the class, which the pods keep
        for pod in self._world.background:
            if pod.terminating or pod.node_name not in goal.domain_of:
                continue
            at = id(pod.cls)
            if matches[at] if at in matches else matches.setdefault(at, goal.is_counted(pod.cls)):
                found[goal.domain_of[pod.node_name]] += 1
        return found

    def counts(self, state: State) -> tuple[GoalCounts, ...]:
        """Return the counts of every goal."""
        return tuple(self._of(at, state) for at in range(len(self.goals)))

    def _of(self, at: int, state: State) -> GoalCounts:
        found, movable = Counter(self._fixed[at]), Counter[str]()
        domain_of, arriving = self._domain[at], 0
        for pod in state.pods:
            if pod.end != Deletion.ALIVE or not self.is_counted(at, pod.cls):
                continue
            arriving += pod.node == PENDING
            value = domain_of.get(pod.node)
            if value is not None:
                found[value] += 1
                movable[value] += self.is_movable(pod)
        return GoalCounts(found, movable, arriving)

    def is_movable(self, pod: P) -> bool:
        """Return whether a pod may be evicted."""
        return pod.owner in self._owners and not pod.is_new and pod.end == Deletion.ALIVE and pod.node != PENDING

    def is_counted(self, at: int, cls: int) -> bool:
        """Return whether a goal counts pods of a class."""
        known = self._counted[at]
        if cls not in known:
            known[cls] = self.goals[at].is_counted(self._world.classes[cls])
        return known[cls]

    def domain(self, at: int, node: int) -> str | None:
        """Return the domain of a node for a goal; None if the node is not counted."""
        return self._domain[at].get(node)

    def needs(self, state: State) -> tuple[Need, ...]:
        """Return how many evictions each goal still needs at least."""
        found = self._needs.get(state)
        if found is None:
            found = self._needs[state] = tuple(
                goal.fewest(item.all, item.movable, arriving=item.arriving)
                for goal, item in zip(self.goals, self.counts(state), strict=True)
            )
        return found

    def need(self, states: Iterable[State]) -> int:
        """Return how many evictions are still needed at least, in the worst of several states."""
        return max((need.evictions for state in states for need in self.needs(state)), default=0)
