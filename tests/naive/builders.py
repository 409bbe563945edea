"""Objects for the tests: only the fields that matter."""

from __future__ import annotations

from typing import Any

from tests.naive.replay import decide

Plain = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"


def node(name: str, *, labels: Any = None, allocatable: Any = None, spec: Any = None, status: Any = None) -> Plain:
    capacity = {"cpu": "4", "memory": "8Gi", "pods": "10", **(allocatable or {})}
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": spec or {},
        "status": {"allocatable": capacity, **(status or {})},
    }


def pod(name: str, *, on: str = "", labels: Any = None, requests: Any = None, status: Any = None, **spec: Any) -> Plain:
    item: Plain = {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": labels or {}},
        "spec": {"containers": [{"name": "c", "resources": {"requests": requests or {}}}], **spec},
        "status": status or {},
    }
    if on:
        item["spec"]["nodeName"] = on
    return item


def terminating(item: Plain) -> Plain:
    item["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return item


def claim(name: str, *, volume: str = "", storage_class: str = "late", modes: Any = None, **more: Any) -> Plain:
    metadata: Plain = {"name": name, "namespace": "default", "uid": name, **more.pop("metadata", {})}
    if volume:
        metadata["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    spec = {
        "accessModes": modes or ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": storage_class,
        "volumeName": volume,
        **more,
    }
    return {"kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def volume(
    name: str, *, labels: Any = None, storage_class: str = "late", phase: str = "Available", **spec: Any
) -> Plain:
    defaults = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "storageClassName": storage_class,
        "csi": {"driver": "disk", "volumeHandle": name},
    }
    metadata = {"name": name, "labels": labels or {}}
    return {"kind": "PersistentVolume", "metadata": metadata, "spec": {**defaults, **spec}, "status": {"phase": phase}}


LATE = {
    "kind": "StorageClass",
    "metadata": {"name": "late"},
    "provisioner": "kubernetes.io/no-provisioner",
    "volumeBindingMode": "WaitForFirstConsumer",
}


def using(*claims: str) -> list[Plain]:
    return [{"name": f"v-{name}", "persistentVolumeClaim": {"claimName": name}} for name in claims]


def decide_all(objects: list[Plain], *incoming: Plain, preempt: bool = False, text: str = "") -> list[Plain]:
    case = {"objects": objects, "incoming": list(incoming), "preempt": preempt, "schedulerConfig": text}
    return decide(case)


def decide_one(objects: list[Plain], incoming: Plain, *, preempt: bool = False, text: str = "") -> Plain:
    (decision,) = decide_all(objects, incoming, preempt=preempt, text=text)
    return decision
