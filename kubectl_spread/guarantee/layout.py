"""Interchangeable nodes and domains, as a tree; one arrangement represents all that differ only in names.

zone a: 2 0      zone a: 0 0
zone b: 0 0  is  zone b: 0 2
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple, Optional, Union

from kubectl_spread.cluster.nested_domains import refines


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
