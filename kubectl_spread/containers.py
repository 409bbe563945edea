"""Values by their keys, and numbers for values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Optional, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Return the values of each key, in the order of the pairs."""
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def tied(items: Iterable[K], ties: Iterable[Iterable[Optional[K]]]) -> list[list[K]]:
    """Return the items in groups, in their order: the items of a tie are in one group, and None is no item."""
    groups = {item: [item] for item in items}
    for tie in ties:
        joined = list({id(groups[item]): groups[item] for item in tie if item is not None}.values())
        for group in joined[1:]:
            joined[0] += group
            groups.update((item, joined[0]) for item in group)
    return list(grouped((id(group), item) for item, group in groups.items()).values())


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
