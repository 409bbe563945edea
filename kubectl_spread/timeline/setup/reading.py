"""Specs of controllers, converted from the cluster facts for the controllers here."""

from __future__ import annotations

from typing import Any

from kubectl_spread.cluster.snapshot import Controller
from kubectl_spread.objects.reading.plain import fields, mappings
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.timeline.controllers import daemonset, deployment, job, replicaset, statefulset
from kubectl_spread.timeline.world import World

Plain = dict[str, Any]

KINDS = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job"})


def spec_of(world: World, owner: int, controller: Controller, *, known_hash: str = "") -> int:
    """Return the index of a workload's spec; a new template creates a revision."""
    workload = controller.workload
    rev = world.revision(owner, workload, known_hash=known_hash).at
    made = _MAKERS[workload.kind](workload, controller.spec, rev)
    if workload.kind == "StatefulSet":
        world.claim_templates[owner] = {
            name: item
            for item in mappings(controller.spec.get("volumeClaimTemplates"))
            if (name := (item.get("metadata") or {}).get("name"))
        }
    return world.spec(made)


def _deployment(workload: Workload, spec: Plain, rev: int) -> deployment.DeploymentSpec:
    strategy = fields(spec.get("strategy"))
    rolling = fields(strategy.get("rollingUpdate"))
    return deployment.DeploymentSpec(
        workload.replicas or 0,
        rev,
        _given(rolling, "maxSurge", "25%"),
        _given(rolling, "maxUnavailable", "25%"),
        strategy.get("type") == "Recreate",
        spec.get("paused") is True,
    )


def max_surge(controller: Controller) -> int:
    """Return how many pods a controller may have beyond its replicas during a rolling update."""
    if controller.workload.kind != "Deployment":
        return 0
    return _deployment(controller.workload, controller.spec, 0).max_surge


def _statefulset(workload: Workload, spec: Plain, rev: int) -> statefulset.StatefulSetSpec:
    strategy = fields(spec.get("updateStrategy"))
    partition = fields(strategy.get("rollingUpdate")).get("partition")
    retention = fields(spec.get("persistentVolumeClaimRetentionPolicy"))
    return statefulset.StatefulSetSpec(
        workload.replicas or 0,
        rev,
        workload.first_ordinal,
        spec.get("podManagementPolicy") == "Parallel",
        strategy.get("type") == "OnDelete",
        partition if type(partition) is int else 0,
        retention.get("whenScaled") == "Delete",
    )


def is_on_delete(controller: Controller) -> bool:
    """Return whether a StatefulSet leaves it to the user to delete pods of an earlier revision."""
    return fields(controller.spec.get("updateStrategy")).get("type") == "OnDelete"


def first_ordinal_to_update(controller: Controller) -> int:
    """Return the lowest ordinal that a rollout of a StatefulSet replaces."""
    rolling = fields(fields(controller.spec.get("updateStrategy")).get("rollingUpdate"))
    partition = rolling.get("partition")
    return controller.workload.first_ordinal + (partition if type(partition) is int else 0)


def _daemonset(workload: Workload, spec: Plain, rev: int) -> daemonset.DaemonSetSpec:  # noqa: ARG001
    strategy = fields(spec.get("updateStrategy"))
    rolling = fields(strategy.get("rollingUpdate"))
    return daemonset.DaemonSetSpec(
        rev, _given(rolling, "maxSurge", 0), _given(rolling, "maxUnavailable", 1), strategy.get("type") == "OnDelete"
    )


def _replicaset(workload: Workload, spec: Plain, rev: int) -> replicaset.ReplicaSetSpec:  # noqa: ARG001
    return replicaset.ReplicaSetSpec(workload.replicas or 0, rev)


def _job(workload: Workload, spec: Plain, rev: int) -> job.JobSpec:  # noqa: ARG001
    return job.JobSpec(workload.replicas or 0, rev, workload.is_indexed)


_MAKERS: dict[str, Any] = {
    "Deployment": _deployment,
    "StatefulSet": _statefulset,
    "DaemonSet": _daemonset,
    "ReplicaSet": _replicaset,
    "ReplicationController": _replicaset,
    "Job": _job,
}


def _given(rolling: Plain, field: str, default: object) -> object:
    value = rolling.get(field)
    return default if value is None else value


def own_of(world: World, owner: int, spec: int) -> Any:
    """Return the initial state of the controller of a new workload."""
    kind = world.keys[owner].kind
    if kind == "Deployment":
        return deployment.DeploymentState(spec, order=(world.specs[spec].rev,))
    if kind == "StatefulSet":
        return statefulset.StatefulSetState(spec, world.specs[spec].rev)
    return {"DaemonSet": daemonset.DaemonSetState, "Job": job.JobState}.get(kind, replicaset.ReplicaSetState)(spec)


def change_spec(own: Any, world: World, spec: int) -> Any:
    """Return the state of a controller after a change of its spec."""
    if not isinstance(own, deployment.DeploymentState):
        return own._replace(spec=spec)
    rev = world.specs[spec].rev
    return own._replace(spec=spec, order=(*(item for item in own.order if item != rev), rev))
