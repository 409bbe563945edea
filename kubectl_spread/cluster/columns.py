"""A cluster as arrays, kept up to date as pods are bound.

The only mutable object below `simulate`. Axes: N nodes in the cluster's order, P pods in the order they were
bound, G groups of pods that no selector can tell apart. Units: CPU in milli-cores, other resources in whole
units, `pods` in slots.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Hashable
from functools import cached_property
from typing import cast
from typing import NamedTuple
from typing import Optional
from typing import TypeVar
from typing import Union
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.label_groups import Group
from kubectl_spread.cluster.label_groups import Groups
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.storage import StorageState
from kubectl_spread.cluster.taints import Tainted
from kubectl_spread.objects.labels import Labels
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.resources import PODS
from kubectl_spread.objects.selector import Selector
from kubectl_spread.objects.sums import Sums
from kubectl_spread.objects.taints import Taint
from kubectl_spread.objects.taints import Toleration

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]
Number = TypeVar("Number", bound=np.integer)
T = TypeVar("T")


class Topology(NamedTuple):
    """The domains of one label key.

    codes: int32 (N,), index into `values`, -1 where the node lacks the label. order: intp (D,), sorts the values.
    sorted_values: the values in that order.
    """

    codes: Int32s
    values: tuple[str, ...]
    order: NDArray[np.intp]
    sorted_values: tuple[str, ...]

    def by_value(self, numbers: Int64s) -> dict[str, int]:
        """Return a number for each domain, int64 (D,), by the sorted values."""
        values = self.values
        return {
            values[at]: number for at, number in zip(self.order.tolist(), numbers[self.order].tolist(), strict=True)
        }


class Columns:
    """Nodes and bound pods.

    allocatable, requested: resource name -> int64 (N,). pod_count, nonzero_cpu, nonzero_memory: int64 (N,).
    bound_pods: every pod that was bound, in order; bound_nodes, bound_groups, bound_classes: int32 (P,) beside it.
    Whoever keeps something that depends on bound pods remembers how many it has seen, and catches up.
    A pod that `unbind` removes is appended a second time: bound_signs, int32 (P,), is 1 for a pod that comes and -1 for
    one that goes. `pods` always has the pods of now. Only `timeline` unbinds.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._look_at(cluster)
        self._images = _Images(cluster.nodes)
        self.requested: dict[str, Int64s] = {}
        self.pod_count: Int64s = self.zeros()
        self.nonzero_cpu: Int64s = self.zeros()
        self.nonzero_memory: Int64s = self.zeros()
        self.pods: list[list[Pod]] = [[] for _ in range(self.n)]
        self.bound_pods: list[Pod] = []
        self._bound_nodes = _Grown()
        self._bound_groups = _Grown()
        self._bound_classes = _Grown()
        self._bound_signs = _Grown()
        self.unbound = 0  # how many pods were ever removed
        self._groups = Groups()
        self._group_of: dict[tuple[int, bool], int] = {}  # by class and terminating
        self.classes: list[PodClass] = []
        self.has_pod_affinity = False  # whether any class has affinity or anti-affinity to pods
        self._class_by_id: dict[int, int] = {}
        self._class_by_value: dict[PodClass, int] = {}
        self._kept: list[PodClass] = []  # so that an id() in _class_by_id stays theirs
        self.sums = Sums.POD_LEVEL
        self._shared: WeakValueDictionary[Hashable, object] = WeakValueDictionary()
        self._bind_all(cluster.bound())

    def _look_at(self, cluster: Cluster) -> None:
        """Take over what depends on nodes alone, and on storage."""
        self.cluster = cluster
        self.nodes: tuple[Node, ...] = cluster.nodes
        self.index = {node.name: at for at, node in enumerate(cluster.nodes)}
        self.n = len(cluster.nodes)
        self.tainted = Tainted(cluster.nodes)
        self.has_taints = self.tainted.any
        self.unschedulable: Bools = np.array([node.unschedulable for node in cluster.nodes], np.bool_)
        self._topologies: dict[str, Topology] = {}
        self.storage = StorageState(cluster.storage, cluster.nodes)
        self.allocatable: dict[str, Int64s] = {}
        for resource in {name for node in cluster.nodes for name in node.allocatable}:
            self.allocatable[resource] = np.array(
                [node.allocatable.get(resource, 0) for node in cluster.nodes], np.int64
            )

    def changed(self, cluster: Cluster, gone: Collection[str] = ()) -> Columns:
        """Columns of their own for a cluster that is a little different: what is bound here is bound there.

        Made in a fraction of the time that binding every pod takes. Nodes are known by their names; pods on nodes that
        are gone are gone, too.

        Args:
            cluster: with other nodes or storage; of its pods only those that are not bound are looked at.
            gone: the uids of bound pods that are there no more.
        """
        other = object.__new__(Columns)
        if cluster.nodes is self.nodes:
            self._share_nodes(other, cluster)
        else:
            other._look_at(cluster)
            is_same = len(self.nodes) == other.n and all(
                new is old or (new.name == old.name and new.images == old.images)
                for new, old in zip(cluster.nodes, self.nodes, strict=True)
            )
            other._images = self._images if is_same else _Images(cluster.nodes)
        other._take_pods(self, frozenset(gone))
        return other

    def _share_nodes(self, other: Columns, cluster: Cluster) -> None:
        other.cluster, other.nodes, other.index, other.n = cluster, self.nodes, self.index, self.n
        other.tainted, other.has_taints, other.unschedulable = self.tainted, self.has_taints, self.unschedulable
        other._images = self._images
        other.allocatable, other._topologies = dict(self.allocatable), dict(self._topologies)
        other.storage = StorageState(cluster.storage, cluster.nodes)

    def _take_pods(self, other: Columns, gone: frozenset[str]) -> None:
        """Bind what is bound in other columns, in the same order."""
        old_at = np.array([other.index.get(node.name, -1) for node in self.nodes], np.intp)
        self.requested = {name: _moved(account, old_at) for name, account in other.requested.items()}
        self.pod_count = _moved(other.pod_count, old_at)
        self.nonzero_cpu = _moved(other.nonzero_cpu, old_at)
        self.nonzero_memory = _moved(other.nonzero_memory, old_at)
        self.pods = [list(other.pods[at]) if at >= 0 else [] for at in old_at.tolist()]
        self._groups, self._group_of = Groups(other._groups), dict(other._group_of)
        self.classes, self.has_pod_affinity = list(other.classes), other.has_pod_affinity
        self._class_by_id, self._class_by_value = dict(other._class_by_id), dict(other._class_by_value)
        self._kept = list(other._kept)
        self.sums = other.sums
        self._shared = WeakValueDictionary()
        new_at = np.full(max(other.n, 1), -1, np.int32)
        new_at[old_at[old_at >= 0]] = np.flatnonzero(old_at >= 0)
        nodes = new_at[other.bound_nodes]
        stays = nodes >= 0
        if gone:
            stays &= np.array([pod.uid not in gone for pod in other.bound_pods], np.bool_)
        self._bound_nodes = _Grown.of(nodes[stays])
        self._bound_groups = _Grown.of(other.bound_groups[stays])
        self._bound_classes = _Grown.of(other.bound_classes[stays])
        self._bound_signs = _Grown.of(other.bound_signs[stays])
        self.unbound = 0
        if stays.all():
            self.bound_pods = list(other.bound_pods)
            return
        self.bound_pods = [pod for pod, is_here in zip(other.bound_pods, stays.tolist(), strict=True) if is_here]
        for at in np.flatnonzero(~stays & (nodes >= 0)).tolist():
            self._unbind(other.bound_pods[at], int(nodes[at]))

    def follow(self, sums: Sums) -> None:
        """Add up requests as a release does, those of the bound pods, too."""
        if sums is self.sums:
            return
        before, self.sums = self.sums, sums
        self._shared.clear()  # what was added up before does not hold any more
        if not any(pod_class.older for pod_class in self.classes):
            return
        for node, pods in enumerate(self.pods):
            for pod_class in (pod.cls for pod in pods if pod.cls.older):
                self._weigh(pod_class.counted(before), node, -1)
                self._weigh(pod_class.counted(sums), node, 1)

    def shared(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` makes of these columns, made once for each key: many pod classes ask for the same.

        A key begins with the type of what is made, and has all that it depends on. Columns do not keep it alive: it
        lasts as long as somebody uses it.
        """
        found = cast("Optional[T]", self._shared.get(key))
        if found is None:
            self._shared[key] = found = make()
        return found

    def counted(self, pod_class: PodClass) -> PodClass:
        """Return a class with its requests as the release that is followed adds them up."""
        return pod_class.counted(self.sums) if pod_class.older else pod_class

    def _weigh(self, pod_class: PodClass, node: int, sign: int) -> None:
        """Add what a pod of a counted class requests to the accounts of a node, or take it out."""
        for resource, amount in pod_class.requests:
            _add(self.requested_of(resource), node, sign * amount)
        _add(self.nonzero_cpu, node, sign * pod_class.nonzero[0])
        _add(self.nonzero_memory, node, sign * pod_class.nonzero[1])

    def _unbind(self, pod: Pod, node: int) -> None:
        """Take a pod out of the accounts of its node."""
        self._weigh(self.counted(pod.cls), node, -1)
        self.pod_count[node] -= 1
        self.pods[node] = [other for other in self.pods[node] if other.uid != pod.uid]

    @property
    def images(self) -> dict[str, tuple[int, list[int]]]:
        """Image name -> its size in bytes, and the nodes that have it."""
        return self._images.by_name

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

    @property
    def bound_signs(self) -> Int32s:
        return self._bound_signs.array()

    @property
    def last_sign(self) -> int:
        """1 if the last change bound a pod, -1 if it removed one."""
        return self._bound_signs.last

    def last_bound(self) -> tuple[int, int]:
        """The node and the group of the pod that was bound last."""
        return self._bound_nodes.last, self._bound_groups.last

    @property
    def groups(self) -> list[Group]:
        """Every group so far; `bound_groups` has indices into it."""
        return self._groups.all()

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
        pod_class = pod.cls
        counted = pod_class.counted(self.sums) if pod_class.older else pod_class
        for resource, amount in counted.requests:  # perf: as `_weigh` does, once for every pod that is placed
            _add(self.requested_of(resource), node, amount)
        _add(self.nonzero_cpu, node, counted.nonzero[0])
        _add(self.nonzero_memory, node, counted.nonzero[1])
        self.pod_count[node] += 1
        self.pods[node].append(pod)
        self.bound_pods.append(pod)
        self._bound_nodes.append(node)
        class_at = self.class_index(pod_class)
        self._bound_classes.append(class_at)
        self._bound_groups.append(self._group(class_at, terminating=pod.terminating))
        self._bound_signs.append(1)

    def unbind(self, pod: Pod, node: int) -> None:
        """Let a pod count no more; it must be bound to the node, as it is."""
        self._unbind(pod, node)
        self.unbound += 1
        self.bound_pods.append(pod)
        self._bound_nodes.append(node)
        class_at = self.class_index(pod.cls)
        self._bound_classes.append(class_at)
        self._bound_groups.append(self._group(class_at, terminating=pod.terminating))
        self._bound_signs.append(-1)

    def _bind_all(self, pods: list[Pod]) -> None:
        """What `bind` does, for all pods of a cluster at once; those on a node that does not exist are invisible."""
        nodes, classes, groups = [], [], []
        for pod in pods:
            node = self.index.get(pod.node_name)
            if node is None:
                continue
            class_at = self.class_index(pod.cls)
            self.pods[node].append(pod)
            self.bound_pods.append(pod)
            nodes.append(node)
            classes.append(class_at)
            groups.append(self._group(class_at, terminating=pod.terminating))
        self._bound_nodes = _Grown.of(np.array(nodes, np.int32))
        self._bound_classes = _Grown.of(np.array(classes, np.int32))
        self._bound_groups = _Grown.of(np.array(groups, np.int32))
        self._bound_signs = _Grown.of(np.ones(len(nodes), np.int32))
        self._account_for_all()

    def _account_for_all(self) -> None:
        """Add up what the bound pods ask for."""
        nodes, classes = self.bound_nodes, self.bound_classes
        amounts: dict[str, Int64s] = {}  # resource -> int64 (C,)
        for at, pod_class in enumerate(self.classes):
            for resource, amount in pod_class.requests:
                if resource not in amounts:
                    amounts[resource] = np.zeros(len(self.classes), np.int64)
                amounts[resource][at] = _wrapped(amount)
        for resource, of_class in amounts.items():
            np.add.at(self.requested_of(resource), nodes, of_class[classes])
        nonzero = np.array([tuple(map(_wrapped, pod_class.nonzero)) for pod_class in self.classes], np.int64).reshape(
            -1, 2
        )
        np.add.at(self.nonzero_cpu, nodes, nonzero[classes, 0])
        np.add.at(self.nonzero_memory, nodes, nonzero[classes, 1])
        np.add.at(self.pod_count, nodes, 1)

    def class_index(self, pod_class: PodClass) -> int:
        """The index of a class in `classes`; equal classes are one."""
        found = self._class_by_id.get(id(pod_class))
        if found is None:
            found = self._class_by_value.setdefault(pod_class, len(self.classes))
            if found == len(self.classes):
                self.classes.append(pod_class)
                self.has_pod_affinity |= pod_class.has_pod_affinity
            self._class_by_id[id(pod_class)] = found
            self._kept.append(pod_class)
        return found

    def untolerated(self, tolerations: tuple[Toleration, ...]) -> list[Optional[Taint]]:
        """The first NoSchedule or NoExecute taint of each node that is not tolerated (N)."""
        codes, taints = self.tainted.first(tolerations)
        told = (*taints, None)  # the code of none is -1
        return [told[code] for code in codes.tolist()]

    def labels_of(self, name: str) -> Labels:
        """A namespace's labels; none where the cluster facts do not have it."""
        return self.cluster.namespaces.get(name, {})

    def matches(self, namespace: str, selector: Selector, known: int) -> Bools:
        """Bool (G - known,): whether a selector counts the pods of each group, the first `known` left out."""
        return self._groups.matching(namespace, selector, known)

    def seen(self, namespace: str, selector: Selector) -> Bools:
        """Bool (G,): whether a selector matches the pods of each group, those on their way out, too."""
        return self._groups.seen(namespace, selector)

    def zeros(self) -> Int64s:
        """int64 (N,)."""
        return np.zeros(self.n, np.int64)

    def _encode(self, key: str) -> Topology:
        codes: dict[str, int] = {}
        column = [codes.setdefault(node.labels[key], len(codes)) if key in node.labels else -1 for node in self.nodes]
        values = tuple(codes)
        order = np.array(sorted(range(len(values)), key=values.__getitem__), np.intp)
        return Topology(np.array(column, np.int32), values, order, tuple(sorted(values)))

    def _group(self, class_at: int, *, terminating: bool) -> int:
        found = self._group_of.get((class_at, terminating))
        if found is None:
            pod_class = self.classes[class_at]
            group = Group(pod_class.namespace, pod_class.labels, terminating)
            found = self._group_of[class_at, terminating] = self._groups.add(group)
        return found


class _Images:
    """The images on the nodes, told apart when somebody asks; columns that have the same nodes share one."""

    def __init__(self, nodes: tuple[Node, ...]) -> None:
        self._nodes = nodes

    @cached_property
    def by_name(self) -> dict[str, tuple[int, list[int]]]:
        images: dict[str, tuple[int, list[int]]] = {}
        for at, node in enumerate(self._nodes):
            for name, size in node.images:
                having = images.setdefault(name, (size, []))[1]  # the size that the first node reports
                if not having or having[-1] != at:
                    having.append(at)
        return images


def _moved(account: Int64s, old_at: NDArray[np.intp]) -> Int64s:
    """An account by the nodes' new places; 0 for a node that was not there."""
    if not len(account):
        return np.zeros(len(old_at), np.int64)
    return np.where(old_at >= 0, account[old_at], 0)


def _add(account: Int64s, node: int, amount: int) -> None:
    total = account.item(node) + amount
    account[node] = total if -(2**63) <= total < 2**63 else _wrapped(total)


def _wrapped(total: int) -> int:
    """A sum that does not fit into 64 bits wraps around, as Go's does."""
    return (total + 2**63) % 2**64 - 2**63


def distinct(numbers: NDArray[Number]) -> NDArray[Number]:
    """Sorted, each once; numpy.unique is the same, and loads numpy.ma first, which takes 15 ms."""
    ordered = np.sort(numbers)
    is_new = np.ones(len(ordered), np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_new]


class MatchCounter:
    """Pods of a namespace that a selector matches, on each node; terminating pods are left out.

    counts: int64 (N,), right after `sync`; amounts: what the last call added on each of the nodes it returned.
    Source: podtopologyspread/common.go, countPodsMatchSelector (v1.36.2), but for the empty selector.
    """

    def __init__(self, namespace: str, selector: Selector, columns: Columns) -> None:
        self._namespace = namespace
        self._selector = selector
        self._columns = columns
        self._matches = np.zeros(0, np.bool_)  # (G,), as far as groups are known
        self._seen = 0
        self.counts = columns.zeros()
        self.amounts: Union[int, Int32s] = 1

    def sync(self) -> Int32s:
        """Count the pods that came or went since the last call; the nodes of those that match, once for each."""
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
        matching = self._matches[columns.bound_groups[new]]
        nodes = columns.bound_nodes[new][matching]
        self.amounts = columns.bound_signs[new][matching] if columns.unbound else 1
        if len(nodes):
            np.add.at(self.counts, nodes, self.amounts)
        return nodes

    def _learn_groups(self) -> None:
        fresh = self._columns.matches(self._namespace, self._selector, len(self._matches))
        self._matches = np.concatenate([self._matches, fresh])


_NO_NODES: Int32s = np.zeros(0, np.int32)


class _Grown:
    """An int32 array that grows at its end."""

    def __init__(self) -> None:
        self._buffer = np.zeros(64, np.int32)
        self._size = 0
        self.last = -1

    @classmethod
    def of(cls, values: Int32s) -> _Grown:
        """One that holds values already."""
        made = cls()
        made._buffer = np.concatenate([values.astype(np.int32), np.zeros(64, np.int32)])
        made._size = len(values)
        made.last = int(values[-1]) if len(values) else -1
        return made

    def append(self, value: int) -> None:
        if self._size == len(self._buffer):
            self._buffer = np.concatenate([self._buffer, np.zeros_like(self._buffer)])
        self._buffer[self._size] = self.last = value
        self._size += 1

    def array(self) -> Int32s:
        return self._buffer[: self._size]
