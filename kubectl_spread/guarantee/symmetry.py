"""Interchangeable nodes, domains and workloads: one arrangement represents all that differ only in names.

zone a: 2 0      zone a: 0 0
zone b: 0 0  is  zone b: 0 2

Of many interchangeable nodes without pods, a search needs only as many as the pods can use, and one that stays empty.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Optional, Union

from kubectl_spread.cluster.nested_domains import refines
from kubectl_spread.guarantee.model import BITS, count_of, Filters, GroupModel, KindFilters


class Partition(NamedTuple):
    """A division of the nodes into domains; domain_of: -1 for none. signature: fixed properties of each domain."""

    domain_of: tuple[int, ...]
    signature: tuple[Hashable, ...]


Tree = Union[int, list[list[Any]]]  # a node, or classes of interchangeable trees


def tree(partitions: Iterable[Partition], signed: Sequence[Hashable]) -> Tree:
    """Return the tree of interchangeable domains.

    Args:
        partitions: divisions of the nodes; only nested ones make levels, the others distinguish nodes.
        signed: properties of each node.
    """
    merged: dict[tuple[int, ...], list[tuple[Hashable, ...]]] = defaultdict(list)
    for item in partitions:
        merged[item.domain_of].append(item.signature)
    labels: list[list[Hashable]] = [[sign] for sign in signed]
    coarse: list[tuple[tuple[int, ...], dict[int, Any]]] = []
    for domain_of, signatures in sorted(merged.items(), key=lambda item: (max(item[0], default=-1), item[0])):
        of_domain = {at: tuple(sign[at] for sign in signatures) for at in domain_of if at >= 0}
        if len([at for at in domain_of if at >= 0]) == len(of_domain):
            for node, at in enumerate(domain_of):
                labels[node].append(of_domain.get(at))
        elif not coarse or refines(domain_of, coarse[-1][0]):
            coarse.append((domain_of, of_domain))
        else:
            for node, at in enumerate(domain_of):
                labels[node].append((at, of_domain.get(at)))
    found, _ = _grown(coarse, [repr(item) for item in labels], list(range(len(signed))))
    return found


def _grown(levels: list[Any], labels: list[str], members: list[int]) -> tuple[Tree, str]:
    if not levels:
        children: list[tuple[Tree, str]] = [(at, labels[at]) for at in members]
    else:
        domain_of, of_domain = levels[0]
        parts: dict[int, list[int]] = defaultdict(list)
        for at in members:
            parts[domain_of[at]].append(at)
        children = []
        for value, part in parts.items():
            child, sign = _grown(levels[1:], labels, part)
            children.append((child, repr((value < 0, of_domain.get(value), sign))))
    classes: dict[str, list[Tree]] = defaultdict(list)
    for child, sign in children:
        classes[sign].append(child)
    ordered = sorted(classes)
    return [classes[sign] for sign in ordered], repr([(sign, len(classes[sign])) for sign in ordered])


def leaves(found: Tree) -> list[int]:
    """Return the nodes of a tree, in its order."""
    return [found] if isinstance(found, int) else [leaf for item in found for child in item for leaf in leaves(child)]


Ranges = tuple[tuple[tuple[int, int], ...], ...]  # by class of domains: the first node of each, and the one after it


def _ranges(found: Tree) -> Optional[Ranges]:
    """Return the domains of a tree of two levels whose nodes are interchangeable within them; None for another tree."""
    made = []
    for domains in found if not isinstance(found, int) else ():
        if any(isinstance(domain, int) or len(domain) != 1 or not isinstance(domain[0][0], int) for domain in domains):
            return None
        made.append(tuple((domain[0][0], domain[0][-1] + 1) for domain in domains))
    return tuple(made) or None


class CanonicalLayout:
    """Representatives of arrangements of contents on the nodes of a tree."""

    def __init__(self, found: Tree) -> None:
        self.tree = found
        self.slots = leaves(found)
        self._is_straight = self.slots == list(range(len(self.slots)))
        self._ranges = _ranges(found) if self._is_straight else None

    def canonical(self, contents: tuple[int, ...]) -> tuple[int, ...]:
        """Return the representative of a content for each node."""
        if self._ranges is not None:
            return self._sorted(contents, self._ranges)
        flat = self._flat(self.tree, contents)
        if self._is_straight:
            return flat
        made = [0] * len(contents)
        for slot, content in zip(self.slots, flat, strict=True):
            made[slot] = content
        return tuple(made)

    @staticmethod
    def _sorted(contents: tuple[int, ...], ranges: Ranges) -> tuple[int, ...]:
        """Sort domains whose nodes are all interchangeable (perf: most calls of a search)."""
        made: list[int] = []
        for domains in ranges:
            parts = [sorted(contents[begin:end]) for begin, end in domains]
            if len(parts) > 1:
                parts.sort()
            for part in parts:
                made += part
        return tuple(made)

    def _flat(self, group: Tree, contents: tuple[int, ...]) -> tuple[int, ...]:
        if isinstance(group, int):
            return (contents[group],)
        made: tuple[int, ...] = ()
        for children in group:
            if isinstance(children[0], int):
                made += tuple(sorted([contents[at] for at in children]))
                continue
            parts = [self._flat(child, contents) for child in children]
            if len(parts) > 1:
                parts.sort()
            for part in parts:
                made += part
        return made

    def order(self, contents: tuple[int, ...]) -> list[int]:
        """Return, for each place of the representative, the node whose content comes there."""
        flat = self._ordered(self.tree, contents)[1]
        made = [0] * len(contents)
        for slot, node in zip(self.slots, flat, strict=True):
            made[slot] = node
        return made

    def _ordered(self, group: Tree, contents: tuple[int, ...]) -> tuple[tuple[int, ...], list[int]]:
        if isinstance(group, int):
            return (contents[group],), [group]
        made: tuple[int, ...] = ()
        nodes: list[int] = []
        for children in group:
            for key, order in sorted((self._ordered(child, contents) for child in children), key=_first):
                made += key
                nodes += order
        return made, nodes

    def distinct(self, contents: tuple[int, ...]) -> list[int]:
        """Return one node of each kind: another node of equal content in an equal place would do the same."""
        found: list[int] = []
        if self._ranges is None:
            self._distinct(self.tree, contents, found)
            return found
        for domains in self._ranges:
            seen: set[tuple[int, ...]] = set()
            for begin, end in domains:
                part = contents[begin:end]
                if part not in seen:
                    seen.add(part)
                    here = {content: begin + at for at, content in reversed(tuple(enumerate(part)))}
                    found += here.values()
        return found

    def _distinct(self, group: Tree, contents: tuple[int, ...], found: list[int]) -> None:
        if isinstance(group, int):
            found.append(group)
            return
        for children in group:
            seen: set[Any] = set()
            for child in children:
                sign = contents[child] if isinstance(child, int) else self._flat(child, contents)
                if sign not in seen:
                    seen.add(sign)
                    self._distinct(child, contents, found)

    def swap_with_first(self, node: int) -> list[int]:
        """Return an order of the nodes in which a node has changed places with the first of its kind.

        The order gives, for each place, the node whose content comes there.
        """
        order = list(range(len(self.slots)))
        self._move(self.tree, node, order)
        return order

    def _move(self, group: Tree, node: int, order: list[int]) -> None:
        if isinstance(group, int):
            return
        for children in group:
            for child in children:
                if node not in leaves(child):
                    continue
                self._move(child, node, order)
                for one, other in zip(leaves(children[0]), leaves(child), strict=True):
                    if one != other:
                        order[one], order[other] = order[other], order[one]
                return

    def firsts(self) -> dict[int, int]:
        """Return, for each node, the first node of its kind."""
        return _firsts(self.tree)


def _firsts(group: Tree) -> dict[int, int]:
    if isinstance(group, int):
        return {group: group}
    found: dict[int, int] = {}
    for children in group:
        inner, base = _firsts(children[0]), leaves(children[0])
        for child in children:
            found |= {other: inner[one] for one, other in zip(base, leaves(child), strict=True)}
    return found


def _first(item: tuple[tuple[int, ...], list[int]]) -> tuple[int, ...]:
    return item[0]


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


def needed_nodes(tree: Tree, most: int, taken: frozenset[int]) -> Iterator[int]:
    """Yield the nodes to keep: those with pods, and up to `most` other children of each kind."""
    if isinstance(tree, int):
        yield tree
        return
    for children in tree:
        free = 0
        for child in children:
            is_free = taken.isdisjoint(leaves(child))
            free += is_free
            if not is_free or free <= most:
                yield from needed_nodes(child, most, taken)
