"""Requests of the pods on each node, updated as pods are bound and removed.

Units: CPU in milli-cores, other resources in whole units. Sums wrap around at 64 bits, as Go's do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.tables.arrays import Int32s, Int64s
from kubectl_spread.objects.pod import PodClass


class NodeRequests:
    """Requested resources per node.

    requested: resource name -> int64 (N,). pod_count, nonzero_cpu, nonzero_memory: int64 (N,).
    Each array stays the same object, so that others may keep it.
    """

    def __init__(self, nodes: int) -> None:
        self._n = nodes
        self.requested: dict[str, Int64s] = {}
        self.pod_count: Int64s = np.zeros(nodes, np.int64)
        self.nonzero_cpu: Int64s = np.zeros(nodes, np.int64)
        self.nonzero_memory: Int64s = np.zeros(nodes, np.int64)

    def of(self, resource: str) -> Int64s:
        """Return the requested amounts of a resource, int64 (N,)."""
        found = self.requested.get(resource)
        if found is None:
            found = self.requested[resource] = np.zeros(self._n, np.int64)
        return found

    def add(self, counted: PodClass, node: int, sign: int = 1) -> None:
        """Add the requests of a pod, or subtract them; `counted` has them as the followed release sums them."""
        for resource, amount in counted.requests:
            _add(self.of(resource), node, sign * amount)
        _add(self.nonzero_cpu, node, sign * counted.nonzero[0])
        _add(self.nonzero_memory, node, sign * counted.nonzero[1])

    def add_all(self, nodes: Int32s, class_indices: Int32s, classes: list[PodClass]) -> None:
        """Add many pods at once; nodes, class_indices: int32 (P,)."""
        amounts: dict[str, Int64s] = {}  # resource -> int64 (C,)
        for at, pod_class in enumerate(classes):
            for resource, amount in pod_class.requests:
                if resource not in amounts:
                    amounts[resource] = np.zeros(len(classes), np.int64)
                amounts[resource][at] = _wrapped(amount)
        for resource, of_class in amounts.items():
            np.add.at(self.of(resource), nodes, of_class[class_indices])
        pairs = [tuple(map(_wrapped, pod_class.nonzero)) for pod_class in classes]
        nonzero = np.array(pairs, np.int64).reshape(-1, 2)
        np.add.at(self.nonzero_cpu, nodes, nonzero[class_indices, 0])
        np.add.at(self.nonzero_memory, nodes, nonzero[class_indices, 1])
        np.add.at(self.pod_count, nodes, 1)

    def copy_for_nodes(self, old_at: NDArray[np.intp]) -> NodeRequests:
        """Return a copy for other nodes; old_at: intp (N,), the old place of each, -1 for a new node."""
        other = NodeRequests(len(old_at))
        other.requested = {name: _moved(amounts, old_at) for name, amounts in self.requested.items()}
        other.pod_count = _moved(self.pod_count, old_at)
        other.nonzero_cpu = _moved(self.nonzero_cpu, old_at)
        other.nonzero_memory = _moved(self.nonzero_memory, old_at)
        return other


def _moved(amounts: Int64s, old_at: NDArray[np.intp]) -> Int64s:
    if not len(amounts):
        return np.zeros(len(old_at), np.int64)
    return np.where(old_at >= 0, amounts[old_at], 0)


def _add(amounts: Int64s, node: int, amount: int) -> None:
    total = amounts.item(node) + amount
    amounts[node] = total if -(2**63) <= total < 2**63 else _wrapped(total)


def _wrapped(total: int) -> int:
    return (total + 2**63) % 2**64 - 2**63
