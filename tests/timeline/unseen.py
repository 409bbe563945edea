"""Predicted outcomes that no run of a real control plane had: each must be a way of the slow controllers, too."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from kubectl_spread.engine.search import explore
from kubectl_spread.engine.search.explore import Budget
from kubectl_spread.engine.state import Move, State, Step
from tests.naive.controllers import recordings as slow
from tests.timeline import recordings
from tests.timeline.judging import Spread, spread
from tests.timeline.reaching import Follower

Plain = dict[str, Any]
MOST_STATES = 150
MANY_RUNS = 8
WALKS = 300


class Unseen(NamedTuple):
    """An outcome of a step that was predicted, and that none of many runs had.

    run: a run that reaches the start of the step. target: the outcome, in the words of the recordings.
    """

    step: int
    run: int
    target: Plain
    trace: tuple[str, ...]


class Prediction(NamedTuple):
    """Predicted spreads of the steps that many runs took, and the outcomes that none of them had."""

    predicted: int
    unseen: tuple[Unseen, ...]


def predict(plain: Plain, *, max_states: int, most_predicted: int = MOST_STATES, many: int = MANY_RUNS) -> Prediction:
    """Compare the predicted spreads of a scenario with what its runs showed.

    Args:
        plain: the recording.
        max_states: to look at for each recorded state.
        most_predicted: states of a step of which all outcomes are predicted.
        many: runs of a step from which on it counts.
    """
    follower = Follower(plain, max_states=max_states)
    seen: dict[tuple[int, State], list[tuple[int, Spread]]] = {}
    for run in range(len(plain["runs"])):
        before = State((), (), 0)
        for step, state in enumerate(follower.follow(run)[0]):
            if not plain["runs"][run][step].get("unsettled"):
                start = follower.start(before, step)
                seen.setdefault((step, start), []).append((run, spread(follower, state)))
            before = state
    predicted, unseen = 0, []
    for (step, start), shown in seen.items():
        if len(shown) < many:
            continue
        found = explore.everything(follower.moves, [start], canonical=_same, budget=Budget(most_predicted))
        if not found.is_exhaustive:
            continue
        ends = {spread(follower, end): end for end in found.steady}
        predicted += len(ends)
        for other in ends.keys() - {item for _, item in shown}:
            trace = tuple(_trace(follower, found.came_from, ends[other]))
            unseen.append(Unseen(step, shown[0][0], target_of(follower, ends[other]), trace))
    return Prediction(predicted, tuple(unseen))


def _same(state: State) -> State:
    return state


def target_of(follower: Follower, state: State) -> Plain:
    """Return a state in the words of the recordings."""
    pods = [
        {
            "owner": pod.owner,
            "revision": pod.revision,
            "node": pod.node,
            "ready": pod.is_ready,
            **({"ordinal": pod.ordinal} if pod.ordinal is not None else {}),
            **({"terminating": True} if pod.is_terminating else {}),
        }
        for pod in recordings.told(follower.world, state).elements()
    ]
    return {"pods": pods, "messages": {}}


def _trace(follower: Follower, came_from: dict[State, Optional[State]], end: State) -> Iterator[str]:
    """Yield the moves to a state, one after another."""
    way = [end]
    while (before := came_from[way[-1]]) is not None:
        way.append(before)
    way.reverse()
    for before, after in itertools.pairwise(way):
        step = next(step for step in (way() for way in follower.moves.after(before)) if step.state == after)
        yield from _moves(follower, step)


def _moves(follower: Follower, step: Step) -> Iterator[str]:
    for move in step.moves:
        yield f"{move.kind.value} {_pod(follower, move)}".strip()


def _pod(follower: Follower, move: Move) -> str:
    world = follower.world
    if move.pod is None:
        owner = world.keys[move.owner].name if move.owner >= 0 else ""
        return f"{owner} {move.number}".strip()
    node = world.node_names[move.node] if move.node >= 0 else ""
    name = world.keys[move.pod.owner].name if move.pod.owner >= 0 else "a pod"
    number = recordings.revision_number(world, move.pod.rev) if move.pod.rev >= 0 else 0
    return f"{name} revision {number} {node}".strip()


def is_allowed(plain: Plain, item: Unseen, *, walks: int = WALKS, seed: int = 1) -> bool:
    """Return whether the slow controllers get to an outcome, step by step and each by its own rules."""
    run = [*plain["runs"][item.run][: item.step], item.target]
    chance = random.Random(seed)
    names = slow.revisions(plain)
    worlds = [slow.start(plain)]
    for number, target in enumerate(run):
        begun = [slow.begin(world, plain["steps"][number], number) for world in worlds]
        worlds = slow.reach(begun, target, names, walks=walks, chance=chance).worlds
        if not worlds:
            return False
    return True
