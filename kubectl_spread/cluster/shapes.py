"""Decode tables: each kind that cluster facts are made of, with the fields that are read."""

from __future__ import annotations

from kubectl_spread.objects.reading import decode, read, workload_shape
from kubectl_spread.objects.reading.plain import Plain
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
    shape = workload_shape.type_of_kind(KINDS[kind])
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
