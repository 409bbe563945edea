"""Kinds that the scheduler considers: their API paths, which of them a question needs, and what a refusal means."""

from __future__ import annotations

from typing import NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Unread
from kubectl_spread.errors import ClusterError
from kubectl_spread.objects.reading.plain import rows


class Resource(NamedTuple):
    """A kind in the API; `doubt` names the uncertainty of an answer without it.

    If `is_local`, only the objects of the question's namespace are read.
    """

    kind: str
    doubt: str
    group: str = ""
    version: str = "v1"
    is_namespaced: bool = True
    is_local: bool = False
    selector: str = ""  # of labels

    @property
    def plural(self) -> str:
        """Return the name of the resource in paths and rules: `nodes`, `storageclasses`, `csistoragecapacities`."""
        name = self.kind.lower()
        return f"{name[:-1]}ies" if name.endswith("y") else f"{name}es" if name.endswith("s") else f"{name}s"

    @property
    def api_version(self) -> str:
        """Return group and version as in `apiVersion` of an object."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def rule(self) -> str:
        """Return words with the ClusterRole rule that allows to read the kind."""
        return f"the ClusterRole rule that allows it: {rbac_rule(self.group, self.plural, 'list')}"

    @property
    def query(self) -> dict[str, str]:
        """Return the query of its list."""
        return {"labelSelector": self.selector} if self.selector else {}

    def path(self, namespace: str = "") -> str:
        """Return the path of its list, in one namespace or in all."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        return f"{root}/namespaces/{segment(namespace)}/{self.plural}" if namespace else f"{root}/{self.plural}"


def segment(name: str) -> str:
    """Return a name as one segment of a path; clients and servers remove the segments `.` and `..`."""
    from urllib.parse import quote  # 3 ms; only a live cluster has paths

    return name.replace(".", "%2E") if name in (".", "..") else quote(name, safe="")


_DOUBTS = {
    "claims": "pods with persistent volumes are not predictable",
    "defaults": "it is uncertain whether the scheduler's default constraints apply to a pod, and which pods they count",
    "state": "the status of workloads and the pods that their controllers would create next are not shown",
    "nodes": "whether Karpenter adds nodes for Pending pods is not known",
}


def _resources(table: str) -> tuple[Resource, ...]:
    """Return the kinds of a table: API and kind, `-` if it has no namespaces or `local`, and the doubt without it."""
    found = []
    for head, doubt in rows(table.strip()):
        api, kind, *scope = head.split()
        group, _, version = api.rpartition("/")
        words = doubt.strip().format_map(_DOUBTS)
        found.append(Resource(kind, words, group, version, is_namespaced="-" not in scope, is_local="local" in scope))
    return tuple(found)


_ALWAYS = _resources("""
v1 Pod: pods of other namespaces are not counted and take no room, so predictions may be wrong
v1 Node -: nothing can be placed
v1 Namespace -: affinity terms with a namespaceSelector match no namespace
v1 Service: {defaults}
v1 ReplicationController: {defaults}
apps/v1 ReplicaSet: pods cannot be matched to their Deployments; {defaults}
apps/v1 StatefulSet: {defaults}
policy/v1 PodDisruptionBudget: preemption is predicted as if no budget protected its victims
scheduling.k8s.io/v1 PriorityClass -: pods of a manifest that name a priority class get priority 0
v1 LimitRange: default requests of new pods are not applied
v1 ResourceQuota: a quota may refuse new pods
""")
PODS, NODES, *_ = _ALWAYS
_OF_TARGETS = _resources("""
apps/v1 Deployment local: {state}
v1 Event local: the scheduler's last message is not shown
""")
_OF_NAMED = _resources("""
apps/v1 DaemonSet local: {state}
batch/v1 CronJob local: {state}
""")
JOBS, AUTOSCALERS, REVISIONS, RUNTIME_CLASSES, DEVICE_CLASSES = _resources("""
batch/v1 Job: pods cannot be matched to their CronJobs
autoscaling/v2 HorizontalPodAutoscaler: the replica ranges of autoscalers are not known
apps/v1 ControllerRevision: earlier revisions of StatefulSets and DaemonSets are not known
node.k8s.io/v1 RuntimeClass -: the overhead and nodeSelector of new pods' runtime classes are not applied
resource.k8s.io/v1 DeviceClass -: extended resources that are backed by devices are treated as ordinary ones
""")
STORAGE = _resources("""
v1 PersistentVolumeClaim: {claims}
v1 PersistentVolume -: {claims}
storage.k8s.io/v1 StorageClass -: {claims}
storage.k8s.io/v1 CSINode -: limits of volumes per node are not checked
storage.k8s.io/v1 CSIDriver -: storage capacity is not checked
storage.k8s.io/v1 CSIStorageCapacity: whether nodes have enough free storage is unknown
storage.k8s.io/v1 VolumeAttachment -: volumes attached to nodes by other means are not counted
""")
PROVISIONING = _resources("""
karpenter.sh/v1 NodePool -: {nodes}
karpenter.sh/v1 NodeClaim -: {nodes}
karpenter.k8s.aws/v1 EC2NodeClass -: the zones of NodePools that name no zone are not known
""")
# Only Karpenter's own Deployment: its image names the release.
(_karpenter,) = _resources("apps/v1 Deployment: the release of Karpenter is not known")
KARPENTER = _karpenter._replace(selector="app.kubernetes.io/name=karpenter")
_EVERY = (*_ALWAYS, *_OF_TARGETS, *_OF_NAMED, JOBS, AUTOSCALERS, REVISIONS)


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
    has_new_nodes: bool = False  # whether nodes that do not exist yet are part of the answer
    has_manifests: bool = False  # whether objects of manifests whose texts are not in `texts` are created

    @property
    def is_about_pods(self) -> bool:
        """Return whether the question is about pods of the cluster, so that their claims matter."""
        return bool(self.kinds) or self.is_overview

    def resources(self, minor: int) -> tuple[Resource, ...]:
        """Return the resources to read for the answer. Claims of pods in the cluster are only known after reading."""
        found = _ALWAYS
        if self.keeps_objects or self.has_manifests or self._mentions("runtimeClassName"):
            found += (RUNTIME_CLASSES,)
        if self.keeps_objects or self.has_autoscalers or self._mentions(*_SCALED):
            found += (AUTOSCALERS,)
        if self.keeps_objects or self.has_revisions:
            found += (REVISIONS,)
        if self.kinds:
            found += _OF_TARGETS + tuple(item for item in _OF_NAMED if item.kind in self.kinds)
        if self.is_overview:
            found += (*_OF_TARGETS, *_OF_NAMED, JOBS)
        if {"Job", "CronJob"} & set(self.kinds) or self._mentions("CronJob"):
            found += (JOBS,)
        if not self.is_about_pods and self._mentions("Deployment"):
            doubt = "it is unknown whether a manifest changes a running Deployment"
            found += (_OF_TARGETS[0]._replace(is_local=False, doubt=doubt),)
        if minor >= _EXTENDED_SINCE:
            found += (DEVICE_CLASSES,)
        if self.keeps_objects or self.has_manifests or self._mentions(*_CLAIM_WORDS):
            found += STORAGE
        return found

    def _mentions(self, *words: str) -> bool:
        return any(word in text for text in self.texts for word in words)


class ForbiddenKind(NamedTuple):
    """A forbidden kind; `namespace`: the only one in which it could be read."""

    resource: Resource
    namespace: str = ""

    @property
    def fact(self) -> Unread:
        """Return the entry for the cluster facts."""
        return Unread(self.resource.kind, self.resource.plural, self.namespace)

    def __str__(self) -> str:
        where = f" in all namespaces, only in `{self.namespace}`" if self.namespace else ""
        return f"may not list {self.resource.plural}{where}: {self.resource.doubt}; {self.resource.rule}"


def rbac_rule(group: str, plural: str, verb: str) -> str:
    """Return a rule as written in a Role or ClusterRole: `{apiGroups: [""], resources: [nodes], verbs: [list]}`."""
    quoted = group or '""'
    return f"{{apiGroups: [{quoted}], resources: [{plural}], verbs: [{verb}]}}"


_WITHOUT = {NODES.kind: NODES.doubt, PODS.kind: "without pods, running workloads cannot be checked"}


def forbidden_error(resource: Resource, message: str) -> ClusterError:
    """Return the error for forbidden nodes or pods, without which no answer is possible."""
    return ClusterError(f"{message}: {_WITHOUT[resource.kind]}; {resource.rule}")
