"""A cluster as arrays, kept up to date as pods are bound: the one mutable object below `simulate`.

```
Columns ─┬─ NodeColumns   data that binding never changes: labels, taints, allocatable
         ├─ NodeRequests  requests of the pods on each node
         ├─ BoundPods     pods by node, and the log of pods that came and went
         ├─ PodClasses    classes, and groups that match the same selectors
         └─ StorageState  claims and volumes
```

Axes: N nodes in the cluster's order, P pods in the order they were bound, G groups. Units: CPU in milli-cores, other
resources in whole units, `pods` in slots.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from functools import cached_property
from typing import cast, NamedTuple, Optional, TypeVar, Union
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.storage import StorageState
from kubectl_spread.cluster.tables.label_groups import LabelGroup, LabelGroups
from kubectl_spread.objects.amounts.quantity import Sums
from kubectl_spread.objects.amounts.resources import PODS
from kubectl_spread.objects.node import first_untolerated, Node, Taint, Toleration
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.selectors import Labels, Selector

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


class FirstTaints(NamedTuple):
    """The first untolerated taint of each node.

    codes: intp (N,) into `taints`, -1 if all are tolerated. taints: in the order of the first node that has each.
    """

    codes: NDArray[np.intp]
    taints: tuple[Taint, ...]


class Tainted:
    """The taints of all nodes, evaluated once for all nodes with equal taints."""

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


class PodClasses:
    """Pod classes in the order of their first pods; equal classes have one index."""

    def __init__(self) -> None:
        self.classes: list[PodClass] = []
        self.has_pod_affinity = False  # whether any class has affinity or anti-affinity to pods
        self.groups = LabelGroups()
        self._group_of: dict[tuple[int, bool], int] = {}  # by class and terminating
        self._by_id: dict[int, int] = {}
        self._by_value: dict[PodClass, int] = {}
        self._kept: list[PodClass] = []  # so that an id() in _by_id stays theirs

    def copy(self) -> PodClasses:
        """Return a copy that can get more classes; it shares the groups of now."""
        other = PodClasses()
        other.classes, other.has_pod_affinity = list(self.classes), self.has_pod_affinity
        other.groups, other._group_of = LabelGroups(self.groups), dict(self._group_of)
        other._by_id, other._by_value = dict(self._by_id), dict(self._by_value)
        other._kept = list(self._kept)
        return other

    def index(self, pod_class: PodClass) -> int:
        """Return the index of a class in `classes`."""
        found = self._by_id.get(id(pod_class))
        if found is None:
            found = self._by_value.setdefault(pod_class, len(self.classes))
            if found == len(self.classes):
                self.classes.append(pod_class)
                self.has_pod_affinity |= pod_class.has_pod_affinity
            self._by_id[id(pod_class)] = found
            self._kept.append(pod_class)
        return found

    def group(self, class_at: int, *, terminating: bool) -> int:
        """Return the index of a class's group."""
        found = self._group_of.get((class_at, terminating))
        if found is None:
            pod_class = self.classes[class_at]
            group = LabelGroup(pod_class.namespace, pod_class.labels, terminating)
            found = self._group_of[class_at, terminating] = self.groups.add(group)
        return found


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


Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]
Number = TypeVar("Number", bound=np.integer)


def unique(numbers: NDArray[Number]) -> NDArray[Number]:
    """Return the numbers sorted, each once (numpy.unique would load numpy.ma, which takes 15 ms)."""
    ordered = np.sort(numbers)
    is_new = np.ones(len(ordered), np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_new]


class GrowingArray:
    """An int32 array that grows at its end; `last` is its last number."""

    def __init__(self) -> None:
        self._buffer = np.zeros(64, np.int32)
        self._size = 0
        self.last = -1

    @classmethod
    def of(cls, values: Int32s) -> GrowingArray:
        """Return an array that starts with some values."""
        made = cls()
        made._buffer = np.concatenate([values.astype(np.int32), np.zeros(64, np.int32)])
        made._size = len(values)
        made.last = int(values[-1]) if len(values) else -1
        return made

    def append(self, value: int) -> None:
        """Add a number at the end."""
        if self._size == len(self._buffer):
            self._buffer = np.concatenate([self._buffer, np.zeros_like(self._buffer)])
        self._buffer[self._size] = self.last = value
        self._size += 1

    def array(self) -> Int32s:
        """Return the numbers: a view that is valid until the next one is added."""
        return self._buffer[: self._size]


T = TypeVar("T")


class Columns:
    """Nodes and bound pods.

    pods: the pods of each node. bound_pods: the log of pods that came and went (`BoundPods`); bound_nodes,
    bound_groups, bound_classes, bound_signs: int32 (P,). Only `engine` unbinds pods. Tables, and methods that only read
    a table, are handed out as they are: `allocatable_of`, `topology`, `requested_of`, `positions`, `class_index`,
    `matches`, `all_matches`.
    """

    def __init__(self, cluster: Cluster) -> None:
        n = len(cluster.nodes)
        self._start(cluster, NodeColumns(cluster.nodes))
        self._hold(NodeRequests(n), BoundPods(n), PodClasses())
        self.sums = Sums.POD_LEVEL
        # Bind all pods of a cluster at once; pods on a node that does not exist are invisible
        pods = cluster.bound_pods()
        bound = [pod for pod in pods if pod.node_name in self.index]
        nodes = [self.index[pod.node_name] for pod in bound]
        classes = [self._classes.index(pod.cls) for pod in bound]
        groups = [
            self._classes.group(class_at, terminating=pod.terminating)
            for pod, class_at in zip(bound, classes, strict=True)
        ]
        self._bound.add_all(bound, nodes, classes=classes, groups=groups)
        self.bound_pods = self._bound.log
        self._requests.add_all(self.bound_nodes, self.bound_classes, self.classes)

    def _start(self, cluster: Cluster, nodes: NodeColumns) -> None:
        self.cluster = cluster
        self._nodes = nodes
        self.nodes = nodes.nodes
        self.n = len(nodes.nodes)
        self.index = nodes.index
        self.tainted = nodes.tainted
        self.has_taints = nodes.tainted.any
        self.unschedulable = nodes.unschedulable
        self.allocatable, self.allocatable_of, self.topology = nodes.allocatable, nodes.allocatable_of, nodes.topology
        self.storage = StorageState(cluster.storage, cluster.nodes)
        self._shared: WeakValueDictionary[Hashable, object] = WeakValueDictionary()

    def _hold(self, requests: NodeRequests, bound: BoundPods, classes: PodClasses) -> None:
        self._requests, self._bound, self._classes = requests, bound, classes
        self.pod_count = requests.pod_count
        self.nonzero_cpu, self.nonzero_memory = requests.nonzero_cpu, requests.nonzero_memory
        self.requested, self.requested_of = requests.requested, requests.of
        self.pods, self.bound_pods, self.positions = bound.by_node, bound.log, bound.positions
        self.classes, self.class_index = classes.classes, classes.index
        self.matches, self.all_matches = classes.groups.matching, classes.groups.all_matches

    def copy_for_cluster(self, cluster: Cluster, gone: Collection[str] = ()) -> Columns:
        """Return columns of a slightly different cluster, with the pods that are bound here.

        This takes a fraction of the time of binding every pod. Nodes are matched by name; pods on nodes that do not
        exist any more are dropped.

        Args:
            cluster: with other nodes or storage; its bound pods are ignored.
            gone: the uids of bound pods that are deleted.
        """
        other = object.__new__(Columns)
        nodes = self._nodes
        if cluster.nodes is not self.nodes:
            nodes = NodeColumns(cluster.nodes)
            nodes.share_images(self._nodes)
        other._start(cluster, nodes)
        other.sums = self.sums
        old_at = np.array([self.index.get(node.name, -1) for node in other.nodes], np.intp)
        bound, leaving = self._bound.copy_for_nodes(old_at, frozenset(gone))
        other._hold(self._requests.copy_for_nodes(old_at), bound, self._classes.copy())
        for pod, node in leaving:
            other._subtract(pod, node)
        return other

    def follow(self, sums: Sums) -> None:
        """Sum requests as a release does, bound pods included."""
        if sums is self.sums:
            return
        before, self.sums = self.sums, sums
        self._shared.clear()  # sums made before are not right any more
        if not any(pod_class.older for pod_class in self.classes):
            return
        for node, pods in enumerate(self.pods):
            for pod_class in (pod.cls for pod in pods if pod.cls.older):
                self._requests.add(pod_class.with_summed_requests(before), node, -1)
                self._requests.add(pod_class.with_summed_requests(sums), node)

    def share(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the object that `make` makes of these columns, made once for each key.

        A key starts with the type of the object, and has everything that the object depends on. Columns do not keep
        the object alive.
        """
        found = cast("Optional[T]", self._shared.get(key))
        if found is None:
            self._shared[key] = found = make()
        return found

    def with_summed_requests(self, pod_class: PodClass) -> PodClass:
        """Return a class with its requests as the followed release sums them."""
        return pod_class.with_summed_requests(self.sums) if pod_class.older else pod_class

    def bind(self, pod: Pod, node: int) -> None:
        """Count a pod on a node from now on."""
        pod_class = pod.cls
        self._requests.add(pod_class.with_summed_requests(self.sums) if pod_class.older else pod_class, node)
        self.pod_count[node] += 1
        class_at = self._classes.index(pod_class)
        self._bound.add(pod, node, class_at=class_at, group=self._classes.group(class_at, terminating=pod.terminating))

    def unbind(self, pod: Pod, node: int) -> None:
        """Stop counting a pod, which must be bound to the node as it is."""
        self._subtract(pod, node)
        class_at = self._classes.index(pod.cls)
        group = self._classes.group(class_at, terminating=pod.terminating)
        self._bound.remove(pod, node, class_at=class_at, group=group)

    def _subtract(self, pod: Pod, node: int) -> None:
        self._requests.add(self.with_summed_requests(pod.cls), node, -1)
        self.pod_count[node] -= 1

    @property
    def images(self) -> dict[str, tuple[int, list[int]]]:
        """Image name -> its size in bytes, and the nodes that have it."""
        return self._nodes.images

    @property
    def unbound(self) -> int:
        """Return how many pods were ever removed."""
        return self._bound.removed

    @property
    def bound_nodes(self) -> Int32s:
        return self._bound.nodes.array()

    @property
    def bound_groups(self) -> Int32s:
        """Indices into `groups`."""
        return self._bound.groups.array()

    @property
    def bound_classes(self) -> Int32s:
        """Indices into `classes`."""
        return self._bound.classes.array()

    @property
    def bound_signs(self) -> Int32s:
        return self._bound.signs.array()

    @property
    def last_sign(self) -> int:
        """Return 1 if the last change bound a pod, -1 if it removed one."""
        return self._bound.signs.last

    def last_bound(self) -> tuple[int, int]:
        """Return the node and the group of the last change."""
        return self._bound.nodes.last, self._bound.groups.last

    @property
    def has_pod_affinity(self) -> bool:
        """Return whether any class has affinity or anti-affinity to pods."""
        return self._classes.has_pod_affinity

    @property
    def groups(self) -> list[LabelGroup]:
        return self._classes.groups.all()

    @property
    def group_count(self) -> int:
        return len(self._classes.groups)

    def slots(self) -> Int64s:
        """Return how many pods each node can hold, int64 (N,)."""
        return self.allocatable_of(PODS)

    def untolerated_taints(self, tolerations: tuple[Toleration, ...]) -> list[Optional[Taint]]:
        """Return the first NoSchedule or NoExecute taint of each node that is not tolerated (N)."""
        codes, taints = self.tainted.first(tolerations)
        with_none = (*taints, None)  # -1 is the code of none
        return [with_none[code] for code in codes.tolist()]

    def labels_of(self, name: str) -> Labels:
        """Return a namespace's labels; none if the cluster facts lack it."""
        return self.cluster.namespaces.get(name, {})

    def zeros(self) -> Int64s:
        """Return int64 (N,)."""
        return np.zeros(self.n, np.int64)


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
            fresh = self._columns.matches(self._namespace, self._selector, len(self._matches))
            self._matches = np.concatenate([self._matches, fresh])
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
