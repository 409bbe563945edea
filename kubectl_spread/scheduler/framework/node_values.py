"""Numbers that depend on one node's requests alone, kept up to date as pods are bound."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.columns import Columns, Int64s, unique
from kubectl_spread.scheduler.framework.plugin import in_range, NodeIndices


class NodeValues:
    """A number for each node, which depends on the node's requests alone, kept up to date.

    Equal nodes have equal numbers, so each computed number is cached by its requests.
    """

    def __init__(
        self,
        columns: Columns,
        requests: Sequence[NDArray[np.int64]],
        compute: Callable[[NodeIndices], NDArray[Any]],
    ) -> None:
        """Set the arrays; `requests`: every array (N,) that `compute` reads."""
        self._columns = columns
        self._requests = requests
        self._compute = compute
        self._seen = 0
        self._known: dict[tuple[int, ...], Any] = {}
        self._values: Optional[NDArray[Any]] = None  # until the first question

    def now(self) -> NDArray[Any]:
        """Return the values of all nodes, (N,); the array is the object's own."""
        end, values = len(self._columns.bound_pods), self._values
        if values is None:
            values = self._values = self._compute(np.arange(self._columns.n))
        elif self._seen + 1 == end:
            node = self._columns.last_bound[0]
            key = tuple([array.item(node) for array in self._requests])
            if key not in self._known:
                self._known[key] = self._compute(np.array([node], np.intp))[0]
            values[node] = self._known[key]
        elif self._seen != end:
            changed = unique(self._columns.bound_nodes[self._seen : end]).astype(np.intp)
            values[changed] = self._compute(changed)
        self._seen = end
        return values


class NodeScores(ABC):
    """The base of states whose score of a node depends on the node's requests alone, whichever nodes are feasible.

    watched_arrays: every array (N,) that a score depends on. overflows: a score that was computed is out of range, so
    that `score` may raise.
    """

    def __init__(self, plugin: str, columns: Columns, watched: Sequence[Int64s]) -> None:
        self.watched_arrays = watched
        self.overflows = False
        self._plugin = plugin
        self._scores = NodeValues(columns, watched, self.compute)

    def score(self, feasible: NodeIndices) -> Int64s:
        scores: Int64s = self._scores.now()[feasible]
        return in_range(self._plugin, scores) if self.overflows else scores

    def compute(self, nodes: NodeIndices) -> Int64s:
        """Return the scores of some nodes now, int64 (F,)."""
        with np.errstate(over="ignore"):
            scores = self.node_scores(nodes)
        self.overflows |= bool(((scores < 0) | (scores > 100)).any())
        return scores

    @abstractmethod
    def node_scores(self, nodes: NodeIndices) -> Int64s:
        """Return the scores of some nodes now, int64 (F,); Go's arithmetic may overflow."""


class ScoredTogether:
    """Score states by node, combined with their weights: only the weighted sum is kept."""

    def __init__(self, weighted: Sequence[tuple[int, NodeScores]], columns: Columns) -> None:
        self._weighted = weighted
        watched = {id(array): array for _, state in weighted for array in state.watched_arrays}
        self._sums = NodeValues(columns, tuple(watched.values()), self._compute)

    def score(self, feasible: NodeIndices) -> Int64s:
        """Return the sum, int64 (F,). Raise the error of a part that overflows."""
        sums: Int64s = self._sums.now()[feasible]
        if any([state.overflows for _, state in self._weighted]):  # noqa: C419 (perf: a list is faster)
            for _, state in self._weighted:
                state.score(feasible)  # it checks feasible nodes only; their sums are right if it does not raise
        return sums

    def _compute(self, nodes: NodeIndices) -> Int64s:
        total = np.zeros(len(nodes), np.int64)
        for weight, state in self._weighted:
            total += weight * state.compute(nodes)
        return total
