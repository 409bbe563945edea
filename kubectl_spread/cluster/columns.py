"""A cluster as arrays, kept up to date as pods are bound.

The only mutable object below `simulate`. Axes: N nodes in the cluster's order, P pods in the order they were
bound. Units: CPU in milli-cores, other resources in whole units, `pods` in slots.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.labels import Labels
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.resources import PODS
from kubectl_spread.objects.selector import Selector

Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Topology(NamedTuple):
    """The domains of one label key.

    codes: int32 (N,), index into `values`, -1 where the node lacks the label.
    """

    codes: NDArray[np.int32]
    values: tuple[str, ...]


class Group(NamedTuple):
    """What tells pods apart for a selector."""

    namespace: str
    labels: tuple[tuple[str, str], ...]
    terminating: bool


class Columns:
    """Nodes and bound pods.

    allocatable, requested: resource name -> int64 (N,). pod_count: int64 (N,).
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.nodes: tuple[Node, ...] = cluster.nodes
        self.index = {node.name: at for at, node in enumerate(cluster.nodes)}
        self.n = len(cluster.nodes)
        self.allocatable: dict[str, Int64s] = {}
        self.requested: dict[str, Int64s] = {}
        self.pod_count: Int64s = np.zeros(self.n, np.int64)
        self.pods: list[list[Pod]] = [[] for _ in range(self.n)]
        self._topologies: dict[str, Topology] = {}
        self._groups: dict[Group, int] = {}
        self._group_labels: list[dict[str, str]] = []
        self._pod_nodes = _Grown()
        self._pod_groups = _Grown()
        for resource in {name for node in cluster.nodes for name in node.allocatable}:
            self.allocatable[resource] = np.array(
                [node.allocatable.get(resource, 0) for node in cluster.nodes], np.int64
            )
        for pod in cluster.bound():
            at = self.index.get(pod.node_name)
            if at is not None:  # pods on a node that does not exist are invisible
                self.bind(pod, at)

    def allocatable_of(self, resource: str) -> Int64s:
        """Zeros where no node has the resource."""
        return self.allocatable.get(resource, self._zeros())

    def requested_of(self, resource: str) -> Int64s:
        return self.requested.get(resource, self._zeros())

    def slots(self) -> Int64s:
        """How many pods each node can hold."""
        return self.allocatable_of(PODS)

    def topology(self, key: str) -> Topology:
        """The domains of a label key, in the order of the first node that has them."""
        found = self._topologies.get(key)
        if found is None:
            found = self._topologies[key] = self._encode(key)
        return found

    def bind(self, pod: Pod, node: int) -> None:
        """Let a pod count on a node from now on."""
        for resource, amount in pod.cls.requests:
            if resource not in self.requested:
                self.requested[resource] = np.zeros(self.n, np.int64)
            self.requested[resource][node] += amount
        self.pod_count[node] += 1
        self.pods[node].append(pod)
        self._pod_nodes.append(node)
        self._pod_groups.append(self._group(pod.cls, terminating=pod.terminating))

    def matching(self, namespace: str, selector: Selector) -> Int64s:
        """int64 (N,): pods of a namespace that a selector matches, terminating ones left out.

        Source: podtopologyspread/common.go, countPodsMatchSelector (v1.36.2), but for the empty selector.
        """
        counted = np.array(
            [
                group.namespace == namespace and not group.terminating and selector.matches(self._group_labels[at])
                for group, at in self._groups.items()
            ],
            np.bool_,
        )
        if not counted.any():
            return self._zeros()
        nodes = self._pod_nodes.array()[counted[self._pod_groups.array()]]
        return np.bincount(nodes, minlength=self.n).astype(np.int64)

    def labels_of(self, name: str) -> Labels:
        """A namespace's labels; none where the cluster facts do not have it."""
        return self.cluster.namespaces.get(name, {})

    def _zeros(self) -> Int64s:
        return np.zeros(self.n, np.int64)

    def _encode(self, key: str) -> Topology:
        codes: dict[str, int] = {}
        column = [codes.setdefault(node.labels[key], len(codes)) if key in node.labels else -1 for node in self.nodes]
        return Topology(np.array(column, np.int32), tuple(codes))

    def _group(self, cls: PodClass, *, terminating: bool) -> int:
        group = Group(cls.namespace, cls.labels, terminating)
        at = self._groups.setdefault(group, len(self._groups))
        if at == len(self._group_labels):
            self._group_labels.append(dict(cls.labels))
        return at


class _Grown:
    """An int32 array that grows at its end."""

    def __init__(self) -> None:
        self._buffer = np.zeros(64, np.int32)
        self._size = 0

    def append(self, value: int) -> None:
        if self._size == len(self._buffer):
            self._buffer = np.concatenate([self._buffer, np.zeros_like(self._buffer)])
        self._buffer[self._size] = value
        self._size += 1

    def array(self) -> NDArray[np.int32]:
        return self._buffer[: self._size]
