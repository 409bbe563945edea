"""Pods and nodes of a cluster as things to draw: one look for each revision and state."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Optional

from kubectl_spread.cluster.ownership import owner_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.selectors.labels import HOSTNAME, ZONE
from kubectl_spread.objects.workloads.workload import REVISION_LABEL_OF
from kubectl_spread.report.pages.drawing import DrawnNode, DrawnPod, Look, Shape
from kubectl_spread.simulate.running.controllers import newest_hash
from kubectl_spread.simulate.running.status import ConstraintStatus

_RUNNING = Look("running")
_CURRENT = Look("current revision")
_EARLIER = Look("earlier revision", Shape.EARLIER, hue=1)
_NEW = Look("placed by this check", Shape.NEW, hue=2)
_OTHER = Look("pod of another workload that a constraint counts", Shape.OTHER, hue=5)
_TERMINATING = Look("terminating: still on its node, no longer counted", Shape.TERMINATING, hue=5)
_PENDING = Look("Pending", Shape.PENDING, hue=4)
_UNPREDICTED = Look("node not predictable", Shape.PENDING, hue=3)


class ClusterPods:
    """The pods of a cluster by workload, and by the class that equal pods share; made in one pass."""

    def __init__(
        self, cluster: Cluster, new: Collection[str] = frozenset(), *, unpredicted: Collection[str] = frozenset()
    ) -> None:
        """Index the pods.

        Args:
            cluster: the cluster.
            new: uids of pods that a prediction placed.
            unpredicted: uids of pods whose nodes are not predictable.
        """
        self.cluster = cluster
        self._new = new
        self._unpredicted = unpredicted
        self._nodes: dict[str, list[DrawnNode]] = {}
        self._of: dict[ObjectKey, list[Pod]] = {}
        self._classes: dict[str, dict[int, list[Pod]]] = {}
        lists: dict[int, tuple[Optional[list[Pod]], list[Pod]]] = {}  # perf: by class, of its owner and of the class
        for pod in cluster.pods:
            if not pod.is_visible:
                continue
            at = id(pod.cls)
            if at not in lists:
                owner = owner_of(pod.cls, cluster)
                same: list[Pod] = []
                self._classes.setdefault(pod.namespace, {})[at] = same
                lists[at] = None if owner is None else self._of.setdefault(owner, []), same
            owned, same = lists[at]
            if owned is None:
                owned = self._of.setdefault(ObjectKey("Pod", pod.namespace, pod.name), [])
            owned.append(pod)
            same.append(pod)

    def nodes(self, key: str) -> list[DrawnNode]:
        """Return the nodes of the cluster in the domains of a topology key."""
        if key not in self._nodes:
            self._nodes[key] = drawn_nodes(self.cluster.nodes, key)
        return self._nodes[key]

    def owned_pods(self, key: ObjectKey) -> list[Pod]:
        """Return the pods of a workload."""
        return self._of.get(key, [])

    def drawn_pods(self, key: ObjectKey, constraints: Iterable[ConstraintStatus]) -> list[DrawnPod]:
        """Return the pods of a workload, and the other pods that its constraints count."""
        own = self._of.get(key, [])
        seen = {id(pod) for pod in own}
        others = (pod for pod in self._counted(key.namespace, constraints) if id(pod) not in seen)
        return [
            *(DrawnPod(pod.name, pod.node_name, look) for pod, look in zip(own, self._looks(key, own), strict=True)),
            *(DrawnPod(pod.name, pod.node_name, _OTHER) for pod in others),
        ]

    def _looks(self, key: ObjectKey, own: list[Pod]) -> Iterator[Look]:
        classes = {id(pod.cls): pod.cls for pod in own}
        known = {at: _revision(cls, key) for at, cls in classes.items()}
        revisions = [known[id(pod.cls)] for pod in own]
        current = self._current(key, own)
        has_several = len(set(revisions)) > 1
        for pod, revision in zip(own, revisions, strict=True):
            if pod.terminating:
                yield _TERMINATING
            elif not pod.node_name:
                yield _UNPREDICTED if pod.uid in self._unpredicted else _PENDING
            elif pod.uid in self._new:
                yield _NEW
            elif has_several:
                yield _CURRENT if revision == current else _EARLIER
            else:
                yield _RUNNING

    def _current(self, key: ObjectKey, own: list[Pod]) -> str:
        """Return the revision of the pods that the controller creates now."""
        controller = self.cluster.controllers.get(key)
        if controller is not None:
            return newest_hash(controller.workload, own, self.cluster)
        return _revision(max(own, key=lambda pod: pod.created).cls, key) if own else ""

    def _counted(self, namespace: str, constraints: Iterable[ConstraintStatus]) -> Iterator[Pod]:
        """Yield the bound pods of a namespace that a constraint counts."""
        selectors = [item.selector for item in constraints if item.selector is not None]
        for same in self._classes.get(namespace, {}).values():
            labels = dict(same[0].cls.labels)
            if any(not selector.is_empty and selector.matches(labels) for selector in selectors):
                yield from (pod for pod in same if pod.node_name and not pod.terminating)


def _revision(pod_class: PodClass, key: ObjectKey) -> str:
    found = dict(pod_class.labels).get(REVISION_LABEL_OF.get(key.kind, ""), "")
    return found.removeprefix(f"{key.name}-") if key.kind == "StatefulSet" else found


def map_key(constraints: Sequence[ConstraintStatus], nodes: Iterable[Node]) -> str:
    """Return the topology key whose domains a map shows: the first that is not the hostname, else the zone if known."""
    wanted = [item.topology_key for item in constraints if item.topology_key != HOSTNAME]
    known = {key for node in nodes for key in (*wanted, ZONE) if key in node.labels}
    return next((key for key in (*wanted, ZONE) if key in known), "")


def drawn_nodes(nodes: Iterable[Node], key: str) -> list[DrawnNode]:
    """Return the nodes in their domains."""
    return [DrawnNode(node.name, node.labels.get(key) if key else "", notes_of(node)) for node in nodes]


def notes_of(node: Node) -> tuple[str, ...]:
    """Return `cordoned`, and the taints that keep pods away."""
    taints = tuple(
        f"taint {taint.key.rpartition('/')[2]}"
        for taint in node.taints
        if taint.repels and not (node.unschedulable and taint.key.endswith("/unschedulable"))
    )
    return ("cordoned", *taints) if node.unschedulable else taints
