"""Sampling: the number and order of the nodes that a search in a large cluster visits.

Source: pkg/scheduler/schedule_one.go, numFeasibleNodesToFind, findNodesThatPassFilters; backend/cache/node_tree.go
(v1.36.2). Difference: upstream visits nodes in parallel and may find a few more or other nodes; here they are
visited one by one.
"""

from __future__ import annotations

from typing import Optional

import numpy as np

from kubectl_spread.cluster.columns import Bools
from kubectl_spread.containers import grouped
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.selectors import zone_of
from kubectl_spread.scheduler.framework.plugin import NodeIndices

MIN_FEASIBLE_NODES_TO_FIND = 100
MIN_PERCENTAGE = 5
ALL = 100  # percent: the search visits every node


def num_feasible_nodes_to_find(percentage: int, nodes: int) -> int:
    """Return how many feasible nodes are enough; a percentage of 0 adapts to the number of nodes."""
    if nodes < MIN_FEASIBLE_NODES_TO_FIND:
        return nodes
    if percentage == 0:
        percentage = max(50 - nodes // 125, MIN_PERCENTAGE)
    return max(nodes * percentage // 100, MIN_FEASIBLE_NODES_TO_FIND)


def tree_order(nodes: tuple[Node, ...]) -> NodeIndices:
    """Return the first node of each zone, then the second of each, and so on: intp (N,)."""
    zones = grouped((zone_of(node.labels), at) for at, node in enumerate(nodes))
    longest = max(map(len, zones.values()), default=0)
    order = [members[at] for at in range(longest) for members in zones.values() if at < len(members)]
    return np.array(order, np.intp)


class Sampler:
    """The sampling state: the next search begins at `start`, where the last one ended."""

    def __init__(self, nodes: tuple[Node, ...]) -> None:
        self._n = len(nodes)
        order = tree_order(nodes)
        self._twice = np.concatenate([order, order])  # so that every rotation is a slice
        self.start = 0

    def restart(self) -> Sampler:
        """Return a sampler of the same nodes that starts at the first."""
        other = object.__new__(Sampler)
        other._n, other._twice, other.start = self._n, self._twice, 0
        return other

    def sample(self, feasible: Bools, considered: Optional[Bools], percentage: int) -> NodeIndices:
        """Return the feasible nodes that a search finds before it stops, in that order: intp (F,).

        Args:
            feasible: bool (N,).
            considered: bool (N,), the only nodes to look at; None for all.
            percentage: of feasible nodes after which the search stops; 0 adapts to the number of nodes.
        """
        order = self._twice[self.start : self.start + self._n]
        if considered is not None:
            order = order[considered[order]]
        want = num_feasible_nodes_to_find(percentage, len(order))
        looked = min(2 * want, len(order))
        while True:
            at = feasible[order[:looked]].nonzero()[0]
            if len(at) >= want or looked == len(order):
                break
            looked = min(3 * looked, len(order))
        processed = looked
        if len(at) >= want:
            at = at[:want]
            processed = int(at[-1]) + 1
        self.start = (self.start + processed) % self._n
        found: NodeIndices = order[at]
        return found
