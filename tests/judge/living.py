"""A snapshot as a world in which controllers act: what snapshots leave out is filled in as it must have been.

Snapshots of people hold what a question needs: often pods without their ReplicaSets, or those without templates. The
controllers need all of it. A workload that is not there is made of its pods.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any, Optional

from tests.naive import objects, volumebinding
from tests.naive.controllers import admission, daemon, deployment, job, nodes, statefulset
from tests.naive.controllers.world import CLUSTER_SCOPED, condition, hashed, is_active, Settings, World

Plain = dict[str, Any]

_HASH = deployment.HASH
_LABELS = {"DaemonSet": daemon.REVISION, "StatefulSet": statefulset.REVISION}
# What a controller or the API server adds to a pod, and no template has.
_ADDED = (_HASH, statefulset.REVISION, statefulset.POD_NAME, statefulset.POD_INDEX, job.INDEX)
# Names and UIDs that are made do not meet those of a snapshot that was made here.
_FIRST_SERIAL = 50_000
_MADE = ("ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job")


def world_of(items: list[Plain], *, configuration: Optional[Plain] = None) -> World:
    """The moment that a snapshot shows."""
    world = World(Settings(configuration=configuration))
    world.serial = _FIRST_SERIAL
    for item in items:
        _add(world, copy.deepcopy(item))
    for kind in _MADE:
        for reference, pods in _owned(world, kind):
            if world.get(kind, reference["name"], objects.namespace_of(pods[0])) is None:
                _add(world, _made(world, reference, pods))
    for volume in world.list("PersistentVolume"):
        _complete_volume(world, volume)
    _unite(world)
    for item in world.list("ReplicaSet"):
        _complete_set(world, item)
    _deployments(world)
    for kind in _LABELS:
        for item in world.list(kind):
            _complete_revisions(world, item)
    return world


def _add(world: World, item: Plain) -> None:
    item.setdefault("metadata", {})
    metadata = item["metadata"]
    if item["kind"] in CLUSTER_SCOPED:
        metadata.pop("namespace", None)
    metadata.setdefault("uid", f"{item['kind']}/{metadata.get('namespace')}/{metadata['name']}")
    status = item.get("status")
    if item["kind"] == "Node":
        _complete_node(item)
    admission.create(world, item)
    if item["kind"] == "Pod":
        _add_pod(world, metadata["name"], metadata.get("namespace") or "default")
    elif item["kind"] == "PersistentVolumeClaim" and not status:
        found = world.edit(item)
        is_bound = volumebinding.is_pvc_fully_bound(found)
        found["status"] = {"phase": "Bound" if is_bound else "Pending"}
    if item["kind"] == "PersistentVolumeClaim":
        _note_silence(world, item)


def _complete_node(node: Plain) -> None:
    """A node with the taints of one that is lost is lost, whatever else a shortened snapshot says."""
    taints = (node.get("spec") or {}).get("taints") or []
    if any(taint["key"] in (admission.NOT_READY, admission.UNREACHABLE) for taint in taints):
        status = node.setdefault("status", {})
        others = [item for item in status.get("conditions") or [] if item["type"] != "Ready"]
        status["conditions"] = [*others, {"type": "Ready", "status": "Unknown"}]


def _note_silence(world: World, claim: Plain) -> None:
    """A claim whose node was selected, and that has no volume, has a provisioner that does not answer."""
    if volumebinding.SELECTED_NODE in objects.annotations_of(claim) and not claim["spec"].get("volumeName"):
        world.settings.silent.add(objects.name_of(claim))


def _add_pod(world: World, name: str, namespace: str) -> None:
    """What kubelets have said of the pod; one that is said to be unready stays so, and one that is going goes."""
    pod = world.get("Pod", name, namespace)
    assert pod is not None
    status = pod.setdefault("status", {})
    ready = condition(pod, "Ready")
    conditions = [item for item in status.get("conditions") or [] if item["type"] != "PodScheduled"]
    if pod["spec"].get("nodeName") and ready is None and status.get("phase") in (None, "Running"):
        conditions.append({"type": "Ready", "status": "True"})
        status["phase"] = status.get("phase") or "Running"
    node = world.get("Node", pod["spec"].get("nodeName") or "", "")
    is_lost = node is not None and (condition(node, "Ready") or {}).get("status") == "Unknown"
    if ready is not None and ready["status"] != "True" and not objects.is_terminating(pod) and not is_lost:
        world.settings.stuck.add(pod["metadata"]["uid"])
    status["conditions"] = conditions
    if ready is not None and is_lost:
        others = [item for item in conditions if item["type"] != "Ready"]
        status["conditions"] = [*others, {**ready, "reason": nodes.NODE_LOST}]
    is_over = objects.is_terminated(pod) or objects.is_terminating(pod)  # Then its failure may be counted already.
    if objects.controller_of(pod).get("kind") == "Job" and not is_over:
        pod["metadata"]["finalizers"] = [job.FINALIZER]


def _owned(world: World, kind: str) -> Iterator[tuple[Plain, list[Plain]]]:
    """References to owners of a kind, with the pods that have them."""
    found: dict[tuple[str, str], list[Plain]] = {}
    for pod in world.pods():
        reference = objects.controller_of(pod)
        if reference.get("kind") == kind:
            found.setdefault((objects.namespace_of(pod), reference["name"]), []).append(pod)
    for pods in found.values():
        yield objects.controller_of(pods[0]), pods


def _made(world: World, reference: Plain, pods: list[Plain]) -> Plain:
    """A workload that is not in the snapshot, as its pods show it."""
    active = [pod for pod in pods if is_active(pod)]
    item: Plain = {
        "apiVersion": reference.get("apiVersion") or "apps/v1",
        "kind": reference["kind"],
        "metadata": {"name": reference["name"], "namespace": objects.namespace_of(pods[0])},
        "spec": {"template": template_from(_newest(pods))},
    }
    spec = item["spec"]
    if reference["kind"] == "Job":
        spec["parallelism"] = spec["completions"] = len(active)
        if job.INDEX in objects.annotations_of(pods[0]):
            spec["completionMode"] = "Indexed"
        return item
    spec["selector"] = {"matchLabels": objects.labels_of({"metadata": spec["template"]["metadata"]})}
    if reference["kind"] == "StatefulSet":
        spec["replicas"] = 1 + max(map(statefulset.ordinal_of, pods))
        item["status"] = {"volumesOf": {objects.name_of(pod): _claimed(pod) for pod in pods}}
        item["status"]["claimsOf"] = {objects.name_of(pod): _own_claims(world, pod) for pod in pods}
        template = spec["template"]["spec"]
        template["volumes"] = [item for item in template.get("volumes") or [] if "persistentVolumeClaim" not in item]
    elif reference["kind"] != "DaemonSet":
        spec["replicas"] = len(active)
    return item


def _claimed(pod: Plain) -> list[Plain]:
    """The volumes of a pod that are claims: each pod of a StatefulSet has its own."""
    return [volume for volume in pod["spec"].get("volumes") or [] if "persistentVolumeClaim" in volume]


def _own_claims(world: World, pod: Plain) -> list[Plain]:
    """Claims that are named after the pod: its controller makes them again."""
    found = []
    for volume in _claimed(pod):
        name = volume["persistentVolumeClaim"]["claimName"]
        claim = world.get("PersistentVolumeClaim", name, objects.namespace_of(pod))
        if claim is not None and name == f"{volume['name']}-{objects.name_of(pod)}":
            spec = {field: value for field, value in claim["spec"].items() if field != "volumeName"}
            metadata = {"name": name, "namespace": objects.namespace_of(pod)}
            found.append({"apiVersion": "v1", "kind": claim["kind"], "metadata": metadata, "spec": copy.deepcopy(spec)})
    return found


def _complete_volume(world: World, volume: Plain) -> None:
    """A volume that a provisioner made goes with its claim, and knows its claim by the UID."""
    spec = volume["spec"]
    storage_class = world.get("StorageClass", spec.get("storageClassName") or "") or {}
    if storage_class.get("provisioner") not in (None, "", "kubernetes.io/no-provisioner"):
        spec.setdefault("persistentVolumeReclaimPolicy", storage_class.get("reclaimPolicy") or "Delete")
    for claim in world.list("PersistentVolumeClaim"):
        if claim["spec"].get("volumeName") == objects.name_of(volume):
            reference = {"namespace": objects.namespace_of(claim), "name": objects.name_of(claim)}
            spec["claimRef"] = {**reference, "uid": objects.uid_of(claim)}


def _newest(pods: list[Plain]) -> Plain:
    """A pod of the latest revision: one that waits, or else the youngest."""
    return max(pods, key=lambda pod: (not pod["spec"].get("nodeName"), pod["metadata"].get("creationTimestamp") or ""))


def template_from(pod: Plain) -> Plain:
    """The template that a pod was made of."""
    spec = copy.deepcopy(pod["spec"])
    for field in ("nodeName", "hostname", "priority", "preemptionPolicy"):
        spec.pop(field, None)
    own = [item for item in spec.get("tolerations") or [] if item.get("tolerationSeconds") != 300]
    spec["tolerations"] = own
    for constraint in spec.get("topologySpreadConstraints") or []:
        _without_merged_keys(constraint)
    labels = {key: value for key, value in objects.labels_of(pod).items() if key not in _ADDED}
    labels = {key: value for key, value in labels.items() if not key.endswith(("controller-uid", "job-name"))}
    return {"metadata": {"labels": labels, "annotations": dict(objects.annotations_of(pod))}, "spec": spec}


def _without_merged_keys(constraint: Plain) -> None:
    """Take out of the selector what the API server merged into it."""
    keys = constraint.get("matchLabelKeys") or []
    selector = constraint.get("labelSelector") or {}
    expressions = selector.get("matchExpressions")
    if keys and expressions:
        selector["matchExpressions"] = [item for item in expressions if item["key"] not in keys]


def _unite(world: World) -> None:
    """Owner references name the UIDs that owners have here."""
    for kind in ("Pod", "ReplicaSet", "Job"):
        for item in world.list(kind):
            references = item["metadata"].get("ownerReferences")
            if not references:
                continue
            for reference in references:
                owner = world.get(reference["kind"], reference["name"], objects.namespace_of(item))
                if owner is not None:
                    reference["uid"] = owner["metadata"]["uid"]


def pods_of(world: World, item: Plain) -> list[Plain]:
    uid = item["metadata"]["uid"]
    return [pod for pod in world.pods() if objects.controller_of(pod).get("uid") == uid and is_active(pod)]


def _complete_set(world: World, item: Plain) -> None:
    pods, spec = pods_of(world, item), item["spec"]
    if spec.get("replicas") is None:
        spec["replicas"] = len(pods)
    if "template" not in spec and pods:
        spec["template"] = template_from(pods[0])
    template = spec.setdefault("template", {"metadata": {"labels": {}}, "spec": {}})
    if pods and not template.get("spec"):
        template.update(template_from(pods[0]))
    short = next((objects.labels_of(pod)[_HASH] for pod in pods if _HASH in objects.labels_of(pod)), None)
    labels = template.setdefault("metadata", {}).setdefault("labels", {})
    if short is not None:
        labels[_HASH] = short
    if not spec.get("selector"):
        spec["selector"] = {"matchLabels": dict(labels)}
    if not item["metadata"].get("labels"):
        item["metadata"]["labels"] = dict(labels)


def _deployments(world: World) -> None:
    sets: dict[tuple[str, str], list[Plain]] = {}
    for item in world.list("ReplicaSet"):
        name = _deployment_name(item)
        if name:
            sets.setdefault((objects.namespace_of(item), name), []).append(item)
    for (namespace, name), found in sets.items():
        item = world.get("Deployment", name, namespace)
        newest = _current(world, item, found)
        if item is None:
            _add(world, _made_deployment(name, namespace, found, newest))
            item = world.get("Deployment", name, namespace)
            assert item is not None
        _default_strategy(item["spec"])
        if item["spec"].get("replicas") is None:
            item["spec"]["replicas"] = sum(other["spec"]["replicas"] for other in found)
        for at, other in enumerate(sorted(found, key=lambda one: (one is newest, _age(one)))):
            other["metadata"]["ownerReferences"] = [_reference(item)]
            other["metadata"]["creationTimestamp"] = f"2000-01-01T00:00:{at:02d}Z"
            other["metadata"].setdefault("annotations", {}).setdefault(deployment.REVISION, str(at + 1))
            if item["spec"].get("minReadySeconds"):
                other["spec"]["minReadySeconds"] = item["spec"]["minReadySeconds"]
        if not item["spec"].get("paused") and _images(newest) in ([], _images(item)):
            _same_template(item, newest)
        for other in found:
            if other is not newest and deployment.template_of(other) == deployment.template_of(newest):
                _tell_apart(other)


def _default_strategy(spec: Plain) -> None:
    """What the API server writes into every Deployment."""
    strategy = spec.setdefault("strategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxSurge", "25%")
        rolling.setdefault("maxUnavailable", "25%")


def _tell_apart(item: Plain) -> None:
    """Two revisions differ, even where a shortened snapshot does not show in what."""
    metadata = item["spec"]["template"]["metadata"]
    metadata["annotations"] = {**(metadata.get("annotations") or {}), "naive/revision": objects.name_of(item)}


def _reference(item: Plain) -> Plain:
    metadata = item["metadata"]
    return {
        "apiVersion": "apps/v1",
        "kind": item["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
    }


def _age(item: Plain) -> tuple[int, str]:
    return deployment.revision_of(item), item["metadata"].get("creationTimestamp") or ""


def _deployment_name(item: Plain) -> str:
    reference = objects.controller_of(item)
    if reference or "ownerReferences" in item["metadata"]:  # Only shortened snapshots leave owners out.
        return str(reference["name"]) if reference.get("kind") == "Deployment" else ""
    short = objects.labels_of({"metadata": item["spec"]["template"].get("metadata") or {}}).get(_HASH)
    name = str(item["metadata"]["name"])
    return name.removesuffix(f"-{short}") if short and name.endswith(f"-{short}") else ""


def _current(world: World, item: Optional[Plain], sets: list[Plain]) -> Plain:
    """The ReplicaSet of the template of now: the one that is equal to it, or that a pod waits for, or the latest."""
    waits = {id(other): any(not pod["spec"].get("nodeName") for pod in pods_of(world, other)) for other in sets}
    found = sets
    if item is not None:
        equal = [other for other in sets if deployment.template_of(other) == deployment.template_of(item)]
        revision = deployment.revision_of(item)
        same = [other for other in sets if revision and deployment.revision_of(other) == revision]
        found = equal or same or sets
    return max(found, key=lambda other: (_age(other)[0], waits[id(other)], _age(other)))


def _made_deployment(name: str, namespace: str, sets: list[Plain], newest: Plain) -> Plain:
    """A Deployment that is not in the snapshot; its replicas are the fewest that allow for so many pods."""
    template = copy.deepcopy(newest["spec"]["template"])
    labels = template["metadata"]["labels"]
    labels.pop(_HASH, None)
    total = sum(other["spec"]["replicas"] for other in sets)
    replicas = total
    if sum(other["spec"]["replicas"] > 0 for other in sets) > 1:
        replicas = next(number for number in range(total + 1) if number + math.ceil(number / 4) >= total)
    spec = {"replicas": replicas, "selector": {"matchLabels": dict(labels)}, "template": template}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def _same_template(item: Plain, newest: Plain) -> None:
    """Defaults that only one of the two shows make no new revision."""
    template = copy.deepcopy(item["spec"]["template"])
    labels = template.setdefault("metadata", {}).setdefault("labels", {})
    short = objects.labels_of({"metadata": newest["spec"]["template"].get("metadata") or {}}).get(_HASH)
    if short is not None:
        labels[_HASH] = short
    newest["spec"]["template"] = template


def _images(item: Plain) -> list[str]:
    """The images of a template: another image is another revision, whatever else a shortened snapshot leaves out."""
    return [str(container.get("image")) for container in objects.containers(item["spec"]["template"])]


def _complete_revisions(world: World, item: Plain) -> None:
    """Give the template the revision that its pods say it has, and each other revision the template of its pods."""
    pods = pods_of(world, item)
    spec, status = item["spec"], item.setdefault("status", {})
    if item["kind"] == "StatefulSet" and spec.get("replicas") is None:
        spec["replicas"] = 1 + max(map(statefulset.ordinal_of, pods), default=0)
    label = _LABELS[item["kind"]]
    names = sorted({objects.labels_of(pod).get(label, "") for pod in pods})
    update = status.get("updateRevision") or (objects.labels_of(_newest(pods)).get(label, "") if pods else "")
    if not pods or not update:
        for pod in pods:
            pod["metadata"]["labels"][label] = update = "1"
    if not update:
        return
    template = statefulset.template_of(item) if item["kind"] == "StatefulSet" else spec["template"]
    status["revisionNames"] = {hashed(template): update}
    status["templates"] = {update: copy.deepcopy(spec["template"])}
    for name in names:
        if name and name != update:
            status["templates"][name] = template_from(
                next(pod for pod in pods if objects.labels_of(pod).get(label) == name)
            )
    others = [name for name in names if name and name != update]
    status.setdefault("currentRevision", others[0] if others else update)
