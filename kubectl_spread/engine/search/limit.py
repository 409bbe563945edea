"""Limits of one search, in states."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

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
        """Let at most a number of states be left, and at least another one; the latter once."""
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
