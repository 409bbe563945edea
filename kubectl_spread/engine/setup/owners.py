"""Owners of ReplicaSets and pods: inferred ones, and controllers that adopt objects without a controller.

Source: pkg/controller/controller_ref_manager.go, ClaimObject; pkg/controller/deployment/deployment_controller.go,
getReplicaSetsForDeployment; pkg/controller/statefulset/stateful_set.go, getPodsForStatefulSet (v1.36.2). A controller
adopts objects of its namespace that match its selector, have no controller and are not being deleted; a StatefulSet
adopts only pods with its name and an ordinal.
Differences: Jobs and DaemonSets adopt no pods, and neither does a ReplicaSet whose selector a pod matches later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kubectl_spread.cluster.ownership import inferred_deployment
from kubectl_spread.cluster.snapshot import Cluster, Controller, key_of
from kubectl_spread.objects.constraints import constraint
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Owner, Pod
from kubectl_spread.objects.selectors import compile_selector, Selector
from kubectl_spread.objects.workloads.replica import controller_selector

_OF_PODS = ("ReplicaSet", "ReplicationController", "StatefulSet")


class Owned(NamedTuple):
    """A cluster whose ReplicaSets and pods have owners.

    expected: controllers that a step creates, and that adopt objects then. Until then these have no controller.
    """

    cluster: Cluster
    expected: frozenset[ObjectKey]


def with_owners(cluster: Cluster, applied: Iterable[Controller] = ()) -> Owned:
    """Return the cluster with owners for ReplicaSets and pods; applied: the workloads that steps create or change."""
    created = {key_of(item.workload): item for item in applied}
    created = {key: item for key, item in created.items() if key not in cluster.controllers}
    cluster = infer_owners(cluster)
    deployments = _adopting_sets(cluster, {**cluster.controllers, **created})
    sets: dict[ObjectKey, list[Controller]] = {}
    for made, above in deployments.items():
        sets.setdefault(above, []).append(cluster.controllers[made])
    expected = {key: _former(created[key], sets[key]) for key in sets if key in created}
    pods = _adopted_pods(cluster, {**cluster.controllers, **created})
    owners = {ObjectKey(pod.owner.kind, pod.namespace, pod.owner.name) for pod in pods if pod.owner is not None}
    expected |= {key: item for key, item in created.items() if key.kind in _OF_PODS and key in owners}
    owned = cluster._replace(
        pods=pods,
        owners={**cluster.owners, **deployments},
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
    deployments = [key for key in controllers if key.kind == "Deployment"] if orphans else []
    selectors = {
        key: compile_selector(constraint.label_selector(controllers[key].workload.selector))
        for key in deployments
        if controllers[key].workload.selector
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
    if not any(map(_is_bare, cluster.pods)):
        return cluster.pods
    selectors = {
        key: controller_selector(item.workload)
        for key, item in controllers.items()
        if key.kind in _OF_PODS and item.workload.selector
    }
    return tuple(_adopted(pod, selectors) if _is_bare(pod) else pod for pod in cluster.pods)


def _is_bare(pod: Pod) -> bool:
    return pod.owner is None and not pod.terminating and pod.is_visible


def _adopted(pod: Pod, selectors: Mapping[ObjectKey, Selector]) -> Pod:
    labels = dict(pod.cls.labels)
    for key, selector in selectors.items():
        ordinal = pod.name.removeprefix(f"{key.name}-")
        is_named = key.kind != "StatefulSet" or (ordinal != pod.name and ordinal.isdecimal())
        if key.namespace == pod.namespace and is_named and selector.matches(labels):
            version = "v1" if key.kind == "ReplicationController" else "apps/v1"
            return pod._replace(cls=pod.cls._replace(owner=Owner(version, key.kind, key.name)))
    return pod
