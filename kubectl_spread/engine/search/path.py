"""Paths from the start of a search to a state."""

from __future__ import annotations

import itertools
from typing import Optional

from kubectl_spread.engine.moves import Moves, without_ending
from kubectl_spread.engine.search.explore import Exploration
from kubectl_spread.engine.search.symmetry import Symmetry
from kubectl_spread.engine.state import State, Step

_MOST_COUNTED = 500_000  # pods in all states of a rollout that was searched as counts; each comparison reads all pods


class SearchPath:
    """Path from the start to a state, reconstructed on demand."""

    def __init__(
        self, moves: tuple[Moves, ...], symmetry: Symmetry, start: State, found: Exploration, end: State
    ) -> None:
        self._moves = moves
        self._symmetry = symmetry
        self._start = start
        self._found = found
        self._end = end

    def __call__(self) -> tuple[Step, ...]:
        """Return the steps with their moves."""
        made: list[Step] = []
        now = self._start
        way = self._states()
        for before, wanted in itertools.pairwise(way):
            # Of equal pods the first was chosen, which may be another one in the equivalent state.
            steps = self._leading(now, wanted) or self._leading(before, wanted)
            if not steps:
                break
            made += steps
            now = steps[-1].state
        return tuple(made)

    def _states(self) -> list[State]:
        """Return a state for each that was visited on the way, up to interchangeable nodes.

        Empty for a rollout of very many pods.
        """
        tail = self._found.tails.get(self._end)
        counted = [] if tail is None else list(tail())
        if sum(len(state.pods) for state in counted) > _MOST_COUNTED:
            return []
        rolled = [self._symmetry.canonical(state) for state in counted]
        way: list[State] = []
        state: Optional[State] = self._end if tail is None else self._entry(rolled[0])
        while state is not None:
            way.append(state)
            state = self._found.came_from.get(state)
        return [*reversed(way), *rolled[1:]]

    def _entry(self, first: State) -> Optional[State]:
        """Return the visited state in which a rollout begins."""
        canonical = self._symmetry.canonical
        return next((state for state in self._found.came_from if canonical(without_ending(state)) == first), None)

    def _leading(self, now: State, wanted: State) -> list[Step]:
        """Return the steps from one state to another, or to an equivalent one.

        In a rollout, pods that terminate may be gone before the step.
        """
        if self._found.is_literal:
            return [step for step in (way() for way in self._moves[-1].after(now)) if step.state == wanted][:1]
        gone = self._moves[0].finish_deletions(now)
        for first in ([], [gone]):
            start = first[-1].state if first else now
            for step in (way() for moves in self._moves for way in moves.after(start)):
                if self._is(step.state, wanted) or self._is(without_ending(step.state), wanted):
                    return [*first, step]
        return []

    def _is(self, state: State, wanted: State) -> bool:
        """Return whether two states are equal up to interchangeable nodes; `wanted` is a representative."""
        return self._symmetry.canonical(state) == wanted
