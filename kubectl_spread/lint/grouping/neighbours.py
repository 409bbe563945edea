"""The workloads of a group that count for one of its members.

In a directory that is searched, not all files are for one cluster. Workloads are neighbours if their files are in one
directory, or one of these directories is below the other, or both objects name their namespace.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Optional

from kubectl_spread.lint.grouping.group import SelectorGroup
from kubectl_spread.lint.workload import Subject
from kubectl_spread.records import cached_property, NamedTuple


class Area(NamedTuple):
    """The place of an object in a search: its file's directory, and whether the object names its namespace."""

    directory: str
    names_namespace: bool


AreaOf = Callable[[Subject], Optional[Area]]  # None if everything in the root counts


class Neighbourhoods:
    """The members of a group, by their areas."""

    def __init__(self, group: SelectorGroup, area_of: AreaOf) -> None:
        self._group = group
        self._area_of = area_of
        self._known: dict[Optional[Area], SelectorGroup] = {}

    def of(self, subject: Subject) -> SelectorGroup:
        """Return the members that count for one of them, itself included."""
        area = self._area_of(subject)
        if area is None:
            return self._group
        if area not in self._known:
            self._known[area] = self._around(area)
        return self._known[area]

    def _around(self, area: Area) -> SelectorGroup:
        inside, below, named = self._positions
        near = set(below.get(area.directory, ()))
        for directory in _upwards(area.directory):
            near.update(inside.get(directory, ()))
        if not area.names_namespace:
            return self._picked(near)
        if near <= named:  # equal for all these areas, so that it is made once
            if None not in self._known:
                self._known[None] = self._picked(named)
            return self._known[None]
        return self._picked(near | named)

    def _picked(self, positions: set[int]) -> SelectorGroup:
        members = self._group.members
        return (
            self._group if len(positions) == len(members) else SelectorGroup([members[at] for at in sorted(positions)])
        )

    @cached_property
    def _positions(self) -> tuple[dict[str, list[int]], dict[str, list[int]], set[int]]:
        """Return the members by each directory above their file, and those with a namespace."""
        inside: dict[str, list[int]] = {}
        below: dict[str, list[int]] = {}
        named: set[int] = set()
        for at, member in enumerate(self._group.members):
            area = self._area_of(member)
            if area is not None:
                inside.setdefault(area.directory, []).append(at)
                for directory in _upwards(area.directory):
                    below.setdefault(directory, []).append(at)
                if area.names_namespace:
                    named.add(at)
        return inside, below, named


def _upwards(directory: str) -> Iterator[str]:
    """Yield a directory and all above it."""
    yield directory
    while (above := os.path.dirname(directory)) != directory:
        directory = above
        yield directory
