"""Searches through the reachable states: all of them, a random sample, or one path."""

from __future__ import annotations

import heapq
import random
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Optional, Protocol

from kubectl_spread.engine.counting.control import NotCountable
from kubectl_spread.engine.counting.rollouts import CountedRollouts, RolloutOutcomes
from kubectl_spread.engine.search.limit import Limit
from kubectl_spread.engine.state import State, Way
from kubectl_spread.engine.ways import by_kind

Canonical = Callable[[State], State]
_MOST_STEPS = 100_000  # A run with more steps counts as endless.


class Steps(Protocol):
    """The possible steps of every state; is_cut: some choices were left out."""

    @property
    def is_cut(self) -> bool: ...

    def after(self, state: State) -> Sequence[Way]:
        """Return every step of a state; empty if the state is steady."""


class Exploration(NamedTuple):
    """Result of a search.

    steady: states in which no further move is possible. is_exhaustive: there are no other steady states. states: number
    of visited states. came_from: predecessor of each visited state on a shortest path. loops: states that a random run
    repeats forever, or in which a controller acts without an end. tails: for steady states of rollouts, functions that
    return the way from one of the visited states. extremes: states of rollouts with the largest skews and the fewest
    ready pods. is_literal: the states were not exchanged for equivalent ones. ended: number of random runs that ended
    in each state.
    """

    steady: tuple[State, ...]
    is_exhaustive: bool
    states: int
    came_from: dict[State, Optional[State]]
    runs: int = 0
    loops: tuple[State, ...] = ()
    tails: Mapping[State, Callable[[], list[State]]] = {}
    extremes: tuple[State, ...] = ()
    is_literal: bool = False
    ended: Counter[State] = Counter()  # noqa: RUF012 (never written to)


def everything(
    moves: Steps,
    starts: Iterable[State],
    *,
    canonical: Canonical,
    limit: Limit,
    rollouts: Optional[CountedRollouts] = None,
) -> Exploration:
    """Visit every state in breadth-first order, until there are no more or a limit is reached.

    Args:
        moves: possible moves.
        starts: initial states.
        canonical: returns one representative for states that differ in interchangeable nodes only.
        limit: when to stop.
        rollouts: takes the states in which one Deployment rolls out, whose further states are visited as counts.
    """
    visit = _Visit(moves, canonical, limit, rollouts)
    visit.came_from.update((canonical(start), None) for start in starts)
    visit.queue.extend(visit.came_from)
    is_finished = visit.run()
    rolled = visit.rolled
    tails = {state: way for state, way in rolled.tails.items() if state not in visit.steady}
    steady = (*visit.steady, *tails)
    return Exploration(
        steady,
        is_finished and rolled.is_exhaustive and bool(steady) and not moves.is_cut and not visit.loops,
        len(visit.came_from) + rolled.states,
        visit.came_from,
        loops=tuple(visit.loops),
        tails=tails,
        extremes=rolled.extremes,
    )


class _Visit:
    """The queue of a search, and its results so far."""

    def __init__(self, moves: Steps, canonical: Canonical, limit: Limit, rollouts: Optional[CountedRollouts]) -> None:
        self._moves = moves
        self._canonical = canonical
        self._limit = limit
        self._rollouts = rollouts
        self._taken: list[State] = []  # by the rollouts
        self.came_from: dict[State, Optional[State]] = {}
        self.queue: deque[State] = deque()
        self.steady: dict[State, None] = {}
        self.loops: dict[State, None] = {}
        self.rolled = RolloutOutcomes({}, True, 0, ())

    def run(self) -> bool:
        """Visit all states; return whether no limit was reached."""
        while self._has_next():
            state = self.queue.popleft()
            if self._limit.is_over_at(state, len(self.came_from)):
                return False
            if self._rollouts is not None and self._rollouts.add(state):
                self._taken.append(state)
            else:
                self._visit(state)
        return True

    def _has_next(self) -> bool:
        if not self.queue and self._rollouts is not None and self._taken:
            try:
                self.rolled = self._rollouts.explore(self._canonical, self._limit.less(len(self.came_from)))
            except NotCountable:
                self.queue.extend(self._taken)
            self._rollouts = None
        return bool(self.queue)

    def _visit(self, state: State) -> None:
        steps = self._moves.after(state)
        if not steps:
            self.steady[state] = None
        for way in steps:
            if self._limit.is_late():
                return
            step = way()
            after = self._canonical(step.state)
            if after not in self.came_from:
                self.came_from[after] = state
                if step.is_settled:
                    self.queue.append(after)
                else:
                    self.loops[after] = None


def one(
    moves: Steps,
    start: State,
    choose: Callable[[Sequence[Way]], Way],
    *,
    canonical: Canonical = lambda state: state,
    limit: Optional[Limit] = None,
) -> Exploration:
    """Follow one path to its end; `choose` picks one of the steps. A path that a limit cuts off has no end."""
    state = canonical(start)
    came_from: dict[State, Optional[State]] = {state: None}
    for at in range(_MOST_STEPS):
        steps = moves.after(state)
        if not steps:
            return Exploration((state,), False, len(came_from), came_from, runs=1)
        step = choose(steps)()
        after = canonical(step.state)
        came_from.setdefault(after, state)  # perf: the hash of a large state takes a millisecond
        state = after
        if not step.is_settled:
            break
        if limit is not None and limit.is_over_at(state, len(came_from)):
            return Exploration((), False, len(came_from), came_from)
        if at > 50 * len(came_from) + 1000:
            break  # The run repeats itself.
    return Exploration((), False, len(came_from), came_from, runs=1, loops=(state,))


def first(steps: Sequence[Way]) -> Way:
    """Choose the first way: scheduling comes before deletions, and deletions before readiness."""
    return steps[0]


def at_random(seed: int) -> Callable[[Sequence[Way]], Way]:
    """Return a chooser of random steps, the same ones for the same seed.

    It draws the kind of the step first. Otherwise a pod that fits on many nodes would always be scheduled before a
    deletion finishes.
    """
    generator = random.Random(seed)  # noqa: S311 (a simulation's choice, no secret)

    def choose(steps: Sequence[Way]) -> Way:
        return generator.choice(generator.choice(by_kind(steps)))

    return choose


def towards(
    moves: Steps,
    starts: Iterable[State],
    distance: Callable[[State], float],
    *,
    is_there: Callable[[State], bool],
    max_states: int,
    any_state: bool = False,
    canonical: Canonical = lambda state: state,
    came_from: Optional[dict[State, State]] = None,
) -> tuple[Optional[State], int]:
    """Search for a way to a steady state, states with a small distance first.

    Args:
        moves: possible moves.
        starts: initial states.
        distance: estimated distance of a state.
        is_there: whether a steady state is the goal.
        max_states: maximum number of visited states.
        any_state: whether the goal need not be steady.
        canonical: returns one representative for equivalent states, including the goal.
        came_from: is filled with the predecessor of each visited state.

    Returns:
        The state, or None if it was not found; and the number of visited states, negative if there are no others.
    """
    seen = set()
    heap: list[tuple[float, int, State]] = []
    number = 0
    for start in starts:
        seen.add(start)
        heapq.heappush(heap, (distance(start), number, start))
        number -= 1
    while heap:
        if len(seen) > max_states:
            return None, len(seen)
        _, _, state = heapq.heappop(heap)
        if any_state and is_there(state):
            return state, len(seen)
        steps = moves.after(state)
        if not steps and is_there(state):
            return state, len(seen)
        for way in steps:
            after = canonical(way().state)
            if after not in seen:
                seen.add(after)
                if came_from is not None:
                    came_from[after] = state
                number -= 1  # Of equal distances, the latest comes first.
                heapq.heappush(heap, (distance(after), number, after))
    return None, -len(seen)
