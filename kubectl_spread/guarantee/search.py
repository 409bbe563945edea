"""A search through the states of a group for violations of rules.

States are visited in the order of their distance, so that the first violation is a nearest one. If there are too many
states, states closer to a violation are visited first, for a while.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, Optional

from kubectl_spread.guarantee.event import Event, State, TransitionKind
from kubectl_spread.guarantee.policy.rule import RuleKind
from kubectl_spread.guarantee.states.space import Space

_EVERY = 16  # states between two reports of their number


class Question(NamedTuple):
    """Whether a rule can be violated; rule: its index. is_settled: once nothing happens by itself any more."""

    rule: int
    is_settled: bool = False


class ProofLimits(NamedTuple):
    """Limits of a search: number of states, and a `time.monotonic()` at which to stop.

    is_enough: is called with the number of visited states; returns whether to stop.
    """

    max_states: int = 200_000
    deadline: Optional[float] = None
    is_enough: Callable[[int], bool] = lambda _: False

    def is_reached(self, states: int) -> bool:
        """Return whether to stop."""
        if states > self.max_states or (self.deadline is not None and time.monotonic() > self.deadline):
            return True
        return states % _EVERY == 0 and self.is_enough(states)


class Search:
    """A search that can be continued with larger limits.

    witness: for each violated rule, the states on the way to the first violation. is_over: all states were visited, or
    every question is answered. is_exhaustive: all states were visited.
    """

    def __init__(self, space: Space, questions: Sequence[Question], *, is_directed: bool = False) -> None:
        """Begin with no pods, and with the pods that run.

        Args:
            space: the states.
            questions: to answer.
            is_directed: visit states that come closer to a violation of the first open question first.
        """
        self._space = space
        self._left = list(questions)
        self.is_directed = is_directed
        self._came_from: dict[State, Optional[State]] = {}
        self._heap: list[tuple[int, int, State]] = []
        self.witness: dict[Question, tuple[State, ...]] = {}
        running = space.running()
        for state in [space.start()] + ([] if running is None else [running]):
            self._visit(space.canonical(state), None)

    @property
    def states(self) -> int:
        """Return the number of visited states."""
        return len(self._came_from)

    @property
    def is_exhaustive(self) -> bool:
        return not self._heap

    @property
    def is_over(self) -> bool:
        return not self._heap or not self._left

    def keep(self, questions: Sequence[Question]) -> None:
        """Go on with some of the open questions only."""
        self._left = [item for item in self._left if item in questions]

    def run(self, limits: ProofLimits) -> None:
        """Visit states until every question is answered, or a limit is reached."""
        while self._heap and self._left and not limits.is_reached(len(self._came_from)):
            key, number, state = heapq.heappop(self._heap)
            for _, raw in self._space.events(state):
                after = self._space.canonical(raw)
                if after not in self._came_from:
                    self._visit(after, state)
                    if limits.is_reached(len(self._came_from)):
                        heapq.heappush(self._heap, (key, number, state))  # Its other events are looked at later.
                        return

    def _visit(self, state: State, before: Optional[State]) -> None:
        """Note a state, and each rule that it violates."""
        self._came_from[state] = before
        key = 0
        if self.is_directed and self._left:
            key = _remoteness(self._space, self._left[0], state)
        heapq.heappush(self._heap, (key, len(self._came_from), state))
        for question in list(self._left):
            is_violated = self._space.is_violated(self._space.rules[question.rule], state)
            if is_violated and (not question.is_settled or self._space.is_settled(state)):
                self.witness[question] = self._way(state)
                self._left.remove(question)

    def _way(self, state: Optional[State]) -> tuple[State, ...]:
        way: list[State] = []
        while state is not None:
            way.append(state)
            state = self._came_from[state]
        return tuple(reversed(way))


def _remoteness(space: Space, question: Question, state: State) -> int:
    """Return a number that is smaller for states closer to a violation."""
    rule = space.rules[question.rule]
    placed = space.placed_counts(state)
    waiting = space.waiting(state, placed)
    if rule.kind is RuleKind.PLACED:  # Few nodes for the waiting pods; none are as many as possible.
        all_nodes = len(state[0]) * len(state[1])
        return sum([len(space.hosts(state[2], kind, state[0])) for kind in waiting]) if waiting else all_nodes
    counts = space.domain_counts(rule.topology_key, state).values()
    if rule.kind is RuleKind.MIN_DOMAINS:
        return len(counts) + len(waiting)
    return -4 * max(counts, default=0) - sum(placed) + (len(waiting) if question.is_settled else 0)


class TraceStep(NamedTuple):
    """An event with the real names: indices of node, workload and kind of pods; -1 for none.

    nodes: of a disruption. contents: the pods on each node after the event, by real node and kind. owners: real
    workload for each workload of the representative after the event. is_chance: a pod was deleted that nobody had to
    delete, or the scheduler chose among nodes that are not interchangeable.
    """

    event: Event
    node: int
    owner: int
    pods: int
    nodes: tuple[int, ...]
    contents: tuple[int, ...]
    owners: tuple[int, ...]
    is_chance: bool = False


def trace(space: Space, way: Sequence[State]) -> tuple[TraceStep, ...]:
    """Return the events along a way of representatives, under the names of one run."""
    running = space.running()
    begin = next(item for item in (space.start(), running) if item is not None and space.canonical(item) == way[0])
    now, nodes, owners = space.renaming(begin)
    found = []
    for wanted in way[1:]:
        following = list(space.events(now))
        event, raw = next((event, raw) for event, raw in following if space.canonical(raw) == wanted)
        is_chance = event.kind is TransitionKind.RESTARTED or any(
            other.kind is event.kind is TransitionKind.PLACED and other.pods == event.pods and other.node != event.node
            for other, _ in following
        )
        if event.order is not None:
            nodes = [nodes[old] for old in event.order]
        now, order, exchanged = space.renaming(raw)
        step = _step(space, event, raw[0], nodes=nodes, owners=owners, exchanged=exchanged)
        found.append(step._replace(is_chance=is_chance))
        nodes = [nodes[old] for old in order]
        owners = [owners[old] for old in exchanged]
    return tuple(found)


def _step(
    space: Space,
    event: Event,
    contents: tuple[int, ...],
    *,
    nodes: Sequence[int],
    owners: Sequence[int],
    exchanged: Sequence[int],
) -> TraceStep:
    """Return an event under real names; contents: after it, under the names that nodes and owners translate."""
    inside = space.disruptions[event.disruption].nodes if event.disruption >= 0 else ()
    owner = owners[event.owner] if event.owner >= 0 else -1
    return TraceStep(
        event,
        nodes[event.node] if event.node >= 0 else -1,
        owner,
        space.kind_of(event.pods, owner),
        tuple(sorted(nodes[at] for at in inside)),
        space.under_names(contents, nodes, owners),
        tuple(owners[old] for old in exchanged),
    )
