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
from typing import cast, Optional, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.storage import StorageState
from kubectl_spread.cluster.tables.arrays import Bools, Int32s, Int64s
from kubectl_spread.cluster.tables.bound_pods import BoundPods
from kubectl_spread.cluster.tables.label_groups import LabelGroup
from kubectl_spread.cluster.tables.node_columns import NodeColumns, Topology
from kubectl_spread.cluster.tables.node_requests import NodeRequests
from kubectl_spread.cluster.tables.pod_classes import PodClasses
from kubectl_spread.objects.amounts.resources import PODS
from kubectl_spread.objects.amounts.sums import Sums
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.selectors.labels import Labels
from kubectl_spread.objects.selectors.selector import Selector
from kubectl_spread.objects.taints import Taint, Toleration

T = TypeVar("T")


class Columns:
    """Nodes and bound pods.

    pods: the pods of each node. bound_pods: the log of pods that came and went (`BoundPods`); bound_nodes,
    bound_groups, bound_classes, bound_signs: int32 (P,). Only `timeline` unbinds pods.
    """

    def __init__(self, cluster: Cluster) -> None:
        n = len(cluster.nodes)
        self._start(cluster, NodeColumns(cluster.nodes))
        self._hold(NodeRequests(n), BoundPods(n), PodClasses())
        self.sums = Sums.POD_LEVEL
        self._bind_all(cluster.bound_pods())

    def _start(self, cluster: Cluster, nodes: NodeColumns) -> None:
        self.cluster = cluster
        self._nodes = nodes
        self.nodes = nodes.nodes
        self.n = len(nodes.nodes)
        self.index = nodes.index
        self.tainted = nodes.tainted
        self.has_taints = nodes.tainted.any
        self.unschedulable = nodes.unschedulable
        self.storage = StorageState(cluster.storage, cluster.nodes)
        self._shared: WeakValueDictionary[Hashable, object] = WeakValueDictionary()

    def _hold(self, requests: NodeRequests, bound: BoundPods, classes: PodClasses) -> None:
        self._requests, self._bound, self._classes = requests, bound, classes
        self.pod_count = requests.pod_count
        self.nonzero_cpu, self.nonzero_memory = requests.nonzero_cpu, requests.nonzero_memory
        self.pods, self.bound_pods = bound.by_node, bound.log
        self.classes = classes.classes

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

    def _bind_all(self, pods: list[Pod]) -> None:
        """Bind all pods of a cluster at once; pods on a node that does not exist are invisible."""
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

    @property
    def images(self) -> dict[str, tuple[int, list[int]]]:
        """Image name -> its size in bytes, and the nodes that have it."""
        return self._nodes.images

    @property
    def allocatable(self) -> dict[str, Int64s]:
        """Resource name -> int64 (N,)."""
        return self._nodes.allocatable

    @property
    def requested(self) -> dict[str, Int64s]:
        """Resource name -> int64 (N,)."""
        return self._requests.requested

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

    def class_index(self, pod_class: PodClass) -> int:
        """Return the index of a class in `classes`; equal classes have one index."""
        return self._classes.index(pod_class)

    def matches(self, namespace: str, selector: Selector, known: int) -> Bools:
        """Return bool (G - known,): whether a selector counts the pods of each group, without the first `known`."""
        return self._classes.groups.matching(namespace, selector, known)

    def positions(self, groups: Bools) -> NDArray[np.intp]:
        """Return the places in `bound_pods` of the pods of some groups, bool (G,)."""
        return self._bound.positions(groups)

    def all_matches(self, namespace: str, selector: Selector) -> Bools:
        """Return bool (G,): whether a selector matches the pods of each group, terminating ones included."""
        return self._classes.groups.all_matches(namespace, selector)

    def allocatable_of(self, resource: str) -> Int64s:
        """Return int64 (N,); zeros if no node has the resource."""
        return self._nodes.allocatable_of(resource)

    def requested_of(self, resource: str) -> Int64s:
        """Return int64 (N,), which stays the same array as pods are bound."""
        return self._requests.of(resource)

    def slots(self) -> Int64s:
        """Return how many pods each node can hold, int64 (N,)."""
        return self.allocatable_of(PODS)

    def topology(self, key: str) -> Topology:
        """Return the domains of a label key, in the order of their first nodes."""
        return self._nodes.topology(key)

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
