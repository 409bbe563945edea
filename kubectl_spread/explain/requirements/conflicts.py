"""The smallest sets of requirements that leave no node.

Each node is refused by a set of requirements, a row. A conflict must contain one requirement of every row: the
conflicts are the minimal hitting sets of the rows. The search of Murakami and Uno (MMCS,
https://arxiv.org/abs/1102.3813) finds them size by size, each once. It takes a row that no chosen requirement hits, and
tries each of its requirements. It backtracks as soon as an earlier choice hits no row alone.

        rows          {cpu, zone} {zone, taint} {cpu}
        choose cpu    ----------- left: {zone, taint}
          zone        hits {zone, taint}: a conflict {cpu, zone}
          taint       hits {zone, taint}: a conflict {cpu, taint}

The number of conflicts can be exponential. The search stops after `MAX_STEPS`, and reports that. All smaller sets are
then complete, but sets of the largest visited size may be missing. If it found no set at all, it removes superfluous
requirements from the set of all, until the rest is a conflict.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from kubectl_spread.explain.requirements.requirement import Requirement

MAX_SETS = 20  # in the answer
MAX_STEPS = 20_000  # of the search: a tenth of a second
MAX_COUNTED = 1_000


class Conflict(NamedTuple):
    """Requirements that no node meets together. Each proper subset of them is met by some node.

    `arithmetic`: for each of the `requirements`, why it refuses the nodes that the earlier ones leave. It is empty
    if the caller needs no words.
    """

    requirements: tuple[Requirement, ...]
    arithmetic: tuple[str, ...] = ()

    def singles(self) -> Iterator[tuple[Requirement, ...]]:
        """Yield the same sets without merged requirements: a part of each in every combination."""
        yield from itertools.product(*(item.parts or (item,) for item in self.requirements))


class ConflictSets(NamedTuple):
    """Conflicts, the smallest first.

    `more` further sets are left out. Unless `is_complete`, others may exist.
    """

    sets: tuple[Conflict, ...] = ()
    more: int = 0
    is_complete: bool = True


def conflicts(found: Sequence[Requirement]) -> list[Conflict]:
    """Return at most `MAX_SETS` irredundant sets of requirements that leave no node, the smallest first."""
    return list(conflict_sets(found, has_words=False).sets)


def conflict_sets(found: Sequence[Requirement], *, has_words: bool) -> ConflictSets:
    """Return irredundant sets of requirements that leave no node; none if a node meets all."""
    rows = _rows(found)
    if not rows or 0 in rows:
        return ConflictSets()
    search = _Search(rows, len(found))
    search.run()
    ordered = sorted(search.found, key=lambda chosen: (len(chosen), chosen))
    sets = tuple(_conflict([found[at] for at in chosen], has_words=has_words) for chosen in ordered[:MAX_SETS])
    return ConflictSets(sets, len(ordered) - len(sets), search.is_complete)


def _conflict(chosen: list[Requirement], *, has_words: bool) -> Conflict:
    if not has_words:
        return Conflict(tuple(chosen))
    left = np.ones_like(chosen[0].allowed)
    words = []
    for requirement in chosen:
        words.append(requirement.why(left & ~requirement.allowed))
        left &= requirement.allowed
    return Conflict(tuple(chosen), tuple(words))


def _rows(found: Sequence[Requirement]) -> set[int]:
    """Return the requirements that refuse each node, as bits of a number, without rows that contain another row."""
    if not found:
        return set()
    failing = ~np.array([requirement.allowed for requirement in found], np.bool_)  # (R, N)
    packed = np.packbits(failing, axis=0, bitorder="little").T  # (N, bytes)
    distinct = {int.from_bytes(row, "little") for row in {row.tobytes() for row in packed}}
    least: list[int] = []
    for row in sorted(distinct, key=lambda row: (row.bit_count(), row)):
        if not any(other & row == other for other in least):
            least.append(row)
    return set(least)


class _Search:
    """Minimal hitting sets, size by size. Rows and requirements are bits of numbers."""

    def __init__(self, rows: set[int], count: int) -> None:
        self._rows = sorted(rows, key=lambda row: (row.bit_count(), row))
        # The rows that each requirement hits.
        self._hits = [sum(1 << at for at, row in enumerate(self._rows) if row >> item & 1) for item in range(count)]
        self._all = (1 << len(self._rows)) - 1
        self._steps = 0
        self._size = 0
        self._was_cut = False
        self.found: list[tuple[int, ...]] = []
        self.is_complete = True

    def run(self) -> None:
        """Search sets of one requirement, of two, and so on."""
        candidates = (1 << len(self._hits)) - 1
        self._was_cut = True
        while self._was_cut and self.is_complete:
            self._size += 1
            self._was_cut = False
            self._extend((), [], self._all, candidates)
        if not self.found:
            self.found.append(self._any())

    def _any(self) -> tuple[int, ...]:
        """Return one set, perhaps not the smallest: drop each requirement that the rest does not need."""
        kept = list(range(len(self._hits)))
        for item in reversed(range(len(self._hits))):
            others = [other for other in kept if other != item]
            if functools.reduce(int.__or__, (self._hits[other] for other in others), 0) == self._all:
                kept = others
        return tuple(kept)

    def _extend(self, chosen: tuple[int, ...], critical: list[int], left: int, candidates: int) -> None:
        """Add a requirement.

        critical: for each chosen one, the rows that only it hits. left: the rows that none hits.
        """
        if not left:
            if len(chosen) == self._size:
                self.found.append(tuple(sorted(chosen)))
            return
        if len(chosen) == self._size:
            self._was_cut = True
            return
        row = self._rows[(left & -left).bit_length() - 1]
        options = _bits(row & candidates)
        candidates &= ~row
        for item in options:
            self._steps += 1
            if self._steps > MAX_STEPS or len(self.found) >= MAX_COUNTED:
                self.is_complete = False
                return
            hits = self._hits[item]
            still = [rows & ~hits for rows in critical]
            if all(still):
                self._extend((*chosen, item), [*still, left & hits], left & ~hits, candidates)
            candidates |= 1 << item


def _bits(number: int) -> list[int]:
    found = []
    while number:
        low = number & -number
        found.append(low.bit_length() - 1)
        number ^= low
    return found
