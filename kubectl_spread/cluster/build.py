"""Plain objects, one by one, to a Cluster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from typing import Union

from kubectl_spread.cluster.snapshot import Budget
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.snapshot import Condition
from kubectl_spread.cluster.snapshot import Controller
from kubectl_spread.cluster.snapshot import Event
from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.cluster.snapshot import PriorityClass
from kubectl_spread.cluster.snapshot import Service
from kubectl_spread.objects import admission
from kubectl_spread.objects import constraint_reader
from kubectl_spread.objects import decode
from kubectl_spread.objects import read
from kubectl_spread.objects import storage
from kubectl_spread.objects import workload_shape
from kubectl_spread.objects.admission import LimitRange
from kubectl_spread.objects.admission import Quota
from kubectl_spread.objects.admission import RuntimeClass
from kubectl_spread.objects.kinds import KINDS
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.plain import mappings
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.selector import compiled
from kubectl_spread.objects.selector import Requirement
from kubectl_spread.objects.selector import Selector
from kubectl_spread.objects.workload import workload

Plain = dict[str, Any]


def _with_phase(kind: str, fields: dict[str, Any]) -> decode.Struct:
    shape = _with_spec(kind, fields)
    return shape._replace(fields={**shape.fields, "status": _phase(kind)})


def _phase(kind: str) -> decode.Struct:
    """The status of a claim or a volume: one of the wrong type costs the object itself, and no other."""
    return decode.Struct(f"{kind}Status", {"phase": decode.Atom.STRING})


def _with_spec(kind: str, fields: dict[str, Any]) -> decode.Struct:
    return decode.Struct(kind, {"metadata": decode.OBJECT_META, "spec": decode.Struct(f"{kind}Spec", fields)})


_STRING_MAP = decode.MapOf(decode.Atom.STRING)
_STRINGS = decode.ListOf(decode.Atom.STRING)
_SELECTED_BY_LABELS = {"selector": decode.LABEL_SELECTOR}
_CONDITIONS = decode.ListOf(
    decode.Struct(
        "Condition", dict.fromkeys(("type", "status", "reason", "message", "lastTransitionTime"), decode.Atom.STRING)
    )
)
# Those that this program reads.
ANNOTATIONS = frozenset(
    {
        "deployment.kubernetes.io/revision",
        "deployment.kubernetes.io/desired-replicas",
        "deployment.kubernetes.io/max-replicas",
        read.DELETION_COST,
        "pv.kubernetes.io/bind-completed",
        "volume.kubernetes.io/selected-node",
        "volume.beta.kubernetes.io/storage-class",
        "storageclass.kubernetes.io/is-default-class",
        "autoscaling.knative.dev/min-scale",
        "autoscaling.knative.dev/minScale",
        "autoscaling.knative.dev/max-scale",
        "autoscaling.knative.dev/maxScale",
        "spread.kubectl.io/ignore",
        "meta.helm.sh/release-name",
        "meta.helm.sh/release-namespace",
        "argocd.argoproj.io/tracking-id",
    }
)
_REVISIONS = ("updateRevision", "currentPodHash")  # of StatefulSets and their like, and of Argo's Rollouts
_REVISION_NUMBER = "deployment.kubernetes.io/revision"


def _controller(kind: str) -> decode.Struct:
    """A workload: what its pods depend on, what it selects, and its conditions."""
    shape = workload_shape.shape(KINDS[kind])
    spec = shape.fields["spec"]
    selector: dict[str, Any] = {} if kind in ("Job", "CronJob") else _SELECTED_BY_LABELS
    if kind in ("ReplicationController", "DeploymentConfig"):
        selector = {"selector": _STRING_MAP}
    fields = {**spec.fields, **selector}
    status = decode.Struct(
        f"{kind}Status", {"conditions": _CONDITIONS, **dict.fromkeys(_REVISIONS, decode.Atom.STRING)}
    )
    return shape._replace(fields={**shape.fields, "spec": spec._replace(fields=fields), "status": status})


# What has pods and may be in the facts. (Service is that of the core.)
_CONTROLLERS = tuple(kind for kind in KINDS if kind not in ("Pod", "PodTemplate", "Service"))
_OBJECT_REFERENCE = decode.Struct("ObjectReference", dict.fromkeys(("kind", "namespace", "name"), decode.Atom.STRING))
_EVENT = decode.Struct(
    "Event",
    {
        "metadata": decode.OBJECT_META,
        **dict.fromkeys(("involvedObject", "regarding"), _OBJECT_REFERENCE),
        **dict.fromkeys(
            ("reason", "message", "note", "type", "eventTime", "lastTimestamp", "firstTimestamp"), decode.Atom.STRING
        ),
        **dict.fromkeys(("deprecatedLastTimestamp", "reportingComponent", "reportingController"), decode.Atom.STRING),
        **dict.fromkeys(("count", "deprecatedCount"), decode.Atom.INT32),
        "series": decode.Struct("EventSeries", {"count": decode.Atom.INT32, "lastObservedTime": decode.Atom.STRING}),
        **dict.fromkeys(
            ("source", "deprecatedSource"), decode.Struct("EventSource", {"component": decode.Atom.STRING})
        ),
    },
)

_QUANTITIES = decode.MapOf(decode.Atom.QUANTITY)
_LIMIT = decode.Struct(
    "LimitRangeItem",
    {
        "type": decode.Atom.STRING,
        **dict.fromkeys(("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"), _QUANTITIES),
    },
)

# Every kind that is looked at, and what of it must decode.
SHAPES: dict[str, decode.Struct] = {
    "Node": decode.NODE,
    "Pod": decode.POD,
    "Namespace": decode.Struct("Namespace", {"metadata": decode.OBJECT_META}),
    "Service": _with_spec("Service", {"selector": _STRING_MAP}),
    **{kind: _controller(kind) for kind in _CONTROLLERS},
    "Event": _EVENT,
    "PersistentVolumeClaim": decode.Struct(
        "PersistentVolumeClaim",
        {"metadata": decode.OBJECT_META, "spec": decode.CLAIM_SPEC, "status": _phase("PersistentVolumeClaim")},
    ),
    "PersistentVolume": _with_phase(
        "PersistentVolume",
        {
            "storageClassName": decode.Atom.STRING,
            "volumeMode": decode.Atom.STRING,
            "accessModes": _STRINGS,
            "capacity": decode.MapOf(decode.Atom.QUANTITY),
            "claimRef": decode.Struct("ObjectReference", {"namespace": decode.Atom.STRING, "name": decode.Atom.STRING}),
            **decode.IN_TREE_DISKS,
            "csi": decode.Struct(
                "CSIPersistentVolumeSource", {"driver": decode.Atom.STRING, "volumeHandle": decode.Atom.STRING}
            ),
            "nodeAffinity": decode.Struct("VolumeNodeAffinity", {"required": decode.NODE_SELECTOR}),
        },
    ),
    "StorageClass": decode.Struct(
        "StorageClass",
        {
            "metadata": decode.OBJECT_META,
            "provisioner": decode.Atom.STRING,
            "volumeBindingMode": decode.Atom.STRING,
            "allowedTopologies": decode.ListOf(
                decode.Struct(
                    "TopologySelectorTerm",
                    {
                        "matchLabelExpressions": decode.ListOf(
                            decode.Struct(
                                "TopologySelectorLabelRequirement",
                                {"key": decode.Atom.STRING, "values": _STRINGS},
                            )
                        )
                    },
                )
            ),
        },
    ),
    "CSINode": _with_spec(
        "CSINode",
        {
            "drivers": decode.ListOf(
                decode.Struct(
                    "CSINodeDriver",
                    {
                        "name": decode.Atom.STRING,
                        "allocatable": decode.Struct("VolumeNodeResources", {"count": decode.Atom.INT32}),
                    },
                )
            )
        },
    ),
    "CSIDriver": _with_spec("CSIDriver", {"storageCapacity": decode.Atom.BOOL}),
    "CSIStorageCapacity": decode.Struct(
        "CSIStorageCapacity",
        {
            "metadata": decode.OBJECT_META,
            "storageClassName": decode.Atom.STRING,
            "nodeTopology": decode.LABEL_SELECTOR,
            "capacity": decode.Atom.QUANTITY,
            "maximumVolumeSize": decode.Atom.QUANTITY,
        },
    ),
    "VolumeAttachment": _with_spec(
        "VolumeAttachment",
        {
            "nodeName": decode.Atom.STRING,
            "source": decode.Struct("VolumeAttachmentSource", {"persistentVolumeName": decode.Atom.STRING}),
        },
    ),
    "PriorityClass": decode.Struct(
        "PriorityClass",
        {
            "metadata": decode.OBJECT_META,
            "value": decode.Atom.INT32,
            "globalDefault": decode.Atom.BOOL,
            "preemptionPolicy": decode.Atom.STRING,
        },
    ),
    "LimitRange": _with_spec("LimitRange", {"limits": decode.ListOf(_LIMIT)}),
    "ResourceQuota": decode.Struct(
        "ResourceQuota",
        {
            "metadata": decode.OBJECT_META,
            "spec": decode.Struct(
                "ResourceQuotaSpec",
                {
                    "hard": _QUANTITIES,
                    "scopes": _STRINGS,
                    "scopeSelector": decode.Struct(
                        "ScopeSelector",
                        {
                            "matchExpressions": decode.ListOf(
                                decode.Struct(
                                    "ScopedResourceSelectorRequirement",
                                    {
                                        "scopeName": decode.Atom.STRING,
                                        "operator": decode.Atom.STRING,
                                        "values": _STRINGS,
                                    },
                                )
                            )
                        },
                    ),
                },
            ),
            "status": decode.Struct("ResourceQuotaStatus", {"used": _QUANTITIES}),
        },
    ),
    "RuntimeClass": decode.Struct(
        "RuntimeClass",
        {
            "metadata": decode.OBJECT_META,
            "overhead": decode.Struct("Overhead", {"podFixed": _QUANTITIES}),
            "scheduling": decode.Struct("Scheduling", {"nodeSelector": _STRING_MAP, "tolerations": decode.TOLERATIONS}),
        },
    ),
    "DeviceClass": _with_spec("DeviceClass", {"extendedResourceName": decode.Atom.STRING}),
    "PodDisruptionBudget": decode.Struct(
        "PodDisruptionBudget",
        {
            "metadata": decode.OBJECT_META,
            "spec": decode.Struct("PodDisruptionBudgetSpec", _SELECTED_BY_LABELS),
            "status": decode.Struct(
                "PodDisruptionBudgetStatus",
                {"disruptionsAllowed": decode.Atom.INT32, "disruptedPods": decode.MapOf(decode.Atom.ANY)},
            ),
        },
    ),
}


def is_of_another_group(plain: Plain) -> bool:
    """Whether a Service is none of the core: Knative's carries a pod template, and selects nothing."""
    return plain.get("kind") == "Service" and "/" in str(plain.get("apiVersion") or "")


class Assembler:
    """Collects objects; of two with one name the later counts."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._pods: dict[str, Pod] = {}
        self._namespaces: dict[str, dict[str, str]] = {}
        self._owners: dict[OwnerKey, OwnerKey] = {}
        self._services: dict[str, Service] = {}
        self._owner_selectors: dict[OwnerKey, Selector] = {}
        self._budgets: dict[str, Budget] = {}
        self._device_classes: dict[str, str] = {}
        self._priority_classes: dict[str, PriorityClass] = {}
        self._controllers: dict[OwnerKey, Controller] = {}
        self._events: dict[str, Event] = {}
        self._limit_ranges: dict[str, LimitRange] = {}
        self._quotas: dict[str, Quota] = {}
        self._runtime_classes: dict[str, RuntimeClass] = {}
        self._storage = _StorageAssembler()

    @property
    def has_nodes(self) -> bool:
        return bool(self._nodes)

    def add(self, plain: Plain) -> None:
        """Take an object that decodes (`SHAPES`); other kinds are passed over."""
        kind, metadata, spec = plain.get("kind"), plain.get("metadata") or {}, plain.get("spec") or {}
        name, namespace = metadata.get("name") or "", metadata.get("namespace") or "default"
        if kind == "Node":
            self._nodes[name] = read.node(plain)
        elif kind == "Pod":
            self.add_pod(read.pod(plain))
        elif kind == "Namespace":
            self._namespaces[name] = constraint_reader.labels(metadata)
        elif kind == "Service" and not is_of_another_group(plain):
            self._services[f"{namespace}/{name}"] = Service(namespace, name, spec.get("selector"))
        elif kind == "PodDisruptionBudget":
            budget = _budget(namespace, spec, plain.get("status") or {})
            self._budgets[f"{namespace}/{name}"] = budget._replace(name=name)
        elif kind in _CONTROLLERS:
            self._add_controller(OwnerKey(str(kind), namespace, name), plain)
        elif kind == "Event":
            self._events[f"{namespace}/{name}"] = _event(plain)
        else:
            self._add_rare(str(kind), name, plain)

    def add_pod(self, pod: Pod) -> None:
        """Take a pod that was read already."""
        self._pods[pod.key] = pod

    def update(self, other: Assembler) -> None:
        """Take all that another one collected; of two objects with one name its own counts."""
        self._nodes.update(other._nodes)
        self._pods.update(other._pods)
        self._namespaces.update(other._namespaces)
        self._owners.update(other._owners)
        self._services.update(other._services)
        self._owner_selectors.update(other._owner_selectors)
        self._budgets.update(other._budgets)
        self._device_classes.update(other._device_classes)
        self._priority_classes.update(other._priority_classes)
        self._controllers.update(other._controllers)
        self._events.update(other._events)
        self._limit_ranges.update(other._limit_ranges)
        self._quotas.update(other._quotas)
        self._runtime_classes.update(other._runtime_classes)
        self._storage.update(other._storage)

    def cluster(self) -> Cluster:
        """What was collected, nodes in the order of their names."""
        return Cluster(
            nodes=tuple(sorted(self._nodes.values(), key=lambda node: node.name)),
            pods=tuple(self._pods.values()),
            namespaces=dict(self._namespaces),
            owners=self._owners,
            services=tuple(self._services.values()),
            owner_selectors=self._owner_selectors,
            budgets=tuple(self._budgets.values()),
            storage=self._storage.storage(),
            device_classes=self._device_classes,
            priority_classes={**Cluster(()).priority_classes, **self._priority_classes},
            controllers=self._controllers,
            events=_by_object(self._events.values()),
            limit_ranges=tuple(self._limit_ranges.values()),
            quotas=tuple(self._quotas.values()),
            runtime_classes=self._runtime_classes,
        )

    def _add_rare(self, kind: str, name: str, plain: Plain) -> None:
        if kind == "PriorityClass":
            self._priority_classes[name] = _priority_class(plain)
        elif kind == "DeviceClass":
            resource = (plain.get("spec") or {}).get("extendedResourceName")
            if resource:
                self._device_classes[resource] = name
        elif kind == "LimitRange":
            limits = admission.limit_range(plain)
            self._limit_ranges[f"{limits.namespace}/{name}"] = limits
        elif kind == "ResourceQuota":
            quota = admission.quota(plain)
            self._quotas[f"{quota.namespace}/{name}"] = quota
        elif kind == "RuntimeClass":
            self._runtime_classes[name] = admission.runtime_class(plain)
        else:
            self._storage.add(kind, name, plain)

    def _add_controller(self, key: OwnerKey, plain: Plain) -> None:
        spec, status = plain.get("spec") or {}, plain.get("status") or {}
        conditions = tuple(map(_condition, mappings(status.get("conditions"))))
        metadata = plain.get("metadata") or {}
        self._controllers[key] = Controller(
            workload(plain, key.kind),
            conditions,
            spec,
            constraint_reader.labels(metadata),
            {name: text for name, text in (metadata.get("annotations") or {}).items() if name in ANNOTATIONS},
            _revision(metadata, status),
        )
        owner = read.controller(metadata)
        if owner is not None:
            self._owners[key] = OwnerKey(owner.kind, key.namespace, owner.name)
        if key.kind == "ReplicationController":
            equal = spec.get("selector") or {}
            self._owner_selectors[key] = Selector(
                tuple(Requirement(label, "In", (value or "",)) for label, value in sorted(equal.items()))
            )
        elif key.kind in ("ReplicaSet", "StatefulSet"):
            self._owner_selectors[key] = compiled(constraint_reader.label_selector(spec.get("selector")))


class _StorageAssembler:
    def __init__(self) -> None:
        self._claims: dict[storage.ObjectKey, storage.Claim] = {}
        self._volumes: dict[str, storage.Volume] = {}
        self._classes: dict[str, storage.StorageClass] = {}
        self._limits: dict[str, dict[str, int]] = {}
        self._tracking: set[str] = set()
        self._drivers: set[str] = set()
        self._capacities: dict[storage.ObjectKey, storage.Capacity] = {}
        self._attachments: dict[str, tuple[str, str]] = {}

    def add(self, kind: str, name: str, plain: Plain) -> None:
        spec = plain.get("spec") or {}
        if kind == "PersistentVolumeClaim":
            claim = storage.claim(plain)
            self._claims[claim.key] = claim
        elif kind == "PersistentVolume":
            self._volumes[name] = storage.volume(plain)
        elif kind == "StorageClass":
            self._classes[name] = storage.storage_class(plain)
        elif kind == "CSINode":
            self._limits[name] = storage.csi_limits(plain)
            self._drivers.update(driver.get("name") or "" for driver in mappings(spec.get("drivers")))
        elif kind == "CSIDriver":
            self._drivers.add(name)
            self._tracking.update((name,) if spec.get("storageCapacity") else ())
        elif kind == "CSIStorageCapacity":
            namespace = (plain.get("metadata") or {}).get("namespace") or "default"
            self._capacities[storage.ObjectKey(namespace, name)] = storage.capacity(plain)
        elif kind == "VolumeAttachment":
            volume = (spec.get("source") or {}).get("persistentVolumeName") or ""
            self._attachments[name] = (spec.get("nodeName") or "", volume)

    def update(self, other: _StorageAssembler) -> None:
        self._claims.update(other._claims)
        self._volumes.update(other._volumes)
        self._classes.update(other._classes)
        self._limits.update(other._limits)
        self._tracking.update(other._tracking)
        self._drivers.update(other._drivers)
        self._capacities.update(other._capacities)
        self._attachments.update(other._attachments)

    def storage(self) -> storage.Storage:
        """What was collected, volumes in the order of their names."""
        return storage.Storage(
            self._claims,
            dict(sorted(self._volumes.items())),
            self._classes,
            self._limits,
            frozenset(self._tracking),
            tuple(self._capacities.values()),
            tuple(self._attachments.values()),
            frozenset(self._drivers),
        )


def cluster_of(objects: Iterable[Plain]) -> Cluster:
    """The cluster that objects make up; all of them must decode."""
    assembler = Assembler()
    for plain in objects:
        assembler.add(plain)
    return assembler.cluster()


def _condition(plain: Plain) -> Condition:
    fields = ("type", "status", "reason", "message", "lastTransitionTime")
    return Condition(*(plain.get(field) or "" for field in fields))


def _revision(metadata: Plain, status: Plain) -> str:
    """The number of a ReplicaSet, or the revision that a status names."""
    number = (metadata.get("annotations") or {}).get(_REVISION_NUMBER)
    return number or next((status[field] for field in _REVISIONS if status.get(field)), "")


def _event(plain: Plain) -> Event:
    """An Event of v1 or of events.k8s.io/v1."""
    about = plain.get("involvedObject") or plain.get("regarding") or {}
    series = plain.get("series") or {}
    times = (
        series.get("lastObservedTime"),
        plain.get("lastTimestamp") or plain.get("deprecatedLastTimestamp"),
        plain.get("eventTime") or plain.get("firstTimestamp"),
    )
    source = plain.get("source") or plain.get("deprecatedSource") or {}
    return Event(
        about=OwnerKey(about.get("kind") or "", about.get("namespace") or "default", about.get("name") or ""),
        reason=plain.get("reason") or "",
        message=plain.get("message") or plain.get("note") or "",
        kind=plain.get("type") or "",
        times=series.get("count") or plain.get("count") or plain.get("deprecatedCount") or 1,
        last=next((time for time in times if time), ""),
        source=source.get("component") or plain.get("reportingComponent") or plain.get("reportingController") or "",
    )


def _by_object(events: Iterable[Event]) -> dict[OwnerKey, tuple[Event, ...]]:
    found: dict[OwnerKey, list[Event]] = {}
    for event in events:
        found.setdefault(event.about, []).append(event)
    return {about: tuple(sorted(own, key=lambda event: event.last, reverse=True)) for about, own in found.items()}


def _priority_class(plain: Plain) -> PriorityClass:
    return PriorityClass(
        int(plain.get("value") or 0), plain.get("preemptionPolicy") or "", bool(plain.get("globalDefault"))
    )


def _budget(namespace: str, spec: Plain, status: Plain) -> Budget:
    return Budget(
        namespace,
        compiled(constraint_reader.label_selector(spec.get("selector"))),
        int(status.get("disruptionsAllowed") or 0),
        frozenset(status.get("disruptedPods") or ()),
        min_available=_int_or_text(spec.get("minAvailable")),
        max_unavailable=_int_or_text(spec.get("maxUnavailable")),
        unhealthy_policy=_text(spec.get("unhealthyPodEvictionPolicy")),
    )


def _int_or_text(value: Any) -> Union[int, str, None]:
    return value if isinstance(value, str) or type(value) is int else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
