"""Pods: all fields that a scheduler may read, and the class that equal pods share."""

from __future__ import annotations

from typing import NamedTuple, Optional

from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.keys import NamespacedName, ObjectKey
from kubectl_spread.objects.node import Toleration
from kubectl_spread.objects.resources import Requests, Sums
from kubectl_spread.objects.selectors import NodeAffinity, NodeRequirement, PodAffinityTerm, WeightedTerm

# The API server's message in the condition of a pod with gates.
# Source: pkg/registry/core/pod/strategy.go, applySchedulingGatedCondition (v1.36.2).
GATED = "Scheduling is blocked due to non-empty scheduling gates"


class HostPort(NamedTuple):
    """A port a pod takes on its node; defaults filled in."""

    ip: str
    protocol: str
    port: int

    def conflicts(self, other: HostPort) -> bool:
        if self.port != other.port or self.protocol != other.protocol:
            return False
        return self.ip == other.ip or "0.0.0.0" in (self.ip, other.ip)  # noqa: S104 (a wildcard, nothing listens)


class Owner(NamedTuple):
    """The owner reference with `controller: true`."""

    api_version: str
    kind: str
    name: str


class PodVolume(NamedTuple):
    """A volume of a pod that the scheduler looks at.

    claim: the name of the claim that provides the volume.
    disk: the kind and identity of an inline disk that a node cannot use twice.
    pod, pod_uid: the pod that must control the claim of an ephemeral volume.
    csi: the driver and the handle of an inline disk that a CSI driver attaches.
    """

    claim: str = ""
    is_ephemeral: bool = False
    disk: tuple[str, ...] = ()
    read_only: bool = False
    pod: str = ""
    pod_uid: str = ""
    csi: Optional[tuple[str, str]] = None


class PodClass(NamedTuple):
    """Everything a scheduler plugin may read of a pod, hashable; replicas of a workload share one.

    `requests` is sorted by resource name: CPU in milli-cores, everything else in whole units. `nonzero` and `scored`
    are its variants for scoring (`resources.Requests`). `balanced` is another variant, set if it differs from
    `requests`. `older` has all of them by the rules of older releases, if the results differ.
    """

    namespace: str
    labels: tuple[tuple[str, str], ...] = ()
    requests: tuple[tuple[str, int], ...] = ()
    nonzero: tuple[int, int] = (0, 0)
    scored: tuple[tuple[str, int], ...] = ()
    node_selector: tuple[tuple[str, str], ...] = ()
    node_affinity: NodeAffinity = NodeAffinity()
    pod_affinity: tuple[PodAffinityTerm, ...] = ()
    pod_anti_affinity: tuple[PodAffinityTerm, ...] = ()
    preferred_affinity: tuple[WeightedTerm, ...] = ()
    preferred_anti_affinity: tuple[WeightedTerm, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    constraints: tuple[TopologySpreadConstraint, ...] = ()
    host_ports: tuple[HostPort, ...] = ()
    priority: int = 0
    preemption_policy: str = ""
    scheduler_name: str = "default-scheduler"
    gates: tuple[str, ...] = ()
    pod_group: str = ""  # in its namespace
    owner: Optional[Owner] = None
    owner_uid: str = ""
    images: tuple[str, ...] = ()  # of init containers and containers, normalised
    init_images: int = 0  # how many of them are of init containers
    image_volumes: tuple[str, ...] = ()
    volumes: tuple[PodVolume, ...] = ()
    features: tuple[str, ...] = ()  # that the node must declare
    node_name: str = ""  # spec.nodeName of a pod that is yet to be scheduled
    beyond: tuple[str, ...] = ()  # features that the prediction does not cover
    balanced: Optional[tuple[tuple[str, int], ...]] = None
    older: tuple[tuple[Sums, Requests], ...] = ()

    def with_summed_requests(self, sums: Sums) -> PodClass:
        """Return the class with its requests as a release adds them up."""
        for way, requests in self.older:
            if way is sums:
                return self._replace(**requests._asdict())
        return self

    @property
    def owner_key(self) -> Optional[ObjectKey]:
        """Return the controller of the pods; None without one."""
        return None if self.owner is None else ObjectKey(self.owner.kind, self.namespace, self.owner.name)

    def claims(self, *, with_ephemeral: bool = True) -> list[NamespacedName]:
        """Return the claims of the volumes."""
        named = (item for item in self.volumes if item.claim and (with_ephemeral or not item.is_ephemeral))
        return [NamespacedName(self.namespace, item.claim) for item in named]

    @property
    def has_pod_affinity(self) -> bool:
        """Return whether it has any pod affinity or anti-affinity."""
        return bool(
            self.pod_affinity or self.pod_anti_affinity or self.preferred_affinity or self.preferred_anti_affinity
        )

    @property
    def selecting_keys(self) -> frozenset[str]:
        """Return the keys of the labels by which its constraints and required terms select pods."""
        terms = (*self.pod_affinity, *self.pod_anti_affinity)
        keys = frozenset(requirement.key for term in terms for requirement in term.selector.requirements or ())
        return keys.union(*(item.selected_keys.union(item.match_label_keys) for item in self.constraints))

    @property
    def node_requirement(self) -> NodeRequirement:
        return NodeRequirement(self.node_selector, self.node_affinity.required)


# Fields that a template's spec decides; its metadata and its controller decide the others.
TEMPLATE_FIELDS = tuple(name for name in PodClass._fields if name not in {"namespace", "labels", "owner", "owner_uid"})


def differences(one: PodClass, other: PodClass) -> list[str]:
    """Return the fields of the template in which two classes differ."""
    return [name for name in TEMPLATE_FIELDS if getattr(one, name) != getattr(other, name)]


class Pod(NamedTuple):
    """A pod; `node_name` is empty while it is not bound."""

    name: str
    uid: str
    cls: PodClass
    node_name: str = ""
    phase: str = ""
    terminating: bool = False
    nominated_node: str = ""
    start_time: str = ""
    message: str = ""  # of its PodScheduled condition
    is_preempted: bool = False  # terminating, because the scheduler evicted it
    reason: str = ""  # of its PodScheduled condition
    created: str = ""  # times are as the API server writes them
    refused_since: str = ""  # when its PodScheduled condition became False
    deleted: str = ""  # when its deletion was requested
    finalizers: tuple[str, ...] = ()
    is_ready: Optional[bool] = None  # by its Ready condition; None without one
    ready_since: str = ""  # when that changed last
    deletion_cost: int = 0
    has_local_storage: bool = False  # emptyDir volumes, whose data goes with the pod
    new_of: str = ""  # the workload of a pod that does not exist yet, and whose name is made up

    @property
    def known_name(self) -> str:
        """Return the name of the pod, or whose pod it is."""
        return f"a pod of {self.new_of}" if self.new_of else self.name

    @property
    def namespace(self) -> str:
        return self.cls.namespace

    @property
    def owner(self) -> Optional[Owner]:
        return self.cls.owner

    @property
    def owner_key(self) -> Optional[ObjectKey]:
        return self.cls.owner_key

    @property
    def labels(self) -> dict[str, str]:
        return dict(self.cls.labels)

    @property
    def key(self) -> str:
        return f"{self.cls.namespace}/{self.name}"

    @property
    def is_visible(self) -> bool:
        """Return whether the scheduler's pod informer shows it (scheduler.go, newPodInformer)."""
        return self.phase not in ("Succeeded", "Failed")
