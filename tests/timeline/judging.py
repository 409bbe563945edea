"""What is predicted, set against what was recorded: outcomes, certainties and messages."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from kubectl_spread.engine.results import answer
from kubectl_spread.engine.search import explore
from kubectl_spread.engine.search.explore import Budget
from kubectl_spread.engine.state import Deletion, PENDING, State
from kubectl_spread.objects.selectors import ZONE
from tests.timeline import recordings
from tests.timeline.reaching import Follower, Missed

Plain = dict[str, Any]
Spread = frozenset[tuple[tuple[str, int, str], int]]  # pods by workload, revision and zone


class Verdict(NamedTuple):
    """What one scenario shows.

    missed: recorded states that were not reached. reached: how many were. broken: steps whose prediction was certain
    and not what happened. messages: recorded and predicted messages that differ, by run and step. incomplete: states
    whose completeness is told wrongly. not_judged: starts of steps with too many states for a prediction. They are
    neither right nor wrong.
    """

    missed: tuple[Missed, ...]
    reached: int
    broken: tuple[tuple[int, Spread], ...]
    messages: tuple[tuple[int, int, Plain, Plain], ...]
    incomplete: tuple[tuple[int, int], ...]
    not_judged: int

    @property
    def is_right(self) -> bool:
        return not self.missed and not self.broken and not self.messages and not self.incomplete


def judge(plain: Plain, *, max_states: int, most_predicted: int) -> Verdict:
    """Follow every run, and predict the steps whose states are few enough.

    Args:
        plain: the recording.
        max_states: to look at for each recorded state.
        most_predicted: states of a step that are looked at for its outcomes.
    """
    follower = Follower(plain, max_states=max_states)
    missed, reached = [], 0
    messages: list[tuple[int, int, Plain, Plain]] = []
    incomplete: list[tuple[int, int]] = []
    seen: dict[tuple[int, State], list[Spread]] = {}
    for run, states in enumerate(plain["runs"]):
        found, miss = follower.follow(run)
        missed += [] if miss is None else [miss]
        reached += len(found)
        before = State((), (), 0)
        for step, state in enumerate(found):
            recorded = states[step]
            if not recorded.get("unsettled"):
                if not follower.moves.after(state):
                    seen.setdefault((step, follower.start(before, step)), []).append(spread(follower, state))
                predicted = _messages(follower, state)
                known = states[step - 1]["messages"].keys() if step else ()
                at = _Told(follower, follower.start(before, step), state, frozenset(known))
                if not _is_told(recorded["messages"], predicted, at):
                    messages.append((run, step, recorded["messages"], predicted))
                if is_complete(follower, state) != recorded["complete"]:
                    incomplete.append((run, step))
            before = state
    broken: list[tuple[int, Spread]] = []
    not_judged = 0
    for (step, start), spreads in seen.items():
        outcomes = _outcomes(follower, start, most=most_predicted)
        not_judged += not outcomes
        if len(outcomes) == 1:
            broken += [(step, item) for item in set(spreads) if item not in outcomes]
    return Verdict(tuple(missed), reached, tuple(broken), tuple(messages), tuple(incomplete), not_judged)


class _Told(NamedTuple):
    """A state at the end of a step, and the one at its start; known: texts of the step before."""

    follower: Follower
    start: State
    state: State
    known: frozenset[str]


def _is_told(recorded: Plain, predicted: Plain, at: _Told) -> bool:
    """Return whether as many pods wait, and each recorded text is true now, or was so in a state before.

    A pod's message is that of its last attempt, and not every change wakes it.
    """
    older = recorded.keys() - predicted.keys() - at.known
    if sum(recorded.values()) != sum(predicted.values()):
        return False
    visited = at.follower.visited(at.state) if older else ()
    for before in visited:
        older -= _messages(at.follower, before).keys()
        if not older:
            return True
    for before in at.follower.between(at.start, at.state) if older else ():
        older -= _messages(at.follower, before).keys()
        if not older:
            return True
    return not older


def spread(follower: Follower, state: State) -> Spread:
    """Return how many pods of each workload and revision each zone has; where there are no zones, each node."""
    world = follower.world
    found: Counter[tuple[str, int, str]] = Counter()
    for pod in state.pods:
        if pod.end != Deletion.ALIVE:
            continue
        node = world.node(state.facts, pod.node)
        domain = "" if node is None else node.labels.get(ZONE, node.name)
        name = world.keys[pod.owner].name if pod.owner >= 0 else ""
        found[name, recordings.revision_number(world, pod.rev) if pod.rev >= 0 else 0, domain] += 1
    return frozenset(found.items())


def _outcomes(follower: Follower, start: State, *, most: int) -> set[Spread]:
    """Return the spread of every outcome, or two of them; none where there are too many states.

    Two that differ say that nothing is certain, and come early where the latest states come first.
    """
    found: set[Spread] = set()

    def differ(state: State, is_steady: bool) -> bool:
        if is_steady:
            found.add(spread(follower, state))
        return len(found) > 1

    search = explore.everything(follower.moves, [start], budget=Budget(most), priority=lambda _: 0, is_goal=differ)
    return found if search.is_exhaustive or search.goal is not None else set()


def _messages(follower: Follower, state: State) -> Plain:
    """Return what the scheduler says of Pending pods, with how many it says it of."""
    waiting = (pod for pod in state.pods if pod.node == PENDING and pod.end == Deletion.ALIVE)
    return dict(Counter(follower.oracle.message(pod, state) for pod in waiting))


def is_complete(follower: Follower, state: State) -> bool:
    """Return whether every workload that is recorded as complete or not is so."""
    world = follower.world
    kinds = ("Deployment", "StatefulSet", "DaemonSet")
    return all(
        answer.is_complete(world, state, owner)
        for owner, own in enumerate(state.sets)
        if own is not None and world.keys[owner].kind in kinds
    )
