"""Pods that a selector matches, counted per node."""

from __future__ import annotations

from typing import Union

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.tables.arrays import Int32s
from kubectl_spread.cluster.tables.columns import Columns
from kubectl_spread.objects.selectors.selector import Selector

_NO_NODES: Int32s = np.zeros(0, np.int32)


class MatchCounter:
    """Pods of a namespace that a selector matches, on each node; terminating pods are left out.

    counts: int64 (N,), as of the last `sync`.
    amounts: the change on each of the nodes that the last `sync` returned.
    Source: podtopologyspread/common.go, countPodsMatchSelector (v1.36.2), except for the empty selector.
    """

    def __init__(self, namespace: str, selector: Selector, columns: Columns) -> None:
        self._namespace = namespace
        self._selector = selector
        self._columns = columns
        self._matches = np.zeros(0, np.bool_)  # (G,), for the groups that are known
        self._seen = 0
        self.counts = columns.zeros()
        self.amounts: Union[int, Int32s] = 1

    def sync(self) -> Int32s:
        """Count pods that came or went since the last call; returns the node of each that matches."""
        columns = self._columns
        end = len(columns.bound_pods)
        if self._seen == end:
            return _NO_NODES
        if len(self._matches) != columns.group_count:
            self._learn_groups()
        new = slice(self._seen, end)
        self._seen = end
        if new.stop - new.start == 1:
            node, group = columns.last_bound()
            if not self._matches[group]:
                return _NO_NODES
            self.amounts = columns.last_sign
            self.counts[node] += self.amounts
            return np.array([node], np.int32)
        matching = self._matching(new.start)
        nodes = columns.bound_nodes[matching]
        self.amounts = columns.bound_signs[matching] if columns.unbound else 1
        if len(nodes):
            np.add.at(self.counts, nodes, self.amounts)
        return nodes

    def _matching(self, start: int) -> NDArray[np.intp]:
        """Return the places in the log, from a start on, of the pods that match."""
        if not start:
            return self._columns.positions(self._matches)
        return start + np.flatnonzero(self._matches[self._columns.bound_groups[start:]])

    def _learn_groups(self) -> None:
        fresh = self._columns.matches(self._namespace, self._selector, len(self._matches))
        self._matches = np.concatenate([self._matches, fresh])
