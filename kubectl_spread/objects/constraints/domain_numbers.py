"""Numbers per domain, most of them 0: 50 pods on 5,000 nodes take the memory of 50 numbers, not of 5,000."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import ItemsView, Iterator, Mapping, ValuesView


class DomainNumbers(Mapping[str, int]):
    """A number, 0 or more, for each of some domains.

    Args:
        values: the domains, sorted; objects with the same domains share them.
        numbers: place in `values` -> number, without the zeros, in ascending order.
    """

    __slots__ = ("_numbers", "_values")

    def __init__(self, values: tuple[str, ...], numbers: dict[int, int]) -> None:
        self._values = values
        self._numbers = numbers

    def __getitem__(self, value: str) -> int:
        """Return the number of a domain.

        Raises:
            KeyError: it is not one of the domains.
        """
        at = bisect_left(self._values, value)
        if at == len(self._values) or self._values[at] != value:
            raise KeyError(value)
        return self._numbers.get(at, 0)

    def __iter__(self) -> Iterator[str]:
        """Yield the domains."""
        return iter(self._values)

    def __len__(self) -> int:
        """Return how many domains there are."""
        return len(self._values)

    def items(self) -> ItemsView[str, int]:
        """Return the domains with their numbers."""
        return _Items(self)

    def values(self) -> ValuesView[int]:
        """Return the numbers of all domains."""
        return _Values(self)

    def all(self) -> Iterator[int]:
        """Yield the numbers of all domains: looking each of them up would take longer."""
        numbers = self._numbers
        return (numbers.get(at, 0) for at in range(len(self._values)))

    def __repr__(self) -> str:
        """Return the numbers as those of a dict."""
        return repr(dict(self))

    @property
    def largest(self) -> int:
        """Return the largest number; 0 without domains."""
        return max(self._numbers.values(), default=0)

    @property
    def smallest(self) -> int:
        """Return the smallest number; 0 without domains."""
        return min(self._numbers.values(), default=0) if len(self._numbers) == len(self._values) else 0


class _Items(ItemsView[str, int]):
    """The domains with their numbers, in order."""

    _mapping: DomainNumbers

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return zip(self._mapping, self._mapping.all(), strict=True)


class _Values(ValuesView[int]):
    """The numbers of all domains, in order."""

    _mapping: DomainNumbers

    def __iter__(self) -> Iterator[int]:
        return self._mapping.all()
