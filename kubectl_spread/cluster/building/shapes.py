"""Decode tables: each kind that cluster facts are made of, with the fields that are read."""

from __future__ import annotations

from typing import Any

from kubectl_spread.objects.reading import decode, read, workload_shape
from kubectl_spread.objects.workloads.kinds import KINDS

Plain = dict[str, Any]

_STRING, _INT32 = decode.Atom.STRING, decode.Atom.INT32


def _phase(kind: str) -> decode.Struct:
    """Return the status of a claim or a volume: a wrong type drops this object, and no other."""
    return decode.Struct(f"{kind}Status", {"phase": _STRING})


def _with_spec(kind: str, fields: dict[str, Any], **others: Any) -> decode.Struct:
    """Return a kind with metadata, a spec of some fields, and other fields such as a status."""
    spec = decode.Struct(f"{kind}Spec", fields)
    return decode.Struct(kind, {"metadata": decode.OBJECT_META, "spec": spec, **others})


_STRING_MAP = decode.MapOf(_STRING)
_STRINGS = decode.ListOf(_STRING)
_SELECTED_BY_LABELS = {"selector": decode.LABEL_SELECTOR}
_CONDITIONS = decode.ListOf(
    decode.Struct("Condition", dict.fromkeys(("type", "status", "reason", "message", "lastTransitionTime"), _STRING))
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
    selector: dict[str, Any] = {} if kind in ("Job", "CronJob") else _SELECTED_BY_LABELS
    if kind in ("ReplicationController", "DeploymentConfig"):
        selector = {"selector": _STRING_MAP}
    fields = {**spec.fields, **selector}
    progress = {**dict.fromkeys(("succeeded", "failed"), _INT32), "completedIndexes": _STRING}
    fields_of_status = {"conditions": _CONDITIONS, **dict.fromkeys(REVISIONS, _STRING)}
    status = decode.Struct(f"{kind}Status", {**fields_of_status, **(progress if kind == "Job" else {})})
    return shape._replace(fields={**shape.fields, "spec": spec._replace(fields=fields), "status": status})


# Kinds with pods that cluster facts may hold. (Service is the core one.)
CONTROLLERS = tuple(kind for kind in KINDS if kind not in ("Pod", "PodTemplate", "Service"))
_OBJECT_REFERENCE = decode.Struct("ObjectReference", dict.fromkeys(("kind", "namespace", "name"), _STRING))
_EVENT = decode.Struct(
    "Event",
    {
        "metadata": decode.OBJECT_META,
        **dict.fromkeys(("involvedObject", "regarding"), _OBJECT_REFERENCE),
        **dict.fromkeys(("reason", "message", "note", "type", "eventTime", "lastTimestamp", "firstTimestamp"), _STRING),
        **dict.fromkeys(("deprecatedLastTimestamp", "reportingComponent", "reportingController"), _STRING),
        **dict.fromkeys(("count", "deprecatedCount"), _INT32),
        "series": decode.Struct("EventSeries", {"count": _INT32, "lastObservedTime": _STRING}),
        **dict.fromkeys(("source", "deprecatedSource"), decode.Struct("EventSource", {"component": _STRING})),
    },
)

_REVISION = decode.Struct(
    "ControllerRevision",
    {
        "metadata": decode.OBJECT_META,
        "revision": decode.Atom.INT64,
        "data": decode.Struct("Data", {"spec": decode.Struct("DataSpec", {"template": decode.POD_TEMPLATE_SPEC})}),
    },
)
_QUANTITIES = decode.MapOf(decode.Atom.QUANTITY)
_LIMIT = decode.Struct(
    "LimitRangeItem",
    {
        "type": _STRING,
        **dict.fromkeys(("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"), _QUANTITIES),
    },
)

_TAINTS = decode.ListOf(decode.Struct("Taint", dict.fromkeys(("key", "value", "effect"), _STRING)))
_CLASS_REFERENCE = decode.Struct("NodeClassReference", dict.fromkeys(("group", "apiVersion", "kind", "name"), _STRING))
ASKED_LABEL = decode.Struct(
    "NodeSelectorRequirementWithMinValues",
    {"key": _STRING, "operator": _STRING, "values": _STRINGS, "minValues": _INT32},
)
_OF_NODE_CLAIM: dict[str, Any] = {
    "requirements": decode.ListOf(ASKED_LABEL),
    **dict.fromkeys(("taints", "startupTaints"), _TAINTS),
    "nodeClassRef": _CLASS_REFERENCE,
}
_OF_NODE_POOL: dict[str, Any] = {
    "template": decode.Struct(
        "NodeClaimTemplate",
        {
            "metadata": decode.Struct("NodeClaimTemplateMeta", {"labels": _STRING_MAP}),
            "spec": decode.Struct("NodeClaimSpec", _OF_NODE_CLAIM),
        },
    ),
    "limits": _QUANTITIES,
    "weight": _INT32,
    "replicas": decode.Atom.INT64,
}
# What Karpenter makes nodes from. (The class is the one whose status names zones.)
PROVISIONING: dict[str, decode.Struct] = {
    "NodePool": _with_spec(
        "NodePool", _OF_NODE_POOL, status=decode.Struct("NodePoolStatus", {"conditions": _CONDITIONS})
    ),
    "NodeClaim": _with_spec(
        "NodeClaim",
        _OF_NODE_CLAIM,
        status=decode.Struct(
            "NodeClaimStatus",
            {
                **dict.fromkeys(("providerID", "nodeName"), _STRING),
                **dict.fromkeys(("capacity", "allocatable"), _QUANTITIES),
                "conditions": _CONDITIONS,
            },
        ),
    ),
    "EC2NodeClass": decode.Struct(
        "EC2NodeClass",
        {
            "metadata": decode.OBJECT_META,
            "status": decode.Struct(
                "EC2NodeClassStatus", {"subnets": decode.ListOf(decode.Struct("Subnet", {"zone": _STRING}))}
            ),
        },
    ),
}

# Every kind that is read, with the fields that must decode.
SHAPES: dict[str, decode.Struct] = {
    "Node": decode.NODE,
    "Pod": decode.POD,
    "Namespace": decode.Struct("Namespace", {"metadata": decode.OBJECT_META}),
    "Service": _with_spec("Service", {"selector": _STRING_MAP}),
    **{kind: _controller(kind) for kind in CONTROLLERS},
    "Event": _EVENT,
    "ControllerRevision": _REVISION,
    "PersistentVolumeClaim": decode.Struct(
        "PersistentVolumeClaim",
        {"metadata": decode.OBJECT_META, "spec": decode.CLAIM_SPEC, "status": _phase("PersistentVolumeClaim")},
    ),
    "PersistentVolume": _with_spec(
        "PersistentVolume",
        {
            "storageClassName": _STRING,
            "volumeMode": _STRING,
            "accessModes": _STRINGS,
            "capacity": decode.MapOf(decode.Atom.QUANTITY),
            "claimRef": decode.Struct("ObjectReference", {"namespace": _STRING, "name": _STRING}),
            **decode.IN_TREE_DISKS,
            "csi": decode.Struct("CSIPersistentVolumeSource", {"driver": _STRING, "volumeHandle": _STRING}),
            "nodeAffinity": decode.Struct("VolumeNodeAffinity", {"required": decode.NODE_SELECTOR}),
        },
        status=_phase("PersistentVolume"),
    ),
    "StorageClass": decode.Struct(
        "StorageClass",
        {
            "metadata": decode.OBJECT_META,
            "provisioner": _STRING,
            "volumeBindingMode": _STRING,
            "allowedTopologies": decode.ListOf(
                decode.Struct(
                    "TopologySelectorTerm",
                    {
                        "matchLabelExpressions": decode.ListOf(
                            decode.Struct(
                                "TopologySelectorLabelRequirement",
                                {"key": _STRING, "values": _STRINGS},
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
                        "name": _STRING,
                        "allocatable": decode.Struct("VolumeNodeResources", {"count": _INT32}),
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
            "storageClassName": _STRING,
            "nodeTopology": decode.LABEL_SELECTOR,
            "capacity": decode.Atom.QUANTITY,
            "maximumVolumeSize": decode.Atom.QUANTITY,
        },
    ),
    "VolumeAttachment": _with_spec(
        "VolumeAttachment",
        {
            "nodeName": _STRING,
            "source": decode.Struct("VolumeAttachmentSource", {"persistentVolumeName": _STRING}),
        },
    ),
    "PriorityClass": decode.Struct(
        "PriorityClass",
        {
            "metadata": decode.OBJECT_META,
            "value": _INT32,
            "globalDefault": decode.Atom.BOOL,
            "preemptionPolicy": _STRING,
        },
    ),
    "HorizontalPodAutoscaler": _with_spec(
        "HorizontalPodAutoscaler",
        {
            "minReplicas": _INT32,
            "maxReplicas": _INT32,
            "scaleTargetRef": decode.Struct(
                "CrossVersionObjectReference", dict.fromkeys(("apiVersion", "kind", "name"), _STRING)
            ),
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
                                        "scopeName": _STRING,
                                        "operator": _STRING,
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
    "PodGroup": _with_spec(
        "PodGroup",
        {
            "schedulingPolicy": decode.Struct(
                "PodGroupSchedulingPolicy", {"gang": decode.Struct("GangSchedulingPolicy", {"minCount": _INT32})}
            )
        },
    ),
    "DeviceClass": _with_spec("DeviceClass", {"extendedResourceName": _STRING}),
    **PROVISIONING,
    "PodDisruptionBudget": decode.Struct(
        "PodDisruptionBudget",
        {
            "metadata": decode.OBJECT_META,
            "spec": decode.Struct("PodDisruptionBudgetSpec", _SELECTED_BY_LABELS),
            "status": decode.Struct(
                "PodDisruptionBudgetStatus",
                {"disruptionsAllowed": _INT32, "disruptedPods": decode.MapOf(decode.Atom.ANY)},
            ),
        },
    ),
}


def is_of_another_group(plain: Plain) -> bool:
    """Return whether a kind is not meant: a Knative Service has a pod template, other projects have NodePools, too."""
    kind, version = plain.get("kind"), str(plain.get("apiVersion") or "")
    if kind in ("NodePool", "NodeClaim"):
        return not version.startswith("karpenter.sh/")
    return kind == "Service" and "/" in version
