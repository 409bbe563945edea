"""Changes of objects around workloads, by name: Services, claims, volumes, classes, autoscalers, namespaces.

Source: pkg/controller/volume/pvcprotection, pvprotection (v1.36.2). A claim stays while a pod with a node uses it,
and a volume stays while a claim is bound to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine import steps
from kubectl_spread.errors import RefusedError
from kubectl_spread.kubectl.situation import CommandEffect, Situation
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.selectors.labels import Labels
from kubectl_spread.objects.storage import NamespacedName, Storage

Plain = dict[str, Any]
Named = tuple[str, str]  # namespace, name

KINDS = (
    "Service",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "StorageClass",
    "HorizontalPodAutoscaler",
    "PriorityClass",
    "LimitRange",
    "ResourceQuota",
    "Namespace",
)
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


Found = Iterable[tuple[Named, Optional[Labels]]]


def existing(kind: str, cluster: Cluster) -> Found:
    """Yield the names of the objects of a kind with their labels; None if the cluster facts lack the labels."""
    return _EXISTING[kind](cluster) if kind in _EXISTING else ()


def _namespaces(cluster: Cluster) -> Found:
    known = cluster.namespaces
    used = {pod.namespace for pod in cluster.pods} | {key.namespace for key in cluster.controllers}
    yield from ((("", name), labels) for name, labels in known.items())
    yield from ((("", name), {}) for name in sorted(used - known.keys()))


_EXISTING: dict[str, Callable[[Cluster], Found]] = {
    "Service": lambda cluster: (((item.namespace, item.name), None) for item in cluster.services),
    "PersistentVolumeClaim": lambda cluster: (((key.namespace, key.name), None) for key in cluster.storage.claims),
    "PersistentVolume": lambda cluster: ((("", name), item.labels) for name, item in cluster.storage.volumes.items()),
    "StorageClass": lambda cluster: ((("", name), None) for name in cluster.storage.classes),
    "HorizontalPodAutoscaler": lambda cluster: (
        ((key.namespace, item.name), None) for key, item in cluster.autoscalers.items()
    ),
    "PriorityClass": lambda cluster: ((("", name), None) for name in cluster.priority_classes),
    "LimitRange": lambda cluster: (((item.namespace, item.name), None) for item in cluster.limit_ranges),
    "ResourceQuota": lambda cluster: (((item.namespace, item.name), None) for item in cluster.quotas),
    "Namespace": _namespaces,
}


def delete(kind: str, names: Iterable[Named], situation: Situation) -> CommandEffect:
    """Return the effect of deleting objects of a kind."""
    done = CommandEffect()
    for namespace, name in names:
        done += _DELETED[kind](namespace, name, situation)
    return done


def _changed(situation: Situation, cluster: Cluster) -> CommandEffect:
    situation.cluster = cluster
    return CommandEffect((steps.ChangeFacts(cluster),))


def _with_storage(situation: Situation, storage: Storage) -> CommandEffect:
    return _changed(situation, situation.cluster._replace(storage=storage))


def _service(namespace: str, name: str, situation: Situation) -> CommandEffect:
    services = tuple(item for item in situation.cluster.services if (item.namespace, item.name) != (namespace, name))
    return _changed(situation, situation.cluster._replace(services=services))


def _claim(namespace: str, name: str, situation: Situation) -> CommandEffect:
    """Delete a claim; one that a pod with a node uses stays until the pod is gone."""
    cluster, key = situation.cluster, NamespacedName(namespace, name)
    claims = dict(cluster.storage.claims)
    users = [pod for pod in cluster.bound_pods() if _uses(pod, key)]
    volume = claims[key].volume_name
    if users:
        claims[key] = claims[key]._replace(is_deleted=True)
        notes = [f"claim {name} stays until {users[0].name}, which uses it, is gone"]
    else:
        del claims[key]
        notes = []
    if volume:
        notes.append(f"the data in volume {volume} is lost with claim {name}, unless its reclaim policy is Retain")
    situation.cluster = cluster._replace(storage=cluster.storage._replace(claims=claims))
    owners = frozenset(owner for pod in users if (owner := cluster.top_owner(pod)) is not None)
    return CommandEffect((steps.DeleteClaims((key,)),), owners, notes=tuple(notes))


def _uses(pod: Any, key: NamespacedName) -> bool:
    return pod.namespace == key.namespace and any(volume.claim == key.name for volume in pod.cls.volumes)


def _volume(_: str, name: str, situation: Situation) -> CommandEffect:
    """Delete a volume; one that is bound to a claim stays until the claim is gone."""
    storage = situation.cluster.storage
    volumes = dict(storage.volumes)
    if any(claim.volume_name == name for claim in storage.claims.values()):
        volumes[name] = volumes[name]._replace(is_deleted=True)
        note = f"volume {name} stays until its claim is gone"
        return _with_storage(situation, storage._replace(volumes=volumes)) + CommandEffect(notes=(note,))
    del volumes[name]
    return _with_storage(situation, storage._replace(volumes=volumes))


def _class(_: str, name: str, situation: Situation) -> CommandEffect:
    storage = situation.cluster.storage
    classes = {known: item for known, item in storage.classes.items() if known != name}
    return _with_storage(situation, storage._replace(classes=classes))


def _autoscaler(namespace: str, name: str, situation: Situation) -> CommandEffect:
    cluster = situation.cluster
    autoscalers = {
        key: item for key, item in cluster.autoscalers.items() if (key.namespace, item.name) != (namespace, name)
    }
    note = f"without autoscaler {name}, the workload keeps the replicas that it has"
    return _changed(situation, cluster._replace(autoscalers=autoscalers)) + CommandEffect(notes=(note,))


def _priority_class(_: str, name: str, situation: Situation) -> CommandEffect:
    """Delete a priority class: pods keep their priority, and new ones that name it are refused."""
    cluster = situation.cluster
    classes = {known: item for known, item in cluster.priority_classes.items() if known != name}
    users = [
        f"{key.kind} {key.name}"
        for key, controller in sorted(cluster.controllers.items())
        if key not in cluster.owners and _named_class(controller.workload.template) == name
    ]
    what = f"without priority class {name} is not simulated: they get the priority 0"
    notes = tuple(f"that the API server refuses new pods of {user} {what}" for user in users[:1])
    return _changed(situation, cluster._replace(priority_classes=classes)) + CommandEffect(notes=notes)


def _named_class(template: Plain) -> str:
    return str((template.get("spec") or {}).get("priorityClassName") or "")


def _limit_range(namespace: str, name: str, situation: Situation) -> CommandEffect:
    cluster = situation.cluster
    left = tuple(item for item in cluster.limit_ranges if (item.namespace, item.name) != (namespace, name))
    return _changed(situation, cluster._replace(limit_ranges=left))


def _quota(namespace: str, name: str, situation: Situation) -> CommandEffect:
    cluster = situation.cluster
    left = tuple(item for item in cluster.quotas if (item.namespace, item.name) != (namespace, name))
    return _changed(situation, cluster._replace(quotas=left))


def _namespace(_: str, name: str, situation: Situation) -> CommandEffect:
    """Delete a namespace with everything in it."""
    cluster = situation.cluster
    done = CommandEffect()
    for key in [key for key in cluster.controllers if key.namespace == name and key not in cluster.owners]:
        situation.remove(key)
        done += CommandEffect((steps.Delete(key),), frozenset([key]))
    done += _changed(situation, _without_namespace(situation.cluster, name))
    bare = tuple(pod.uid for pod in cluster.pods if pod.namespace == name and cluster.top_owner(pod) is None)
    claims = tuple(key for key in cluster.storage.claims if key.namespace == name)
    note = f"namespace {name} is deleted with all its objects, also those outside the simulation, such as Secrets"
    ops: tuple[steps.Op, ...] = (steps.DeletePods(bare), steps.DeleteClaims(claims))
    return done + CommandEffect(ops, notes=(note,))


def _without_namespace(cluster: Cluster, name: str) -> Cluster:
    return cluster._replace(
        namespaces={known: labels for known, labels in cluster.namespaces.items() if known != name},
        services=tuple(item for item in cluster.services if item.namespace != name),
        budgets=tuple(item for item in cluster.budgets if item.namespace != name),
        autoscalers={key: item for key, item in cluster.autoscalers.items() if key.namespace != name},
    )


_DELETED: dict[str, Callable[[str, str, Situation], CommandEffect]] = {
    "Service": _service,
    "PersistentVolumeClaim": _claim,
    "PersistentVolume": _volume,
    "StorageClass": _class,
    "HorizontalPodAutoscaler": _autoscaler,
    "PriorityClass": _priority_class,
    "LimitRange": _limit_range,
    "ResourceQuota": _quota,
    "Namespace": _namespace,
}


def plain_of(kind: str, name: Named, cluster: Cluster) -> Plain:
    """Return the fields of an object that a patch can change here, as an API object."""
    storage = cluster.storage
    plain: Plain = {"metadata": {"name": name[1], "labels": {}, "annotations": {}}, "spec": {}}
    if kind == "Service":
        service = next(item for item in cluster.services if (item.namespace, item.name) == name)
        plain["spec"] = {"selector": dict(service.selector)} if service.selector is not None else {}
    elif kind == "PersistentVolume":
        claim = storage.volumes[name[1]].claim
        plain["spec"] = {} if claim is None else {"claimRef": claim._asdict()}
        plain["metadata"]["labels"] = dict(storage.volumes[name[1]].labels)
    elif kind == "StorageClass":
        is_default = "true" if storage.classes[name[1]].is_default else "false"
        plain["metadata"]["annotations"] = {DEFAULT_CLASS: is_default}
    elif kind == "HorizontalPodAutoscaler":
        _, found = _scaler(name, cluster)
        plain["spec"] = {"minReplicas": found.min_replicas, "maxReplicas": found.max_replicas}
    elif kind == "Namespace":
        plain["metadata"]["labels"] = dict(cluster.namespaces.get(name[1], {}))
    return plain


def _scaler(name: Named, cluster: Cluster) -> tuple[ObjectKey, Any]:
    return next((key, item) for key, item in cluster.autoscalers.items() if (key.namespace, item.name) == name)


def apply_patch(kind: str, name: Named, after: Plain, situation: Situation) -> CommandEffect:
    """Return the effect of a patch; `after` is the object with the patch applied.

    Raises:
        RefusedError: the API server would refuse it.
    """
    cluster, spec = situation.cluster, after.get("spec") or {}
    storage = cluster.storage
    metadata = after.get("metadata") or {}
    if kind == "Service":
        services = tuple(
            item._replace(selector=spec.get("selector")) if (item.namespace, item.name) == name else item
            for item in cluster.services
        )
        return _changed(situation, cluster._replace(services=services))
    if kind == "Namespace":
        return _changed(
            situation, cluster._replace(namespaces={**cluster.namespaces, name[1]: metadata.get("labels") or {}})
        )
    if kind == "StorageClass":
        is_default = (metadata.get("annotations") or {}).get(DEFAULT_CLASS) == "true"
        changed = storage.classes[name[1]]._replace(is_default=is_default)
        return _with_storage(situation, storage._replace(classes={**storage.classes, name[1]: changed}))
    if kind == "PersistentVolume":
        return _volume_patched(name[1], spec, metadata, situation)
    if kind == "HorizontalPodAutoscaler":
        return _autoscaler_patched(name, spec, situation)
    return CommandEffect(notes=(f"a change of claim {name[1]} moves no pod",))


def _volume_patched(name: str, spec: Plain, metadata: Plain, situation: Situation) -> CommandEffect:
    """Patch a volume: without `claimRef` a released one is available again."""
    storage = situation.cluster.storage
    volume = storage.volumes[name]._replace(labels=metadata.get("labels") or {})
    if not spec.get("claimRef") and not any(claim.volume_name == name for claim in storage.claims.values()):
        volume = volume._replace(claim=None, claim_uid="", is_available=True)
    return _with_storage(situation, storage._replace(volumes={**storage.volumes, name: volume}))


def _autoscaler_patched(name: Named, spec: Plain, situation: Situation) -> CommandEffect:
    """Patch the range of an autoscaler, which scales its workload into the new range."""
    cluster = situation.cluster
    key, found = _scaler(name, cluster)
    least, most = spec.get("minReplicas", 1), spec.get("maxReplicas")
    if type(most) is not int or type(least) is not int or most < max(1, least):
        why = f"spec.maxReplicas: Invalid value: {most}: must be greater than or equal to `minReplicas`"
        raise RefusedError(f'The HorizontalPodAutoscaler "{name[1]}" is invalid: {why}')
    changed = found._replace(min_replicas=least, max_replicas=most)
    done = _changed(situation, cluster._replace(autoscalers={**cluster.autoscalers, key: changed}))
    return done + CommandEffect((), frozenset([key]), notes=(changed.note,))
