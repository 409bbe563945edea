"""Interchangeable nodes as numbered places, and the order of their contents that does not depend on names.

A content is a number for each place. Contents are equivalent if they differ by an exchange of interchangeable places:

    places   a1 a2 | b1 b2        numbers  3 0 | 0 1   is equivalent to   0 1 | 0 3
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from math import factorial, prod
from typing import Optional

from kubectl_spread.engine.search.arrangement import Tree

Numbers = tuple[int, ...]
Order = tuple[int, ...]  # for each place, the place where its content was before


Parts = tuple[tuple[Order, int], ...]  # orders of domains, and the places where these begin


def in_order(parts: Parts) -> Order:
    """Return the order of all places."""
    return tuple([low + place for inner, low in parts for place in inner])


class _Group:
    """A domain: classes of interchangeable children, which are places or smaller domains of one shape."""

    def __init__(self, tree: Tree) -> None:
        self.classes: list[tuple[Optional[_Group], int, int]] = []  # child, places in each child, number of children
        self.size = 0
        for members in tree:
            child = None if isinstance(members[0], int) else _Group(members[0])
            size = 1 if child is None else child.size
            self.classes.append((child, size, len(members)))
            self.size += size * len(members)
        self._known: dict[Numbers, tuple[Numbers, Order]] = {}
        self._only: Optional[tuple[_Group, range, int]] = None
        if len(self.classes) == 1 and self.classes[0][0] is not None:
            self._only = (self.classes[0][0], range(0, self.size, self.classes[0][1]), self.classes[0][1])

    def order(self, numbers: Numbers) -> tuple[Numbers, Order]:
        """Return equivalent numbers in the same order for all equivalent ones, and the order; cached."""
        found = self._known.get(numbers)
        if found is None:
            found = self._known[numbers] = self.compute_order(numbers)
        return found

    def compute_order(self, numbers: Numbers) -> tuple[Numbers, Order]:
        """Return what `order` returns, without its cache."""
        found, parts = self.arrange(numbers)
        return found, in_order(parts)

    def arrange(self, numbers: Numbers) -> tuple[Numbers, Parts]:
        """Return what `compute_order` returns, with the order in parts."""
        if self._only is not None:
            child, lows, size = self._only
            found = [(*child.order(numbers[low : low + size]), low) for low in lows]
            found.sort()
        else:
            found = self._by_class(numbers)
        return sum([item[0] for item in found], ()), tuple([item[1:] for item in found])

    def _by_class(self, numbers: Numbers) -> list[tuple[Numbers, Order, int]]:
        found: list[tuple[Numbers, Order, int]] = []
        at = 0
        for child, size, count in self.classes:
            lows = range(at, at + size * count, size)
            if child is None:
                leaves = sorted([(numbers[low], low - at) for low in lows])
                found.append((tuple([item[0] for item in leaves]), tuple([item[1] for item in leaves]), at))
            else:
                found += sorted([(*child.order(numbers[low : low + size]), low) for low in lows])
            at += size * count
        return found

    def stabilizers(self, numbers: Numbers) -> int:
        """Return the number of exchanges that leave numbers as they are."""
        found, at = 1, 0
        for child, size, count in self.classes:
            parts = [numbers[low : low + size] for low in range(at, at + size * count, size)]
            if child is not None:
                found *= prod(child.stabilizers(part) for part in parts)
                parts = [child.order(part)[0] for part in parts]
            found *= prod(factorial(number) for number in Counter(parts).values())
            at += size * count
        return found

    def swaps(self, numbers: Numbers, start: int, total: int) -> list[Order]:
        """Return exchanges of neighbouring equal children that leave ordered numbers as they are."""
        found: list[Order] = []
        at = start
        for child, size, count in self.classes:
            lows = range(at, at + size * count, size)
            for one, other in itertools.pairwise(lows):
                if numbers[one : one + size] == numbers[other : other + size]:
                    found.append(_exchanged(one, other, size=size, total=total))
            if child is not None:
                for low in lows:
                    found += child.swaps(numbers, low, total)
            at += size * count
        return found


def _exchanged(one: int, other: int, *, size: int, total: int) -> Order:
    order = list(range(total))
    order[one : one + size], order[other : other + size] = order[other : other + size], order[one : one + size]
    return tuple(order)


class Places:
    """Numbered places of a cluster's nodes."""

    def __init__(self, tree: Tree, nodes: list[int]) -> None:
        """Number the nodes of a tree in its order."""
        self.nodes = nodes
        self._root = _Group(tree)
        self.brothers = _brothers(self._root, itertools.count())

    def order(self, numbers: Numbers) -> tuple[Numbers, Order]:
        """Return equivalent numbers in the same order for all equivalent ones, and the order."""
        return self._root.compute_order(numbers)

    def arrange(self, numbers: Numbers) -> tuple[Numbers, Parts]:
        """Return what `order` returns, with the order in parts; `in_order` puts them together."""
        return self._root.arrange(numbers)

    def variants(self, numbers: Numbers) -> int:
        """Return the number of equivalent numbers."""
        return self._root.stabilizers((0,) * self._root.size) // self._root.stabilizers(numbers)

    def swaps(self, numbers: Numbers) -> list[Order]:
        """Return exchanges of places that leave ordered numbers as they are, and that generate all others."""
        return self._root.swaps(numbers, 0, self._root.size)


def _brothers(group: _Group, numbers: Iterator[int]) -> list[int]:
    """Return a number for each place; places of one domain that are interchangeable share it."""
    found: list[int] = []
    for child, _, count in group.classes:
        if child is None:
            found += [next(numbers)] * count
        else:
            found += [number for _ in range(count) for number in _brothers(child, numbers)]
    return found
