"""The pods on nodes: by node, and as a log of all that came and went."""

from __future__ import annotations

from collections.abc import Collection
from typing import Optional

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.tables.arrays import GrowingArray
from kubectl_spread.objects.pod import Pod

_FEW_SEARCHES = 16  # fewer searches of the log do not pay for an index


class _ByGroup:
    """The first places in a log, sorted by group."""

    def __init__(self, groups: NDArray[np.int32]) -> None:
        self.size = len(groups)
        self._order = np.argsort(groups, kind="stable")
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(groups))])

    def positions(self, groups: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return the places of the pods of some groups, in ascending order."""
        wanted = np.flatnonzero(groups[: len(self._starts) - 1]).tolist()
        parts = [self._order[self._starts[at] : self._starts[at + 1]] for at in wanted]
        return np.sort(np.concatenate(parts)) if parts else np.zeros(0, np.intp)


class BoundPods:
    """A log of bound pods. An object that depends on them remembers its position in the log, and reads the rest.

    by_node: the present pods of each node.
    log: every pod that was bound, in order.
    nodes, groups, classes: int32 (P,), of each pod in the log.
    signs: int32 (P,), 1 for a pod that was bound. A removed pod is logged a second time, with -1.
    removed: the number of pods that were ever removed.
    """

    def __init__(self, nodes: int) -> None:
        self.by_node: list[list[Pod]] = [[] for _ in range(nodes)]
        self.log: list[Pod] = []
        self.nodes = GrowingArray()
        self.groups = GrowingArray()
        self.classes = GrowingArray()
        self.signs = GrowingArray()
        self.removed = 0
        self._by_group: Optional[_ByGroup] = None
        self._asked = 0  # times that the whole log was searched

    def add(self, pod: Pod, node: int, *, class_at: int, group: int) -> None:
        """Log a pod that comes to a node."""
        self.by_node[node].append(pod)
        self._append(pod, node, class_at, group, 1)

    def add_all(self, pods: list[Pod], nodes: list[int], *, classes: list[int], groups: list[int]) -> None:
        """Log many pods at once; the log must be empty."""
        for pod, node in zip(pods, nodes, strict=True):
            self.by_node[node].append(pod)
        self.log = list(pods)
        self.nodes = GrowingArray.of(np.array(nodes, np.int32))
        self.classes = GrowingArray.of(np.array(classes, np.int32))
        self.groups = GrowingArray.of(np.array(groups, np.int32))
        self.signs = GrowingArray.of(np.ones(len(pods), np.int32))

    def positions(self, groups: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return the places in the log of the pods of some groups, bool (G,), in ascending order.

        After a few searches, an index of the pods so far makes them cheap: many constraints are asked for.
        """
        every = self.groups.array()
        self._asked += 1
        if self._asked < _FEW_SEARCHES:
            return np.flatnonzero(groups[every])
        if self._by_group is None:
            self._by_group = _ByGroup(every)
        index = self._by_group
        return np.concatenate([index.positions(groups), index.size + np.flatnonzero(groups[every[index.size :]])])

    def remove(self, pod: Pod, node: int, *, class_at: int, group: int) -> None:
        """Log the removal of a pod from a node."""
        self.take_out(pod, node)
        self.removed += 1
        self._append(pod, node, class_at, group, -1)

    def take_out(self, pod: Pod, node: int) -> None:
        """Remove a pod from its node without logging it."""
        self.by_node[node] = [other for other in self.by_node[node] if other.uid != pod.uid]

    def copy_for_nodes(
        self, old_at: NDArray[np.intp], gone: Collection[str]
    ) -> tuple[BoundPods, list[tuple[Pod, int]]]:
        """Return a copy for other nodes without some pods, and the pods that are gone from nodes that stay.

        Args:
            old_at: intp (N,), the old place of each node, -1 for a new node.
            gone: uids of pods that are left out.
        """
        other = BoundPods(len(old_at))
        other.by_node = [list(self.by_node[at]) if at >= 0 else [] for at in old_at.tolist()]
        new_at = np.full(max(len(self.by_node), 1), -1, np.int32)
        new_at[old_at[old_at >= 0]] = np.flatnonzero(old_at >= 0)
        nodes = new_at[self.nodes.array()]
        stays = nodes >= 0
        if gone:
            stays &= np.array([pod.uid not in gone for pod in self.log], np.bool_)
        other.nodes = GrowingArray.of(nodes[stays])
        other.groups = GrowingArray.of(self.groups.array()[stays])
        other.classes = GrowingArray.of(self.classes.array()[stays])
        other.signs = GrowingArray.of(self.signs.array()[stays])
        if stays.all():
            other.log = list(self.log)
            return other, []
        other.log = [pod for pod, is_here in zip(self.log, stays.tolist(), strict=True) if is_here]
        leaving = [(self.log[at], int(nodes[at])) for at in np.flatnonzero(~stays & (nodes >= 0)).tolist()]
        for pod, node in leaving:
            other.take_out(pod, node)
        return other, leaving

    def _append(self, pod: Pod, node: int, class_at: int, group: int, sign: int) -> None:
        self.log.append(pod)
        self.nodes.append(node)
        self.classes.append(class_at)
        self.groups.append(group)
        self.signs.append(sign)
