"""Ways to recorded states: every recorded run must be one that the engine can take."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple, Optional

from kubectl_spread.engine.moves import Moves
from kubectl_spread.engine.oracle import Oracle
from kubectl_spread.engine.search import explore
from kubectl_spread.engine.search.explore import Budget, weight
from kubectl_spread.engine.search.symmetry import Symmetry
from kubectl_spread.engine.state import EventKind, State, Step
from kubectl_spread.engine.steps import named_nodes
from kubectl_spread.engine.world import World
from tests.timeline import recordings
from tests.timeline.recordings import Scenario, Seen

Plain = dict[str, Any]


# What a pod at a wrong place counts, and the share of the states that are looked at with this idea.
_IDEAS = ((3.0, 0.1), (0.0, 0.4), (1.0, 0.2), (2.0, 0.3))


_RUNS = 100  # at random, after the search with every idea


_MOST_ASKED = 500  # states whose messages are compared with a recorded one that is not true any more


_MOST_BETWEEN = 4000  # states looked at for a message that was true on some way to the end


class Missed(NamedTuple):
    """A recorded state that was not reached; `states` were visited, and if `is_all` there are no others."""

    run: int
    step: int
    states: int
    is_all: bool


class Follower:
    """Follows the recorded runs of one scenario."""

    def __init__(self, plain: Plain, *, max_states: int, keeps_ordinals: bool = False) -> None:
        """`keeps_ordinals`: later steps depend on ordinals; otherwise they are given out again after each step."""
        self.scenario = Scenario(plain)
        self.world: World = self.scenario.world
        self.oracle = Oracle(self.world)
        self.moves = Moves(self.world, self.oracle, keeps_ordinals=keeps_ordinals)
        self._max_states = max_states
        self._known: dict[tuple[State, frozenset[tuple[Seen, int]]], tuple[Optional[State], int]] = {}
        self.came_from: dict[State, tuple[State, dict[State, State]]] = {}  # by state at the end of a step
        self._todo: list[tuple[tuple[str, int], ...]] = []
        for ops in self.scenario.steps:
            first = len(self.world.ops)
            self.world.ops += ops
            self._todo.append(tuple(("op", first + at) for at in range(len(ops))))

    def start(self, state: State, step: int) -> State:
        """Return a state at the beginning of a step."""
        return recordings.settled(state)._replace(todo=self._todo[step])

    def follow(self, run: int) -> tuple[list[State], Optional[Missed]]:
        """Return the states at the end of each step of a run, and the first that is not reached."""
        state = State((), (), 0)
        found: list[State] = []
        for step, recorded in enumerate(self.scenario.plain["runs"][run]):
            after, visited = self.reach(self.start(state, step), recorded)
            if after is None:
                return found, Missed(run, step, abs(visited), visited < 0)
            found.append(after)
            state = after
            if recorded.get("unsettled"):
                break  # one moment of a livelock, of which not all is recorded
        return found, None

    def reach(self, start: State, recorded: Plain) -> tuple[Optional[State], int]:
        """Return the recorded state as the engine has it; None where it is not reached."""
        target = recordings.recorded(recorded)
        key = (start, frozenset(target.items()))
        if key not in self._known:
            self._known[key] = self._search(start, target, is_moment=bool(recorded.get("unsettled")))
        return self._known[key]

    def _symmetry(self, start: State, target: Counter[Seen]) -> Symmetry:
        """Return what is interchangeable in the state that is looked for, too."""
        marks: dict[str, list[str]] = defaultdict(list)
        for pod in target.elements():
            marks[str(pod.node)].append(repr(pod))
        ops = [self.world.ops[at] for _, at in start.todo]
        return Symmetry(self.world, start, named_nodes(ops), marks={node: sorted(pods) for node, pods in marks.items()})

    def _as(self, state: State, target: Counter[Seen], start: State) -> Optional[State]:
        return recordings.with_ordinals(self.world, state, target, start)

    def visited(self, end: State) -> Iterator[State]:
        """Yield the states on the way to the end of a step, and then others that were looked at."""
        found, came_from = self.came_from.get(end, (end, {}))
        while found in came_from:
            found = came_from[found]
            yield found
        yield from islice(came_from, _MOST_ASKED)

    def between(self, start: State, end: State) -> Iterator[State]:
        """Yield states on any way to the end of a step that binds no pod where the end has none."""
        room = _bound(end)
        before: dict[State, list[State]] = {start: []}
        queue = [start]
        for state in queue:
            for way in self.moves.after(state) if len(before) < _MOST_BETWEEN else ():
                after = way().state
                if _bound(after) - room:
                    continue
                if after not in before:
                    before[after] = []
                    queue.append(after)
                before[after].append(state)
        seen = {end} if end in before else set()
        back = list(seen)
        for state in back:
            yield state
            back += [item for item in dict.fromkeys(before[state]) if item not in seen]
            seen.update(before[state])

    def _search(self, start: State, target: Counter[Seen], *, is_moment: bool) -> tuple[Optional[State], int]:
        """Look for a way with one idea of what is near after another."""
        canonical = self._symmetry(start, target).canonical
        visited = 0
        for surplus, share in _IDEAS:
            seen = explore.everything(
                self.moves,
                [start],
                budget=Budget(int(self._max_states * share) * weight(len(start.pods))),
                canonical=canonical,
                priority=_Distance(self.world, target, surplus=surplus),
                is_goal=lambda state, _: self._is_there(state, target, start, is_moment=is_moment),
            )
            found = seen.goal
            if found is not None:
                came_from = {after: before for after, before in seen.came_from.items() if before is not None}
                self.came_from[found if is_moment else self._as(found, target, start) or found] = (found, came_from)
                return (found if is_moment else self._as(found, target, start)), seen.states
            visited += seen.states
            if seen.is_exhaustive:
                return None, -seen.states
        for seed in range(_RUNS):
            run = explore.one(self.moves, start, explore.at_random(seed))
            visited += run.states
            for state in run.came_from:
                if self._is_there(state, target, start, is_moment=is_moment):
                    way = {after: before for after, before in run.came_from.items() if before is not None}
                    end = state if is_moment else self._as(state, target, start) or state
                    self.came_from[end] = (state, way)
                    return end, visited
        return None, visited

    def _is_there(self, state: State, target: Counter[Seen], start: State, *, is_moment: bool) -> bool:
        """Return whether a state is the recorded one, and steady; of a moment only who is where is compared."""
        if is_moment:
            return _alive(recordings.told(self.world, state)) == _alive(target)
        return self._as(state, target, start) is not None and self._is_quiet(state)

    def _is_quiet(self, state: State) -> bool:
        """Return whether nothing goes on but for preemptions, whose pod may miss its wake-up until a pod is deleted.

        Only plugins that refused the pod in Filter are asked for hints. A failure in the preemption's dry run alone
        wakes nobody, so that the pod waits for the flush after five minutes.
        """
        return all(_is_preemption(way()) for way in self.moves.after(state))


def _is_preemption(step: Step) -> bool:
    return any(move.kind == EventKind.PREEMPTED for move in step.moves)


class _Distance:
    """How far a state seems to be from a recorded one."""

    def __init__(self, world: World, target: Counter[Seen], *, surplus: float) -> None:
        """`surplus`: how much a pod counts that is where none is recorded; 0: waiting and unready pods count, too."""
        self._world = world
        self._surplus = surplus
        self._target = target
        self._places = _places(target)
        self._named = _with_ordinals(target)

    def __call__(self, state: State) -> float:
        pods = recordings.told(self._world, state)
        places = _places(pods)
        missing = sum((self._places - places).values()) + 0.5 * len(state.todo)
        if not self._surplus:
            return missing + sum((places - self._places).values()) + 0.3 * sum((pods - self._target).values())
        surplus = sum(count for place, count in (places - self._places).items() if place[2] is not None)
        wrong = _with_ordinals(pods) - self._named
        named = sum(count for place, count in wrong.items() if place[2] is not None)
        return missing + self._surplus * surplus + 1.1 * named


def _bound(state: State) -> Counter[tuple[int, int, int]]:
    """Return how many pods of each revision each node has, but for those that are being deleted."""
    return Counter((pod.owner, pod.rev, pod.node) for pod in state.pods if pod.node >= 0 and not pod.end)


def _alive(pods: Counter[Seen]) -> Counter[tuple[str, int, Optional[str]]]:
    return _places(Counter({pod: count for pod, count in pods.items() if not pod.is_terminating}))


def _places(pods: Counter[Seen]) -> Counter[tuple[str, int, Optional[str]]]:
    found: Counter[tuple[str, int, Optional[str]]] = Counter()
    for pod, count in pods.items():
        found[pod.owner, pod.revision, pod.node] += count
    return found


def _with_ordinals(pods: Counter[Seen]) -> Counter[tuple[str, int, Optional[str], Optional[int]]]:
    found: Counter[tuple[str, int, Optional[str], Optional[int]]] = Counter()
    for pod, count in pods.items():
        found[pod.owner, pod.revision, pod.node, pod.ordinal] += count
    return found
