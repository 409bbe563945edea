"""Running workloads on named nodes, with only the fields that matter."""

from __future__ import annotations

import copy
from typing import Any

from kubectl_spread.advice.rebalance.plan import Repair
from kubectl_spread.advice.rebalance.planner import RepairRequest
from kubectl_spread.advice.rebalance.repair import rebalance
from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.scheduler.profiles import profiles

Plain = dict[str, Any]
ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def nodes(*names: str, cpu: str = "8", **spec: Any) -> list[Plain]:
    """Return nodes whose first letter is their zone."""
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {HOSTNAME: name, ZONE: name[0]}},
            "spec": spec,
            "status": {"allocatable": {"cpu": cpu, "memory": "32Gi", "pods": "110"}},
        }
        for name in names
    ]


def constraint(key: str = ZONE, *, skew: int = 1, soft: bool = False, app: str = "web", **fields: Any) -> Plain:
    return {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": "ScheduleAnyway" if soft else "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
        **fields,
    }


def workload(
    places: str,
    *constraints: Plain,
    kind: str = "Deployment",
    name: str = "web",
    replicas: int = -1,
    labels: Any = None,
    spec: Any = None,
    **own: Any,
) -> list[Plain]:
    """Return a workload with a ready pod on each of the places, and the ReplicaSet of a Deployment."""
    hosts = places.split()
    pod_spec = {
        "containers": [{"name": "c", "image": "pause", "resources": {"requests": {"cpu": "1"}}}],
        "topologySpreadConstraints": list(constraints or (constraint(app=name),)),
        **(spec or {}),
    }
    labels = {"app": name, **(labels or {})}
    hashed = {**labels, "pod-template-hash": "h"} if kind == "Deployment" else labels
    count = len(hosts) if replicas < 0 else replicas
    made = [_controller(kind, name, count, labels=labels, spec=pod_spec, **own)]
    if kind == "Deployment":
        below = _controller("ReplicaSet", f"{name}-h", count, labels=hashed, spec=pod_spec)
        below["metadata"]["ownerReferences"] = [_reference(kind, name)]
        below["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": "1"}
        made.append(below)
    owner = _reference("ReplicaSet", f"{name}-h") if kind == "Deployment" else _reference(kind, name)
    for at, host in enumerate(hosts):
        pod = f"{name}-{at}" if kind == "StatefulSet" else f"{name}-h-{at}"
        more = {"statefulset.kubernetes.io/pod-name": pod} if kind == "StatefulSet" else {}
        made.append(_pod(pod, host, owner=owner, labels={**hashed, **more}, spec=pod_spec))
    return made


def _controller(kind: str, name: str, replicas: int, *, labels: Any, spec: Plain, **own: Any) -> Plain:
    template = {"metadata": {"labels": labels}, "spec": copy.deepcopy(spec)}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template, **own},
    }


def _reference(kind: str, name: str) -> Plain:
    return {"apiVersion": "apps/v1", "kind": kind, "name": name, "controller": True}


def _pod(name: str, host: str, *, owner: Plain, labels: Any, spec: Plain) -> Plain:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": name, "labels": labels, "ownerReferences": [owner]},
        "spec": {**copy.deepcopy(spec), "nodeName": host},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


def budget(app: str = "web", **rule: Any) -> Plain:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": app, "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"app": app}}, **rule},
    }


def repairs(*items: Any, **request: Any) -> tuple[Repair, ...]:
    """Return the repairs for a cluster of objects, or of lists of objects."""
    objects = [item for found in items for item in (found if isinstance(found, list) else [found])]
    return rebalance(cluster_of(objects), profiles(), RepairRequest(**request)).repairs


def repair(*items: Any, **request: Any) -> Repair:
    """Return the only repair."""
    (found,) = repairs(*items, **request)
    return found


def evicted(found: Repair) -> list[str]:
    """Return the pods of a plan; none without one."""
    return [] if found.plan is None else [item.pod for item in found.plan.evictions]


def reasons(found: Repair) -> list[str]:
    return [item.kind.value for item in found.obstacles]


def remedies(found: Repair) -> list[str]:
    return [item.kind.value for item in found.remedies]
