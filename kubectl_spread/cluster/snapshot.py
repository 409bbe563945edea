"""The objects that a scheduler plugin may read; immutable."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Union

from kubectl_spread.objects.admission import LimitRange, Quota, RuntimeClass
from kubectl_spread.objects.keys import NamespacedName, ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.selectors import Labels, Selector
from kubectl_spread.objects.storage import Storage
from kubectl_spread.objects.workloads.workload import Workload


class Service(NamedTuple):
    """A Service; `selector` is None if it has none."""

    namespace: str
    name: str
    selector: Optional[dict[str, str]]


class DisruptionBudget(NamedTuple):
    """A PodDisruptionBudget: its spec, and how many evictions its status allows now.

    selector_error: why the API server refuses its selector; empty if it does not.
    """

    namespace: str
    selector: Selector
    disruptions_allowed: int
    disrupted_pods: frozenset[str] = frozenset()
    name: str = ""
    min_available: Union[int, str, None] = None
    max_unavailable: Union[int, str, None] = None
    unhealthy_policy: str = ""  # IfHealthyBudget or AlwaysAllow; empty is the first
    selector_error: str = ""


class Autoscaler(NamedTuple):
    """The range of replicas in which a HorizontalPodAutoscaler keeps a workload."""

    name: str
    min_replicas: int
    max_replicas: int

    def nearest(self, replicas: int) -> int:
        """Return the number of replicas in the range; 0 replicas turn the autoscaler off."""
        most = max(self.min_replicas, self.max_replicas)
        return min(most, max(self.min_replicas, replicas)) if replicas else 0

    @property
    def note(self) -> str:
        """Return a sentence about the limit of its simulation."""
        numbers = f"{self.min_replicas} to {self.max_replicas}"
        return f"autoscaler {self.name} keeps {numbers} replicas; which of them its metrics ask for is not simulated"


class PriorityClass(NamedTuple):
    """A PriorityClass; pods that name none get the default."""

    value: int
    preemption_policy: str = ""
    is_default: bool = False


_BUILT_IN = {
    "system-cluster-critical": PriorityClass(2_000_000_000),
    "system-node-critical": PriorityClass(2_000_001_000),
}


def key_of(workload: Workload) -> ObjectKey:
    """Return the key of a workload."""
    return ObjectKey(workload.kind, workload.namespace, workload.name)


class Condition(NamedTuple):
    """A condition of an object's status; `since` is the time of its last change, as the API server writes it."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    since: str = ""


JOB_TRACKING = "batch.kubernetes.io/job-tracking"  # The Job's controller removes it once it has counted the pod.
JOB_INDEX = "batch.kubernetes.io/job-completion-index"


class JobProgress(NamedTuple):
    """Finished pods in the status of a Job; completed: the indexes of an indexed Job that succeeded."""

    succeeded: int = 0
    failed: int = 0
    completed: frozenset[int] = frozenset()


class Controller(NamedTuple):
    """A workload in the cluster: its stored spec, and its controller's status.

    `labels` and `annotations` belong to the workload, not to its pods. Only annotations that the program reads are
    kept.
    `revision`: for a ReplicaSet, its number within the Deployment; for other kinds, the revision label of new pods.
    It is empty if unknown.
    """

    workload: Workload
    conditions: tuple[Condition, ...] = ()
    spec: dict[str, Any] = {}  # noqa: RUF012 (never written to)
    labels: Labels = {}  # noqa: RUF012
    annotations: dict[str, str] = {}  # noqa: RUF012
    revision: str = ""
    progress: JobProgress = JobProgress()

    @property
    def is_finished(self) -> bool:
        """Return whether a Job has ended, so that its controller creates no more pods (IsJobFinished)."""
        ends = ("Complete", "Failed")
        return self.workload.kind == "Job" and any(
            item.type in ends and item.status == "True" for item in self.conditions
        )

    @property
    def waits_for_ends(self) -> bool:
        """Return whether a Job replaces pods only once they have failed (onlyReplaceFailedPods)."""
        default = "Failed" if self.spec.get("podFailurePolicy") else ""
        return self.workload.kind == "Job" and self.spec.get("podReplacementPolicy", default) == "Failed"


class ClusterEvent(NamedTuple):
    """An Event about an object; `last` is the time it was last seen, as the API server writes it."""

    about: ObjectKey
    reason: str
    message: str
    kind: str = ""  # Normal or Warning
    times: int = 1
    last: str = ""
    source: str = ""


class Unread(NamedTuple):
    """A kind whose objects may not be listed; `namespace` is the only readable namespace, if any."""

    kind: str
    plural: str
    namespace: str = ""


class StoredRevision(NamedTuple):
    """An earlier template of a StatefulSet or DaemonSet, from a ControllerRevision; empty if it is not known."""

    number: int
    template: dict[str, Any]


_BUDGET = "PodDisruptionBudget"


class Cluster(NamedTuple):
    """Nodes in the order of their names, as a scheduler lists them when it starts; pods bound and pending.

    `owners` leads from a controlled controller to its own controller: ReplicaSet to Deployment.
    `owner_selectors` holds the selectors of ReplicationControllers, ReplicaSets and StatefulSets.
    `controllers` holds the workloads themselves, if the facts contain them.
    """

    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...] = ()
    namespaces: dict[str, Labels] = {}  # noqa: RUF012 (never written to)
    owners: dict[ObjectKey, ObjectKey] = {}  # noqa: RUF012
    services: tuple[Service, ...] = ()
    owner_selectors: dict[ObjectKey, Selector] = {}  # noqa: RUF012
    budgets: tuple[DisruptionBudget, ...] = ()
    storage: Storage = Storage()
    priority_classes: dict[str, PriorityClass] = _BUILT_IN
    gangs: dict[NamespacedName, int] = {}  # noqa: RUF012  # PodGroups, and how many of their pods go together at least
    device_classes: dict[str, str] = {}  # noqa: RUF012  # extended resource -> the class of its devices
    controllers: dict[ObjectKey, Controller] = {}  # noqa: RUF012
    events: dict[ObjectKey, tuple[ClusterEvent, ...]] = {}  # noqa: RUF012  # by their objects, the latest first
    kubernetes_version: str = ""  # as a snapshot names it: `v1.34.2`
    scheduler_configuration: str = ""  # its text, if a snapshot holds it
    limit_ranges: tuple[LimitRange, ...] = ()
    quotas: tuple[Quota, ...] = ()
    runtime_classes: dict[str, RuntimeClass] = {}  # noqa: RUF012
    autoscalers: dict[ObjectKey, Autoscaler] = {}  # noqa: RUF012  # by the workload that is scaled
    revisions: dict[ObjectKey, tuple[StoredRevision, ...]] = {}  # noqa: RUF012  # by workload, the oldest first
    unread: tuple[Unread, ...] = ()  # resources that may not be read
    read_at: str = ""  # when the facts were read, RFC 3339; empty if unknown
    complete: frozenset[str] = frozenset()  # kinds with all objects present; objects of other kinds may be missing
    undecodable: tuple[ObjectKey, ...] = ()  # objects that do not decode; without a kind, of unknown kinds
    provisioning: dict[tuple[str, str], dict[str, Any]] = {}  # noqa: RUF012  # NodePools and their like, as plain values

    def bound_pods(self) -> list[Pod]:
        """Return the pods that count: bound to a node, and neither succeeded nor failed."""
        return [pod for pod in self.pods if pod.node_name and pod.is_visible]

    def pending(self) -> list[Pod]:
        """Return the pods that wait for a node."""
        return [pod for pod in self.pods if not pod.node_name and pod.is_visible]

    def is_unread(self, key: ObjectKey) -> bool:
        """Return whether a workload is known by its pods at most, because its kind may not be listed."""
        unread = (item for item in self.unread if item.kind == key.kind and item.namespace != key.namespace)
        return key not in self.controllers and any(unread)

    def has_all_budgets(self, namespace: str) -> bool:
        """Return whether every PodDisruptionBudget of a namespace is known: the facts say so, or they hold some."""
        if any(not key.kind for key in self.undecodable):
            return False  # A document that could not be read.
        unread = [item for item in self.unread if item.kind == _BUDGET]
        if unread:
            return any(item.namespace == namespace for item in unread)  # The only namespace that was read.
        return _BUDGET in self.complete or any(budget.namespace == namespace for budget in self.budgets)

    def owners_of(self, pod: Pod) -> tuple[ObjectKey, ...]:
        """Return the controllers of a pod: its own, and its controller's controller."""
        key = pod.owner_key
        if key is None:
            return ()
        return (key, self.owners[key]) if key in self.owners else (key,)

    def top_owner(self, pod: Pod) -> Optional[ObjectKey]:
        """Return the controller of the pod's controller; without one, the pod's own controller."""
        key = pod.owner_key
        return None if key is None else self.owners.get(key, key)
