"""The workload of a pod, and the pods of a workload.

A workload is the topmost object above a pod with a known kind of pod template: the object that a user edits.

        Pod ─▶ ReplicaSet ─▶ Deployment                                     Deployment
        Pod ─▶ Job ─▶ CronJob                                               CronJob
        Pod ─▶ ReplicaSet ─▶ Deployment ─▶ Revision, label serving.../service   Service (Knative)
        Pod ─▶ StatefulSet ─▶ Prometheus                                    StatefulSet
        Pod ─▶ StrimziPodSet                                                StrimziPodSet
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.containers import grouped
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.objects.workloads.workload import NAMED_BY_LABEL, POD_TEMPLATE_HASH


def workload_of(pod: Pod, cluster: Cluster) -> ObjectKey:
    """Return the workload of a pod; a pod without a controller is its own workload."""
    return owner_of(pod.cls, cluster) or ObjectKey("Pod", pod.namespace, pod.name)


def also_counted(pods: Iterable[Pod], key: ObjectKey, cluster: Cluster) -> tuple[ObjectKey, ...]:
    """Return the workloads of the pods that a workload's constraint counts, without the workload itself."""
    return tuple(sorted({workload_of(pod, cluster) for pod in pods if not pod.terminating} - {key}))


def owner_of(pod_class: PodClass, cluster: Cluster) -> Optional[ObjectKey]:
    """Return the workload of the pods of a class; None for pods without a controller."""
    key, labelled = pod_class.owner_key, _labelled(pod_class)
    if key is None or labelled is not None:
        return labelled
    if key not in cluster.owners and key not in cluster.controllers:
        key = inferred_deployment(pod_class) or key
    return top_of(key, cluster)


def top_of(key: ObjectKey, cluster: Cluster) -> ObjectKey:
    """Return the topmost workload above a controller; the controller itself if nothing of a known kind controls it."""
    top, seen = key, {key}
    while key in cluster.owners and cluster.owners[key] not in seen:
        key = cluster.owners[key]
        seen.add(key)
        if key.kind in KINDS or top.kind not in KINDS:
            top = key
    return top


def inferred_deployment(pod_class: PodClass) -> Optional[ObjectKey]:
    """Return the Deployment of a ReplicaSet that is named after it and the template's hash; else None."""
    hashed = dict(pod_class.labels).get(POD_TEMPLATE_HASH, "")
    if pod_class.owner is None or pod_class.owner.kind != "ReplicaSet" or not hashed:
        return None
    name = pod_class.owner.name.removesuffix(f"-{hashed}")
    return ObjectKey("Deployment", pod_class.namespace, name) if name and name != pod_class.owner.name else None


# Kinds whose controllers label the pods with the workload's name, and the kinds of the pods' own controllers.
_MAKERS = {
    "Service": ("ReplicaSet", "Deployment", "Service"),
    "DeploymentConfig": ("ReplicationController",),
    "LeaderWorkerSet": ("StatefulSet",),
}


def _labelled(pod_class: PodClass) -> Optional[ObjectKey]:
    """Return the workload that a label of the pods names, if their controller is of a kind that it uses."""
    if pod_class.owner is None:
        return None
    labels = dict(pod_class.labels)
    for kind, label in NAMED_BY_LABEL.items():
        if labels.get(label) and pod_class.owner.kind in _MAKERS[kind]:
            return ObjectKey(kind, pod_class.namespace, labels[label])
    return None


class OwnedPods:
    """The pods of one cluster by their controllers, indexed on first use.

    cluster: the cluster with the pods.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def of(self, key: ObjectKey) -> list[Pod]:
        """Return the pods that a controller has, itself or through others, in the order of the cluster."""
        cluster = self.cluster
        controllers = [key]
        for controller in controllers:
            controllers += [made for made in self._made_by.get(controller, ()) if made not in controllers]
        inferred = self._inferred.get(key, ())
        controllers += [made for made in inferred if made not in cluster.owners and made not in cluster.controllers]
        pods = [item for controller in dict.fromkeys(controllers) for item in self._by_controller.get(controller, ())]
        if key.kind in NAMED_BY_LABEL:
            pods += self._by_label.get(key, ())
        return [pod for _, pod in sorted(dict(pods).items())]

    def pods_named(self, namespace: str, name: str) -> list[Pod]:
        """Return a list of the first pod with a name; empty if there is none."""
        found = self._by_name.get((namespace, name))
        return [] if found is None else [found]

    def in_cluster(self, cluster: Cluster) -> OwnedPods:
        """Return the pods of another cluster, whose own index is this one if the pods are the same objects."""
        other = OwnedPods(cluster)
        if cluster.pods is self.cluster.pods:
            other._by_controller, other._inferred = self._by_controller, self._inferred
        return other

    @cached_property
    def node_names(self) -> frozenset[str]:
        """Return the names of the cluster's nodes."""
        return frozenset(node.name for node in self.cluster.nodes)

    @cached_property
    def _by_controller(self) -> dict[ObjectKey, list[tuple[int, Pod]]]:
        every = ((pod.owner_key, (at, pod)) for at, pod in enumerate(self.cluster.pods))
        return grouped((key, found) for key, found in every if key is not None)

    @cached_property
    def _made_by(self) -> dict[ObjectKey, list[ObjectKey]]:
        return grouped((owner, made) for made, owner in self.cluster.owners.items())

    @cached_property
    def _by_label(self) -> dict[ObjectKey, list[tuple[int, Pod]]]:
        every = ((_labelled(pod.cls), (at, pod)) for at, pod in enumerate(self.cluster.pods))
        return grouped((key, found) for key, found in every if key is not None)

    @cached_property
    def _inferred(self) -> dict[ObjectKey, list[ObjectKey]]:
        """Return the ReplicaSets of each Deployment, inferred from their names, if the facts lack the ReplicaSets."""
        found: dict[ObjectKey, dict[ObjectKey, None]] = {}
        for pod_class in {id(pod.cls): pod.cls for pod in self.cluster.pods}.values():
            deployment = inferred_deployment(pod_class)
            if deployment is not None and pod_class.owner is not None:
                made = ObjectKey("ReplicaSet", pod_class.namespace, pod_class.owner.name)
                found.setdefault(deployment, {})[made] = None
        return {deployment: list(sets) for deployment, sets in found.items()}

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], Pod]:
        return {(pod.namespace, pod.name): pod for pod in reversed(self.cluster.pods)}
