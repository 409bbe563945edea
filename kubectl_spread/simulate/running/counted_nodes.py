"""The nodes that constraints count, by domain.

Most constraints of a cluster count the same nodes. What depends on the nodes alone is made once for all of these:

    web,   zone      ─┐
    api,   zone      ─┼─▶ zones of all nodes
    redis, zone      ─┘
    batch, zone      ───▶ zones of the nodes of a nodeSelector
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.tables.arrays import Int64s
from kubectl_spread.cluster.tables.columns import Columns
from kubectl_spread.objects.constraints.domain_numbers import DomainNumbers
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts

_MOST = 64  # that are remembered: each may hold 5,000 domains

_Key = tuple[str, bytes, bytes]


class NodesByDomain(NamedTuple):
    """The eligible domains of a constraint, with the nodes that it counts.

    values: the domains, sorted. codes: intp (D,), their places in the topology. nodes: the number of nodes of each.
    latest: the latest creation of a node; empty if the facts lack one, or if there is no node.
    """

    values: tuple[str, ...]
    codes: NDArray[np.intp]
    nodes: tuple[int, ...]
    latest: str

    def numbers(self, amounts: Int64s) -> DomainNumbers:
        """Return a number for each of the domains; `amounts`: int64, for each domain of the topology."""
        own = amounts[self.codes]
        at = np.flatnonzero(own)
        return DomainNumbers(self.values, dict(zip(at.tolist(), own[at].tolist(), strict=True)))


class CountedNodes:
    """Remembers the nodes of the last constraints."""

    def __init__(self, columns: Columns) -> None:
        self._created = [node.created for node in columns.nodes]
        self._known: OrderedDict[_Key, NodesByDomain] = OrderedDict()

    def of(self, counts: DomainCounts) -> NodesByDomain:
        """Return the domains that a constraint counts."""
        key = (counts.constraint.topology_key, counts.included.tobytes(), counts.eligible.tobytes())
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._of(counts)
            if len(self._known) > _MOST:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(key)
        return found

    def _of(self, counts: DomainCounts) -> NodesByDomain:
        topology = counts.topology
        codes = topology.order[counts.eligible[topology.order]]
        included = np.flatnonzero(counts.included & (topology.codes >= 0))
        nodes = np.bincount(topology.codes[included], minlength=len(topology.values))[codes]
        counted = included[counts.eligible[topology.codes[included]]]
        values = tuple(topology.values[at] for at in codes.tolist())
        return NodesByDomain(values, codes, tuple(nodes.tolist()), self._latest(counted))

    def _latest(self, nodes: NDArray[np.intp]) -> str:
        times = [self._created[at] for at in nodes.tolist()]
        return max(times, default="") if all(times) else ""
