"""Nodes, their taints with tolerations, and the reasons for which nodes are rejected.

Source: staging/src/k8s.io/api/core/v1/toleration.go, ToleratesTaint (v1.36.2). The operators Lt and Gt need a
feature gate that is off by default, and match nothing here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.objects.keys import Range, range_of
from kubectl_spread.objects.selectors import NODE_POOL, ZONE

NO_SCHEDULE = "NoSchedule"
NO_EXECUTE = "NoExecute"
PREFER_NO_SCHEDULE = "PreferNoSchedule"


class Taint(NamedTuple):
    """A node's taint."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        text = f"{self.key}={self.value}" if self.value else self.key
        return f"{text}:{self.effect}"

    @property
    def repels(self) -> bool:
        """Return whether the Filter plugin considers the taint."""
        return self.effect in (NO_SCHEDULE, NO_EXECUTE)


class Toleration(NamedTuple):
    """A pod's toleration; an empty key, operator or effect has the same meaning as in the API."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    seconds: Optional[int] = None  # how long a NoExecute taint is tolerated; None forever

    def tolerates(self, taint: Taint) -> bool:
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        if self.operator in ("", "Equal"):
            return self.value == taint.value
        return self.operator == "Exists"


# Taints of nodes that are down: the node lifecycle controller adds NoSchedule and NoExecute for the same outage.
OUTAGES = {"node.kubernetes.io/not-ready": "not ready", "node.kubernetes.io/unreachable": "unreachable"}


def outage_of(name: str, nodes: Iterable[Node]) -> str:
    """Return the key of the taint that marks a node as down; empty if none does."""
    taints = (taint for node in nodes if node.name == name for taint in node.taints)
    return next((taint.key for taint in taints if taint.key in OUTAGES), "")


# Meanings of the taints that Kubernetes, autoscalers and network plugins set.
WELL_KNOWN = {
    **OUTAGES,
    "node.kubernetes.io/memory-pressure": "short of memory",
    "node.kubernetes.io/disk-pressure": "short of disk space",
    "node.kubernetes.io/pid-pressure": "short of process ids",
    "node.kubernetes.io/network-unavailable": "without a network",
    "node.kubernetes.io/out-of-service": "out of service",
    "node.cloudprovider.kubernetes.io/uninitialized": "not yet initialised by its cloud provider",
    "node.cloudprovider.kubernetes.io/shutdown": "shut down",
    "node.cluster.x-k8s.io/uninitialized": "not yet initialised by Cluster API",
    "node.cluster.x-k8s.io/outdated-revision": "being replaced by Cluster API",
    "ToBeDeletedByClusterAutoscaler": "being removed by the cluster autoscaler",
    "DeletionCandidateOfClusterAutoscaler": "a candidate for removal by the cluster autoscaler",
    "karpenter.sh/disrupted": "being removed by Karpenter",
    "karpenter.sh/disruption": "being removed by Karpenter",
    "karpenter.sh/unregistered": "not yet registered by Karpenter",
    "node.cilium.io/agent-not-ready": "waiting for its Cilium agent",
    "ebs.csi.aws.com/agent-not-ready": "waiting for its EBS driver",
}

UNREACHABLE = "node.kubernetes.io/unreachable"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
UNSCHEDULABLE = Taint("node.kubernetes.io/unschedulable", "", NO_SCHEDULE)

# The DefaultTolerationSeconds admission plugin adds these to every pod without such a toleration.
DEFAULT_TOLERATIONS = (
    Toleration("node.kubernetes.io/not-ready", "Exists", "", NO_EXECUTE, 300),
    Toleration("node.kubernetes.io/unreachable", "Exists", "", NO_EXECUTE, 300),
)


def first_untolerated(taints: Iterable[Taint], tolerations: Iterable[Toleration]) -> Optional[Taint]:
    """Return the first NoSchedule or NoExecute taint that no toleration covers."""
    tolerations = tuple(tolerations)
    for taint in taints:
        if taint.repels and not any(toleration.tolerates(taint) for toleration in tolerations):
            return taint
    return None


class Node(NamedTuple):
    """A node; `allocatable` has CPU in milli-cores, everything else in whole units."""

    name: str
    labels: dict[str, str]
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    allocatable: dict[str, int] = {}  # noqa: RUF012 (never written to)
    images: tuple[tuple[str, int], ...] = ()  # name, bytes
    features: tuple[str, ...] = ()  # declared
    kubelet_version: str = ""
    avoids: tuple[tuple[str, str], ...] = ()  # kind and uid of controllers; the node prefers to have none of their pods
    created: str = ""  # as the API server writes times


class NodeReasonKind(Enum):
    """The cause for which nodes are rejected."""

    OUTSIDE_AFFINITY = "outsideAffinity"  # nodeAffinityPolicy Honor: not counted
    HONORED_TAINT = "honoredTaint"  # nodeTaintsPolicy Honor: not counted
    MISSING_LABEL = "missingLabel"  # the topology key of the constraint, or of another one
    UNTOLERATED_TAINT = "untoleratedTaint"
    CORDON = "cordon"
    REQUIREMENT = "requirement"  # a requirement of the pod
    PLUGIN = "plugin"  # a Filter plugin, with its own reasons
    NO_NODE_FITS = "noNodeFits"  # no node of the domain fits, so a soft constraint does not count it
    REFUSED_BY_HARD_CONSTRAINT = "refusedByHardConstraint"  # so a soft constraint does not score it


class NodeReason(NamedTuple):
    """A reason for which nodes are rejected.

    key: the missing label, or the id of the requirement.
    words: the scheduler's reason, or the requirement as it is displayed. It is quoted and never compared.
    """

    kind: NodeReasonKind
    key: str = ""
    taint: Optional[Taint] = None
    words: tuple[str, ...] = ()


class NodesOfPool(NamedTuple):
    """Nodes that a provisioner adds from a pool; `unused`: how many of them no pod uses."""

    pool: str
    number: Range
    unused: Range
    zones: dict[str, Range]


def nodes_by_pool(ways: Iterable[Iterable[tuple[Node, bool]]]) -> Iterator[NodesOfPool]:
    """Yield the nodes that a provisioner adds; `ways`: in each outcome, these nodes and whether pods use them."""
    places = [
        [(node.labels.get(NODE_POOL, ""), node.labels.get(ZONE, ""), is_used) for node, is_used in found]
        for found in ways
    ]
    for pool in sorted({name for found in places for name, _, _ in found}):
        own = [[place for place in found if place[0] == pool] for found in places]
        zones = sorted({zone for found in own for _, zone, _ in found})
        yield NodesOfPool(
            pool,
            range_of(map(len, own)),
            range_of(sum(not is_used for *_, is_used in found) for found in own),
            {name: range_of(sum(zone == name for _, zone, _ in found) for found in own) for name in zones},
        )
