"""Specs of controllers, converted from the cluster facts for the controllers here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kubectl_spread.cluster.ownership import inferred_deployment
from kubectl_spread.cluster.snapshot import Cluster, Controller, key_of
from kubectl_spread.containers import grouped
from kubectl_spread.engine.controllers import daemonset, deployment, job, replicaset, statefulset
from kubectl_spread.engine.world import World
from kubectl_spread.objects.constraints import constraint
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Owner, Pod
from kubectl_spread.objects.reading.plain import fields, mappings
from kubectl_spread.objects.releases.behaviours import STATEFULSET_MAX_UNAVAILABLE, STATEFULSET_RECREATE
from kubectl_spread.objects.resources import int_or_text
from kubectl_spread.objects.selectors import compile_selector
from kubectl_spread.objects.workloads.replica import controller_selector

KINDS = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job"})


def spec_of(world: World, controller: Controller, *, known_hash: str = "") -> int:
    """Return the index of a workload's spec; a new template creates a revision."""
    workload, spec = controller.workload, controller.spec
    rev = world.revision(workload, known_hash=known_hash).at
    if workload.kind != "StatefulSet":
        return world.spec_at[_MAKERS[workload.kind](controller, rev)]
    world.claim_templates[world.owner_at[key_of(workload)]] = {
        name: item
        for item in mappings(spec.get("volumeClaimTemplates"))
        if (name := fields(item, "metadata").get("name"))
    }
    strategy = fields(spec, "updateStrategy")
    unavailable = int_or_text(fields(strategy, "rollingUpdate").get("maxUnavailable"), 1)
    return world.spec_at[
        statefulset.StatefulSetSpec(
            workload.replicas or 0,
            rev,
            workload.first_ordinal,
            spec.get("podManagementPolicy") == "Parallel",
            strategy.get("type") == "OnDelete",
            _partition(controller),
            fields(spec, "persistentVolumeClaimRetentionPolicy").get("whenScaled") == "Delete",
            unavailable if STATEFULSET_MAX_UNAVAILABLE.of(world.release) else None,
            strategy.get("type") == "Recreate" and STATEFULSET_RECREATE.of(world.release),
        )
    ]


def deployment_spec(controller: Controller, rev: int = 0) -> deployment.DeploymentSpec:
    """Return the spec of a Deployment; with its defaults for other kinds."""
    workload, spec = controller.workload, controller.spec
    strategy = fields(spec.get("strategy") or spec.get("updateStrategy"))
    rolling = fields(strategy, "rollingUpdate")
    return deployment.DeploymentSpec(
        workload.replicas or 0,
        rev,
        int_or_text(rolling.get("maxSurge"), "25%"),
        int_or_text(rolling.get("maxUnavailable"), "25%"),
        strategy.get("type") == "Recreate",
        spec.get("paused") is True,
    )


def most_pods(controller: Controller) -> int:
    """Return the most new and old pods of a workload at a time."""
    spec = deployment_spec(controller)
    return spec.replicas + (spec.fenceposts()[0] if controller.workload.kind == "Deployment" else 0)


def is_on_delete(controller: Controller) -> bool:
    """Return whether a StatefulSet leaves it to the user to delete pods of an earlier revision."""
    return fields(controller.spec, "updateStrategy").get("type") == "OnDelete"


def first_ordinal_to_update(controller: Controller) -> int:
    """Return the lowest ordinal that a rollout of a StatefulSet replaces."""
    return controller.workload.first_ordinal + _partition(controller)


def _partition(controller: Controller) -> int:
    partition = fields(controller.spec, "updateStrategy", "rollingUpdate").get("partition")
    return partition if type(partition) is int else 0


def daemonset_spec(controller: Controller, rev: int = 0) -> daemonset.DaemonSetSpec:
    strategy = fields(controller.spec, "updateStrategy")
    rolling = fields(strategy, "rollingUpdate")
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
    on_disruption = job.FailureAction.COUNT
    for rule in mappings(fields(spec, "podFailurePolicy").get("rules")):
        conditions = mappings(rule.get("onPodConditions"))
        if any(item.get("type") == "DisruptionTarget" and item.get("status", "True") == "True" for item in conditions):
            known = {item.value: item for item in job.FailureAction}
            on_disruption = known.get(str(rule.get("action")), on_disruption)
            break
    return job.JobSpec(
        wanted,
        rev,
        workload.is_indexed,
        completions if type(completions) is int else 0,
        progress.completed,
        None if "backoffLimitPerIndex" in spec else limit if type(limit) is int else job.BACKOFF_LIMIT,
        on_disruption,
        controller.waits_for_ends,
    )


def wanted_pods(controller: Controller) -> int:
    """Return the number of pods that a controller wants at a time, without regard to its autoscaler."""
    return _job(controller, 0).replicas if controller.workload.kind == "Job" else controller.workload.replicas or 0


_MAKERS: dict[str, Any] = {
    "Deployment": deployment_spec,
    "DaemonSet": daemonset_spec,
    "ReplicaSet": _replicaset,
    "ReplicationController": _replicaset,
    "Job": _job,
}


def own_of(world: World, kind: str, spec: int) -> Any:
    """Return the initial state of the controller of a new workload."""
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


_OF_PODS = ("ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job")


class Owned(NamedTuple):
    """A cluster whose ReplicaSets and pods have owners.

    expected: controllers that a step creates, and that adopt objects then. Until then these have no controller.
    """

    cluster: Cluster
    expected: frozenset[ObjectKey]


def with_owners(cluster: Cluster, applied: Iterable[Controller] = ()) -> Owned:
    """Return the cluster with owners for ReplicaSets and pods; applied: the workloads that steps create or change.

    A Job has no owner: its CronJob leaves it alone, and creates only the next one.
    Source: pkg/controller/cronjob/cronjob_controllerv2.go, syncCronJob (v1.36.2).
    """
    created = {key_of(item.workload): item for item in applied}
    created = {key: item for key, item in created.items() if key not in cluster.controllers}
    cluster = infer_owners(cluster)
    controllers = {**cluster.controllers, **created}
    deployments = _adopting_sets(cluster, controllers)
    sets = grouped((above, cluster.controllers[made]) for made, above in deployments.items())
    expected = {key: _former(created[key], sets[key]) for key in sets if key in created}
    pods = _adopted_pods(cluster, controllers)
    owners = {pod.owner_key for pod in pods} if created else set()
    expected |= {key: item for key, item in created.items() if key.kind in _OF_PODS and key in owners}
    owned = cluster._replace(
        pods=pods,
        owners={made: above for made, above in (cluster.owners | deployments).items() if above.kind != "CronJob"},
        controllers={**cluster.controllers, **expected} if expected else cluster.controllers,
    )
    return Owned(owned, frozenset(expected))


def infer_owners(cluster: Cluster) -> Cluster:
    """Return the cluster with Deployments as owners of missing ReplicaSets, inferred from name and hash."""
    found: dict[ObjectKey, ObjectKey] = {}
    for cls in {id(pod.cls): pod.cls for pod in cluster.pods}.values():  # Many pods share few classes.
        if cls.owner is None or cls.owner.kind != "ReplicaSet":
            continue
        made = ObjectKey("ReplicaSet", cls.namespace, cls.owner.name)
        deployment = None if made in cluster.owners else inferred_deployment(cls)
        if deployment is not None and deployment in cluster.controllers:
            found[made] = deployment
    return cluster._replace(owners={**cluster.owners, **found}) if found else cluster


def _adopting_sets(cluster: Cluster, controllers: Mapping[ObjectKey, Controller]) -> dict[ObjectKey, ObjectKey]:
    """Return the Deployment that adopts a ReplicaSet, for each that has no owner."""
    orphans = [key for key in cluster.controllers if key.kind == "ReplicaSet" and key not in cluster.owners]
    selectors = {
        key: compile_selector(constraint.label_selector(item.workload.selector))
        for key, item in controllers.items()
        if orphans and key.kind == "Deployment" and item.workload.selector
    }
    found: dict[ObjectKey, ObjectKey] = {}
    for key in orphans:
        for above, selector in selectors.items():
            if above.namespace == key.namespace and selector.matches(cluster.controllers[key].labels):
                found.setdefault(key, above)
    return found


def _former(deployment: Controller, sets: list[Controller]) -> Controller:
    """Return the Deployment that left its ReplicaSets behind, with the template of the latest one."""
    latest = max(sets, key=lambda item: (int(item.revision) if item.revision.isdecimal() else 0, item.workload.name))
    replicas = sum(item.workload.replicas or 0 for item in sets)
    workload = deployment.workload._replace(template=latest.workload.template, replicas=replicas)
    return deployment._replace(workload=workload)


def _adopted_pods(cluster: Cluster, controllers: Mapping[ObjectKey, Controller]) -> tuple[Pod, ...]:
    """Return the pods of the cluster, those that a controller adopts with this owner."""
    pods = list(cluster.pods)
    bare = [at for at, pod in enumerate(pods) if pod.owner is None and not pod.terminating and pod.is_visible]
    selectors = {
        key: controller_selector(item.workload)
        for key, item in controllers.items()
        if bare and key.kind in _OF_PODS and item.workload.selector
    }
    for at, pod in ((at, pods[at]) for at in bare):
        for key, selector in selectors.items():
            ordinal = pod.name.removeprefix(f"{key.name}-")
            is_named = key.kind != "StatefulSet" or (ordinal != pod.name and ordinal.isdecimal())
            if key.namespace == pod.namespace and is_named and selector.matches(pod.labels):
                version = {"ReplicationController": "v1", "Job": "batch/v1"}.get(key.kind, "apps/v1")
                pods[at] = pod._replace(cls=pod.cls._replace(owner=Owner(version, key.kind, key.name)))
                break
    return tuple(pods) if bare else cluster.pods
