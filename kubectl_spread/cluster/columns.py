"""A cluster as arrays, kept up to date as pods are bound.

The only mutable object below `simulate`. Axes: N nodes in the cluster's order, P pods in the order they were
bound, G groups of pods that no selector can tell apart. Units: CPU in milli-cores, other resources in whole
units, `pods` in slots.
"""

from __future__ import annotations

from typing import NamedTuple
from typing import Optional

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.storage import StorageState
from kubectl_spread.objects.labels import Labels
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.resources import PODS
from kubectl_spread.objects.selector import Selector
from kubectl_spread.objects.taints import first_untolerated
from kubectl_spread.objects.taints import Taint
from kubectl_spread.objects.taints import Toleration

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Topology(NamedTuple):
    """The domains of one label key.

    codes: int32 (N,), index into `values`, -1 where the node lacks the label.
    """

    codes: Int32s
    values: tuple[str, ...]


class Group(NamedTuple):
    """What tells pods apart for a selector."""

    namespace: str
    labels: tuple[tuple[str, str], ...]
    terminating: bool


class Columns:
    """Nodes and bound pods.

    allocatable, requested: resource name -> int64 (N,). pod_count, nonzero_cpu, nonzero_memory: int64 (N,).
    bound_pods: every pod that was bound, in order; bound_nodes, bound_groups, bound_classes: int32 (P,) beside it.
    Whoever keeps something that depends on bound pods remembers how many it has seen, and catches up.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.nodes: tuple[Node, ...] = cluster.nodes
        self.index = {node.name: at for at, node in enumerate(cluster.nodes)}
        self.n = len(cluster.nodes)
        self._taints = [node.taints for node in cluster.nodes]
        self.has_taints = any(self._taints)
        self.images: dict[str, tuple[int, list[int]]] = {}  # name -> bytes, nodes
        for at, node in enumerate(cluster.nodes):
            for name, size in node.images:
                having = self.images.setdefault(name, (size, []))[1]  # the size that the first node reports
                if not having or having[-1] != at:
                    having.append(at)
        self.allocatable: dict[str, Int64s] = {}
        self.requested: dict[str, Int64s] = {}
        self.pod_count: Int64s = self.zeros()
        self.nonzero_cpu: Int64s = self.zeros()
        self.nonzero_memory: Int64s = self.zeros()
        self.pods: list[list[Pod]] = [[] for _ in range(self.n)]
        self.bound_pods: list[Pod] = []
        self.storage = StorageState(cluster.storage, cluster.nodes)
        self._bound_nodes = _Grown()
        self._bound_groups = _Grown()
        self._bound_classes = _Grown()
        self._topologies: dict[str, Topology] = {}
        self._groups: dict[Group, int] = {}
        self._group_of: dict[tuple[int, bool], int] = {}  # by class and terminating
        self.classes: list[PodClass] = []
        self.has_pod_affinity = False  # whether any class has affinity or anti-affinity to pods
        self._class_by_id: dict[int, int] = {}
        self._class_by_value: dict[PodClass, int] = {}
        self._kept: list[PodClass] = []  # so that an id() in _class_by_id stays theirs
        for resource in {name for node in cluster.nodes for name in node.allocatable}:
            self.allocatable[resource] = np.array(
                [node.allocatable.get(resource, 0) for node in cluster.nodes], np.int64
            )
        for pod in cluster.bound():
            bound_to = self.index.get(pod.node_name)
            if bound_to is not None:  # pods on a node that does not exist are invisible
                self.bind(pod, bound_to)

    @property
    def bound_nodes(self) -> Int32s:
        return self._bound_nodes.array()

    @property
    def bound_groups(self) -> Int32s:
        return self._bound_groups.array()

    @property
    def bound_classes(self) -> Int32s:
        """Indices into `classes`."""
        return self._bound_classes.array()

    def last_bound(self) -> tuple[int, int]:
        """The node and the group of the pod that was bound last."""
        return self._bound_nodes.last, self._bound_groups.last

    @property
    def groups(self) -> list[Group]:
        """Every group so far; `bound_groups` has indices into it."""
        return list(self._groups)

    @property
    def group_count(self) -> int:
        return len(self._groups)

    def allocatable_of(self, resource: str) -> Int64s:
        """Zeros where no node has the resource."""
        found = self.allocatable.get(resource)
        if found is None:
            found = self.allocatable[resource] = self.zeros()
        return found

    def requested_of(self, resource: str) -> Int64s:
        """The account of a resource; the array stays the same one as pods are bound."""
        found = self.requested.get(resource)
        if found is None:
            found = self.requested[resource] = self.zeros()
        return found

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
        cls = pod.cls
        for resource, amount in cls.requests:
            _add(self.requested_of(resource), node, amount)
        _add(self.nonzero_cpu, node, cls.nonzero[0])
        _add(self.nonzero_memory, node, cls.nonzero[1])
        self.pod_count[node] += 1
        self.pods[node].append(pod)
        self.bound_pods.append(pod)
        self._bound_nodes.append(node)
        class_at = self.class_index(cls)
        self._bound_classes.append(class_at)
        self._bound_groups.append(self._group(class_at, terminating=pod.terminating))

    def class_index(self, cls: PodClass) -> int:
        """The index of a class in `classes`; equal classes are one."""
        found = self._class_by_id.get(id(cls))
        if found is None:
            found = self._class_by_value.setdefault(cls, len(self.classes))
            if found == len(self.classes):
                self.classes.append(cls)
                self.has_pod_affinity |= cls.has_pod_affinity
            self._class_by_id[id(cls)] = found
            self._kept.append(cls)
        return found

    def untolerated(self, tolerations: tuple[Toleration, ...]) -> list[Optional[Taint]]:
        """The first NoSchedule or NoExecute taint of each node that is not tolerated (N)."""
        known: dict[tuple[Taint, ...], Optional[Taint]] = {}
        for taints in self._taints:
            if taints not in known:
                known[taints] = first_untolerated(taints, tolerations)
        return [known[taints] for taints in self._taints]

    def labels_of(self, name: str) -> Labels:
        """A namespace's labels; none where the cluster facts do not have it."""
        return self.cluster.namespaces.get(name, {})

    def zeros(self) -> Int64s:
        """int64 (N,)."""
        return np.zeros(self.n, np.int64)

    def _encode(self, key: str) -> Topology:
        codes: dict[str, int] = {}
        column = [codes.setdefault(node.labels[key], len(codes)) if key in node.labels else -1 for node in self.nodes]
        return Topology(np.array(column, np.int32), tuple(codes))

    def _group(self, class_at: int, *, terminating: bool) -> int:
        found = self._group_of.get((class_at, terminating))
        if found is None:
            cls = self.classes[class_at]
            group = Group(cls.namespace, cls.labels, terminating)
            found = self._group_of[class_at, terminating] = self._groups.setdefault(group, len(self._groups))
        return found


def _add(account: Int64s, node: int, amount: int) -> None:
    """A sum that does not fit into 64 bits wraps around, as Go's does."""
    total = account.item(node) + amount
    account[node] = total if -(2**63) <= total < 2**63 else (total + 2**63) % 2**64 - 2**63


class MatchCounter:
    """Pods of a namespace that a selector matches, on each node; terminating pods are left out.

    counts: int64 (N,), right after `catch_up`.
    Source: podtopologyspread/common.go, countPodsMatchSelector (v1.36.2), but for the empty selector.
    """

    def __init__(self, namespace: str, selector: Selector, columns: Columns) -> None:
        self._namespace = namespace
        self._selector = selector
        self._columns = columns
        self._matches = np.zeros(0, np.bool_)  # (G,), as far as groups are known
        self._seen = 0
        self.counts = columns.zeros()

    def catch_up(self) -> Int32s:
        """Count the pods bound since the last call; the nodes of those that match, once for each."""
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
            self.counts[node] += 1
            return np.array([node], np.int32)
        nodes = columns.bound_nodes[new][self._matches[columns.bound_groups[new]]]
        if len(nodes):
            np.add.at(self.counts, nodes, 1)
        return nodes

    def _learn_groups(self) -> None:
        known = len(self._matches)
        fresh = [
            group.namespace == self._namespace and not group.terminating and self._selector.matches(dict(group.labels))
            for group in self._columns.groups[known:]
        ]
        self._matches = np.concatenate([self._matches, np.array(fresh, np.bool_)])


_NO_NODES: Int32s = np.zeros(0, np.int32)


class _Grown:
    """An int32 array that grows at its end."""

    def __init__(self) -> None:
        self._buffer = np.zeros(64, np.int32)
        self._size = 0
        self.last = -1

    def append(self, value: int) -> None:
        if self._size == len(self._buffer):
            self._buffer = np.concatenate([self._buffer, np.zeros_like(self._buffer)])
        self._buffer[self._size] = self.last = value
        self._size += 1

    def array(self) -> Int32s:
        return self._buffer[: self._size]
