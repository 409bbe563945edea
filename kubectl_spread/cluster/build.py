"""A Cluster: built from plain objects one by one, or with the objects of manifests applied."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from typing import Any, Optional, TypeVar, Union

from kubectl_spread.cluster.shapes import (
    ANNOTATIONS,
    CONTROLLERS,
    is_of_another_group,
    LAST_APPLIED,
    PROVISIONING,
    REVISIONS,
)
from kubectl_spread.cluster.snapshot import (
    Autoscaler,
    Cluster,
    ClusterEvent,
    Condition,
    Controller,
    DisruptionBudget,
    JOB_INDEX,
    JOB_TRACKING,
    JobProgress,
    PriorityClass,
    Service,
    StoredRevision,
)
from kubectl_spread.containers import grouped
from kubectl_spread.objects import admission, storage
from kubectl_spread.objects.admission import LimitRange, Quota
from kubectl_spread.objects.constraints import constraint
from kubectl_spread.objects.keys import NamespacedName, ObjectKey
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.reading.plain import as_text, fields, mappings, name_of, Plain
from kubectl_spread.objects.releases import field_versions
from kubectl_spread.objects.resources import scaled_value
from kubectl_spread.objects.selectors import compile_selector, NAMESPACE_NAME, Selector
from kubectl_spread.objects.storage import Storage
from kubectl_spread.objects.validation import selector_error
from kubectl_spread.objects.workloads.replica import controller_selector
from kubectl_spread.objects.workloads.workload import Workload, workload
from kubectl_spread.text.scalars import natural

_REVISION_NUMBER = "deployment.kubernetes.io/revision"
_OF_CONTROLLERS = ANNOTATIONS | {LAST_APPLIED}
_MAX_INDEXES = 1_000_000  # of a Job; a range in a snapshot may be any


def event(plain: Plain) -> ClusterEvent:
    """Read an Event of v1 or of events.k8s.io/v1, whose fields have other names."""
    series = fields(plain, "series")
    times = (
        series.get("lastObservedTime"),
        _first(plain, "lastTimestamp", "deprecatedLastTimestamp"),
        _first(plain, "eventTime", "firstTimestamp"),
    )
    source, about = (
        _first(plain, "source", "deprecatedSource") or {},
        _first(plain, "involvedObject", "regarding") or {},
    )
    return ClusterEvent(
        about=ObjectKey(about.get("kind") or "", about.get("namespace") or "default", about.get("name") or ""),
        reason=_first(plain, "reason") or "",
        message=_first(plain, "message", "note") or "",
        kind=_first(plain, "type") or "",
        times=series.get("count") or _first(plain, "count", "deprecatedCount") or 1,
        last=next((time for time in times if time), ""),
        source=source.get("component") or _first(plain, "reportingComponent", "reportingController") or "",
    )


def _first(plain: Plain, *names: str) -> Any:
    """Return the first field that is set; None if none is."""
    return next((plain[name] for name in names if plain.get(name)), None)


def _priority_class(plain: Plain) -> PriorityClass:
    default = bool(plain.get("globalDefault"))
    return PriorityClass(int(plain.get("value") or 0), plain.get("preemptionPolicy") or "", default)


def _gang(plain: Plain) -> Optional[int]:
    if not str(plain.get("apiVersion")).startswith("scheduling.k8s.io/"):  # Volcano has PodGroups of its own
        return None
    gang = fields(plain, "spec", "schedulingPolicy", "gang")
    return int(gang.get("minCount") or 0)


def _revision_of(plain: Plain) -> Optional[tuple[ObjectKey, StoredRevision]]:
    """Return a template that a StatefulSet or DaemonSet had, and its workload."""
    owner = read.controller(fields(plain, "metadata"))
    if owner is None:
        return None
    template = fields(plain, "data", "spec", "template")
    known = {field: value for field, value in template.items() if field != "$patch"}
    key = ObjectKey(owner.kind, name_of(plain).namespace, owner.name)
    return key, StoredRevision(int(plain.get("revision") or 0), known)


class ClusterBuilder:
    """A collector of objects; of two with one name, the later wins."""

    def __init__(self) -> None:
        self._pods: dict[str, Pod] = {}
        self._owners: dict[ObjectKey, ObjectKey] = {}
        self._owner_selectors: dict[ObjectKey, Selector] = {}
        self._controllers: dict[ObjectKey, Controller] = {}
        self._undecodable: dict[ObjectKey, None] = {}
        self._others: dict[str, dict[NamespacedName, Any]] = {kind: {} for kind in _READERS}

    @property
    def has_nodes(self) -> bool:
        return bool(self._others["Node"])

    def add(self, plain: Plain) -> None:
        """Add an object that decodes (`shapes.SHAPES`); objects of other kinds are ignored."""
        kind, key = str(plain.get("kind")), name_of(plain)
        if kind == "Pod":
            self.add_pod(read.pod(plain))
        elif kind in CONTROLLERS:
            self._add_controller(ObjectKey(kind, *key), plain)
        elif kind in _READERS and not is_of_another_group(plain):
            found = _READERS[kind](plain)
            if found is not None:
                self._others[kind][key] = found

    def leave_out(self, plain: Plain) -> None:
        """Note that an object does not decode; without a kind, objects that could not be read at all."""
        namespace, name = (fields(plain, "metadata").get(field) for field in ("namespace", "name"))
        self._undecodable[ObjectKey(as_text(plain.get("kind")), as_text(namespace) or "default", as_text(name))] = None

    def add_pod(self, pod: Pod) -> None:
        """Add a pod that was already read."""
        self._pods[pod.key] = pod

    def update(self, other: ClusterBuilder) -> None:
        """Add everything that another builder collected; of two objects with one name the other's wins."""
        for kind, found in other._others.items():
            self._others[kind] = {**self._others[kind], **found}
        for name, collected in vars(self).items():
            if name != "_others":
                collected.update(getattr(other, name))

    def cluster(self) -> Cluster:
        """Return everything collected, nodes in the order of their names."""
        of = self._others
        named = {kind: {key.name: item for key, item in found.items()} for kind, found in of.items()}
        every = {kind: tuple(found.values()) for kind, found in of.items()}
        drivers = named["CSINode"]
        oldest_first = sorted(of["ControllerRevision"].items(), key=lambda item: (item[1][1].number, item[0]))
        by_object = grouped((item.about, item) for item in every["Event"]).items()
        return Cluster(
            nodes=tuple(sorted(every["Node"], key=lambda node: node.name)),
            pods=tuple(self._pods.values()),
            namespaces=named["Namespace"],
            owners=_without_circles(self._owners),
            services=every["Service"],
            owner_selectors=self._owner_selectors,
            budgets=every["PodDisruptionBudget"],
            storage=storage.Storage(
                of["PersistentVolumeClaim"],
                dict(sorted(named["PersistentVolume"].items())),
                named["StorageClass"],
                {node: {name: most for name, most in own.items() if most is not None} for node, own in drivers.items()},
                frozenset(name for name, spec in named["CSIDriver"].items() if spec.get("storageCapacity")),
                every["CSIStorageCapacity"],
                every["VolumeAttachment"],
                frozenset(named["CSIDriver"]).union(*drivers.values()),
                frozenset(name for name, spec in named["CSIDriver"].items() if spec.get("attachRequired") is False),
                has_claims=bool(of["PersistentVolumeClaim"])
                or not any(pod.node_name and volume.claim for pod in self._pods.values() for volume in pod.cls.volumes),
            ),
            gangs=of["PodGroup"],
            device_classes={resource: name for name, resource in named["DeviceClass"].items()},
            priority_classes={**Cluster(()).priority_classes, **named["PriorityClass"]},
            controllers=self._counted(),
            events={about: tuple(sorted(own, key=lambda item: item.last, reverse=True)) for about, own in by_object},
            limit_ranges=every["LimitRange"],
            quotas=every["ResourceQuota"],
            runtime_classes=named["RuntimeClass"],
            autoscalers=dict(every["HorizontalPodAutoscaler"]),
            revisions={key: tuple(found) for key, found in grouped(pair for _, pair in oldest_first).items()},
            undecodable=tuple(self._undecodable),
            provisioning={(kind, name): plain for kind in PROVISIONING for name, plain in named[kind].items()},
        )

    def _counted(self) -> dict[ObjectKey, Controller]:
        """Return the workloads; Jobs are about to count the pods that have ended and still have their finalizer.

        A pod that is being deleted counts as failed, unless the Job replaces only failed pods (isPodFailed).
        """
        found = dict(self._controllers)
        for pod in self._pods.values():
            key = pod.owner_key
            if key not in found or JOB_TRACKING not in pod.finalizers:
                continue
            progress = found[key].progress
            index = natural(pod.labels.get(JOB_INDEX, ""))
            if pod.phase == "Succeeded" and index not in progress.completed:
                completed = progress.completed if index is None else progress.completed | {index}
                progress = JobProgress(progress.succeeded + 1, progress.failed, completed)
            elif pod.phase == "Failed" or (
                pod.phase != "Succeeded" and pod.terminating and not found[key].waits_for_ends
            ):
                progress = progress._replace(failed=progress.failed + 1)
            found[key] = found[key]._replace(progress=progress)
        return found

    def _add_controller(self, key: ObjectKey, plain: Plain) -> None:
        spec, status = fields(plain, "spec"), fields(plain, "status")
        of_condition = ("type", "status", "reason", "message", "lastTransitionTime")
        conditions = mappings(status.get("conditions"))
        metadata = fields(plain, "metadata")
        annotations = fields(metadata, "annotations")
        self._controllers[key] = Controller(
            workload(plain, key.kind),
            tuple(Condition(*(item.get(field) or "" for field in of_condition)) for item in conditions),
            spec,
            constraint.labels(metadata),
            {name: text for name, text in annotations.items() if name in _OF_CONTROLLERS},
            annotations.get(_REVISION_NUMBER) or next((status[name] for name in REVISIONS if status.get(name)), ""),
            _progress(status) if key.kind == "Job" else JobProgress(),
        )
        owner = read.controller(metadata)
        if owner is not None:
            self._owners[key] = ObjectKey(owner.kind, key.namespace, owner.name)
        if key.kind in ("ReplicationController", "ReplicaSet", "StatefulSet"):
            self._owner_selectors[key] = controller_selector(self._controllers[key].workload)


def _without_circles(owners: dict[ObjectKey, ObjectKey]) -> dict[ObjectKey, ObjectKey]:
    """Return the owners of objects that do not own themselves, however indirectly."""
    found = {}
    for made, owner in owners.items():
        above, seen = owner, {made}
        while above not in seen:
            seen.add(above)
            above = owners.get(above, above)
        if above != made:
            found[made] = owner
    return found


def _progress(status: Plain) -> JobProgress:
    """Return the finished pods of a Job; completed indexes are written as `1,3-5`."""
    parts = (part.partition("-") for part in str(status.get("completedIndexes") or "").split(","))
    ranges = ((natural(first), natural(last or first)) for first, _, last in parts)
    indexes = (at for first, last in ranges if first is not None and last is not None for at in range(first, last + 1))
    completed = frozenset(itertools.islice(indexes, _MAX_INDEXES))
    return JobProgress(status.get("succeeded") or 0, status.get("failed") or 0, completed)


def cluster_of(objects: Iterable[Plain]) -> Cluster:
    """Return the cluster of some objects; all of them must decode."""
    assembler = ClusterBuilder()
    for plain in objects:
        assembler.add(plain)
    return assembler.cluster()


def autoscaler(plain: Plain) -> tuple[ObjectKey, Autoscaler]:
    """Return the range of a HorizontalPodAutoscaler, and the workload that it scales."""
    spec, (namespace, name) = fields(plain, "spec"), name_of(plain)
    target, least = fields(spec, "scaleTargetRef"), spec.get("minReplicas")
    key = ObjectKey(target.get("kind") or "", namespace, target.get("name") or "")
    return key, Autoscaler(name, 1 if least is None else int(least), int(spec.get("maxReplicas") or 0))


def _budget(plain: Plain) -> DisruptionBudget:
    spec, status = fields(plain, "spec"), fields(plain, "status")
    selector = constraint.label_selector(spec.get("selector"))
    namespace, name = name_of(plain)
    return DisruptionBudget(
        namespace,
        compile_selector(selector),
        int(status.get("disruptionsAllowed") or 0),
        frozenset(status.get("disruptedPods") or ()),
        name,
        min_available=_int_or_text(spec.get("minAvailable")),
        max_unavailable=_int_or_text(spec.get("maxUnavailable")),
        unhealthy_policy=as_text(spec.get("unhealthyPodEvictionPolicy")),
        selector_error="" if selector is None else selector_error(selector),
    )


# The readers of kinds; None is not stored.
_READERS: dict[str, Callable[[Plain], Any]] = {
    "Node": read.node,
    "Namespace": lambda plain: constraint.labels(fields(plain, "metadata")),
    "Service": lambda plain: Service(*name_of(plain), fields(plain, "spec").get("selector")),
    "PodDisruptionBudget": _budget,
    "Event": event,
    "PriorityClass": _priority_class,
    "PodGroup": _gang,
    "DeviceClass": lambda plain: fields(plain, "spec").get("extendedResourceName") or None,
    "LimitRange": admission.limit_range,
    "ResourceQuota": admission.quota,
    "HorizontalPodAutoscaler": autoscaler,
    "ControllerRevision": _revision_of,
    "RuntimeClass": admission.runtime_class,
    "PersistentVolumeClaim": storage.claim,
    "PersistentVolume": storage.volume,
    "StorageClass": storage.storage_class,
    "CSINode": storage.csi_drivers,
    "CSIDriver": lambda plain: fields(plain, "spec"),
    "CSIStorageCapacity": storage.capacity,
    "VolumeAttachment": lambda plain: (
        fields(plain, "spec").get("nodeName") or "",
        fields(plain, "spec", "source").get("persistentVolumeName") or "",
    ),
    **dict.fromkeys(PROVISIONING, lambda plain: plain),
}


def _int_or_text(value: Any) -> Union[int, str, None]:
    """Return a number or a text as it is, and as JSON what is neither, so that messages can name it."""
    return value if value is None or isinstance(value, str) or type(value) is int else json.dumps(value)


def stored_workload(owner: Workload, cluster: Cluster, minor: int) -> Workload:
    """Return the workload as its pods are created: what admission adds, without the fields that a release drops."""
    admitted = admitted_workload(owner, cluster)
    spec = field_versions.stored_spec(admitted.pod_spec, minor).spec
    return admitted._replace(template={**admitted.template, "spec": spec})


def admitted_workload(owner: Workload, cluster: Cluster) -> Workload:
    """Return the workload with the fields that the admission plugins LimitRanger, Priority and RuntimeClass add.

    Source: pkg/kubeapiserver/options/plugins.go, AllOrderedPlugins (v1.36.2).
    """
    spec = owner.pod_spec
    ranges = limit_ranges(owner.namespace, cluster)
    changed = admission.with_limits(spec, ranges) if ranges else spec
    changed = admission.with_runtime_class(_with_priority(changed, cluster), cluster.runtime_classes)
    return owner if changed is spec else owner._replace(template={**owner.template, "spec": changed})


def limit_ranges(namespace: str, cluster: Cluster) -> tuple[LimitRange, ...]:
    """Return the LimitRanges of a namespace, in the order of their names."""
    found = [item for item in cluster.limit_ranges if item.namespace == namespace]
    return tuple(sorted(found, key=lambda item: item.name))


def _with_priority(spec: Plain, cluster: Cluster) -> Plain:
    """Return a pod's spec with the priority of its class.

    Source: plugin/pkg/admission/priority/admission.go, admitPod (v1.36.2).
    """
    classes = cluster.priority_classes
    name = spec.get("priorityClassName") or ""
    defaults = [item for item in classes.values() if item.is_default]
    found = classes.get(name) if name else min(defaults, default=None)  # of several the lowest
    if found is None or spec.get("priority") is not None:
        return spec
    policy = {"preemptionPolicy": found.preemption_policy} if found.preemption_policy else {}
    return {**policy, **spec, "priority": found.value}


Named = TypeVar("Named", LimitRange, Quota, Service, DisruptionBudget)


# Kinds in manifests that are applied besides workloads; cluster-scoped kinds second.
_NAMESPACED = (
    "PersistentVolumeClaim",
    "Service",
    "PodDisruptionBudget",
    "LimitRange",
    "ResourceQuota",
    "HorizontalPodAutoscaler",
    "PodGroup",
)
CLUSTER_WIDE_KINDS = (
    *("PersistentVolume", "StorageClass", "PriorityClass", "RuntimeClass", "Namespace"),
    *PROVISIONING,
)
APPLIED_KINDS = (*_NAMESPACED, *CLUSTER_WIDE_KINDS)
_BY_NAME = ("priority_classes", "gangs", "runtime_classes", "autoscalers", "provisioning")  # fields of a cluster


def add_objects(cluster: Cluster, objects: Iterable[Plain], namespace: str) -> Cluster:
    """Return the cluster with more objects, all of which must decode and be of `APPLIED_KINDS`.

    An existing claim, volume, budget or quota stays as it is, because it has a status. Other existing objects are
    replaced.

    Args:
        cluster: before the objects are applied.
        objects: in the order they are applied.
        namespace: of objects that name none.
    """
    added = []
    for plain in objects:
        metadata = fields(plain, "metadata")
        is_complete = plain.get("kind") not in _NAMESPACED or metadata.get("namespace")
        added.append(plain if is_complete else {**plain, "metadata": {**metadata, "namespace": namespace}})
    extra = cluster_of(added)
    budgets = tuple(budget._replace(disruptions_allowed=_allowed(budget, cluster)) for budget in extra.budgets)
    known = _by_name(cluster.budgets)
    named: dict[str, Any] = {field: {**getattr(cluster, field), **getattr(extra, field)} for field in _BY_NAME}
    return cluster._replace(
        **named,
        services=tuple({**_by_name(cluster.services), **_by_name(extra.services)}.values()),
        # The API server adds a label to namespaces. Labels that a manifest leaves out stay.
        namespaces=cluster.namespaces
        | {
            name: {**cluster.namespaces.get(name, {}), NAMESPACE_NAME: name, **labels}
            for name, labels in extra.namespaces.items()
        },
        budgets=(*cluster.budgets, *(item for key, item in _by_name(budgets).items() if key not in known)),
        storage=_storage(cluster.storage, extra.storage),
        limit_ranges=tuple({**_by_name(cluster.limit_ranges), **_by_name(extra.limit_ranges)}.values()),
        quotas=tuple({**_by_name(extra.quotas), **_by_name(cluster.quotas)}.values()),
    )


def _by_name(items: tuple[Named, ...]) -> dict[tuple[str, str], Named]:
    return {(item.namespace, item.name): item for item in items}


def _storage(own: Storage, extra: Storage) -> Storage:
    """Return storage with new claims, which are not bound yet, and volumes, which are available at once."""
    both = own._replace(classes={**own.classes, **extra.classes})
    volumes = {
        name: volume._replace(is_available=volume.is_available or volume.claim is None)
        for name, volume in extra.volumes.items()
    }
    every = {**volumes, **own.volumes}
    claims = {
        key: both.admitted(claim)._replace(is_new=True, is_bind_completed=claim.volume_name in every)
        for key, claim in extra.claims.items()
    }
    return both._replace(claims={**claims, **own.claims}, volumes=dict(sorted(every.items())))


def _allowed(budget: DisruptionBudget, cluster: Cluster) -> int:
    """Return how many evictions a budget allows if every running pod is healthy.

    Source: pkg/controller/disruption/disruption.go, getExpectedPodCount (v1.36.2).
    """
    running = [pod for pod in cluster.bound_pods() if pod.namespace == budget.namespace and not pod.terminating]
    healthy = sum(budget.selector.matches(pod.labels) for pod in running)
    # What is neither a number nor a percentage counts as 0.
    if budget.max_unavailable is not None:
        return min(healthy, scaled_value(budget.max_unavailable, healthy, round_up=True) or 0)
    if budget.min_available is not None:
        return max(0, healthy - (scaled_value(budget.min_available, healthy, round_up=True) or 0))
    return 0
