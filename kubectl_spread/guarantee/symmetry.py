"""Interchangeable nodes, domains and workloads: one arrangement represents all that differ only in names.

zone a: 2 0      zone a: 0 0
zone b: 0 0  is  zone b: 0 2

Of many interchangeable nodes without pods, a search needs only as many as the pods can use, and one that stays empty.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from kubectl_spread.cluster.columns import refines
from kubectl_spread.containers import grouped
from kubectl_spread.engine.search.node_tree import leaves, Tree, tree_of
from kubectl_spread.engine.search.symmetry import Arrangement, first_twins, Twins
from kubectl_spread.guarantee.model import BITS, count_of, Filters, GroupModel, matching, State


class Partition(NamedTuple):
    """A division of the nodes into domains; domain_of: -1 for none. signature: fixed properties of each domain."""

    domain_of: tuple[int, ...]
    signature: tuple[Hashable, ...]


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
    levels = [(domain_of, lambda at, known=known: (at < 0, known.get(at))) for domain_of, known in coarse]
    found, _ = tree_of(levels, [repr(item) for item in labels], range(len(signed)), paths={})
    return found


_MOST_KNOWN = 200_000  # contents under other names
_MOST_ORDERS = 100


class CanonicalLayout:
    """Representatives of arrangements of contents on the nodes of a tree."""

    def __init__(self, found: Tree) -> None:
        self.tree, self._nodes = found, Arrangement(found)
        self._places = sorted(range(len(self._nodes.slots)), key=self._nodes.slots.__getitem__)  # of each node
        self.order = lru_cache(_MOST_ORDERS)(self._order)  # perf: states with equal contents follow each other
        self.twins = lru_cache(1)(self._twins)

    def representative(self, contents: tuple[int, ...]) -> tuple[int, ...]:
        """Return the contents that represent all that differ in interchangeable nodes only."""
        return tuple([contents[at] for at in self.order(contents)])

    def _order(self, contents: tuple[int, ...]) -> list[int]:
        """Return for each place of the representative the node whose content comes there."""
        slots = self._nodes.slots
        _, order = self._nodes.sort(tuple([contents[node] for node in slots]))
        return [slots[order[at]] for at in self._places]

    def distinct(self, contents: tuple[int, ...]) -> Sequence[int]:
        """Return one node of each kind: another node of equal content in an equal place would do the same."""
        return first_twins(self._nodes.slots, self.twins(contents))

    def _twins(self, contents: tuple[int, ...]) -> Twins:
        """Return pairs of nodes or domains of equal content in equal places."""
        return self._nodes.twins({at: [content] for at, content in enumerate(contents) if content})

    def swap_with_first(self, node: int) -> list[int]:
        """Return an order of the nodes in which a node has changed places with the first of its kind.

        The order gives, for each place, the node whose content comes there.
        """
        order = list(range(len(self._places)))
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


def firsts(group: Tree) -> dict[int, int]:
    """Return, for each node, the first node of its kind."""
    if isinstance(group, int):
        return {group: group}
    found: dict[int, int] = {}
    for children in group:
        inner, base = firsts(children[0]), leaves(children[0])
        for child in children:
            found |= {other: inner[one] for one, other in zip(base, leaves(child), strict=True)}
    return found


class OwnerNames:
    """Workloads that differ in their names only, and states under other names of them."""

    def __init__(self, group: GroupModel, versions: Sequence[Filters]) -> None:
        """Find the interchangeable workloads; versions: filters of all versions of the nodes."""
        self._group = group
        self._kinds = [
            [at for at, kind in enumerate(group.kinds) if kind.owner == owner] for owner in range(len(group.owners))
        ]
        self._moved: dict[tuple[int, tuple[int, ...]], int] = {}
        owners = range(len(group.owners)) if len(group.owners) > 1 else ()
        classes = grouped((repr(self._signature(at, versions)), at) for at in owners)
        self._alike = [found for found in classes.values() if len(found) > 1]

    def _signature(self, owner: int, versions: Sequence[Filters]) -> Any:
        """Return the properties of a workload; workloads of equal properties may exchange their names."""
        mine = self._kinds[owner]
        found: list[Any] = [
            self._group.owners[owner]._replace(is_extra=False)[1:],
            [self._group.kinds[at][1:] for at in mine],
        ]
        for model in versions:
            for at in mine:
                item = model.of_kind[at]
                found.append(
                    (
                        item.allowed,
                        item.requests,
                        [self._view(other, owner) for other in (*item.spreads, *item.separations)],
                    )
                )
            others = (item for number, item in enumerate(model.of_kind) if number not in mine)
            views: list[Any] = [view for item in others for view in (*item.spreads, *item.separations)]
            found.append(sorted(repr((view._replace(matches=()), [view.matches[at] for at in mine])) for view in views))
        return found

    def _view(self, item: Any, owner: int) -> Any:
        """Return a filter, with the kinds of other workloads as one answer, or by name if it differs."""
        mine = [item.matches[at] for at in self._kinds[owner]]
        others = {is_matched for at, is_matched in enumerate(item.matches) if at not in self._kinds[owner]}
        return item._replace(matches=()), mine, sorted(others) if len(others) < 2 else ("own", owner)

    def ordered(self, state: State) -> tuple[State, tuple[int, ...]]:
        """Sort interchangeable workloads by where their own pods are; return the workload that gets each name, too."""
        contents, sizes, facts, desired = state
        names = list(range(len(self._kinds)))
        if self._alike:
            everything = (True,) * len(self._group.kinds)
            full = [(content, matching(everything, content)) for content in contents if content]
        for alike in self._alike:
            signs = []
            for owner in alike:
                mine = self._kinds[owner]
                low, width = BITS * mine[0], (1 << BITS * len(mine)) - 1
                own = sorted([(content >> low & width, number) for content, number in full if content >> low & width])
                signs.append((own, [sizes[at] for at in mine], desired[owner], owner))
            for name, sign in zip(alike, sorted(signs), strict=True):
                names[name] = sign[3]
        order = tuple(names)
        if order == tuple(range(len(order))):
            return state, order
        new_of = sorted(range(len(order)), key=order.__getitem__)
        kinds = [at for owner in order for at in self._kinds[owner]]
        renamed = tuple([self._under_names(content, tuple(new_of)) for content in contents])
        return (renamed, tuple(sizes[at] for at in kinds), facts, tuple(desired[owner] for owner in order)), order

    def _under_names(self, content: int, names: tuple[int, ...]) -> int:
        """Return a content under other names (perf: few contents and names, asked for again and again)."""
        if not content:
            return 0
        found = self._moved.get((content, names))
        if found is None:
            if len(self._moved) > _MOST_KNOWN:
                self._moved.clear()
            found = 0
            for old, new in enumerate(names):
                for one, other in zip(self._kinds[old], self._kinds[new], strict=True):
                    found += count_of(content, one) << BITS * other
            self._moved[content, names] = found
        return found

    def under_names(self, contents: tuple[int, ...], nodes: Sequence[int], owners: Sequence[int]) -> tuple[int, ...]:
        """Return contents under other names of the nodes and workloads."""
        made = [0] * len(contents)
        for at, content in enumerate(contents):
            made[nodes[at]] = self._under_names(content, tuple(owners))
        return tuple(made)

    def kind_of(self, kind: int, owner: int) -> int:
        """Return the kind of another workload that corresponds to a kind; -1 for none."""
        if kind < 0 or owner < 0:
            return -1
        return self._kinds[owner][self._kinds[self._group.kinds[kind].owner].index(kind)]


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
