"""The workloads of a group that count for one of its members.

In a directory that is searched, not all files are for one cluster. Workloads are neighbours if their files are in one
directory, or one of these directories is below the other, or both objects name their namespace.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple, Optional, Union

from kubectl_spread.lint.grouping.group import JoinedGroup, SelectorGroup
from kubectl_spread.lint.workload import Subject


class Area(NamedTuple):
    """The place of an object in a search: its file's directory, and whether the object names its namespace."""

    directory: str
    names_namespace: bool


AreaOf = Callable[[Subject], Optional[Area]]  # None if everything in the root counts


class _Positions(NamedTuple):
    """Positions of members: by the directory of their file, and by each directory at or above it."""

    inside: dict[str, list[int]]
    below: dict[str, list[int]]


class Neighbourhoods:
    """The members of a group, by their areas.

    A neighbourhood is joined from parts that other areas share: the members in each directory above the area, those at
    or below it, and all that name their namespace. So the work is linear in the members.
    """

    def __init__(self, group: SelectorGroup, area_of: AreaOf) -> None:
        self._group = group
        self._area_of = area_of
        self._known: dict[Area, Union[SelectorGroup, JoinedGroup]] = {}
        self._parts: dict[tuple[object, ...], SelectorGroup] = {}

    def of(self, subject: Subject) -> Union[SelectorGroup, JoinedGroup]:
        """Return the members that count for one of them, itself included."""
        area = self._area_of(subject)
        if area is None:
            return self._group
        known = self._known.get(area)
        if known is None:
            known = self._known[area] = self._around(area)
        return known

    def _around(self, area: Area) -> Union[SelectorGroup, JoinedGroup]:
        is_named = area.names_namespace
        inside, below = self._unnamed if is_named else self._all
        directory, *above = _upwards(area.directory)
        parts = [self._part(("below", is_named, directory), below.get(directory, []))]
        parts += [self._part(("inside", is_named, upper), inside[upper]) for upper in above if upper in inside]
        if is_named:
            parts.append(self._part(("named",), self._named))
        if sum(len(part.members) for part in parts) == len(self._group.members):
            return self._group
        parts = [part for part in parts if part.members]
        return parts[0] if len(parts) == 1 else JoinedGroup(parts)

    def _part(self, key: tuple[object, ...], positions: list[int]) -> SelectorGroup:
        if key not in self._parts:
            members = self._group.members
            self._parts[key] = SelectorGroup([members[at] for at in positions], positions)
        return self._parts[key]

    @cached_property
    def _areas(self) -> list[Optional[Area]]:
        return [self._area_of(member) for member in self._group.members]

    @cached_property
    def _named(self) -> list[int]:
        return [at for at, area in enumerate(self._areas) if area is not None and area.names_namespace]

    @cached_property
    def _all(self) -> _Positions:
        return self._placed(are_named_too=True)

    @cached_property
    def _unnamed(self) -> _Positions:
        return self._placed(are_named_too=False)

    def _placed(self, *, are_named_too: bool) -> _Positions:
        found = _Positions({}, {})
        for at, area in enumerate(self._areas):
            if area is not None and (are_named_too or not area.names_namespace):
                found.inside.setdefault(area.directory, []).append(at)
                for directory in _upwards(area.directory):
                    found.below.setdefault(directory, []).append(at)
        return found


def _upwards(directory: str) -> Iterator[str]:
    """Yield a directory and all above it."""
    yield directory
    while (above := os.path.dirname(directory)) != directory:
        directory = above
        yield directory
