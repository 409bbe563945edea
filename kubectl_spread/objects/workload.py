"""Kinds that carry a pod template, and the pods a controller makes of it."""

from __future__ import annotations

import json
import zlib
from typing import Any
from typing import NamedTuple
from typing import Optional

from kubectl_spread.objects import read
from kubectl_spread.objects.labels import WELL_KNOWN
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.taints import DEFAULT_TOLERATIONS
from kubectl_spread.text.node import Route

Plain = dict[str, Any]


class WorkloadKind(NamedTuple):
    """Where a kind keeps its pod template, and what kubectl calls it.

    `template` leads to the object that has `metadata` and `spec` of the pod; () for a Pod itself.
    """

    groups: frozenset[str]
    template: Route
    names: tuple[str, ...]


_APPS = frozenset({"apps", "extensions"})
_CORE = frozenset({""})
_BATCH = frozenset({"batch"})

KINDS: dict[str, WorkloadKind] = {
    "Pod": WorkloadKind(_CORE, (), ("pod", "pods", "po")),
    "PodTemplate": WorkloadKind(_CORE, ("template",), ("podtemplate", "podtemplates")),
    "ReplicationController": WorkloadKind(
        _CORE, ("spec", "template"), ("replicationcontroller", "replicationcontrollers", "rc")
    ),
    "ReplicaSet": WorkloadKind(_APPS, ("spec", "template"), ("replicaset", "replicasets", "rs")),
    "Deployment": WorkloadKind(_APPS, ("spec", "template"), ("deployment", "deployments", "deploy")),
    "StatefulSet": WorkloadKind(_APPS, ("spec", "template"), ("statefulset", "statefulsets", "sts")),
    "DaemonSet": WorkloadKind(_APPS, ("spec", "template"), ("daemonset", "daemonsets", "ds")),
    "Job": WorkloadKind(_BATCH, ("spec", "template"), ("job", "jobs")),
    "CronJob": WorkloadKind(_BATCH, ("spec", "jobTemplate", "spec", "template"), ("cronjob", "cronjobs", "cj")),
}

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


class Workload(NamedTuple):
    """A workload of a manifest; `replicas` is None for a DaemonSet, which has one pod a node."""

    kind: str
    api_version: str
    namespace: str
    name: str
    replicas: Optional[int]
    template: Plain

    @property
    def key(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


def kind_of(kind: str, api_version: str) -> Optional[WorkloadKind]:
    """The entry of a kind, None for one that has no pod template known here."""
    found = KINDS.get(kind)
    group = api_version.partition("/")[0] if "/" in api_version else ""
    return found if found is not None and group in found.groups else None


def kind_named(name: str) -> Optional[str]:
    """The kind that a kubectl resource argument means: `deploy`, `deployments.apps`, `Deployment`."""
    word = name.partition(".")[0].lower()
    for kind, entry in KINDS.items():
        if word in entry.names:
            return kind
    return None


def workload(plain: Plain, kind: str) -> Workload:
    """A workload from a plain object that decodes."""
    metadata = plain.get("metadata") or {}
    return Workload(
        kind=kind,
        api_version=plain.get("apiVersion") or "",
        namespace=metadata.get("namespace") or "default",
        name=metadata.get("name") or metadata.get("generateName") or "",
        replicas=_replicas(plain.get("spec") or {}, kind),
        template=_template(plain, kind),
    )


def replica_name(owner: Workload, ordinal: int) -> str:
    """The name of a pod; for controllers that draw one at random, the owner's name and a number from 1."""
    if owner.kind == "Pod":
        return owner.name
    if owner.kind == "StatefulSet":
        return f"{owner.name}-{ordinal}"
    return f"{owner.name}-{ordinal + 1}"


def replica(owner: Workload, ordinal: int) -> Pod:
    """The pod that a workload's controller would create, as the API server would store it."""
    name = replica_name(owner, ordinal)
    plain = _pod(owner, name, {**_template_labels(owner), **_controller_labels(owner, ordinal, name)})
    return _created(read.pod(plain))


def daemon(owner: Workload, node: str) -> Pod:
    """The pod of a DaemonSet for one node, pinned to it by node affinity.

    Source: pkg/controller/daemon/util/daemonset_util.go, ReplaceDaemonSetPodNodeNameNodeAffinity (v1.36.2).
    """
    plain = _pod(owner, f"{owner.name}-{node}", {**_template_labels(owner), **_controller_labels(owner, 0, "")})
    spec = plain["spec"] = dict(plain["spec"])
    spec["tolerations"] = [*(spec.get("tolerations") or ()), *_DAEMON_TOLERATIONS]
    affinity = spec["affinity"] = dict(spec.get("affinity") or {})
    pinned = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
    affinity["nodeAffinity"] = {
        **(affinity.get("nodeAffinity") or {}),
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": pinned},
    }
    return _created(read.pod(plain))


def created_labels(owner: Workload) -> dict[str, str]:
    """The labels of a pod of this workload at creation, the controller's included."""
    return {**_template_labels(owner), **_controller_labels(owner, 0, replica_name(owner, 0))}


def _created(pod: Pod) -> Pod:
    """Add what the DefaultTolerationSeconds admission plugin adds."""
    tolerations = pod.cls.tolerations
    missing = tuple(
        default
        for default in DEFAULT_TOLERATIONS
        if not any(own.key in ("", default.key) and own.effect in ("", default.effect) for own in tolerations)
    )
    return pod._replace(cls=pod.cls._replace(tolerations=tolerations + missing))


def _template(plain: Plain, kind: str) -> Plain:
    found = plain
    for step in KINDS[kind].template:
        found = found.get(str(step)) or {}
    return found


def _replicas(spec: Plain, kind: str) -> Optional[int]:
    if kind == "DaemonSet":
        return None
    if kind in ("Pod", "PodTemplate"):
        return 1
    if kind == "CronJob":
        if spec.get("suspend"):
            return 0
        spec = (spec.get("jobTemplate") or {}).get("spec") or {}
    if kind in ("Job", "CronJob"):
        return _job_pods(spec)
    replicas = spec.get("replicas")
    return 1 if replicas is None else max(0, int(replicas))


def _job_pods(spec: Plain) -> int:
    """The pods of a Job that run at a time."""
    if spec.get("suspend"):
        return 0
    parallelism, completions = spec.get("parallelism"), spec.get("completions")
    at_once = 1 if parallelism is None else int(parallelism)
    return max(0, at_once if completions is None else min(at_once, int(completions)))


def _template_labels(owner: Workload) -> dict[str, str]:
    return read.labels(owner.template.get("metadata") or {})


def _pod(owner: Workload, name: str, labels: dict[str, str]) -> Plain:
    metadata: Plain = {"name": name, "namespace": owner.namespace, "labels": labels}
    if owner.kind not in ("Pod", "PodTemplate"):
        reference = {"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name, "controller": True}
        metadata["ownerReferences"] = [reference]
    return {"metadata": metadata, "spec": owner.template.get("spec") or {}}


def _controller_labels(owner: Workload, ordinal: int, name: str) -> dict[str, str]:
    """The labels a controller adds; hashes and uids are stand-ins, equal for equal templates."""
    if owner.kind == "Deployment":
        return {WELL_KNOWN.pod_template_hash: _hash(owner.template)}
    if owner.kind == "StatefulSet":
        return {
            WELL_KNOWN.controller_revision_hash: f"{owner.name}-{_hash(owner.template)}",
            WELL_KNOWN.statefulset_pod: name,
            WELL_KNOWN.pod_index: str(ordinal),
        }
    if owner.kind == "DaemonSet":
        return {WELL_KNOWN.controller_revision_hash: _hash(owner.template), "pod-template-generation": "1"}
    if owner.kind in ("Job", "CronJob"):
        uid = _hash(owner.template)
        return {
            "batch.kubernetes.io/job-name": owner.name,
            "batch.kubernetes.io/controller-uid": uid,
            "job-name": owner.name,
            "controller-uid": uid,
        }
    return {}


def _hash(template: Plain) -> str:
    """A label value that changes with the template, in the alphabet of the real hash (rand.SafeEncodeString)."""
    number = zlib.crc32(json.dumps(template, sort_keys=True, default=str).encode())
    return "".join("bcdfghjklmnpqrstvwxz2456789"[ord(digit) % 27] for digit in str(number))
