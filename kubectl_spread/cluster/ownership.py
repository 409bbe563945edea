"""The workload of a pod, and the pods of a workload.

A workload is the topmost object above a pod whose kind is known to hold a pod template: the object that a user edits.

        Pod ─▶ ReplicaSet ─▶ Deployment                                     Deployment
        Pod ─▶ Job ─▶ CronJob                                               CronJob
        Pod ─▶ ReplicaSet ─▶ Deployment ─▶ Revision, label serving.../service   Service (Knative)
        Pod ─▶ StatefulSet ─▶ Prometheus                                    StatefulSet
        Pod ─▶ StrimziPodSet                                                StrimziPodSet
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic
from typing import Optional
from typing import TypeVar

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.objects.kinds import KINDS
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.workload import NAMED_BY_LABEL
from kubectl_spread.objects.workload import POD_TEMPLATE_HASH

S = TypeVar("S")
T = TypeVar("T")

_KEPT = 2


class _Derived(Generic[S, T]):
    """What was made of the last few values, which never change; told apart by identity, as they are large."""

    def __init__(self, make: Callable[[S], T]) -> None:
        self._make = make
        self._kept: list[tuple[S, T]] = []

    def of(self, source: S) -> T:
        for known, made in self._kept:
            if known is source:
                return made
        made = self._make(source)
        self._kept = [(source, made), *self._kept[: _KEPT - 1]]
        return made


def _by_controller(pods: tuple[Pod, ...]) -> dict[OwnerKey, list[tuple[int, Pod]]]:
    found: dict[OwnerKey, list[tuple[int, Pod]]] = {}
    for at, pod in enumerate(pods):
        if pod.owner is not None:
            key = OwnerKey(pod.owner.kind, pod.namespace, pod.owner.name)
            found.setdefault(key, []).append((at, pod))
    return found


def _made_by(owners: dict[OwnerKey, OwnerKey]) -> dict[OwnerKey, list[OwnerKey]]:
    found: dict[OwnerKey, list[OwnerKey]] = {}
    for made, owner in owners.items():
        found.setdefault(owner, []).append(made)
    return found


def _by_label(pods: tuple[Pod, ...]) -> dict[OwnerKey, list[tuple[int, Pod]]]:
    found: dict[OwnerKey, list[tuple[int, Pod]]] = {}
    for at, pod in enumerate(pods):
        key = _labelled(pod.cls)
        if key is not None:
            found.setdefault(key, []).append((at, pod))
    return found


def _inferred(pods: tuple[Pod, ...]) -> dict[OwnerKey, list[OwnerKey]]:
    """Return the ReplicaSets of each Deployment by their names, wherever they are not in the facts."""
    found: dict[OwnerKey, dict[OwnerKey, None]] = {}
    for pod_class in {id(pod.cls): pod.cls for pod in pods}.values():
        deployment = inferred_deployment(pod_class)
        if deployment is not None and pod_class.owner is not None:
            found.setdefault(deployment, {})[OwnerKey("ReplicaSet", pod_class.namespace, pod_class.owner.name)] = None
    return {deployment: list(sets) for deployment, sets in found.items()}


_PODS: _Derived[tuple[Pod, ...], dict[OwnerKey, list[tuple[int, Pod]]]] = _Derived(_by_controller)
_MADE: _Derived[dict[OwnerKey, OwnerKey], dict[OwnerKey, list[OwnerKey]]] = _Derived(_made_by)
_NAMED: _Derived[tuple[Pod, ...], dict[tuple[str, str], Pod]] = _Derived(
    lambda pods: {(pod.namespace, pod.name): pod for pod in reversed(pods)}
)


_MADE_BY_DEPLOYMENTS: _Derived[tuple[Pod, ...], dict[OwnerKey, list[OwnerKey]]] = _Derived(_inferred)
_LABELLED: _Derived[tuple[Pod, ...], dict[OwnerKey, list[tuple[int, Pod]]]] = _Derived(_by_label)


def workload_of(pod: Pod, cluster: Cluster) -> OwnerKey:
    """Return the workload of a pod; a pod without a controller is its own workload."""
    return owner_of(pod.cls, cluster) or OwnerKey("Pod", pod.namespace, pod.name)


def owner_of(pod_class: PodClass, cluster: Cluster) -> Optional[OwnerKey]:
    """Return the workload of the pods of a class; None for pods without a controller."""
    if pod_class.owner is None:
        return None
    labelled = _labelled(pod_class)
    if labelled is not None:
        return labelled
    key = OwnerKey(pod_class.owner.kind, pod_class.namespace, pod_class.owner.name)
    if key not in cluster.owners and key not in cluster.controllers:
        key = inferred_deployment(pod_class) or key
    return top_of(key, cluster)


def top_of(key: OwnerKey, cluster: Cluster) -> OwnerKey:
    """Return the topmost workload above a controller: itself if nothing of a known kind controls it."""
    top, seen = key, {key}
    while key in cluster.owners and cluster.owners[key] not in seen:
        key = cluster.owners[key]
        seen.add(key)
        if key.kind in KINDS or top.kind not in KINDS:
            top = key
    return top


def inferred_deployment(pod_class: PodClass) -> Optional[OwnerKey]:
    """Return the Deployment of a ReplicaSet that is named after it and the template's hash; else None."""
    hashed = dict(pod_class.labels).get(POD_TEMPLATE_HASH, "")
    if pod_class.owner is None or pod_class.owner.kind != "ReplicaSet" or not hashed:
        return None
    name = pod_class.owner.name.removesuffix(f"-{hashed}")
    return OwnerKey("Deployment", pod_class.namespace, name) if name and name != pod_class.owner.name else None


# Kinds whose controllers label the pods with the workload's name, and the kinds of the pods' own controllers.
_MAKERS = {
    "Service": ("ReplicaSet", "Deployment", "Service"),
    "DeploymentConfig": ("ReplicationController",),
    "LeaderWorkerSet": ("StatefulSet",),
}


def _labelled(pod_class: PodClass) -> Optional[OwnerKey]:
    """Return the workload that a label of the pods names, if their controller is of a kind that it uses."""
    if pod_class.owner is None:
        return None
    labels = dict(pod_class.labels)
    for kind, label in NAMED_BY_LABEL.items():
        if labels.get(label) and pod_class.owner.kind in _MAKERS[kind]:
            return OwnerKey(kind, pod_class.namespace, labels[label])
    return None


def pods_of(key: OwnerKey, cluster: Cluster) -> list[Pod]:
    """Return the pods that a controller has, itself or through others, in the order of the cluster."""
    by_controller, made_by = _PODS.of(cluster.pods), _MADE.of(cluster.owners)
    controllers = [key]
    for controller in controllers:
        controllers += [made for made in made_by.get(controller, ()) if made not in controllers]
    inferred = _MADE_BY_DEPLOYMENTS.of(cluster.pods).get(key, ())
    controllers += [made for made in inferred if made not in cluster.owners and made not in cluster.controllers]
    pods = [item for controller in dict.fromkeys(controllers) for item in by_controller.get(controller, ())]
    if key.kind in NAMED_BY_LABEL:
        pods += _LABELLED.of(cluster.pods).get(key, ())
    return [pod for _, pod in sorted(dict(pods).items())]


def pod_named(namespace: str, name: str, cluster: Cluster) -> list[Pod]:
    """Return the first pod of a name; none if there is no such pod."""
    found = _NAMED.of(cluster.pods).get((namespace, name))
    return [] if found is None else [found]
