"""Trees of interchangeable nodes and domains, and the order of their contents that does not depend on names."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any, NamedTuple, Optional

from kubectl_spread.engine.state import P, PENDING

Contents = Mapping[int, Any]  # Something comparable by node; nodes without anything are missing.
Tree = Any  # A node, or a tuple of classes; each is a tuple of trees that are interchangeable.
_FIRST = itemgetter(0)


class TopologyTree(NamedTuple):
    """A node, or a domain with its children; children of one class are interchangeable."""

    node: int = PENDING
    classes: tuple[tuple[TopologyTree, ...], ...] = ()


class Arrangement:
    """Nodes in an order that only depends on their contents, as far as they are interchangeable."""

    def __init__(self, root: TopologyTree) -> None:
        self.tree: Tree = _tree(root) if root.classes or root.node != PENDING else ()
        self.slots = _leaves(self.tree)
        self.is_trivial = _is_trivial(self.tree)
        self._bare: dict[P, tuple[int, ...]] = {}

    def contents(self, pods: Iterable[P]) -> dict[int, list[tuple[int, ...]]]:
        """Return the pods of each node, without its name, in order."""
        found: dict[int, list[tuple[int, ...]]] = {}
        bare = self._bare
        for pod in pods:
            at = pod.node
            if at == PENDING:
                at = pod.nominated
                if at == PENDING:
                    continue
            text = bare.get(pod)
            if text is None:
                text = bare[pod] = (*pod[:4], *pod[5:]) if pod.node != PENDING else (*pod[:7], *pod[8:])
            if at in found:
                found[at].append(text)
            else:
                found[at] = [text]
        for texts in found.values():
            if len(texts) > 1:
                texts.sort()
        return found

    def order(self, contents: Contents) -> tuple[Any, list[int]]:
        """Return the contents in an order independent of names, and the nodes in this order."""
        return _ordered(self.tree, contents)

    def places(self, contents: Contents) -> Optional[dict[int, int]]:
        """Return the new node of each node's contents; None if all stay."""
        _, order = _ordered(self.tree, contents)
        return None if order == self.slots else dict(zip(order, self.slots, strict=True))

    def twins(self, contents: Contents) -> list[tuple[list[int], list[int]]]:
        """Return neighbours that are interchangeable and have equal contents, as lists of corresponding nodes."""
        found: list[tuple[list[int], list[int]]] = []
        _twins(self.tree, contents, found)
        return found


def _tree(group: TopologyTree) -> Tree:
    if not group.classes:
        return group.node
    return tuple(tuple(_tree(child) for child in members) for members in group.classes)


def _leaves(tree: Tree) -> list[int]:
    if isinstance(tree, int):
        return [tree]
    return [leaf for members in tree for child in members for leaf in _leaves(child)]


def _is_trivial(tree: Tree) -> bool:
    return isinstance(tree, int) or all(len(members) == 1 and _is_trivial(members[0]) for members in tree)


_NOTHING: list[Any] = []


def _ordered(tree: Tree, contents: Contents) -> tuple[Any, list[int]]:
    if isinstance(tree, int):
        return contents.get(tree, _NOTHING), [tree]
    keys: list[Any] = []
    order: list[int] = []
    for members in tree:
        if isinstance(members[0], int):
            full = [node for node in members if node in contents]
            if full:
                full.sort(key=contents.__getitem__)
                keys += [_NOTHING] * (len(members) - len(full))
                keys += [contents[node] for node in full]
                order += [node for node in members if node not in contents]
                order += full
            else:  # perf: as in most domains of a large cluster
                keys += [_NOTHING] * len(members)
                order += members
            continue
        wide = [_ordered(child, contents) for child in members]
        if len(wide) > 1:
            wide.sort(key=_FIRST)
        for key, nodes in wide:
            keys.append(key)
            order += nodes
    return keys, order


def _twins(tree: Tree, contents: Contents, found: list[tuple[list[int], list[int]]]) -> None:
    if isinstance(tree, int):
        return
    for members in tree:
        if isinstance(members[0], int):
            pairs = itertools.pairwise(members)
            get = contents.get
            found += [([one], [other]) for one, other in pairs if get(one, _NOTHING) == get(other, _NOTHING)]
            continue
        last: Any = None
        for child in members:
            now = _ordered(child, contents)
            if last is not None and last[0] == now[0]:
                found.append((last[1], now[1]))
            last = now
            _twins(child, contents, found)
