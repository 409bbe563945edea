"""Limits of one search: states, and time on a clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

Clock = Callable[[], float]


class Deadline(NamedTuple):
    """Time at which a search stops, in seconds of a clock; without arguments it never does."""

    at: float = float("inf")
    clock: Clock = time.monotonic

    def is_over(self) -> bool:
        return self.clock() > self.at

    def later(self, seconds: float) -> Deadline:
        """Return the deadline some seconds later."""
        return self._replace(at=self.at + seconds)


NEVER = Deadline()


class Limit(NamedTuple):
    """Limit of a search: number of states, a deadline, and a function that is called with the number of states."""

    max_states: int
    deadline: Deadline
    is_enough: Callable[[int], bool]

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
