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
    """Numbers of values: a value that has none gets the next one when it is looked up by `[]`.

    values: by number.
    """

    def __init__(self, values: Iterable[K] = ()) -> None:
        self.values_by_number = list(values)
        super().__init__((value, number) for number, value in enumerate(self.values_by_number))

    def __missing__(self, value: K) -> int:
        self[value] = number = len(self.values_by_number)
        self.values_by_number.append(value)
        return number
