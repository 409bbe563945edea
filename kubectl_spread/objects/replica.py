"""The pods that controllers make of workloads, as the API server would store them."""

from __future__ import annotations

from typing import Any

from kubectl_spread.objects import read
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.taints import DEFAULT_TOLERATIONS
from kubectl_spread.objects.workload import created_labels
from kubectl_spread.objects.workload import replica_name
from kubectl_spread.objects.workload import Workload

Plain = dict[str, Any]

# What the DaemonSet controller lets its pods tolerate (daemon/util, AddOrUpdateDaemonPodTolerations).
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
    """The pod that a workload's controller would create, as the API server would store it."""
    return _created(read.pod(_pod(owner, replica_name(owner, ordinal), created_labels(owner, ordinal))))


def daemon(owner: Workload, node: str) -> Pod:
    """The pod of a DaemonSet for one node, pinned to it by node affinity.

    Source: pkg/controller/daemon/util/daemonset_util.go, ReplaceDaemonSetPodNodeNameNodeAffinity (v1.36.2).
    """
    plain = _pod(owner, f"{owner.name}-{node}", created_labels(owner))
    spec = plain["spec"] = dict(plain["spec"])
    spec["tolerations"] = [*(spec.get("tolerations") or ()), *_DAEMON_TOLERATIONS]
    if spec.get("hostNetwork"):
        spec["tolerations"].append(_HOST_NETWORK_TOLERATION)
    affinity = spec["affinity"] = dict(spec.get("affinity") or {})
    pinned = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
    affinity["nodeAffinity"] = {
        **(affinity.get("nodeAffinity") or {}),
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": pinned},
    }
    return _created(read.pod(plain))


def _created(pod: Pod) -> Pod:
    """Add what the DefaultTolerationSeconds admission plugin adds."""
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
        reference = {"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name, "controller": True}
        metadata["ownerReferences"] = [reference]
    return {"metadata": metadata, "spec": owner.template.get("spec") or {}}
