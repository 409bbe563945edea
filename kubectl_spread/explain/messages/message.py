"""A message about a Pending pod, taken apart: its component, its parts, and the kinds of reasons."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Optional

NO_CLAIMS = "no new claims to deallocate"
STATE_NOT_FOUND = "not found"


class Component(Enum):
    """The component that wrote a message."""

    SCHEDULER = "kube-scheduler"
    VOLCANO = "Volcano"
    CLUSTER_AUTOSCALER = "cluster-autoscaler"
    KARPENTER = "Karpenter"
    API_SERVER = "kube-apiserver"
    CONTROLLER = "kube-controller-manager"
    KOPS = "kops"
    KUBECTL = "kubectl"
    KUBELET = "kubelet"
    VOLUME_CONTROLLER = "persistentvolume-controller"
    HELM = "Helm"
    ARGO_CD = "Argo CD"
    VALIDATOR = "a schema validator"
    UNKNOWN = "unknown"


class ReasonKind(Enum):
    """Subject of a reason. In JSON, requirements of an Explanation of the same subject have the same `kind`."""

    SPREAD = "constraint"
    SPREAD_LABEL = "constraintLabelMissing"
    TAINT = "taint"
    NODE_AFFINITY = "nodeAffinity"
    ADDED_AFFINITY = "addedAffinity"
    AFFINITY_CONFLICT = "nodeAffinityConflict"
    NARROWED = "narrowed"
    NODE_NAME = "nodeName"
    NODE_LABELS = "nodeLabels"
    NODE_GONE = "nodeGone"
    UNSCHEDULABLE = "cordon"
    NODE_CONDITION = "nodeCondition"
    RESOURCES = "resource"
    TOO_MANY_PODS = "pods"
    PORTS = "port"
    SERVICE_AFFINITY = "serviceAffinity"
    POD_AFFINITY = "affinity"
    POD_ANTI_AFFINITY = "antiAffinity"
    EXISTING_ANTI_AFFINITY = "othersAntiAffinity"
    ANY_POD_AFFINITY = "affinityOrAntiAffinity"
    VOLUME_NODE_AFFINITY = "volumeNodeAffinity"
    VOLUME_UNAVAILABLE = "volumeUnavailable"
    VOLUME_SPACE = "volumeSpace"
    VOLUME_ZONE = "volumeZone"
    VOLUME_COUNT = "volumeLimit"
    VOLUME_IN_USE = "volumeInUse"
    VOLUME_ONE_POD = "claimInUse"
    VOLUME_NOT_FOUND = "volumeNotFound"
    VOLUME_DRIVER = "volumeDriver"
    CLAIM_UNBOUND = "claimUnbound"
    CLAIM_NOT_FOUND = "claimNotFound"
    CLAIM_LOST = "claimLost"
    CLAIM_DELETED = "claimDeleted"
    CLAIM_AWAITED = "claimAwaited"
    CLAIM_FOREIGN = "claimForeign"
    STORAGE_CLASS_NOT_FOUND = "storageClassNotFound"
    DEVICES = "devices"
    FEATURES = "feature"
    GATES = "schedulingGates"
    POD_GROUP = "podGroup"
    NO_VICTIMS = "noVictims"
    NOT_HELPFUL = "preemptionNotHelpful"
    GROUP_FULL = "nodeGroupFull"
    GROUP_BACKOFF = "nodeGroupBackoff"
    GROUP_NOT_READY = "nodeGroupNotReady"
    CLUSTER_LIMIT = "clusterLimit"
    GROUP_OTHER = "nodeGroupOther"
    CUT = "cut"
    UNKNOWN = "unknown"


class Part(NamedTuple):
    """A reason in a list.

    number: of nodes; None if the text has none.
    subject: the object that the reason names.
    may_go_on: the text ends here without a full stop, and a longer reason begins with the same words.
    """

    number: Optional[int]
    reason: str
    kind: ReasonKind
    subject: str = ""
    is_cut: bool = False
    may_go_on: bool = False


class Preemption(NamedTuple):
    """The outcome of preemption: a list of nodes, or the words that say why it was not tried."""

    total: Optional[int] = None
    parts: tuple[Part, ...] = ()
    verdict: str = ""
    is_cut: bool = False


class MinorRange(NamedTuple):
    """Minor versions of Kubernetes, both included."""

    first: int
    last: int


class Message(NamedTuple):
    """A message about a pod that is not scheduled.

    form: `nodes` for a scheduler's list of nodes, `notScaled` for the autoscaler's, the name of a form of
    `sentences`, or `unknown`.
    post_filter: the words between the list and the preemption clause.
    free: the number before the slash, which is 0 in every message of the scheduler.
    times: the number of times it was pasted or, by its event, seen.
    not_understood: unrecognized texts, word for word.
    of_provisioners: the text is of Karpenter before 0.33, which had Provisioners and Machines instead of NodePools and
    NodeClaims.
    """

    component: Component
    form: str
    text: str
    total: Optional[int] = None
    free: int = 0
    parts: tuple[Part, ...] = ()
    post_filter: tuple[str, ...] = ()
    preemption: Optional[Preemption] = None
    era: Optional[MinorRange] = None
    details: tuple[tuple[str, str], ...] = ()
    times: int = 1
    is_cut: bool = False
    not_understood: tuple[str, ...] = ()
    of_provisioners: bool = False

    @property
    def is_of_nodes(self) -> bool:
        return self.form == "nodes"
