"""Specs of controllers, converted from the cluster facts for the controllers here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kubectl_spread.cluster.snapshot import Controller
from kubectl_spread.engine.controllers import daemonset, deployment, job, replicaset, statefulset
from kubectl_spread.engine.world import World
from kubectl_spread.objects.amounts.quantity import int_or_text
from kubectl_spread.objects.reading.plain import fields, mappings

Plain = dict[str, Any]

KINDS = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job"})


def spec_of(world: World, owner: int, controller: Controller, *, known_hash: str = "") -> int:
    """Return the index of a workload's spec; a new template creates a revision."""
    workload = controller.workload
    rev = world.revision(owner, workload, known_hash=known_hash).at
    made = _MAKERS[workload.kind](controller, rev)
    if workload.kind == "StatefulSet":
        world.claim_templates[owner] = {
            name: item
            for item in mappings(controller.spec.get("volumeClaimTemplates"))
            if (name := (item.get("metadata") or {}).get("name"))
        }
    return world.spec(made)


def _deployment(controller: Controller, rev: int) -> deployment.DeploymentSpec:
    workload, spec = controller.workload, controller.spec
    strategy = fields(spec.get("strategy"))
    rolling = fields(strategy.get("rollingUpdate"))
    return deployment.DeploymentSpec(
        workload.replicas or 0,
        rev,
        int_or_text(rolling.get("maxSurge"), "25%"),
        int_or_text(rolling.get("maxUnavailable"), "25%"),
        strategy.get("type") == "Recreate",
        spec.get("paused") is True,
    )


def _statefulset(controller: Controller, rev: int) -> statefulset.StatefulSetSpec:
    workload, spec = controller.workload, controller.spec
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


def _daemonset(controller: Controller, rev: int) -> daemonset.DaemonSetSpec:
    strategy = fields(controller.spec.get("updateStrategy"))
    rolling = fields(strategy.get("rollingUpdate"))
    return daemonset.DaemonSetSpec(
        rev,
        int_or_text(rolling.get("maxSurge"), 0),
        int_or_text(rolling.get("maxUnavailable"), 1),
        strategy.get("type") == "OnDelete",
    )


def _replicaset(controller: Controller, rev: int) -> replicaset.ReplicaSetSpec:
    return replicaset.ReplicaSetSpec(controller.workload.replicas or 0, rev)


def _job(controller: Controller, rev: int) -> job.JobSpec:
    workload, spec, progress = controller.workload, controller.spec, controller.progress
    completions = spec.get("completions")
    wanted = 0 if controller.is_finished else workload.replicas or 0
    if type(completions) is int:
        wanted = max(0, min(wanted, completions - progress.succeeded))
    elif progress.succeeded:
        wanted = 0  # Once a pod of a work queue has succeeded, no new ones are created.
    limit = spec.get("backoffLimit")
    policy = mappings(fields(spec.get("podFailurePolicy")).get("rules"))
    return job.JobSpec(
        wanted,
        rev,
        workload.is_indexed,
        completions if type(completions) is int else 0,
        progress.completed,
        None if "backoffLimitPerIndex" in spec else limit if type(limit) is int else job.BACKOFF_LIMIT,
        _on_disruption(policy),
        spec.get("podReplacementPolicy", "Failed" if policy else "") == "Failed",
    )


def wanted_pods(controller: Controller) -> int:
    """Return the number of pods that a controller wants at a time, without regard to its autoscaler."""
    return _job(controller, 0).replicas if controller.workload.kind == "Job" else controller.workload.replicas or 0


def _on_disruption(rules: Iterable[Plain]) -> job.FailureAction:
    """Return the action of the first rule that matches a pod with the condition DisruptionTarget."""
    for rule in rules:
        conditions = mappings(rule.get("onPodConditions"))
        if any(item.get("type") == "DisruptionTarget" and item.get("status", "True") == "True" for item in conditions):
            known = {item.value: item for item in job.FailureAction}
            return known.get(str(rule.get("action")), job.FailureAction.COUNT)
    return job.FailureAction.COUNT


_MAKERS: dict[str, Any] = {
    "Deployment": _deployment,
    "StatefulSet": _statefulset,
    "DaemonSet": _daemonset,
    "ReplicaSet": _replicaset,
    "ReplicationController": _replicaset,
    "Job": _job,
}


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
