"""Values by their keys, and numbers for values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Return the values of each key, in the order of the pairs."""
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


class Numbering(dict[K, int]):
    """Numbers of values: one that has none gets the next number when it is looked up by `[]`.

    listed: the values in the order of their numbers.
    """

    def __init__(self, values: Iterable[K] = ()) -> None:
        self.listed = list(values)
        super().__init__(zip(self.listed, range(len(self.listed)), strict=True))

    def __missing__(self, value: K) -> int:
        self[value] = number = len(self.listed)
        self.listed.append(value)
        return number
