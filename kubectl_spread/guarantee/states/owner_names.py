"""Workloads of a group that differ in their names only, and states under other names of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kubectl_spread.guarantee.model import BITS, count_of, Filters, GroupModel, KindFilters

_MOST_KNOWN = 200_000  # contents under other names


class OwnerNames:
    """Interchangeable workloads; alike: groups of them."""

    def __init__(
        self,
        group: GroupModel,
        of_owner: list[list[int]],
        filters: Callable[[int], Filters],
        *,
        versions: int,
        matching: Callable[[tuple[bool, ...], int], int],
    ) -> None:
        """Find the interchangeable workloads.

        Args:
            group: the workloads.
            of_owner: kinds of each workload.
            filters: of a version of the nodes.
            versions: number of versions.
            matching: returns the number of matching pods in a content.
        """
        self._group = group
        self._of_owner = of_owner
        self._filters = filters
        self._versions = versions
        self._matching = matching
        self._moved: dict[tuple[int, tuple[int, ...]], int] = {}
        self.alike = self._alike_owners()

    def _alike_owners(self) -> list[list[int]]:
        """Return groups of workloads that may exchange their names."""
        classes: dict[Any, list[int]] = {}
        for at in range(len(self._group.owners)):
            classes.setdefault(repr(self._signature(at)), []).append(at)
        return [found for found in classes.values() if len(found) > 1]

    def _signature(self, owner: int) -> Any:
        """Return the properties of a workload; workloads of equal properties may exchange their names."""
        mine = self._of_owner[owner]
        found: list[Any] = [
            self._group.owners[owner]._replace(is_extra=False)[1:],
            [self._group.kinds[at][1:] for at in mine],
        ]
        for facts in range(self._versions):
            model = self._filters(facts)
            found += [
                (item.allowed, item.requests, self._views(item, owner)) for item in map(model.of_kind.__getitem__, mine)
            ]
            found.append(
                sorted(
                    repr((other._replace(matches=()), tuple(other.matches[at] for at in mine)))
                    for number, item in enumerate(model.of_kind)
                    if number not in mine
                    for other in _matching(item)
                )
            )
        return found

    def _views(self, item: KindFilters, owner: int) -> Any:
        """Return the filters of a kind, with the kinds of other workloads as one answer, or by name if it differs."""
        found = []
        for filter_ in _matching(item):
            mine = tuple(filter_.matches[at] for at in self._of_owner[owner])
            others = {is_matched for at, is_matched in enumerate(filter_.matches) if at not in self._of_owner[owner]}
            found.append((filter_._replace(matches=()), mine, sorted(others) if len(others) < 2 else ("own", owner)))
        return found

    def rename(
        self, contents: tuple[int, ...], sizes: tuple[int, ...], desired: tuple[int, ...], *, owners: list[int]
    ) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Sort interchangeable workloads by where their own pods are, not by name."""
        order = self.order(contents, sizes, desired, owners=owners)
        if order == owners:
            return contents, sizes, desired
        return self.exchange(contents, sizes, desired, moved=dict(zip(order, owners, strict=True)))

    def order(
        self, contents: tuple[int, ...], sizes: tuple[int, ...], desired: tuple[int, ...], *, owners: list[int]
    ) -> list[int]:
        everything = (True,) * len(self._group.kinds)
        full = [(content, self._matching(everything, content)) for content in contents]
        signs = []
        for owner in owners:
            mine = self._of_owner[owner]
            low, width = BITS * mine[0], (1 << BITS * len(mine)) - 1
            own = sorted([(content >> low & width, number) for content, number in full if content >> low & width])
            signs.append((tuple(own), tuple(sizes[at] for at in mine), desired[owner], owner))
        return [sign[3] for sign in sorted(signs)]

    def exchange(
        self, contents: tuple[int, ...], sizes: tuple[int, ...], desired: tuple[int, ...], *, moved: dict[int, int]
    ) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        new_sizes, new_desired = list(sizes), list(desired)
        for old, new in moved.items():
            new_desired[new] = desired[old]
            for one, other in zip(self._of_owner[old], self._of_owner[new], strict=True):
                new_sizes[other] = sizes[one]
        names = tuple(moved.items())
        changed = tuple([self._cached(content, names, moved) if content else 0 for content in contents])
        return changed, tuple(new_sizes), tuple(new_desired)

    def _cached(self, content: int, names: Any, moved: dict[int, int]) -> int:
        """Return a content under other names (perf: few contents and names, asked for again and again)."""
        found = self._moved.get((content, names))
        if found is None:
            if len(self._moved) > _MOST_KNOWN:
                self._moved.clear()
            found = self._moved[(content, names)] = self.move(content, moved)
        return found

    def kind_of(self, kind: int, owner: int) -> int:
        """Return the kind of another workload that corresponds to a kind; -1 for none."""
        if kind < 0 or owner < 0:
            return -1
        return self._of_owner[owner][self._of_owner[self._group.kinds[kind].owner].index(kind)]

    def under_names(self, contents: tuple[int, ...], nodes: Sequence[int], owners: Sequence[int]) -> tuple[int, ...]:
        """Return contents under other names of the nodes and workloads."""
        made = [0] * len(contents)
        moved = dict(enumerate(owners))
        for at, content in enumerate(contents):
            made[nodes[at]] = self.move(content, moved)
        return tuple(made)

    def move(self, content: int, moved: dict[int, int]) -> int:
        if not content:
            return 0
        made = content
        for old, new in moved.items():
            if old == new:
                continue
            for one, other in zip(self._of_owner[old], self._of_owner[new], strict=True):
                made += (count_of(content, one) << BITS * other) - (count_of(content, one) << BITS * one)
        return made


def _matching(item: KindFilters) -> Iterator[Any]:
    """Yield the filters of a kind that match other kinds."""
    yield from item.spreads
    yield from item.separations
