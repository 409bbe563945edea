"""Kinds that the scheduler considers: their API paths, and the kinds that a question needs."""

from __future__ import annotations

from typing import NamedTuple, Optional


class Resource(NamedTuple):
    """A kind in the API; `doubt` names the uncertainty of an answer without it.

    If `is_local`, only the objects of the question's namespace are read.
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
        """Return group and version as in `apiVersion` of an object."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "") -> str:
        """Return the path of its list, in one namespace or in all."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        return f"{root}/namespaces/{segment(namespace)}/{self.plural}" if namespace else f"{root}/{self.plural}"


def segment(name: str) -> str:
    """Return a name as one segment of a path; clients and servers remove the segments `.` and `..`."""
    from urllib.parse import quote  # 3 ms; only a live cluster has paths

    return name.replace(".", "%2E") if name in (".", "..") else quote(name, safe="")


_CLAIMS = "pods with persistent volumes are not predictable"
_CAPACITY = "whether nodes have enough free storage is unknown"
_ATTACHED = "volumes that are attached without a running pod are not counted"
_DEFAULTS = "it is uncertain whether the scheduler's default constraints apply to a pod, and which pods they count"

NODES = Resource("Node", "", "v1", "nodes", False, "nothing can be placed")
PODS = Resource(
    "Pod",
    "",
    "v1",
    "pods",
    True,
    "pods of other namespaces are not counted and take no room, so predictions may be wrong",
)
STORAGE = (
    Resource("PersistentVolumeClaim", "", "v1", "persistentvolumeclaims", True, _CLAIMS),
    Resource("PersistentVolume", "", "v1", "persistentvolumes", False, _CLAIMS),
    Resource("StorageClass", "storage.k8s.io", "v1", "storageclasses", False, _CLAIMS),
    Resource("CSINode", "storage.k8s.io", "v1", "csinodes", False, "limits of volumes per node are not checked"),
    Resource("CSIDriver", "storage.k8s.io", "v1", "csidrivers", False, "storage capacity is not checked"),
    Resource(
        "CSIStorageCapacity",
        "storage.k8s.io",
        "v1",
        "csistoragecapacities",
        True,
        "whether nodes have enough free storage is unknown",
    ),
    Resource(
        "VolumeAttachment",
        "storage.k8s.io",
        "v1",
        "volumeattachments",
        False,
        "volumes attached to nodes by other means are not counted",
    ),
)
_ALWAYS = (
    PODS,
    NODES,
    Resource("Namespace", "", "v1", "namespaces", False, "affinity terms with a namespaceSelector match no namespace"),
    Resource("Service", "", "v1", "services", True, _DEFAULTS),
    Resource("ReplicationController", "", "v1", "replicationcontrollers", True, _DEFAULTS),
    Resource(
        "ReplicaSet", "apps", "v1", "replicasets", True, f"pods cannot be matched to their Deployments; {_DEFAULTS}"
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
        "pods of a manifest that name a priority class get priority 0",
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
    "the replica ranges of autoscalers are not known",
)
REVISIONS = Resource(
    "ControllerRevision",
    "apps",
    "v1",
    "controllerrevisions",
    True,
    "earlier revisions of StatefulSets and DaemonSets are not known",
)
RUNTIME_CLASSES = Resource(
    "RuntimeClass",
    "node.k8s.io",
    "v1",
    "runtimeclasses",
    False,
    "the overhead and nodeSelector of new pods' runtime classes are not applied",
)
_STATE = "the status of workloads and the pods that their controllers would create next are not shown"
_DEPLOYMENTS = Resource("Deployment", "apps", "v1", "deployments", True, _STATE, is_local=True)
_OF_TARGETS = (
    _DEPLOYMENTS,
    Resource("Event", "", "v1", "events", True, "the scheduler's last message is not shown", is_local=True),
)
_NAMED = {
    "DaemonSet": Resource("DaemonSet", "apps", "v1", "daemonsets", True, _STATE, is_local=True),
    "CronJob": Resource("CronJob", "batch", "v1", "cronjobs", True, _STATE, is_local=True),
}
JOBS = Resource("Job", "batch", "v1", "jobs", True, "pods cannot be matched to their CronJobs")
DEVICE_CLASSES = Resource(
    "DeviceClass",
    "resource.k8s.io",
    "v1",
    "deviceclasses",
    False,
    "extended resources that are backed by devices are treated as ordinary ones",
)
_EVERY = (*_ALWAYS, *_ADMISSION, *_OF_TARGETS, *_NAMED.values(), JOBS, AUTOSCALERS, REVISIONS)


def resource_of(kind: str) -> Optional[Resource]:
    """Return the API resource of a kind; None for a custom resource."""
    return next((item for item in _EVERY if item.kind == kind), None)


_CLAIM_WORDS = ("persistentVolumeClaim", "volumeClaimTemplates", "ephemeral")
_SCALED = ("Deployment", "StatefulSet", "ReplicaSet")
_EXTENDED_SINCE = 36  # DRAExtendedResource


class Question(NamedTuple):
    """A question to the cluster: about objects by kind, or about manifests by text.

    `namespace` is used if reading all namespaces is forbidden; it is empty for questions about all namespaces. Such a
    question may have a `fallback` namespace. `shows_defaults`: the answer includes the scheduler's default constraints.
    `is_overview`: the question is about running workloads of every built-in kind. `keeps_objects`: the answer includes
    the objects, with storage.
    """

    namespace: str
    kinds: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    is_overview: bool = False
    keeps_objects: bool = False
    fallback: str = ""
    shows_defaults: bool = False
    has_autoscalers: bool = False  # whether the ranges of autoscalers are part of the answer
    has_revisions: bool = False  # whether earlier templates of StatefulSets and DaemonSets are part of the answer
    has_manifests: bool = False  # whether objects of manifests whose texts are not in `texts` are created

    @property
    def is_about_pods(self) -> bool:
        """Return whether the question is about pods of the cluster, so that their claims matter."""
        return bool(self.kinds) or self.is_overview

    @property
    def wants_finished(self) -> bool:
        """Return whether finished pods are included; they use no resources."""
        return bool({"Pod", "Job", "CronJob"} & set(self.kinds))

    def resources(self, minor: int) -> tuple[Resource, ...]:
        """Return the resources to read for the answer. Claims of pods in the cluster are only known after reading."""
        found: tuple[Resource, ...] = (*_ALWAYS, *_ADMISSION)
        if self.keeps_objects or self.has_manifests or self._mentions("runtimeClassName"):
            found += (RUNTIME_CLASSES,)
        if self.keeps_objects or self.has_autoscalers or self._mentions(*_SCALED):
            found += (AUTOSCALERS,)
        if self.keeps_objects or self.has_revisions:
            found += (REVISIONS,)
        found += self._workloads()
        if minor >= _EXTENDED_SINCE:
            found += (DEVICE_CLASSES,)
        if self.keeps_objects or self.has_manifests or self._mentions(*_CLAIM_WORDS):
            found += STORAGE
        return found

    def _workloads(self) -> tuple[Resource, ...]:
        """Return the resources of workloads and their events."""
        found: tuple[Resource, ...] = ()
        if self.kinds:
            found += _OF_TARGETS + tuple(_NAMED[kind] for kind in _NAMED if kind in self.kinds)
        if self.is_overview:
            found += (*_OF_TARGETS, *_NAMED.values(), JOBS)
        if {"Job", "CronJob"} & set(self.kinds) or self._mentions("CronJob"):
            found += (JOBS,)
        if not self.is_about_pods and self._mentions("Deployment"):
            doubt = "it is unknown whether a manifest changes a running Deployment"
            found += (_DEPLOYMENTS._replace(is_local=False, doubt=doubt),)
        return found

    def _mentions(self, *words: str) -> bool:
        return any(word in text for text in self.texts for word in words)
