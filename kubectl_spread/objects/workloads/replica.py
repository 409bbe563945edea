"""The pods that controllers make of workloads, as the API server would store them."""

from __future__ import annotations

from kubectl_spread.objects.constraints import constraint
from kubectl_spread.objects.node import DEFAULT_TOLERATIONS
from kubectl_spread.objects.pod import Owner, Pod
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.reading.plain import fields, Plain
from kubectl_spread.objects.selectors import compile_selector, LabelRequirement, Selector
from kubectl_spread.objects.workloads.workload import (
    claim_names,
    created_labels,
    deployer_name,
    knative_revision,
    POD_TEMPLATE_HASH,
    replica_name,
    REVISION_LABEL_OF,
    Workload,
)

# Kinds with a ReplicaSet per revision, and the label that identifies the revision.
_BY_REPLICA_SET = {
    "Deployment": POD_TEMPLATE_HASH,
    "Rollout": REVISION_LABEL_OF["Rollout"],
    "Service": POD_TEMPLATE_HASH,
}

# Tolerations that the DaemonSet controller adds to its pods (daemon/util, AddOrUpdateDaemonPodTolerations).
_DAEMON_TOLERATIONS: tuple[Plain, ...] = tuple(
    {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": effect}
    for key, effect in (
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    )
)
_HOST_NETWORK_TOLERATION: Plain = {
    "key": "node.kubernetes.io/network-unavailable",
    "operator": "Exists",
    "effect": "NoSchedule",
}


def replica(owner: Workload, ordinal: int) -> Pod:
    """Return the pod that a workload's controller would create, as the API server would store it."""
    name = replica_name(owner, ordinal)
    plain = _pod(owner, name, created_labels(owner, ordinal))
    if owner.claim_templates:
        claims = [{"persistentVolumeClaim": {"claimName": claim}} for claim in claim_names(owner, name)]
        plain["spec"] = {**plain["spec"], "volumes": [*(plain["spec"].get("volumes") or ()), *claims]}
    return _created(read.pod(plain))


def controller_of(owner: Workload) -> Owner:
    """Return the controller of a workload's pods: often an object that the workload creates."""
    if owner.kind in _BY_REPLICA_SET and not owner.is_foreign:
        return Owner("apps/v1", "ReplicaSet", f"{owner.name}-{owner.revision_hash}")
    if owner.kind == "DeploymentConfig":
        return Owner("v1", "ReplicationController", deployer_name(owner))
    if owner.kind == "LeaderWorkerSet":
        return Owner("apps/v1", "StatefulSet", owner.name)
    return Owner(owner.api_version, owner.kind, owner.name)


def controller_selector(owner: Workload) -> Selector:
    """Return the selector of the pods' controller; a controller per revision selects its own revision."""
    written = owner.selector
    if owner.kind == "ReplicationController":
        written = {"matchLabels": written}
    elif owner.kind == "DeploymentConfig":
        written = {"matchLabels": {**(written or {}), "deployment": deployer_name(owner)}}
    elif owner.kind == "Service":  # its pods carry the UID of the revision; here the name takes its place
        written = {"matchLabels": {"serving.knative.dev/revisionUID": knative_revision(owner)}}
    selector = compile_selector(constraint.label_selector(written))
    label = _BY_REPLICA_SET.get(owner.kind)
    return selector.plus(LabelRequirement(label, "In", (created_labels(owner).get(label, ""),))) if label else selector


def daemon(owner: Workload, node: str) -> Pod:
    """Return the pod of a DaemonSet for one node, pinned to it by node affinity.

    Source: pkg/controller/daemon/util/daemonset_util.go, ReplaceDaemonSetPodNodeNameNodeAffinity (v1.36.2).
    """
    plain = _pod(owner, f"{owner.name}-{node}", created_labels(owner))
    spec = plain["spec"] = dict(plain["spec"])
    spec["tolerations"] = [*(spec.get("tolerations") or ()), *_DAEMON_TOLERATIONS]
    if spec.get("hostNetwork"):
        spec["tolerations"].append(_HOST_NETWORK_TOLERATION)
    affinity = spec["affinity"] = dict(fields(spec, "affinity"))
    pinned = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
    affinity["nodeAffinity"] = {
        **fields(affinity, "nodeAffinity"),
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": pinned},
    }
    return _created(read.pod(plain))


def _created(pod: Pod) -> Pod:
    """Add the tolerations of the DefaultTolerationSeconds admission plugin."""
    tolerations = pod.cls.tolerations
    missing = tuple(
        default
        for default in DEFAULT_TOLERATIONS
        if not any(own.key in ("", default.key) and own.effect in ("", default.effect) for own in tolerations)
    )
    return pod._replace(cls=pod.cls._replace(tolerations=tolerations + missing))


def _pod(owner: Workload, name: str, labels: dict[str, str]) -> Plain:
    metadata: Plain = {"name": name, "namespace": owner.namespace, "labels": labels}
    if owner.kind not in ("Pod", "PodTemplate"):
        api_version, kind, controller = controller_of(owner)
        reference = {"apiVersion": api_version, "kind": kind, "name": controller, "controller": True}
        metadata["ownerReferences"] = [reference]
    return {"metadata": metadata, "spec": owner.pod_spec}
