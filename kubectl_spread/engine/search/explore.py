"""Searches through reachable states: all of them, a random sample, or one path; the limits of a search, in states."""

from __future__ import annotations

import heapq
import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Optional, Protocol, TYPE_CHECKING

from kubectl_spread.containers import grouped
from kubectl_spread.engine.moves import Moves, without_ending
from kubectl_spread.engine.search.symmetry import Symmetry
from kubectl_spread.engine.state import State, Step, Way

if TYPE_CHECKING:
    from kubectl_spread.engine.rollouts import CountedRollouts


_ORDINARY = 50  # Pods of an ordinary state; a state takes time in proportion to its pods.


def weight(pods: int) -> int:
    """Return how many ordinary states a state with some pods counts for."""
    return 1 + pods // _ORDINARY


class Limit(NamedTuple):
    """Limit of a search.

    max_states: number of ordinary states. is_enough: is called with the number of visited states; returns whether to
    stop.
    """

    max_states: int
    is_enough: Callable[[int], bool] = lambda _: False

    def is_over(self, states: int) -> bool:
        """Return whether to stop after a number of visited states."""
        return states > self.max_states or self.is_enough(states)

    def after(self, before: int) -> Limit:
        """Return the limit of a search that counts from 0 when other states were visited before."""
        return Limit(self.max_states, lambda states: self.is_enough(before + states))


class Budget:
    """The ordinary states that may still be visited; several searches spend one budget.

    visited: number of states so far, whatever their size.
    """

    def __init__(self, states: float, is_enough: Callable[[int], bool] = lambda _: False) -> None:
        """Set up a budget; `is_enough` is called with the number of visited states, and returns whether to stop."""
        self.visited = 0
        self._states = states
        self._kept: float = 0
        self._is_refilled = False
        self._is_enough = is_enough

    def spend(self, pods: int, states: int = 1, *, share: float = 1) -> None:
        """Visit states with a number of pods; `share` is the part of the time of a state that each takes."""
        self.visited += states
        self._states -= weight(pods) * states * share

    def keep(self, states: float) -> None:
        """Leave some states to a later search."""
        self._kept = states

    def leave(self, least: float, most: float) -> None:
        """Lower the states that are left to `most`, and raise them to `least` the first time."""
        self._states = max(min(self._states, most), 0 if self._is_refilled else least)
        self._is_refilled = True

    @property
    def left(self) -> float:
        return max(0, self._states)

    def is_spent(self) -> bool:
        """Return whether no states are left."""
        return self._states < self._kept

    def is_over(self) -> bool:
        """Return whether to stop, for whatever reason."""
        return self.is_spent() or self.is_stopped()

    def is_stopped(self) -> bool:
        return self._is_enough(self.visited)


Canonical = Callable[[State], State]

_MOST_STEPS = 100_000  # A run with more steps counts as endless,
_MOST_REPEATS = 100  # and one in which states come again more often.


class Steps(Protocol):
    """The possible steps of every state.

    is_cut: some choices were left out. repeating: states in which only taints go on, which may do so forever.
    """

    @property
    def is_cut(self) -> bool: ...

    @property
    def repeating(self) -> Sequence[State]: ...

    def may_repeat(self, state: State, /) -> bool:
        """Return whether taints can evict pods in a state."""

    def after(self, state: State) -> Iterable[Way]:
        """Return every step of a state; an empty list if the state is steady."""


class Exploration(NamedTuple):
    """Result of a search.

    steady: states in which no further move is possible. is_exhaustive: there are no other steady states. states: number
    of visited states. came_from: predecessor of each visited state on a shortest path. loops: states that a random run
    repeats forever, or in which a controller acts without an end. tails: for steady states of rollouts, functions that
    return the way from one of the visited states. extremes: states of rollouts with the largest skews and the fewest
    ready pods. is_literal: the states were not exchanged for equivalent ones. ended: number of random runs that ended
    in each state. goal: the state that ended the search.
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
    goal: Optional[State] = None


# After _MANY states, a search gives up if more than this part of them is not visited yet. In searches that end, on
# recorded and written clusters, it was at most 47 %.
_MANY = 1_000
_MOST_WAITING = 0.7


def everything(
    moves: Steps,
    starts: Iterable[State],
    *,
    budget: Budget,
    canonical: Canonical = lambda state: state,
    priority: Optional[Callable[[State], float]] = None,
    is_goal: Callable[[State, bool], bool] = lambda *_: False,
    rollouts: Optional[CountedRollouts] = None,
    gives_up: bool = False,
) -> Exploration:
    """Visit every state, until there are no more, a limit is reached or a goal is found.

    Args:
        moves: possible moves.
        starts: initial states.
        budget: the states that may be visited.
        canonical: returns one representative for equivalent states, also for a goal.
        priority: of a state; the lowest comes first, of equal ones the latest. Without it, the earliest comes first.
        is_goal: whether a state, and whether it is steady, ends the search.
        rollouts: takes the states in which one Deployment rolls out, whose further states are visited as counts.
        gives_up: whether to end once there seem to be far more states than any limit.
    """
    queue: list[tuple[float, int, State]] = []  # a heap
    taken: list[State] = []  # by the rollouts
    came_from: dict[State, Optional[State]] = {}
    again: list[tuple[State, State]] = []  # visited states, and others that lead to them
    steady: dict[State, None] = {}
    loops: dict[State, None] = {}
    rolled = Exploration((), True, 0, {})
    goal: Optional[State] = None

    def push(state: State, number: int) -> None:
        rank = (0, number) if priority is None else (priority(state), -number)
        heapq.heappush(queue, (*rank, state))

    def add(state: State, before: Optional[State], *, is_settled: bool = True) -> None:
        """Record a state that the search reaches for the first time."""
        came_from[state] = before
        budget.spend(len(state.pods))
        if is_settled:
            push(state, len(came_from))
        else:
            loops[state] = None

    for start in starts:
        add(canonical(start), None)
    is_cut_off = False
    while queue and goal is None and not (is_cut_off or budget.is_over()):
        is_cut_off = gives_up and len(came_from) > _MANY and len(queue) > _MOST_WAITING * len(came_from)
        _, _, state = heapq.heappop(queue)
        if rollouts is not None and rollouts.add(state):
            taken.append(state)
        else:
            steps = moves.after(state)
            if not steps:
                steady[state] = None
            goal = state if is_goal(state, not steps) else None
            for way in steps if goal is None else ():
                if budget.is_stopped():  # A large state has thousands of steps.
                    is_cut_off = True
                    break
                step = way()
                after = canonical(step.state)
                if after not in came_from:
                    add(after, state, is_settled=step.is_settled)
                elif moves.may_repeat(state):
                    again.append((after, state))
        if rollouts is not None and taken and not (queue or is_cut_off or goal):
            found = rollouts.explore(canonical, budget)
            rolled = found or rolled
            for number, state in enumerate(taken if found is None else ()):
                push(state, number)
            rollouts = None
    is_cut_off |= bool(queue) and goal is None
    tails = {state: way for state, way in rolled.tails.items() if state not in steady}
    ends = (*steady, *tails)
    endless: list[State] = []
    if moves.repeating and not is_cut_off:
        before = grouped((state, earlier) for state, earlier in (*came_from.items(), *again) if earlier is not None)
        ending = _before([*steady, *loops, *taken], before)
        endless = [state for state in moves.repeating if state not in ending]  # Only taints go on.
    is_whole = not (is_cut_off or moves.is_cut or loops) and rolled.is_exhaustive and bool(ends or endless)
    return Exploration(
        ends,
        is_whole,
        len(came_from) + rolled.states,
        came_from,
        loops=(*loops, *endless),
        tails=tails,
        extremes=rolled.extremes,
        goal=goal,
    )


def _before(states: list[State], before: Mapping[State, Sequence[State]]) -> set[State]:
    """Return some states, and all from which they can be reached; `before` has the predecessors of each."""
    found, queue = set(states), states
    while queue:
        new = set(before.get(queue.pop(), ())) - found
        found |= new
        queue += new
    return found


def one(
    moves: Steps,
    start: State,
    choose: Callable[[Iterable[Way]], Way],
    *,
    canonical: Canonical = lambda state: state,
    budget: Optional[Budget] = None,
) -> Exploration:
    """Follow one path to its end; `choose` picks one of the steps. A path that the budget cuts off has no end."""
    if budget is not None and budget.is_stopped():
        return Exploration((), False, 1, {start: None})
    state = canonical(start)
    came_from: dict[State, Optional[State]] = {state: None}
    again = 0  # times that a state came again
    for _ in range(_MOST_STEPS):
        steps = moves.after(state)
        if not steps:
            return Exploration((state,), False, len(came_from), came_from, runs=1)
        step = choose(steps)()
        after = canonical(step.state)
        before = len(came_from)
        came_from.setdefault(after, state)  # perf: the hash of a large state takes a millisecond
        again += len(came_from) == before
        state = after
        if not step.is_settled:
            break
        if budget is not None:
            budget.spend(len(state.pods))
            if budget.is_over():
                return Exploration((), False, len(came_from), came_from)
        if again > _MOST_REPEATS:
            break
    return Exploration((), False, len(came_from), came_from, runs=1, loops=(state,))


def first(steps: Iterable[Way]) -> Way:
    """Choose the first way: scheduling comes before deletions, and deletions before readiness."""
    return next(iter(steps))


def at_random(seed: int) -> Callable[[Iterable[Way]], Way]:
    """Return a chooser of random steps, the same ones for the same seed.

    It draws the kind of the step first. Otherwise a pod that fits on many nodes would always be scheduled before a
    deletion finishes.
    """
    generator = random.Random(seed)  # noqa: S311 (a simulation's choice, no secret)

    def choose(steps: Iterable[Way]) -> Way:
        kinds = grouped((getattr(way, "func", None), way) for way in steps)  # The steps of a kind call one function.
        return generator.choice(generator.choice(list(kinds.values())))

    return choose


_MOST_COUNTED = 500_000  # pods in all states of a rollout that was searched as counts; each comparison reads all pods


def search_path(
    moves: tuple[Moves, ...], symmetry: Symmetry, start: State, found: Exploration, end: State
) -> tuple[Step, ...]:
    """Return the steps from the start to a state, with their moves."""
    steps: list[Step] = []
    now = start
    for before, wanted in itertools.pairwise(_states_on_way(symmetry.canonical, found, end)):
        # Of equal pods the first was chosen, which may be another one in the equivalent state.
        more = _leading(moves, symmetry, found, now, wanted) or _leading(moves, symmetry, found, before, wanted)
        if not more:
            break
        steps += more
        now = more[-1].state
    return tuple(steps)


def _states_on_way(canonical: Canonical, found: Exploration, end: State) -> list[State]:
    """Return a state for each that was visited on the way to one, up to interchangeable nodes.

    Empty for a rollout of very many pods.
    """
    tail = found.tails.get(end)
    counted = [] if tail is None else tail()
    if sum(len(state.pods) for state in counted) > _MOST_COUNTED:
        return []
    rolled = [canonical(state) for state in counted]
    state: Optional[State] = end
    if rolled:  # A rollout begins in one of the visited states.
        state = next((entry for entry in found.came_from if canonical(without_ending(entry)) == rolled[0]), None)
    way: list[State] = []
    while state is not None:
        way.append(state)
        state = found.came_from.get(state)
    return [*reversed(way), *rolled[1:]]


def _leading(moves: tuple[Moves, ...], symmetry: Symmetry, found: Exploration, now: State, wanted: State) -> list[Step]:
    """Return the steps from one state to another, or to an equivalent one, of which it is the representative.

    In a rollout, pods that terminate may be gone before the step.
    """
    if found.is_literal:
        return [step for step in (way() for way in moves[-1].after(now)) if step.state == wanted][:1]
    gone = moves[0].finish_deletions(now)
    for first in ([], [gone]):
        begun = first[-1].state if first else now
        for step in (way() for each in moves for way in each.after(begun)):
            if symmetry.canonical(step.state) == wanted or symmetry.canonical(without_ending(step.state)) == wanted:
                return [*first, step]
    return []
