"""A cluster with the other objects of a manifest applied, before the workload's pods are created."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from kubectl_spread.cluster.building.build import ClusterBuilder
from kubectl_spread.cluster.snapshot import Cluster, DisruptionBudget
from kubectl_spread.objects.admission import LimitRange, Quota
from kubectl_spread.objects.amounts.quantity import scaled_value
from kubectl_spread.objects.selectors import Labels, NAMESPACE_NAME
from kubectl_spread.objects.storage import Storage

Plain = dict[str, Any]
Named = TypeVar("Named", LimitRange, Quota)


# Kinds in manifests that are applied besides workloads; cluster-scoped kinds second.
_NAMESPACED = (
    "PersistentVolumeClaim",
    "Service",
    "PodDisruptionBudget",
    "LimitRange",
    "ResourceQuota",
    "HorizontalPodAutoscaler",
)
KINDS = (*_NAMESPACED, "PersistentVolume", "StorageClass", "PriorityClass", "RuntimeClass", "Namespace")


def add_objects(cluster: Cluster, objects: Iterable[Plain], namespace: str) -> Cluster:
    """Return the cluster with more objects, all of which must decode and be of `KINDS`.

    An existing claim, volume, budget or quota stays as it is, because it has a status. Other existing objects are
    replaced.

    Args:
        cluster: before the objects are applied.
        objects: in the order they are applied.
        namespace: of objects that name none.
    """
    placed = [_in_namespace(plain, namespace) for plain in objects]
    assembler = ClusterBuilder()
    for plain in placed:
        assembler.add(plain)
    extra = assembler.cluster()
    services = {(service.namespace, service.name): service for service in (*cluster.services, *extra.services)}
    return cluster._replace(
        services=tuple(services.values()),
        namespaces=_namespaces(cluster, extra),
        budgets=(*cluster.budgets, *_budgets(placed, extra, cluster)),
        priority_classes={**cluster.priority_classes, **extra.priority_classes},
        storage=_storage(cluster.storage, extra.storage),
        limit_ranges=tuple({**_by_name(cluster.limit_ranges), **_by_name(extra.limit_ranges)}.values()),
        quotas=tuple({**_by_name(extra.quotas), **_by_name(cluster.quotas)}.values()),
        runtime_classes={**cluster.runtime_classes, **extra.runtime_classes},
        autoscalers={**cluster.autoscalers, **extra.autoscalers},
    )


def _by_name(items: tuple[Named, ...]) -> dict[tuple[str, str], Named]:
    return {(item.namespace, item.name): item for item in items}


def _in_namespace(plain: Plain, namespace: str) -> Plain:
    metadata = plain.get("metadata") or {}
    if plain.get("kind") not in _NAMESPACED or metadata.get("namespace"):
        return plain
    return {**plain, "metadata": {**metadata, "namespace": namespace}}


def _namespaces(cluster: Cluster, extra: Cluster) -> dict[str, Labels]:
    """Return namespaces with the label that the API server adds; labels that a manifest leaves out stay."""
    made = {
        name: {**cluster.namespaces.get(name, {}), NAMESPACE_NAME: name, **labels}
        for name, labels in extra.namespaces.items()
    }
    return {**cluster.namespaces, **made}


def _storage(own: Storage, extra: Storage) -> Storage:
    """Return storage with new claims, which are not bound yet, and volumes, which are available at once."""
    classes = {**own.classes, **extra.classes}
    default = next((item.name for item in classes.values() if item.is_default), "")
    volumes = {
        name: volume._replace(is_available=volume.is_available or volume.claim is None)
        for name, volume in extra.volumes.items()
    }
    every = {**volumes, **own.volumes}
    claims = {
        key: claim._replace(
            is_new=True,
            storage_class=claim.storage_class if claim.names_class else default,
            is_bind_completed=claim.volume_name in every,
        )
        for key, claim in extra.claims.items()
    }
    return own._replace(claims={**claims, **own.claims}, volumes=dict(sorted(every.items())), classes=classes)


def _budgets(objects: list[Plain], extra: Cluster, cluster: Cluster) -> list[DisruptionBudget]:
    """Return new budgets, with the evictions that their controller would allow."""
    known = {(budget.namespace, budget.name) for budget in cluster.budgets}
    specs = {
        (plain["metadata"]["namespace"], plain["metadata"].get("name") or ""): plain.get("spec") or {}
        for plain in objects
        if plain.get("kind") == "PodDisruptionBudget"
    }
    return [
        budget._replace(disruptions_allowed=_allowed(specs[budget.namespace, budget.name], budget, cluster))
        for budget in extra.budgets
        if (budget.namespace, budget.name) not in known
    ]


def _allowed(spec: Plain, budget: DisruptionBudget, cluster: Cluster) -> int:
    """Return how many evictions a budget allows if every running pod is healthy.

    Source: pkg/controller/disruption/disruption.go, getExpectedPodCount (v1.36.2).
    """
    running = [pod for pod in cluster.bound_pods() if pod.namespace == budget.namespace and not pod.terminating]
    healthy = sum(budget.selector.matches(dict(pod.cls.labels)) for pod in running)
    at_least, at_most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if at_most is not None:
        desired = healthy - _scaled(at_most, healthy)
    elif at_least is not None:
        desired = _scaled(at_least, healthy)
    else:
        return 0
    return max(0, healthy - max(0, desired))


def _scaled(value: Any, total: int) -> int:
    """Return a number, or a percentage of the total rounded up; anything else counts as 0."""
    return scaled_value(value, total, round_up=True) or 0
