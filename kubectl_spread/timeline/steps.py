"""Steps of a user, as data: kubectl's verbs and changes of nodes."""

from __future__ import annotations

from typing import Optional
from typing import Union

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.snapshot import Controller
from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.selector import Selector
from kubectl_spread.objects.taints import Taint
from kubectl_spread.records import NamedTuple


class Become(NamedTuple):
    """Apply all differences to another cluster: workloads, nodes, claims, pods."""

    cluster: Cluster


class Apply(NamedTuple):
    """A workload is created, or changed."""

    controller: Controller


class Scale(NamedTuple):
    """A workload gets another number of replicas."""

    key: OwnerKey
    replicas: int


class Restart(NamedTuple):
    """A workload's template gets an annotation, as `kubectl rollout restart` writes it."""

    key: OwnerKey


class Undo(NamedTuple):
    """A Deployment goes back to its revision before."""

    key: OwnerKey


class Pause(NamedTuple):
    """A Deployment is paused, or goes on."""

    key: OwnerKey
    is_paused: bool = True


class Delete(NamedTuple):
    """A workload is deleted, with its pods."""

    key: OwnerKey


class PodMatch(NamedTuple):
    """Selection of pods of one workload by all given fields; an empty tuple of ordinals matches any."""

    key: OwnerKey
    node: str = ""
    ordinals: tuple[int, ...] = ()
    is_pending: bool = False


class DeleteSome(NamedTuple):
    """Pods of a workload are deleted, one after the other; at most `limit` of them, 0 for all that match."""

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
    """All pods of a namespace that a selector takes are deleted, one after the other; "" is every namespace."""

    namespace: str
    selector: Selector
    is_forced: bool = False


class LabelPods(NamedTuple):
    """Pods get labels, or lose them where the value is None; by their uids."""

    uids: tuple[str, ...]
    labels: tuple[tuple[str, Optional[str]], ...]


class Evict(NamedTuple):
    """Pods are evicted through the API, tried again while a budget refuses it; by their uids."""

    uids: tuple[str, ...]


class PatchSome(NamedTuple):
    """Running pods of a workload get other labels or another cost, or stop being ready."""

    match: PodMatch
    limit: int = 0
    labels: tuple[tuple[str, str], ...] = ()
    cost: int = 0
    is_unready: bool = False


class Drain(NamedTuple):
    """Cordoning of nodes, then eviction of their pods node by node, except DaemonSet pods.

    selector: selects the pods to evict; None for all. is_deleting: delete pods instead, which bypasses budgets.
    """

    nodes: tuple[str, ...]
    selector: Optional[Selector] = None
    is_deleting: bool = False


class Cordon(NamedTuple):
    """Nodes are cordoned, or uncordoned."""

    nodes: tuple[str, ...]
    is_cordoned: bool = True


class TaintNodes(NamedTuple):
    """Nodes get a taint."""

    nodes: tuple[str, ...]
    taint: Taint


class Untaint(NamedTuple):
    """Nodes lose the taints of a key, all effects or one."""

    nodes: tuple[str, ...]
    key: str
    effect: str = ""


class ChangeNodes(NamedTuple):
    """Nodes become others of the same names, or are new."""

    nodes: tuple[Node, ...]


class DeleteNodes(NamedTuple):
    """Node objects are deleted; the pod garbage collector removes their pods."""

    nodes: tuple[str, ...]


class NodesDown(NamedTuple):
    """Kubelets do not answer any more."""

    nodes: tuple[str, ...]


class NodesUp(NamedTuple):
    """Kubelets answer again."""

    nodes: tuple[str, ...]


class ChangeFacts(NamedTuple):
    """Replacement of services, budgets, claims, volumes and namespaces by another cluster's."""

    cluster: Cluster


class CreatePod(NamedTuple):
    """A pod without a controller is created."""

    name: str
    cls: PodClass


Op = Union[
    Become, Apply, Scale, Restart, Undo, Pause, Delete, DeleteSome, DeletePods, DeleteSelected, Evict, PatchSome,
    LabelPods, Drain, Cordon, TaintNodes, Untaint, ChangeNodes, DeleteNodes, NodesDown, NodesUp, ChangeFacts, CreatePod,
]  # fmt: skip
