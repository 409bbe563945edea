"""Limits of one search: states, and the time that a user allows."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from kubectl_spread.engine.state import State

_ORDINARY = 100  # Pods of an ordinary state; a state takes time in proportion to its pods.


def weight(pods: int) -> int:
    """Return how many ordinary states a state with some pods counts for."""
    return 1 + pods // _ORDINARY


class Deadline(NamedTuple):
    """Time at which a search stops, in seconds of `time.monotonic`; without an argument it never does."""

    at: float = float("inf")

    def is_over(self) -> bool:
        return self.at < float("inf") and time.monotonic() > self.at

    def later(self, seconds: float) -> Deadline:
        """Return the deadline some seconds later."""
        return Deadline(self.at + seconds)


NEVER = Deadline()


class Limit(NamedTuple):
    """Limit of a search.

    max_states: number of ordinary states. deadline: of the user. is_enough: is called with the number of visited
    states; returns whether to stop.
    """

    max_states: int
    deadline: Deadline = NEVER
    is_enough: Callable[[int], bool] = lambda _: False

    def less(self, states: int) -> Limit:
        """Return the limit for a search after a number of states were visited."""
        return Limit(self.max_states - states, self.deadline, lambda more: self.is_enough(states + more))

    def times(self, factor: int) -> Limit:
        """Return the limit with more states."""
        return self._replace(max_states=self.max_states * factor)

    def is_late(self) -> bool:
        return self.deadline.is_over()

    def is_over(self, states: int) -> bool:
        """Return whether to stop after a number of visited states."""
        return self.is_late() or states > self.max_states or self.is_enough(states)

    def is_over_at(self, state: State, states: int) -> bool:
        """Return whether to stop at a state, after a number of visited states of its size."""
        return states * weight(len(state.pods)) > self.max_states or self.is_over(states)
