"""Possible steps of a state, in sequences that compute only what is used: a pod may fit on thousands of nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import overload, Union

from kubectl_spread.engine.state import Step, Way


class Bindings(Sequence[Way]):
    """Ways to bind one pod, one for each node."""

    def __init__(self, bind: Callable[[int], Step], nodes: Sequence[int]) -> None:
        self._bind = bind
        self._nodes = nodes

    def __len__(self) -> int:
        return len(self._nodes)

    @overload
    def __getitem__(self, at: int) -> Way: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Way]: ...

    def __getitem__(self, at: Union[int, slice]) -> Union[Way, Sequence[Way]]:
        if isinstance(at, slice):
            return Bindings(self._bind, self._nodes[at])
        return partial(self._bind, self._nodes[at])


class Ways(Sequence[Way]):
    """Several sequences of steps, one after the other; the first of them are used before the others are computed."""

    def __init__(self, parts: Iterable[Sequence[Way]]) -> None:
        self._coming = (part for part in parts if part)
        self._known: list[Sequence[Way]] = []

    def parts(self) -> Iterator[Sequence[Way]]:
        """Yield the sequences that are not empty."""
        at = 0
        while at < len(self._known) or self._has_next():
            yield self._known[at]
            at += 1

    def _has_next(self) -> bool:
        part = next(self._coming, None)
        if part is not None:
            self._known.append(part)
        return part is not None

    def __bool__(self) -> bool:
        return bool(self._known) or self._has_next()

    def __iter__(self) -> Iterator[Way]:
        for part in self.parts():
            yield from part

    def __len__(self) -> int:
        return sum(map(len, self.parts()))

    @overload
    def __getitem__(self, at: int) -> Way: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Way]: ...

    def __getitem__(self, at: Union[int, slice]) -> Union[Way, Sequence[Way]]:
        if isinstance(at, slice):
            return list(self)[at]
        if at < 0:
            at += len(self)
        for part in self.parts():
            if at < len(part):
                return part[at]
            at -= len(part)
        raise IndexError(at)


def by_kind(ways: Sequence[Way]) -> list[Sequence[Way]]:
    """Return the steps of each kind; the steps of a kind call one function."""
    kinds: dict[object, list[Sequence[Way]]] = {}
    for part in ways.parts() if isinstance(ways, Ways) else [ways]:
        for one in [part] if isinstance(part, Bindings) else [[way] for way in part]:
            kinds.setdefault(_function(one[0]), []).append(one)
    return [Ways(parts) for parts in kinds.values()]


def _function(way: Way) -> object:
    found = getattr(way, "func", None)
    return found.func if isinstance(found, partial) else found
