"""Objects of a cluster that runs a Deployment, as the API server has them, shortened."""

from __future__ import annotations

from typing import Any

Plain = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
ZONES = {"a1": "a", "b1": "b", "c1": "c"}


def node(name: str, zone: str, **spec: Any) -> Plain:
    labels = {"kubernetes.io/hostname": name, ZONE: zone}
    allocatable = {"cpu": "8", "memory": "16Gi", "pods": "110"}
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": spec,
        "status": {"allocatable": allocatable},
    }


def constraint(max_skew: int = 1, when: str = "DoNotSchedule", **more: Any) -> Plain:
    selector = {"matchLabels": {"app": "web"}}
    return {"maxSkew": max_skew, "topologyKey": ZONE, "whenUnsatisfiable": when, "labelSelector": selector, **more}


def pod(name: str, on: str = "", *, owner: str = "web-1", **more: Any) -> Plain:
    metadata = {
        "name": name,
        "namespace": "shop",
        "labels": {"app": "web", "pod-template-hash": owner.rpartition("-")[2]},
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "controller": True}],
        "creationTimestamp": "2026-01-02T00:00:00Z",
    }
    metadata.update(more.pop("metadata", {}))
    spec = {"containers": [{"name": "c", "image": "web"}], "topologySpreadConstraints": [constraint()]}
    spec |= {"nodeName": on} if on else {}
    return {"kind": "Pod", "metadata": metadata, "spec": {**spec, **more}, "status": {"phase": "Running"}}


def replica_set(name: str = "web-1", revision: str = "1") -> Plain:
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "controller": True}
    labels = {"app": "web", "pod-template-hash": name.rpartition("-")[2]}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "ownerReferences": [reference],
            "annotations": {"deployment.kubernetes.io/revision": revision},
        },
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}}},
    }


def deployment(*constraints: Plain, replicas: int = 3, labels: Plain | None = None, **spec: Any) -> Plain:
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "web"}], "topologySpreadConstraints": list(constraints)},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "labels": labels or {}},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template, **spec},
    }
