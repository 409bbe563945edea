"""Decode tables: each kind that cluster facts are made of, with the fields that are read; and pruning by these tables.

A pruned object keeps the fields that this program reads, and no others. Environment, arguments, commands, mounts and
images' contents are in no table. Only the annotations named here are kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Optional

from kubectl_spread.objects.reading import decode, read
from kubectl_spread.objects.reading.plain import fields, name_of, Plain
from kubectl_spread.objects.workloads.kinds import KINDS

PARTS = {
    **decode.TYPES,
    **decode.types(
        """\
Condition: type, status, reason, message, lastTransitionTime string
ServiceSpec: selector map[string]string
ObjectReference: kind, namespace, name string
EventSeries: count int32; lastObservedTime string
EventSource: component string
DataSpec: template PodTemplateSpec
Data: spec DataSpec
PersistentVolumeClaimStatus: phase string
ObjectReference/Claim: namespace, name string
CSIPersistentVolumeSource: driver, volumeHandle string
VolumeNodeAffinity: required NodeSelector
PersistentVolumeSpec: storageClassName, volumeMode string; accessModes []string;
  capacity map[string]resource.Quantity; claimRef ObjectReference/Claim;
  gcePersistentDisk GCEPersistentDiskVolumeSource; awsElasticBlockStore AWSElasticBlockStoreVolumeSource;
  azureDisk AzureDiskVolumeSource; cinder CinderVolumeSource; csi CSIPersistentVolumeSource;
  nodeAffinity VolumeNodeAffinity
PersistentVolumeStatus: phase string
TopologySelectorLabelRequirement: key string; values []string
TopologySelectorTerm: matchLabelExpressions []TopologySelectorLabelRequirement
VolumeNodeResources: count int32
CSINodeDriver: name string; allocatable VolumeNodeResources
CSINodeSpec: drivers []CSINodeDriver
CSIDriverSpec: storageCapacity, attachRequired bool
VolumeAttachmentSource: persistentVolumeName string
VolumeAttachmentSpec: nodeName string; source VolumeAttachmentSource
CrossVersionObjectReference: apiVersion, kind, name string
HorizontalPodAutoscalerSpec: minReplicas pods; maxReplicas int32; scaleTargetRef CrossVersionObjectReference
LimitRangeItem: type string; max, min, default, defaultRequest, maxLimitRequestRatio map[string]resource.Quantity
LimitRangeSpec: limits []LimitRangeItem
ScopedResourceSelectorRequirement: scopeName, operator string; values []string
ScopeSelector: matchExpressions []ScopedResourceSelectorRequirement
ResourceQuotaSpec: hard map[string]resource.Quantity; scopes []string; scopeSelector ScopeSelector
ResourceQuotaStatus: used map[string]resource.Quantity
Overhead: podFixed map[string]resource.Quantity
Scheduling: nodeSelector map[string]string; tolerations []Toleration
GangSchedulingPolicy: minCount int32
PodGroupSchedulingPolicy: gang GangSchedulingPolicy
PodGroupSpec: schedulingPolicy PodGroupSchedulingPolicy
DeviceClassSpec: extendedResourceName string
NodeClaimTemplateMeta: labels map[string]string
NodeSelectorRequirementWithMinValues: key, operator string; values []string; minValues int32
NodeClassReference: group, apiVersion, kind, name string
NodeClaimSpec: requirements []NodeSelectorRequirementWithMinValues; taints, startupTaints []Taint;
  nodeClassRef NodeClassReference
NodeClaimTemplate: metadata NodeClaimTemplateMeta; spec NodeClaimSpec
NodePoolSpec: template NodeClaimTemplate; limits map[string]resource.Quantity; weight int32; replicas int64
NodePoolStatus: conditions []Condition
NodeClaimStatus: providerID, nodeName string; capacity, allocatable map[string]resource.Quantity;
  conditions []Condition
Subnet: zone string
EC2NodeClassStatus: subnets []Subnet
PodDisruptionBudgetSpec: selector LabelSelector
PodDisruptionBudgetStatus: disruptionsAllowed int32; disruptedPods map[string]any
WorkloadStatus: conditions []Condition; updateRevision, currentPodHash string
JobStatus: conditions []Condition; updateRevision, currentPodHash string; succeeded, failed int32;
  completedIndexes string
""",
        decode.TYPES,
    ),
}
# What Karpenter makes nodes from. (The class is the one whose status names zones.)
PROVISIONING = decode.types(
    """\
NodePool: metadata ObjectMeta; spec NodePoolSpec; status NodePoolStatus
NodeClaim: metadata ObjectMeta; spec NodeClaimSpec; status NodeClaimStatus
EC2NodeClass: metadata ObjectMeta; status EC2NodeClassStatus
""",
    PARTS,
)
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"  # of workloads, as JSON
# The other annotations that this program reads.
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
REVISIONS = ("updateRevision", "currentPodHash")  # of StatefulSets and their like, and of Argo's Rollouts


def _controller(kind: str) -> decode.Struct:
    """Return the fields of a workload: pod template, selector and conditions."""
    shape = decode.type_of_kind(KINDS[kind])
    spec = shape.fields["spec"]
    selector = {} if kind in ("Job", "CronJob") else {"selector": decode.LABEL_SELECTOR}
    if kind in ("ReplicationController", "DeploymentConfig"):
        selector = PARTS["ServiceSpec"].fields
    status = PARTS["JobStatus" if kind == "Job" else "WorkloadStatus"]._replace(name=f"{kind}Status")
    counts = {name: decode.Atom.PODS for name in ("replicas", "parallelism") if name in spec.fields}
    spec = spec._replace(fields={**spec.fields, **counts, **selector})
    return shape._replace(fields={**shape.fields, "spec": spec, "status": status})


# Kinds with pods that cluster facts may hold. (Service is the core one.)
CONTROLLERS = tuple(kind for kind in KINDS if kind not in ("Pod", "PodTemplate", "Service"))
# Every kind that is read, with the fields that must decode.
SHAPES: dict[str, decode.Struct] = {
    "Node": decode.NODE,
    "Pod": decode.POD,
    **{kind: _controller(kind) for kind in CONTROLLERS},
    **PROVISIONING,
    **decode.types(
        """\
Namespace: metadata ObjectMeta
Service: metadata ObjectMeta; spec ServiceSpec
Event: metadata ObjectMeta; involvedObject, regarding ObjectReference;
  reason, message, note, type, eventTime, lastTimestamp, firstTimestamp string;
  deprecatedLastTimestamp, reportingComponent, reportingController string;
  count, deprecatedCount int32; series EventSeries; source, deprecatedSource EventSource
ControllerRevision: metadata ObjectMeta; revision int64; data Data
PersistentVolumeClaim: metadata ObjectMeta; spec PersistentVolumeClaimSpec; status PersistentVolumeClaimStatus
PersistentVolume: metadata ObjectMeta; spec PersistentVolumeSpec; status PersistentVolumeStatus
StorageClass: metadata ObjectMeta; provisioner, volumeBindingMode string; allowedTopologies []TopologySelectorTerm
CSINode: metadata ObjectMeta; spec CSINodeSpec
CSIDriver: metadata ObjectMeta; spec CSIDriverSpec
CSIStorageCapacity: metadata ObjectMeta; storageClassName string; nodeTopology LabelSelector;
  capacity, maximumVolumeSize resource.Quantity
VolumeAttachment: metadata ObjectMeta; spec VolumeAttachmentSpec
PriorityClass: metadata ObjectMeta; value int32; globalDefault bool; preemptionPolicy string
HorizontalPodAutoscaler: metadata ObjectMeta; spec HorizontalPodAutoscalerSpec
LimitRange: metadata ObjectMeta; spec LimitRangeSpec
ResourceQuota: metadata ObjectMeta; spec ResourceQuotaSpec; status ResourceQuotaStatus
RuntimeClass: metadata ObjectMeta; overhead Overhead; scheduling Scheduling
PodGroup: metadata ObjectMeta; spec PodGroupSpec
DeviceClass: metadata ObjectMeta; spec DeviceClassSpec
PodDisruptionBudget: metadata ObjectMeta; spec PodDisruptionBudgetSpec; status PodDisruptionBudgetStatus
""",
        PARTS,
    ),
}


def is_of_another_group(plain: Plain) -> bool:
    """Return whether a kind is not meant: a Knative Service has a pod template, other projects have NodePools, too."""
    kind, version = plain.get("kind"), str(plain.get("apiVersion") or "")
    if kind in ("NodePool", "NodeClaim"):
        return not version.startswith("karpenter.sh/")
    return kind == "Service" and "/" in version


# What `prune_object` keeps on top of `SHAPES`: fields that are ignored if they do not decode, or whose presence alone
# matters, by Go type.
_EXTRA = decode.types(
    """\
ObjectMeta: creationTimestamp, deletionTimestamp string; finalizers []string
PodCondition: lastTransitionTime string
PodSpec: terminationGracePeriodSeconds int64
ObjectReference: uid string
VolumeStatus: phase string
PersistentVolumeClaim: status VolumeStatus
PodDisruptionBudgetSpec: minAvailable, maxUnavailable, unhealthyPodEvictionPolicy any
RollingUpdate: maxSurge, maxUnavailable, partition any
Strategy: type string; rollingUpdate RollingUpdate
Controller: strategy, updateStrategy Strategy; podManagementPolicy string; paused bool;
  minReadySeconds, revisionHistoryLimit int32
PodFailurePolicyOnPodConditionsPattern: type, status string
PodFailurePolicyRule: action string; onPodConditions []PodFailurePolicyOnPodConditionsPattern
PodFailurePolicy: rules []PodFailurePolicyRule
JobSpec: backoffLimit, backoffLimitPerIndex int32; podReplacementPolicy string; podFailurePolicy PodFailurePolicy
"""
)
_SPECS = tuple(f"{kind}Spec" for kind in CONTROLLERS)
# Looked at only for being there.
_THERE = {("PodDisruptionBudgetStatus", "disruptedPods"), ("PodSpec", "resourceClaims")}


def prune_object(plain: Plain) -> Optional[Plain]:
    """Return an object without the fields that are not read; None for a kind that is not read. It must decode."""
    shape = SHAPES.get(str(plain.get("kind")))
    if shape is None or is_of_another_group(plain):
        return None
    found = _kept(plain, shape)
    if isinstance(found, dict) and plain["kind"] in CONTROLLERS:
        _add_last_applied(found, plain)
    named: Plain = {field: plain[field] for field in ("apiVersion", "kind") if isinstance(plain.get(field), str)}
    return {**named, **found} if isinstance(found, dict) else None


def _add_last_applied(found: Plain, plain: Plain) -> None:
    """Add the manifest that was applied last, without the fields that are not read."""
    annotations = fields(plain, "metadata", "annotations")
    try:
        applied = json.loads(annotations.get(LAST_APPLIED) or "null")
    except ValueError:
        return
    if (
        isinstance(applied, dict)
        and applied.get("kind") == plain["kind"]
        and decode.decodes(applied, SHAPES[plain["kind"]])
    ):
        text = json.dumps(prune_object(applied), separators=(",", ":"), sort_keys=True)
        found["metadata"].setdefault("annotations", {})[LAST_APPLIED] = text


def fields_of(struct: decode.Struct) -> dict[str, decode.Shape]:
    """Return the fields that are kept of a Go type."""
    extra = _EXTRA[struct.name].fields if struct.name in _EXTRA else {}
    return {**(_EXTRA["Controller"].fields if struct.name in _SPECS else {}), **extra, **struct.fields}


def _kept(value: Any, shape: decode.Shape) -> Any:
    if isinstance(shape, decode.ListOf):
        return [_kept(item, shape.item) for item in value] if isinstance(value, list) else None
    if not isinstance(shape, decode.Struct):
        return value
    if not isinstance(value, dict):
        return None
    fields = fields_of(shape)
    found: Plain = {}
    for key, item in value.items():
        if key in fields and item is not None:
            found[key] = _there(item) if (shape.name, key) in _THERE else _kept(item, fields[key])
    if shape.name == "ObjectMeta" and "annotations" in found:
        found["annotations"] = {key: text for key, text in found["annotations"].items() if key in ANNOTATIONS}
        if not found["annotations"]:
            del found["annotations"]
    return found


def _there(value: Any) -> Any:
    """Return the keys of a mapping without their values, or an empty mapping for each item of a list."""
    if isinstance(value, dict):
        return dict.fromkeys(value)
    return [{} for _ in value] if isinstance(value, list) else None


def drop_idle_events(objects: Iterable[Plain]) -> Iterator[Plain]:
    """Keep only the events of pods without a node, of unbound claims, and of pods that were not created."""
    every = list(objects)
    awaited = {"Pod": "nodeName", "PersistentVolumeClaim": "volumeName"}  # by kind
    waiting = {
        (kind, *name_of(plain))
        for plain in every
        if (kind := plain.get("kind")) in awaited and not fields(plain, "spec").get(awaited[kind])
    }
    for plain in every:
        about = plain.get("involvedObject") or fields(plain, "regarding")
        if plain.get("kind") != "Event":
            yield plain
        elif about.get("kind") in awaited:
            if (about["kind"], about.get("namespace") or "default", about.get("name") or "") in waiting:
                yield plain
        elif str(plain.get("reason") or "").startswith("Failed"):
            yield plain
