"""The nodes of a cluster as arrays: nothing here changes when pods are bound.

Axes: N nodes in the cluster's order, D domains of a topology key.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.tables.arrays import Bools, Int32s, Int64s
from kubectl_spread.cluster.taints import Tainted
from kubectl_spread.objects.node import Node


class Topology(NamedTuple):
    """The domains of one topology key.

    codes: int32 (N,), index into `values`, -1 for a node without the label.
    order: intp (D,), sorts the values.
    sorted_values: the values in that order.
    """

    codes: Int32s
    values: tuple[str, ...]
    order: NDArray[np.intp]
    sorted_values: tuple[str, ...]

    def by_value(self, numbers: Int64s) -> dict[str, int]:
        """Return a number for each domain, int64 (D,), by the sorted values."""
        return dict(zip(self.sorted_values, numbers[self.order].tolist(), strict=True))


class NodeColumns:
    """Labels, taints, images and allocatable resources of all nodes.

    allocatable: resource name -> int64 (N,); CPU in milli-cores, other resources in whole units.
    """

    def __init__(self, nodes: tuple[Node, ...]) -> None:
        self.nodes = nodes
        self.index = {node.name: at for at, node in enumerate(nodes)}
        self.tainted = Tainted(nodes)
        self.unschedulable: Bools = np.array([node.unschedulable for node in nodes], np.bool_)
        self._topologies: dict[str, Topology] = {}
        self._images = _Images(nodes)
        self.allocatable: dict[str, Int64s] = {
            resource: np.array([node.allocatable.get(resource, 0) for node in nodes], np.int64)
            for resource in {name for node in nodes for name in node.allocatable}
        }

    @property
    def images(self) -> dict[str, tuple[int, list[int]]]:
        """Image name -> its size in bytes on the first node that has it, and all nodes that have it."""
        return self._images.by_name

    def share_images(self, other: NodeColumns) -> None:
        """Share the images of other columns if the nodes have the same ones (perf: there are many)."""
        is_same = len(self.nodes) == len(other.nodes) and all(
            new is old or (new.name == old.name and new.images == old.images)
            for new, old in zip(self.nodes, other.nodes, strict=True)
        )
        if is_same:
            self._images = other._images

    def allocatable_of(self, resource: str) -> Int64s:
        """Return the allocatable amounts of a resource, int64 (N,); zeros if no node has it."""
        found = self.allocatable.get(resource)
        if found is None:
            found = self.allocatable[resource] = np.zeros(len(self.nodes), np.int64)
        return found

    def topology(self, key: str) -> Topology:
        """Return the domains of a label key, in the order of their first nodes."""
        found = self._topologies.get(key)
        if found is None:
            found = self._topologies[key] = self._encode(key)
        return found

    def _encode(self, key: str) -> Topology:
        codes: dict[str, int] = {}
        column = [codes.setdefault(node.labels[key], len(codes)) if key in node.labels else -1 for node in self.nodes]
        values = tuple(codes)
        order = np.array(sorted(range(len(values)), key=values.__getitem__), np.intp)
        return Topology(np.array(column, np.int32), values, order, tuple(sorted(values)))


class _Images:
    """The images of nodes, indexed at the first use; columns of equal nodes share one index."""

    def __init__(self, nodes: tuple[Node, ...]) -> None:
        self._nodes = nodes

    @cached_property
    def by_name(self) -> dict[str, tuple[int, list[int]]]:
        images: dict[str, tuple[int, list[int]]] = {}
        for at, node in enumerate(self._nodes):
            for name, size in node.images:
                having = images.setdefault(name, (size, []))[1]
                if not having or having[-1] != at:
                    having.append(at)
        return images
