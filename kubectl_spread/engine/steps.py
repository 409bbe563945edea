"""Steps of a user, as data: kubectl's verbs and changes of nodes, with the workloads, pods and nodes they refer to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Optional, Union

from kubectl_spread.cluster.snapshot import Cluster, Controller, key_of
from kubectl_spread.engine import nodes
from kubectl_spread.engine.controllers.daemonset import verdict_of
from kubectl_spread.engine.world import node_name
from kubectl_spread.objects.keys import NamespacedName, ObjectKey
from kubectl_spread.objects.node import Node, Taint
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.selectors import Selector
from kubectl_spread.objects.workloads.workload import Workload


class Apply(NamedTuple):
    """Creation or change of a workload; `keeps_replicas`: the change does not write the number of its replicas."""

    controller: Controller
    keeps_replicas: bool = False


class Scale(NamedTuple):
    """Change of a workload's replicas."""

    key: ObjectKey
    replicas: int


class Restart(NamedTuple):
    """Restart of a workload by an annotation in its template, as by `kubectl rollout restart`."""

    key: ObjectKey


class Undo(NamedTuple):
    """Rollback of a Deployment to its previous revision."""

    key: ObjectKey


class Delete(NamedTuple):
    """Deletion of a workload with its pods."""

    key: ObjectKey


class DeleteSet(NamedTuple):
    """Deletion of a ReplicaSet with its pods; its Deployment creates another one if it is the newest."""

    key: ObjectKey  # of the Deployment
    name: str


class PodMatch(NamedTuple):
    """Selection of pods of one workload by all given fields; an empty tuple of ordinals matches any."""

    key: ObjectKey
    node: str = ""
    ordinals: tuple[int, ...] = ()
    is_pending: bool = False


class DeleteSome(NamedTuple):
    """Deletion of a workload's pods, one after the other; at most `limit` of them, 0 for all that match."""

    match: PodMatch
    limit: int = 0
    is_forced: bool = False


class DeletePods(NamedTuple):
    """Deletion of pods by uid, one after the other.

    is_forced: the pods are removed at once, without waiting for their kubelets.
    """

    uids: tuple[str, ...]
    is_forced: bool = False


class DeleteSelected(NamedTuple):
    """Deletion of all selected pods of a namespace, one after the other; "" is every namespace."""

    namespace: str
    selector: Selector
    is_forced: bool = False

    def selects(self, cls: PodClass) -> bool:
        """Return whether pods of a class are deleted."""
        return self.namespace in ("", cls.namespace) and self.selector.matches(dict(cls.labels))


class LabelPods(NamedTuple):
    """Change of pod labels, by uid; a value of None removes a label."""

    uids: tuple[str, ...]
    labels: tuple[tuple[str, Optional[str]], ...]


class SetCost(NamedTuple):
    """Change of the deletion cost of pods, by uid; pods of lower cost go first when their ReplicaSet is scaled down."""

    uids: tuple[str, ...]
    cost: int


class Orphan(NamedTuple):
    """Deletion of a workload without its pods; the ReplicaSets of a Deployment stay, too."""

    key: ObjectKey


class Evict(NamedTuple):
    """Eviction of pods through the API, by uid; repeated while a budget refuses it."""

    uids: tuple[str, ...]


class PatchSome(NamedTuple):
    """Change of running pods of a workload: their labels, deletion cost or readiness."""

    match: PodMatch
    limit: int = 0
    labels: tuple[tuple[str, str], ...] = ()
    cost: int = 0
    is_unready: bool = False


class Drain(NamedTuple):
    """Cordoning of nodes, then eviction of their pods node by node, except DaemonSet pods.

    selector: selects the pods to evict; None for all. is_deleting: delete pods instead, which bypasses budgets.
    is_timed: go on with the next node after a while, although pods are left. skips_terminating: in the end do not wait
    for pods that stay Terminating.
    """

    nodes: tuple[str, ...]
    selector: Optional[Selector] = None
    is_deleting: bool = False
    is_timed: bool = False
    skips_terminating: bool = False


class Cordon(NamedTuple):
    """Cordoning or uncordoning of nodes."""

    nodes: tuple[str, ...]
    is_cordoned: bool = True


class TaintNodes(NamedTuple):
    """Addition of a taint to nodes."""

    nodes: tuple[str, ...]
    taint: Taint


class Untaint(NamedTuple):
    """Removal of the taints of a key from nodes, with all effects or one."""

    nodes: tuple[str, ...]
    key: str
    effect: str = ""


class ChangeNodes(NamedTuple):
    """Addition of nodes, or replacement by name."""

    nodes: tuple[Node, ...]


class DeleteNodes(NamedTuple):
    """Deletion of node objects; the pod garbage collector removes their pods."""

    nodes: tuple[str, ...]


class NodesDown(NamedTuple):
    """Failure of nodes: their kubelets stop answering."""

    nodes: tuple[str, ...]


class NodesUp(NamedTuple):
    """Recovery of nodes: their kubelets answer again."""

    nodes: tuple[str, ...]


FACTS = (
    *("namespaces", "services", "budgets", "storage", "priority_classes"),
    *("limit_ranges", "runtime_classes", "quotas", "autoscalers", "gangs"),
)


class ChangeFacts(NamedTuple):
    """Replacement of the objects around workloads, `FACTS`, by another cluster's."""

    cluster: Cluster


class DeleteClaims(NamedTuple):
    """Deletion of claims; one that a pod with a node uses stays until the pod is gone."""

    keys: tuple[NamespacedName, ...]


class CreatePod(NamedTuple):
    """Creation of a pod without a controller."""

    name: str
    cls: PodClass


ON_WORKLOADS = (Scale, Restart, Undo, Delete, DeleteSet, Orphan)  # with the workload as `key`

ON_PODS = (DeletePods, Evict, LabelPods, SetCost)  # with the pods as `uids`

Op = Union[
    Apply, Scale, Restart, Undo, Delete, DeleteSet, DeleteSome, DeletePods, DeleteSelected, Evict,
    PatchSome, LabelPods, Drain, Cordon, TaintNodes, Untaint, ChangeNodes, DeleteNodes, NodesDown, NodesUp,
    ChangeFacts, CreatePod, DeleteClaims, SetCost, Orphan,
]  # fmt: skip


def find_references(cluster: Cluster, ops: Sequence[Op]) -> tuple[frozenset[ObjectKey], frozenset[str]]:
    """Return the workloads and nodes that steps refer to, with DaemonSets that create pods because nodes change."""
    keys, nodes = direct_references(cluster, ops)
    return playable(cluster, creating(cluster, ops)) | keys, nodes


def direct_references(cluster: Cluster, ops: Iterable[Op]) -> tuple[frozenset[ObjectKey], frozenset[str]]:
    """Return the workloads and nodes that steps name, or whose pods they name."""
    keys: set[ObjectKey] = set()
    nodes: set[str] = set()
    uids: set[str] = set()
    for op in ops:
        if isinstance(op, Apply):
            keys.add(key_of(op.controller.workload))
        elif isinstance(op, (DeleteSome, PatchSome)):
            keys.add(op.match.key)
        elif isinstance(op, (Drain, DeleteNodes, NodesDown, NodesUp, TaintNodes)):
            nodes.update(op.nodes)
        elif isinstance(op, ON_WORKLOADS):
            keys.add(cluster.owners.get(op.key, op.key))  # A ReplicaSet, after its Deployment was deleted without it.
        elif isinstance(op, ChangeNodes):
            nodes.update(node.name for node in op.nodes)
        elif isinstance(op, ON_PODS):
            uids.update(op.uids)
        elif isinstance(op, DeleteSelected):
            uids.update(pod.uid for pod in cluster.pods if op.selects(pod.cls))
        elif isinstance(op, DeleteClaims):
            uids.update(pod.uid for pod in cluster.pods if not set(op.keys).isdisjoint(pod.cls.claims()))
    for pod in cluster.pods if uids else ():
        if pod.uid in uids:  # its workload, or the node of a pod without one
            owner = cluster.top_owner(pod)
            keys.update(() if owner is None else (owner,))
            nodes.update((pod.node_name,) if owner is None and pod.node_name else ())
    return frozenset(keys), frozenset(nodes)


def pinning(cluster: Cluster, ops: Iterable[Op]) -> frozenset[str]:
    """Return the nodes that pod templates and new pods name, which are not interchangeable with others."""
    applied = (op.controller for op in ops if isinstance(op, Apply))
    found = {node_name(item.workload) for item in (*cluster.controllers.values(), *applied)}
    return frozenset(found.union(op.cls.node_name for op in ops if isinstance(op, CreatePod))) - {""}


def named_nodes(ops: Iterable[Op]) -> frozenset[str]:
    """Return the nodes that steps name."""
    found: set[str] = set()
    for op in ops:
        for name in getattr(op, "nodes", ()):
            found.add(name if isinstance(name, str) else name.name)
        match = getattr(op, "match", None)
        if match is not None and match.node:
            found.add(match.node)
    return frozenset(found)


_MOST_PODS = 20_000  # of DaemonSets, to be played


def playable(cluster: Cluster, found: frozenset[ObjectKey]) -> frozenset[ObjectKey]:
    """Return the DaemonSets if their pods are few enough to be played; else none."""
    return found if len(found) * len(cluster.nodes) <= _MOST_PODS else frozenset()


def creating(cluster: Cluster, ops: Iterable[Op]) -> frozenset[ObjectKey]:
    """Return the DaemonSets whose pods some node should have after the steps and not before."""
    daemons = {key: item.workload for key, item in cluster.controllers.items() if key.kind == "DaemonSet"}
    if not daemons:
        return frozenset()
    known = {node.name: node for node in cluster.nodes}
    changed: list[tuple[Optional[Node], Node]] = []  # before and after; None before a node joins
    for op in ops:
        if isinstance(op, ChangeNodes):
            changed += [(known.get(node.name), node) for node in op.nodes]
        elif isinstance(op, Untaint):
            untainted = (known[name] for name in op.nodes if name in known)
            changed += [(node, nodes.remove_taints(node, op.key, op.effect)) for node in untainted]
    return frozenset(
        key
        for key, workload in daemons.items()
        if any(_runs(workload, after) and not _runs(workload, before) for before, after in changed)
    )


def _runs(workload: Workload, node: Optional[Node]) -> bool:
    return node is not None and verdict_of(workload)(node).runs
