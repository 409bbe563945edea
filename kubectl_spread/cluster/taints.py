"""The taints of nodes, evaluated once for all nodes with equal taints."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.objects.node import first_untolerated, Node, Taint, Toleration


class FirstTaints(NamedTuple):
    """The first untolerated taint of each node.

    codes: intp (N,) into `taints`, -1 if all are tolerated. taints: in the order of the first node that has each.
    """

    codes: NDArray[np.intp]
    taints: tuple[Taint, ...]


class Tainted:
    """The taints of all nodes."""

    def __init__(self, nodes: tuple[Node, ...]) -> None:
        sets: dict[tuple[Taint, ...], int] = {}
        self._codes = np.array([sets.setdefault(node.taints, len(sets)) for node in nodes], np.intp)
        self._sets = tuple(sets)
        self._first: dict[tuple[Toleration, ...], FirstTaints] = {}

    @property
    def any(self) -> bool:
        """Return whether any node has an untolerated taint."""
        return any(self._sets)

    def first(self, tolerations: tuple[Toleration, ...]) -> FirstTaints:
        """Return the first NoSchedule or NoExecute taint of each node that is not tolerated."""
        found = self._first.get(tolerations)
        if found is None:
            by_set = [first_untolerated(taints, tolerations) for taints in self._sets]
            taints = tuple(dict.fromkeys(taint for taint in by_set if taint is not None))
            at = {taint: code for code, taint in enumerate(taints)}
            codes = np.array([-1 if taint is None else at[taint] for taint in by_set], np.intp)
            found = self._first[tolerations] = FirstTaints(codes[self._codes], taints)
        return found

    def count(self, counts: Callable[[tuple[Taint, ...]], int]) -> NDArray[np.int64]:
        """Return a number for each node that depends only on its taints, int64 (N,)."""
        return np.array([counts(taints) for taints in self._sets], np.int64)[self._codes]
