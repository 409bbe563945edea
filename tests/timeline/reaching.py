"""Ways to recorded states: every recorded run must be one that the engine can take."""

from __future__ import annotations

from collections import Counter
from typing import Any
from typing import NamedTuple
from typing import Optional

from kubectl_spread.timeline import explore
from kubectl_spread.timeline.moves import Moves
from kubectl_spread.timeline.oracle import Oracle
from kubectl_spread.timeline.state import State
from kubectl_spread.timeline.world import World
from tests.timeline import recordings
from tests.timeline.recordings import Scenario
from tests.timeline.recordings import Seen

Plain = dict[str, Any]
PATIENCE_S = 60.0  # how long the recordings waited


class Missed(NamedTuple):
    """A recorded state that was not reached; `states` were visited, and if `is_all` there are no others."""

    run: int
    step: int
    states: int
    is_all: bool


class Follower:
    """Follows the recorded runs of one scenario."""

    def __init__(self, plain: Plain, *, max_states: int) -> None:
        self.scenario = Scenario(plain)
        self.world: World = self.scenario.world
        self.oracle = Oracle(self.world)
        self.moves = Moves(self.world, self.oracle, patience_s=PATIENCE_S)
        self._max_states = max_states
        self._known: dict[tuple[State, frozenset[tuple[Seen, int]]], tuple[Optional[State], int]] = {}
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
            is_moment = bool(recorded.get("unsettled"))
            found, visited = explore.towards(
                self.moves,
                [start],
                _Distance(self.world, target),
                is_there=lambda state: self._is_there(state, target, is_moment=is_moment),
                max_states=self._max_states,
                any_state=is_moment,
            )
            self._known[key] = (found if found is None or is_moment else self._as(found, target), visited)
        return self._known[key]

    def _as(self, state: State, target: Counter[Seen]) -> Optional[State]:
        return recordings.with_ordinals(self.world, state, target)

    def _is_there(self, state: State, target: Counter[Seen], *, is_moment: bool) -> bool:
        """Return whether a state is the recorded one; of a moment only who is where is compared."""
        if is_moment:
            return _alive(recordings.told(self.world, state)) == _alive(target)
        return self._as(state, target) is not None


class _Distance:
    """How far a state seems to be from a recorded one."""

    def __init__(self, world: World, target: Counter[Seen]) -> None:
        self._world = world
        self._target = target
        self._places = _places(target)

    def __call__(self, state: State) -> float:
        pods = recordings.told(self._world, state)
        places = _places(pods)
        wrong = sum((places - self._places).values()) + sum((self._places - places).values())
        return wrong + 0.5 * len(state.todo) + 0.3 * sum((pods - self._target).values())


def _alive(pods: Counter[Seen]) -> Counter[tuple[str, int, Optional[str]]]:
    return _places(Counter({pod: count for pod, count in pods.items() if not pod.is_terminating}))


def _places(pods: Counter[Seen]) -> Counter[tuple[str, int, Optional[str]]]:
    found: Counter[tuple[str, int, Optional[str]]] = Counter()
    for pod, count in pods.items():
        found[pod.owner, pod.revision, pod.node] += count
    return found
