"""A cluster as arrays, kept up to date as pods are bound: the one mutable object below `engine`.

Axes: N nodes in the cluster's order, P pods in the order they were bound, G groups. Units: CPU in milli-cores, other
resources in whole units, `pods` in slots.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from functools import cached_property
from typing import cast, NamedTuple, Optional, TypeVar, Union
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.caching import cached_method
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.storage import StorageState
from kubectl_spread.containers import Numbering
from kubectl_spread.objects.node import first_untolerated, Node, Taint, Toleration
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.resources import PODS, Sums
from kubectl_spread.objects.selectors import Labels, Selector

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]
Number = TypeVar("Number", bound=np.integer)
T = TypeVar("T")

_FEW_SEARCHES = 16  # fewer searches of the log do not pay for an index


def unique(numbers: NDArray[Number]) -> NDArray[Number]:
    """Return the numbers sorted, each once (numpy.unique would load numpy.ma, which takes 15 ms)."""
    ordered = np.sort(numbers)
    is_new = np.ones(len(ordered), np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_new]


_Label = tuple[str, str, str]  # namespace, key, value
_NO_GROUPS: Bools = np.zeros(0, np.bool_)


class LabelGroup(NamedTuple):
    """Pods that match exactly the same selectors."""

    namespace: str
    labels: tuple[tuple[str, str], ...]
    terminating: bool


class LabelGroups:
    """Groups in the order they were met; the columns of similar clusters share them.

    all: every group; a group that is new gets the next index.
    """

    def __init__(self) -> None:
        self._numbers = Numbering[LabelGroup]()
        self.all = self._numbers.listed
        self._having: dict[_Label, list[int]] = {}  # groups that have a label
        self._in_namespace: dict[str, list[int]] = {}
        self._indexed = 0  # so many groups are in the two
        self._answers: dict[tuple[str, Selector], Bools] = {}

    def add(self, group: LabelGroup) -> int:
        """Add a group if it is new, and return its index."""
        return self._numbers[group]

    def matching(self, namespace: str, selector: Selector) -> Bools:
        """Return bool (G,): groups with counted pods, without terminating ones; do not write to it."""
        found = self._answers.get((namespace, selector), _NO_GROUPS)
        known = len(found)
        if known < len(self.all):
            found = np.concatenate([found, np.zeros(len(self.all) - known, np.bool_)])
            for at in self._candidates(namespace, selector):
                group = self.all[at]
                if at >= known and not group.terminating:
                    found[at] = selector.matches(dict(group.labels))
            self._answers[namespace, selector] = found
        return found

    def all_matches(self, namespace: str, selector: Selector) -> Bools:
        """Return bool (G,): groups that a selector matches, terminating ones included."""
        found: Bools = self.matching(namespace, selector).copy()
        for at, group in enumerate(self.all):
            if group.terminating and group.namespace == namespace:
                found[at] = selector.matches(dict(group.labels))
        return found

    def _candidates(self, namespace: str, selector: Selector) -> list[int]:
        """Return groups that may match: those with a label that the selector requires, if it requires one."""
        for group in self.all[self._indexed :]:
            self._in_namespace.setdefault(group.namespace, []).append(self._indexed)
            for key, value in group.labels:
                self._having.setdefault((group.namespace, key, value), []).append(self._indexed)
            self._indexed += 1
        few = self._in_namespace.get(namespace, [])
        for requirement in selector.requirements or ():
            if requirement.operator == "In" and len(requirement.values) == 1:
                having = self._having.get((namespace, requirement.key, requirement.values[0]), [])
                few = having if len(having) < len(few) else few
        return few


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


class Topology(NamedTuple):
    """The domains of one topology key.

    codes: int32 (N,), index into `values`, -1 for a node without the label.
    order: intp (D,), sorts the values.
    """

    codes: Int32s
    values: tuple[str, ...]
    order: NDArray[np.intp]

    def by_value(self, numbers: Int64s) -> dict[str, int]:
        """Return a number for each domain, int64 (D,), by the sorted values."""
        return dict(zip(sorted(self.values), numbers[self.order].tolist(), strict=True))


class Tainted:
    """The taints of all nodes, evaluated once for all nodes with equal taints."""

    def __init__(self, nodes: tuple[Node, ...]) -> None:
        sets = Numbering[tuple[Taint, ...]]()
        self._codes = np.array([sets[node.taints] for node in nodes], np.intp)
        self._sets = sets.listed

    @property
    def any(self) -> bool:
        """Return whether any node has an untolerated taint."""
        return any(self._sets)

    @cached_method
    def first(self, tolerations: tuple[Toleration, ...]) -> tuple[NDArray[np.intp], tuple[Taint, ...]]:
        """Return the first NoSchedule or NoExecute taint of each node that is not tolerated.

        This is an array of codes, intp (N,), -1 if all are tolerated; and the taints by code, in the order of the first
        node that has each.
        """
        by_set = [first_untolerated(taints, tolerations) for taints in self._sets]
        numbers = Numbering[Taint]()
        codes = np.array([-1 if taint is None else numbers[taint] for taint in by_set], np.intp)
        return codes[self._codes], tuple(numbers.listed)

    def count(self, counts: Callable[[tuple[Taint, ...]], int]) -> NDArray[np.int64]:
        """Return a number for each node that depends only on its taints, int64 (N,)."""
        return np.array([counts(taints) for taints in self._sets], np.int64)[self._codes]


class NodeColumns:
    """What binding never changes: labels, taints, images and allocatable resources of all nodes.

    allocatable: resource name -> int64 (N,); CPU in milli-cores, other resources in whole units.
    """

    def __init__(self, nodes: tuple[Node, ...], like: Optional[NodeColumns] = None) -> None:
        """Read nodes; images are read once for all columns whose nodes have the same ones (perf: there are many)."""
        self.nodes = nodes
        self.index = {node.name: at for at, node in enumerate(nodes)}
        self.tainted = Tainted(nodes)
        self.unschedulable: Bools = np.array([node.unschedulable for node in nodes], np.bool_)
        self.allocatable: dict[str, Int64s] = {
            resource: np.array([node.allocatable.get(resource, 0) for node in nodes], np.int64)
            for resource in {name for node in nodes for name in node.allocatable}
        }
        is_same = like is not None and [(node.name, node.images) for node in nodes] == [
            (node.name, node.images) for node in like.nodes
        ]
        self.reader: Optional[NodeColumns] = (like.reader or like) if like is not None and is_same else None

    @cached_property
    def images(self) -> dict[str, tuple[int, list[int]]]:
        """Image name -> its size in bytes on the first node that has it, and all nodes that have it."""
        if self.reader is not None:
            return self.reader.images
        images: dict[str, tuple[int, list[int]]] = {}
        for at, node in enumerate(self.nodes):
            for name, size in node.images:
                having = images.setdefault(name, (size, []))[1]
                if not having or having[-1] != at:
                    having.append(at)
        return images

    def allocatable_of(self, resource: str) -> Int64s:
        """Return the allocatable amounts of a resource, int64 (N,); zeros if no node has it."""
        found = self.allocatable.get(resource)
        if found is None:
            found = self.allocatable[resource] = np.zeros(len(self.nodes), np.int64)
        return found

    @cached_method
    def topology(self, key: str) -> Topology:
        """Return the domains of a label key, in the order of their first nodes."""
        codes = Numbering[str]()
        column = [codes[node.labels[key]] if key in node.labels else -1 for node in self.nodes]
        values = tuple(codes.listed)
        order = np.array(sorted(range(len(values)), key=values.__getitem__), np.intp)
        return Topology(np.array(column, np.int32), values, order)


def wrapped(total: int) -> int:
    """Wrap a number that does not fit into 64 bits, as Go and numpy do."""
    return (total + 2**63) % 2**64 - 2**63


def _add(amounts: Int64s, node: int, amount: int) -> None:
    total = amounts.item(node) + amount
    amounts[node] = total if -(2**63) <= total < 2**63 else wrapped(total)


_NODE, _GROUP, _CLASS, _SIGN = range(4)  # rows of the log


class Columns:
    """Nodes and bound pods. Only `engine` unbinds pods.

    pods: the present pods of each node.
    bound_pods: a log of the pods that came and went, in order; an object that depends on them remembers its position in
        the log, and reads the rest. bound_nodes, bound_groups, bound_classes: int32 (P,), of each pod in the log.
        bound_signs: 1 for a pod that was bound; a removed pod is logged a second time, with -1.
    unbound: the number of pods that were ever removed.
    requested: resource name -> int64 (N,). pod_count, nonzero_cpu, nonzero_memory: int64 (N,). Each array stays the
        same object, so that others may keep it.
    classes: pod classes in the order of their first pods; equal classes have one index.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._start(cluster, NodeColumns(cluster.nodes))
        self.sums = Sums.POD_LEVEL
        self.requested: dict[str, Int64s] = {}
        self.pod_count, self.nonzero_cpu, self.nonzero_memory = self.zeros(), self.zeros(), self.zeros()
        self._numbers = Numbering[PodClass]()
        self.classes = self._numbers.listed
        self.has_pod_affinity = False  # whether any class has affinity or anti-affinity to pods
        self._hold(LabelGroups())
        self._group_of: dict[tuple[int, bool], int] = {}  # by class and terminating
        self._class_by_id: dict[int, int] = {}
        self._kept: list[PodClass] = []  # so that an id() in _class_by_id stays theirs
        # Bind all pods of a cluster at once; pods on a node that does not exist are invisible
        bound = [pod for pod in cluster.bound_pods() if pod.node_name in self.index]
        rows = [(self.index[pod.node_name], *self._group_and_class(pod), 1) for pod in bound]
        self.pods: list[list[Pod]] = [[] for _ in range(self.n)]
        for pod, (node, *_) in zip(bound, rows, strict=True):
            self.pods[node].append(pod)
        self._log(bound, np.array(rows, np.int32).reshape(-1, 4).T)
        self._count_all()

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
        self.unbound = 0
        self._shared: WeakValueDictionary[Hashable, object] = WeakValueDictionary()
        self._by_group: Optional[_ByGroup] = None
        self._searches = 0  # of the whole log

    def _hold(self, groups: LabelGroups) -> None:
        self._groups = groups
        self.matches, self.all_matches = groups.matching, groups.all_matches

    def _log(self, pods: list[Pod], rows: NDArray[np.int32]) -> None:
        """Start the log with some pods; rows: int32 (4, P)."""
        self.bound_pods = pods
        self._rows = np.concatenate([rows, np.zeros((4, 64), np.int32)], axis=1)
        # The node, group, class and sign of the last change
        self.last_bound: tuple[int, ...] = tuple(rows[:, -1].tolist()) if pods else (-1, -1, -1, -1)

    def copy_for_cluster(self, cluster: Cluster, gone: Collection[str] = ()) -> Columns:
        """Return columns of a slightly different cluster, with the pods that are bound here.

        This takes a fraction of the time of binding every pod. Nodes are matched by name; pods on nodes that do not
        exist any more are dropped.

        Args:
            cluster: with other nodes or storage; its bound pods are ignored.
            gone: the uids of bound pods that are deleted.
        """
        other = object.__new__(Columns)
        is_same = cluster.nodes is self.nodes
        other._start(cluster, self._nodes if is_same else NodeColumns(cluster.nodes, self._nodes))
        other.sums = self.sums
        old_at = np.array([self.index.get(node.name, -1) for node in other.nodes], np.intp)  # (N,), -1 for a new node
        is_old = old_at >= 0

        def moved(amounts: Int64s) -> Int64s:
            return np.where(is_old, amounts[old_at], 0) if self.n else other.zeros()

        other.requested = {name: moved(amounts) for name, amounts in self.requested.items()}
        other.pod_count = moved(self.pod_count)
        other.nonzero_cpu, other.nonzero_memory = moved(self.nonzero_cpu), moved(self.nonzero_memory)
        other._numbers, other.has_pod_affinity = Numbering(self.classes), self.has_pod_affinity
        other.classes = other._numbers.listed
        other._hold(self._groups)
        other._group_of, other._class_by_id = dict(self._group_of), dict(self._class_by_id)
        other._kept = list(self._kept)
        other.pods = [list(self.pods[at]) if at >= 0 else [] for at in old_at.tolist()]
        new_at = np.full(max(self.n, 1), -1, np.int32)
        new_at[old_at[is_old]] = np.flatnonzero(is_old)
        rows = self._rows[:, : len(self.bound_pods)].copy()
        rows[_NODE] = new_at[rows[_NODE]]
        stays = rows[_NODE] >= 0
        if gone:
            uids = frozenset(gone)
            stays &= np.array([pod.uid not in uids for pod in self.bound_pods], np.bool_)
        if stays.all():
            other._log(list(self.bound_pods), rows)
            return other
        kept = [pod for pod, is_here in zip(self.bound_pods, stays.tolist(), strict=True) if is_here]
        other._log(kept, rows[:, stays])
        for at in np.flatnonzero(~stays & (rows[_NODE] >= 0)).tolist():  # gone from nodes that stay
            other._subtract(self.bound_pods[at], int(rows[_NODE, at]))
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
                self._count(pod_class.with_summed_requests(before), node, -1)
                self._count(pod_class.with_summed_requests(sums), node)

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

    def requested_of(self, resource: str) -> Int64s:
        """Return the requested amounts of a resource, int64 (N,)."""
        found = self.requested.get(resource)
        if found is None:
            found = self.requested[resource] = self.zeros()
        return found

    def class_index(self, pod_class: PodClass) -> int:
        """Return the index of a class in `classes`."""
        found = self._class_by_id.get(id(pod_class))
        if found is None:
            found = self._class_by_id[id(pod_class)] = self._numbers[pod_class]
            self.has_pod_affinity |= pod_class.has_pod_affinity
            self._kept.append(pod_class)
        return found

    def bind(self, pod: Pod, node: int) -> None:
        """Count a pod on a node from now on."""
        self._count(self.with_summed_requests(pod.cls), node)
        self.pod_count[node] += 1
        self.pods[node].append(pod)
        self._append(pod, node, 1)

    def unbind(self, pod: Pod, node: int) -> None:
        """Stop counting a pod, which must be bound to the node as it is."""
        self._subtract(pod, node)
        self.unbound += 1
        self._append(pod, node, -1)

    def _subtract(self, pod: Pod, node: int) -> None:
        self._count(self.with_summed_requests(pod.cls), node, -1)
        self.pod_count[node] -= 1
        self.pods[node] = [other for other in self.pods[node] if other.uid != pod.uid]

    def _append(self, pod: Pod, node: int, sign: int) -> None:
        at = len(self.bound_pods)
        if at == self._rows.shape[1]:
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)], axis=1)
        self.last_bound = (node, *self._group_and_class(pod), sign)
        self._rows[:, at] = self.last_bound
        self.bound_pods.append(pod)

    def _group_and_class(self, pod: Pod) -> tuple[int, int]:
        class_at = self.class_index(pod.cls)
        group = self._group_of.get((class_at, pod.terminating))
        if group is None:
            group = self._groups.add(LabelGroup(pod.cls.namespace, pod.cls.labels, pod.terminating))
            self._group_of[class_at, pod.terminating] = group
        return group, class_at

    def _count(self, counted: PodClass, node: int, sign: int = 1) -> None:
        """Add the requests of a pod, or subtract them; `counted` has them as the followed release sums them."""
        for resource, amount in counted.requests:
            _add(self.requested_of(resource), node, sign * amount)
        _add(self.nonzero_cpu, node, sign * counted.nonzero[0])
        _add(self.nonzero_memory, node, sign * counted.nonzero[1])

    def _count_all(self) -> None:
        """Add the requests of all pods of the log at once."""
        nodes, classes = self.bound_nodes, self.bound_classes
        amounts: dict[str, Int64s] = {}  # resource -> int64 (C,)
        for at, pod_class in enumerate(self.classes):
            for resource, amount in pod_class.requests:
                if resource not in amounts:
                    amounts[resource] = np.zeros(len(self.classes), np.int64)
                amounts[resource][at] = wrapped(amount)
        for resource, of_class in amounts.items():
            np.add.at(self.requested_of(resource), nodes, of_class[classes])
        pairs = [tuple(map(wrapped, pod_class.nonzero)) for pod_class in self.classes]
        nonzero = np.array(pairs, np.int64).reshape(-1, 2)
        np.add.at(self.nonzero_cpu, nodes, nonzero[classes, 0])
        np.add.at(self.nonzero_memory, nodes, nonzero[classes, 1])
        np.add.at(self.pod_count, nodes, 1)

    def positions(self, groups: Bools) -> NDArray[np.intp]:
        """Return the places in the log of the pods of some groups, bool (G,), in ascending order.

        After a few searches, an index of the pods so far makes them cheap: many constraints are asked for.
        """
        every = self.bound_groups
        self._searches += 1
        if self._searches < _FEW_SEARCHES:
            return np.flatnonzero(groups[every])
        if self._by_group is None:
            self._by_group = _ByGroup(every)
        index = self._by_group
        return np.concatenate([index.positions(groups), index.size + np.flatnonzero(groups[every[index.size :]])])

    def _row(self, number: int) -> Int32s:
        """Return a row of the log: a view that is valid until the next pod comes or goes."""
        return self._rows[number, : len(self.bound_pods)]

    @property
    def bound_nodes(self) -> Int32s:
        return self._row(_NODE)

    @property
    def bound_groups(self) -> Int32s:
        """Indices into `groups`."""
        return self._row(_GROUP)

    @property
    def bound_classes(self) -> Int32s:
        """Indices into `classes`."""
        return self._row(_CLASS)

    @property
    def bound_signs(self) -> Int32s:
        return self._row(_SIGN)

    @property
    def images(self) -> dict[str, tuple[int, list[int]]]:
        """Image name -> its size in bytes, and the nodes that have it."""
        return self._nodes.images

    @property
    def groups(self) -> list[LabelGroup]:
        return self._groups.all

    def slots(self) -> Int64s:
        """Return how many pods each node can hold, int64 (N,)."""
        return self.allocatable_of(PODS)

    def free(self, resource: str) -> Int64s:
        """Return the free amount of a resource on each node, int64 (N,); less than 0 if more is requested."""
        return self.allocatable_of(resource) - (self.pod_count if resource == PODS else self.requested_of(resource))

    def room(self, requests: Iterable[tuple[str, int]]) -> Int64s:
        """Return how many more pods with some requests each node has room for, int64 (N,)."""
        rooms = [self.free(PODS), *(self.free(resource) // amount for resource, amount in requests if amount > 0)]
        least: Int64s = np.min(rooms, axis=0)
        return np.maximum(least, 0)

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

    def mask(self, names: Iterable[str]) -> Bools:
        """Return bool (N,): the nodes with some names."""
        mask: Bools = np.zeros(self.n, np.bool_)
        mask[[self.index[name] for name in names if name in self.index]] = True
        return mask


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
        self._matches = _NO_GROUPS  # (G,), for the groups that are known
        self._seen = 0
        self.counts = columns.zeros()
        self.amounts: Union[int, Int32s] = 1

    def sync(self) -> Int32s:
        """Count pods that came or went since the last call; returns the node of each that matches."""
        columns = self._columns
        end = len(columns.bound_pods)
        if self._seen == end:
            return _NO_NODES
        if len(self._matches) != len(columns.groups):
            self._matches = columns.matches(self._namespace, self._selector)
        new = slice(self._seen, end)
        self._seen = end
        if new.stop - new.start == 1:
            node, group, _, sign = columns.last_bound
            if not self._matches[group]:
                return _NO_NODES
            self.amounts = sign
            self.counts[node] += self.amounts
            return np.array([node], np.int32)
        # The places in the log, from the start on, of the pods that match
        if new.start:
            matching = new.start + np.flatnonzero(self._matches[columns.bound_groups[new]])
        else:
            matching = columns.positions(self._matches)
        nodes = columns.bound_nodes[matching]
        self.amounts = columns.bound_signs[matching] if columns.unbound else 1
        if len(nodes):
            np.add.at(self.counts, nodes, self.amounts)
        return nodes


def refines(fine: Iterable[Hashable], coarse: Iterable[Hashable]) -> bool:
    """Return whether each fine domain lies in one coarse domain; both are the domains of the same nodes in order."""
    outer: dict[Hashable, Hashable] = {}
    return all(outer.setdefault(one, other) == other for one, other in zip(fine, coarse, strict=True))
