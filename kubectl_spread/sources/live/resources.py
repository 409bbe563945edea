"""The kinds a scheduler looks at: where an API server has them, and what a question needs of them."""

from __future__ import annotations

from typing import NamedTuple
from typing import Optional
from urllib.parse import quote


class Resource(NamedTuple):
    """A kind in the API; `doubt` is what is uncertain in an answer without it.

    Of one that `is_local` only the objects of the question's namespace are read.
    """

    kind: str
    group: str
    version: str
    plural: str
    is_namespaced: bool
    doubt: str
    is_local: bool = False

    @property
    def api_version(self) -> str:
        """Group and version, as an object of it has them."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "") -> str:
        """Where its list is; of one namespace, or of all."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        return f"{root}/namespaces/{quote(namespace, safe='')}/{self.plural}" if namespace else f"{root}/{self.plural}"


_CLAIMS = "pods with persistent volumes are not predictable"
_DEFAULTS = "whether the scheduler's default constraints apply to a pod, and what they count, is not certain"

NODES = Resource("Node", "", "v1", "nodes", False, "nothing can be placed")
PODS = Resource("Pod", "", "v1", "pods", True, "what runs elsewhere neither takes room nor counts, so less may fit")
STORAGE = (
    Resource("PersistentVolumeClaim", "", "v1", "persistentvolumeclaims", True, _CLAIMS),
    Resource("PersistentVolume", "", "v1", "persistentvolumes", False, _CLAIMS),
    Resource("StorageClass", "storage.k8s.io", "v1", "storageclasses", False, _CLAIMS),
    Resource("CSINode", "storage.k8s.io", "v1", "csinodes", False, "nodes may take fewer volumes than they seem to"),
    Resource("CSIDriver", "storage.k8s.io", "v1", "csidrivers", False, "storage capacity is not looked at"),
    Resource("CSIStorageCapacity", "storage.k8s.io", "v1", "csistoragecapacities", True, "storage may be used up"),
    Resource("VolumeAttachment", "storage.k8s.io", "v1", "volumeattachments", False, "nodes may take fewer volumes"),
)
_ALWAYS = (
    PODS,
    NODES,
    Resource("Namespace", "", "v1", "namespaces", False, "affinity terms with a namespaceSelector match no namespace"),
    Resource("Service", "", "v1", "services", True, _DEFAULTS),
    Resource("ReplicationController", "", "v1", "replicationcontrollers", True, _DEFAULTS),
    Resource(
        "ReplicaSet", "apps", "v1", "replicasets", True, f"pods of Deployments are not known as such; {_DEFAULTS}"
    ),
    Resource("StatefulSet", "apps", "v1", "statefulsets", True, _DEFAULTS),
    Resource(
        "PodDisruptionBudget",
        "policy",
        "v1",
        "poddisruptionbudgets",
        True,
        "preemption is predicted as if no budget protected its victims",
    ),
    Resource(
        "PriorityClass",
        "scheduling.k8s.io",
        "v1",
        "priorityclasses",
        False,
        "pods of a manifest that name a priority class count as of priority 0",
    ),
)
_ADMISSION = (
    Resource("LimitRange", "", "v1", "limitranges", True, "default requests of new pods are not applied"),
    Resource("ResourceQuota", "", "v1", "resourcequotas", True, "a quota may refuse new pods"),
)
AUTOSCALERS = Resource(
    "HorizontalPodAutoscaler",
    "autoscaling",
    "v2",
    "horizontalpodautoscalers",
    True,
    "in which range autoscalers keep workloads is not known",
)
RUNTIME_CLASSES = Resource(
    "RuntimeClass",
    "node.k8s.io",
    "v1",
    "runtimeclasses",
    False,
    "the overhead and nodeSelector of new pods' runtime classes are not applied",
)
_STATE = "what its controller says of a workload is not told, nor the pod that it would create next"
_DEPLOYMENTS = Resource("Deployment", "apps", "v1", "deployments", True, _STATE, is_local=True)
_OF_TARGETS = (
    _DEPLOYMENTS,
    Resource("Event", "", "v1", "events", True, "what the scheduler said last is not told", is_local=True),
)
_NAMED = {
    "DaemonSet": Resource("DaemonSet", "apps", "v1", "daemonsets", True, _STATE, is_local=True),
    "CronJob": Resource("CronJob", "batch", "v1", "cronjobs", True, _STATE, is_local=True),
}
JOBS = Resource("Job", "batch", "v1", "jobs", True, "pods of CronJobs are not known as such")
DEVICE_CLASSES = Resource(
    "DeviceClass",
    "resource.k8s.io",
    "v1",
    "deviceclasses",
    False,
    "extended resources that stand for devices are taken for ordinary ones",
)
_EVERY = (*_ALWAYS, *_ADMISSION, *_OF_TARGETS, *_NAMED.values(), JOBS, AUTOSCALERS)


def resource_of(kind: str) -> Optional[Resource]:
    """Where the API server has a kind; None of one that is not its own."""
    return next((item for item in _EVERY if item.kind == kind), None)


_CLAIM_WORDS = ("persistentVolumeClaim", "volumeClaimTemplates", "ephemeral")
_SCALED = ("Deployment", "StatefulSet", "ReplicaSet")
_EXTENDED_SINCE = 36  # DRAExtendedResource


class Question(NamedTuple):
    """What is asked: of objects by their kinds, of manifests by their texts.

    `namespace` is where we look when we may not look everywhere; it is empty where the question is about all of them.
    Such a question may name a `fallback`, where to look all the same. `shows_defaults`: the scheduler's default
    constraints are part of the answer.
    `is_overview`: it is about the workloads that run, of every kind that the API server has itself. `keeps_objects`:
    the objects themselves are asked for, with what storage there is.
    """

    namespace: str
    kinds: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    is_overview: bool = False
    keeps_objects: bool = False
    fallback: str = ""
    shows_defaults: bool = False
    has_autoscalers: bool = False  # whether the ranges of autoscalers are part of the answer

    @property
    def is_about_pods(self) -> bool:
        """Whether pods of the cluster are asked about, so that their claims matter."""
        return bool(self.kinds) or self.is_overview

    @property
    def wants_finished(self) -> bool:
        """Whether pods that ended are asked about; they hold no room."""
        return bool({"Pod", "Job", "CronJob"} & set(self.kinds))

    def resources(self, minor: int) -> tuple[Resource, ...]:
        """What must be read to answer; what claims of pods in the cluster ask for shows only then."""
        found: tuple[Resource, ...] = (*_ALWAYS, *_ADMISSION)
        if self.keeps_objects or any("runtimeClassName" in text for text in self.texts):
            found += (RUNTIME_CLASSES,)
        is_scaled = any(kind in text for text in self.texts for kind in _SCALED)
        if self.keeps_objects or self.has_autoscalers or is_scaled:
            found += (AUTOSCALERS,)
        if self.kinds:
            found += _OF_TARGETS + tuple(_NAMED[kind] for kind in _NAMED if kind in self.kinds)
        if self.is_overview:
            found += (*_OF_TARGETS, *_NAMED.values(), JOBS)
        if {"Job", "CronJob"} & set(self.kinds) or any("CronJob" in text for text in self.texts):
            found += (JOBS,)
        if not self.is_about_pods and any("Deployment" in text for text in self.texts):
            found += (_DEPLOYMENTS._replace(is_local=False, doubt="whether a manifest changes one is not known"),)
        if minor >= _EXTENDED_SINCE:
            found += (DEVICE_CLASSES,)
        if self.keeps_objects or any(word in text for text in self.texts for word in _CLAIM_WORDS):
            found += STORAGE
        return found
