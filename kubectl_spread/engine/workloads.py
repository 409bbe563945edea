"""Pods of a workload: running pods, and pods that its controller has yet to create."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Cluster, Controller, key_of
from kubectl_spread.engine.controllers.daemonset import wanted_nodes
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.workloads.replica import controller_of, controller_selector, daemon, replica
from kubectl_spread.objects.workloads.workload import replica_name, revision_label, Workload
from kubectl_spread.text.scalars import natural


def running_workload(owner: Workload, owned: OwnedPods) -> Workload:
    """Return a workload with the revision of its running pods, unless its template has changed."""
    if owner.is_foreign or owner.kind not in _GO_ON or is_changed(owner, owned.cluster):
        return owner
    pods = running_pods(owner, owned)
    newest, label = newest_hash(owner, pods, owned.cluster), revision_label(owner)
    of_newest = [pod for pod in pods if newest and pod.labels.get(label, "").endswith(newest)]
    if of_newest and key_of(owner) not in owned.cluster.controllers and not has_constraints_of(of_newest[0], owner):
        return owner
    return owner._replace(known_hash=newest or owner.known_hash)


def has_constraints_of(pod: Pod, owner: Workload) -> bool:
    """Return whether a pod has the template's constraints, as a sign that it is of the current revision.

    The API server adds to the selectors of pods, so these are not compared.
    """
    written = read.pod_class(pod.namespace, {"labels": pod.labels}, owner.pod_spec, {}).constraints
    made, own = ([item._replace(label_selector=None) for item in items] for items in (written, pod.cls.constraints))
    return made == own


def is_changed(owner: Workload, cluster: Cluster) -> bool:
    """Return whether the workload in the cluster has another template in a field that the scheduler reads.

    Other fields, such as environment variables, also create a new revision. They are not compared, because the cluster
    facts may lack them.
    """
    known = cluster.controllers.get(key_of(owner))
    return known is not None and _template_class(owner) != _template_class(known.workload)


def _template_class(owner: Workload) -> PodClass:
    """Return the pod class of the template, without the fields that admission adds."""
    metadata = {"labels": _labels(owner), "namespace": owner.namespace}
    pod_class = read.pod({"metadata": metadata, "spec": owner.pod_spec}).cls
    return pod_class._replace(priority=0, preemption_policy="")


def newest_hash(owner: Workload, pods: Sequence[Pod], cluster: Cluster) -> str:
    """Return the revision of the pods that a workload's controller creates now; empty if it has no pods.

    The StatefulSet or Rollout names it, or the ReplicaSet with the highest number has it. Otherwise it is the most
    frequent revision of the pods.
    """
    known = cluster.controllers.get(key_of(owner))
    if known is not None and known.revision and owner.kind in ("StatefulSet", "Rollout"):
        return known.revision.removeprefix(f"{owner.name}-")
    label = revision_label(owner)
    made = {pod.owner_key for pod in pods}
    numbered = [
        (number, str(hash_))
        for key in made
        if key is not None
        and (maker := cluster.controllers.get(key)) is not None
        and (number := natural(maker.revision)) is not None
        and (hash_ := _labels(maker.workload).get(label))
    ]
    if numbered:
        return max(numbered)[1]
    hashes = Counter(pod.labels.get(label, "") for pod in pods)
    found = hashes.most_common(1)[0][0] if hashes else ""
    return found.removeprefix(f"{owner.name}-") if owner.kind == "StatefulSet" else found


def _labels(owner: Workload) -> dict[str, Any]:
    return fields(owner.template, "metadata", "labels")


_GO_ON = frozenset(
    {"Deployment", "StatefulSet", "DaemonSet", "Rollout", "Service", "DeploymentConfig", "CloneSet", "LeaderWorkerSet"}
)

_MEMBER = "leaderworkerset.sigs.k8s.io/worker-index"


def with_controllers(owners: list[Workload], cluster: Cluster) -> Cluster:
    """Return the cluster with the workloads and the controllers that they create.

    Default constraints take over the selectors of the controllers.
    """
    owner_selectors, top_owners = dict(cluster.owner_selectors), dict(cluster.owners)
    for owner in owners:
        if owner.selector is not None or (owner.kind == "Service" and not owner.is_foreign):
            owner_selectors[_controller_key(owner)] = controller_selector(owner)
    keys = {key_of(owner): owner for owner in owners if owner.kind != "Pod"}
    for key, owner in keys.items():
        controller = _controller_key(owner)
        if controller.name != owner.name:
            top_owners[controller] = key
    added = {key: Controller(owner) for key, owner in keys.items()}
    return cluster._replace(
        owner_selectors=owner_selectors, owners=top_owners, controllers={**added, **cluster.controllers}
    )


def with_manifests(owners: list[Workload], cluster: Cluster) -> Cluster:
    """Return the cluster with the workloads as their manifests have them, and not as they run."""
    known = with_controllers(owners, cluster)
    written = {key_of(owner): owner for owner in owners if owner.kind != "Pod"}
    changed = {key: known.controllers[key]._replace(workload=owner) for key, owner in written.items()}
    return known._replace(controllers={**known.controllers, **changed})


def _controller_key(owner: Workload) -> ObjectKey:
    controller = controller_of(owner)
    return ObjectKey(controller.kind, owner.namespace, controller.name)


def missing_replicas(
    owner: Workload, owned: OwnedPods, create: Callable[[Workload, int], Pod] = replica
) -> Iterator[Pod]:
    """Yield the pods that a workload's controller has yet to create; `create` returns the pod of an ordinal."""
    running = running_pods(owner, owned)
    if owner.kind == "DaemonSet":
        covered = {pod.node_name for pod in running}
        yield from (daemon(owner, node.name) for node in wanted_nodes(owner, owned.cluster) if node.name not in covered)
        return
    replicas = owner.replicas or 0
    if owner.kind in ("StatefulSet", "Pod", "LeaderWorkerSet") or owner.is_indexed:
        names = {pod.name for pod in running}
        yield from (create(owner, at) for at in range(replicas) if replica_name(owner, at) not in names)
    elif len(running) < replicas:
        # They only differ in their names.
        pod = create(owner, len(running))
        for at in range(len(running), replicas):
            name = replica_name(owner, at)
            yield pod._replace(name=name, uid=f"{owner.namespace}/{name}")


def creates_no_pods(owner: Workload, owned: OwnedPods) -> bool:
    """Return whether a Deployment is paused before it has a ReplicaSet.

    Source: pkg/controller/deployment/deployment_controller.go, syncDeployment; sync.go, sync, scale (v1.36.2).
    """
    if not owner.is_paused or owned.of(key_of(owner)):
        return False
    made = (known for known, above in owned.cluster.owners.items() if above == key_of(owner))
    return not any(key in owned.cluster.controllers for key in made)


def running_pods(owner: Workload, owned: OwnedPods) -> list[Pod]:
    """Return the workload's pods that are on a node and not terminating."""
    pods = owned.pods_named(owner.namespace, owner.name) if owner.kind == "Pod" else owned.of(key_of(owner))
    if owner.kind == "LeaderWorkerSet":  # It has two templates.
        numbers = range(owner.group.first, owner.group.first + owner.group.size)
        pods = [pod for pod in pods if (at := natural(pod.labels.get(_MEMBER, ""))) is None or at in numbers]
    return [pod for pod in pods if pod.node_name and pod.is_visible and not pod.terminating]
