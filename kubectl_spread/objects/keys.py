"""The names of objects, and ranges of numbers, as records that every package shares."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class ObjectKey(NamedTuple):
    """The kind and the name of an object; `namespace` is empty for one of the cluster."""

    kind: str = ""
    namespace: str = ""
    name: str = ""


class Range(NamedTuple):
    """The lowest and the highest of some numbers."""

    least: int
    most: int

    def __str__(self) -> str:
        return str(self.least) if self.is_single else f"{self.least} to {self.most}"

    @property
    def is_single(self) -> bool:
        return self.least == self.most

    def allows(self, number: int) -> bool:
        """Return whether a number is within the range."""
        return self.least <= number <= self.most


def range_of(numbers: Iterable[int]) -> Range:
    """Return the lowest and the highest number; 0 and 0 without any."""
    every = list(numbers)
    return Range(min(every, default=0), max(every, default=0))
