"""The names of objects, and ranges of numbers, as records that every package shares."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from kubectl_spread.text.wording import short

MOST_PODS = 100_000  # of one workload that are simulated


class ObjectKey(NamedTuple):
    """The kind and the name of an object; `namespace` is empty for one of the cluster."""

    kind: str = ""
    namespace: str = ""
    name: str = ""


class NamespacedName(NamedTuple):
    """The name of an object whose kind is known; `namespace` is empty for one of the cluster."""

    namespace: str
    name: str


class Range(NamedTuple):
    """The lowest and the highest of some numbers."""

    least: int
    most: int

    @classmethod
    def of_text(cls, text: str, *, noun: str = "replicas", most: int = MOST_PODS) -> Range:
        """Return the range of `MIN..MAX`.

        Raises:
            ValueError: it is none, or goes beyond `most`; its text says what to write.
        """
        match = re.match(r"(\d{1,20})\.\.(\d{1,20})\Z", text, re.ASCII)
        if match is None:
            raise ValueError(f"{short(text) or 'the empty text'} is not a range of {noun}: write 3..9")
        found = cls(int(match[1]), int(match[2]))
        if found.least > found.most:
            raise ValueError(f"{found.least} is greater than {found.most}: write {found.most}..{found.least}")
        if found.most > most:
            raise ValueError(f"{short(text)}: the largest number of {noun} is {most:,}")
        return found

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


def sum_of(ranges: Iterable[Range]) -> Range:
    """Return the lowest and the highest sum of numbers in ranges."""
    every = list(ranges)
    return Range(sum(item.least for item in every), sum(item.most for item in every))
