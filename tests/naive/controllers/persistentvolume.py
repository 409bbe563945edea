"""Claims get their volumes.

Source: pkg/controller/volume/persistentvolume/pv_controller.go, index.go (v1.36.2), and provisioners as they are
usual: a volume can be reached from the zone of the node it was made for, or from anywhere if the node has no zone.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Optional

from tests.naive import objects, volumebinding
from tests.naive.controllers.world import World
from tests.naive.nodeinfo import NodeInfo
from tests.naive.volumezone import get_persistent_volume_claim_class

Plain = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
_NO_PROVISIONER = (None, "", "kubernetes.io/no-provisioner")


def sync(world: World, claim: Plain) -> Iterator[World]:
    """Bind a claim that need not wait for a pod: to its own volume, to one that fits, or to a new one."""
    if objects.is_terminating(claim):
        yield from _finished(world, claim)
        return
    if volumebinding.is_pvc_fully_bound(claim) or objects.name_of(claim) in world.settings.silent:
        return
    volumes = [
        volume for volume in world.list("PersistentVolume") if _is_named(claim, volume) or _is_own(claim, volume)
    ]
    if volumes:
        yield bound(world, claim, volumes[0])
        return
    storage_class = world.get("StorageClass", get_persistent_volume_claim_class(claim)) or {}
    if storage_class.get("volumeBindingMode") == "WaitForFirstConsumer" or claim["spec"].get("volumeName"):
        return
    found = smallest(world, claim)
    if found:
        for volume in found:
            yield bound(world, claim, volume)
    elif storage_class.get("provisioner") not in _NO_PROVISIONER:
        yield from _provisioned_anywhere(world, claim, storage_class)


def _is_named(claim: Plain, volume: Plain) -> bool:
    return bool(claim["spec"].get("volumeName") == objects.name_of(volume)) and _is_free_for(claim, volume)


def _is_free_for(claim: Plain, volume: Plain) -> bool:
    return not volume["spec"].get("claimRef") or volumebinding.is_volume_bound_to_claim(volume, claim)


def _is_own(claim: Plain, volume: Plain) -> bool:
    if claim["spec"].get("volumeName") or not volumebinding.is_volume_bound_to_claim(volume, claim):
        return False
    same = volumebinding.get_persistent_volume_class(volume) == get_persistent_volume_claim_class(claim)
    return same and volumebinding._capacity(volume) >= volumebinding._requested(claim)


def smallest(world: World, claim: Plain) -> list[Plain]:
    """The smallest free volumes that will do."""
    wanted = get_persistent_volume_claim_class(claim)
    found = [
        volume
        for volume in world.list("PersistentVolume")
        if not volume["spec"].get("claimRef")
        and volumebinding.get_persistent_volume_class(volume) == wanted
        and volumebinding._capacity(volume) >= volumebinding._requested(claim)
        and not volumebinding.check_volume_mode_mismatches(claim, volume)
        and volumebinding._is_free_and_fits(claim, volume)
    ]
    least = min(map(volumebinding._capacity, found), default=0)
    return [volume for volume in found if volumebinding._capacity(volume) == least]


def bound(world: World, claim: Plain, volume: Plain) -> World:
    """The claim and the volume bound to each other."""
    after = world.copy()
    bind(after, claim, volume)
    return after


def bind(world: World, claim: Plain, volume: Plain) -> None:
    metadata = {
        **claim["metadata"],
        "annotations": {**objects.annotations_of(claim), volumebinding.BIND_COMPLETED: "yes"},
    }
    spec = {**claim["spec"], "volumeName": objects.name_of(volume)}
    world.put(
        {**claim, "metadata": metadata, "spec": spec, "status": {**(claim.get("status") or {}), "phase": "Bound"}}
    )
    reference = {
        "kind": "PersistentVolumeClaim",
        "namespace": objects.namespace_of(claim),
        "name": objects.name_of(claim),
        "uid": objects.uid_of(claim),
    }
    world.put({**volume, "spec": {**volume["spec"], "claimRef": reference}, "status": {"phase": "Bound"}})


def _provisioned_anywhere(world: World, claim: Plain, storage_class: Plain) -> Iterator[World]:
    """A claim that waits for no pod may get its volume in any zone that has nodes."""
    seen = set()
    for node in world.list("Node"):
        zone = objects.labels_of(node).get(ZONE)
        allowed = storage_class.get("allowedTopologies") or []
        if zone in seen or not volumebinding.match_topology_selector_terms(allowed, objects.labels_of(node)):
            continue
        seen.add(zone)
        after = world.copy()
        provision(after, claim, node)
        yield after


def provision(world: World, claim: Plain, node: Plain) -> None:
    """Make a volume for the claim that can be reached from the node."""
    spec = claim["spec"]
    name = f"pvc-{objects.uid_of(claim)}"
    volume: Plain = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "uid": name, "labels": {}},
        "spec": {
            "accessModes": spec.get("accessModes") or [],
            "capacity": {"storage": ((spec.get("resources") or {}).get("requests") or {}).get("storage", "0")},
            "storageClassName": get_persistent_volume_claim_class(claim),
            "csi": {"driver": "naive", "volumeHandle": name},
            "persistentVolumeReclaimPolicy": _reclaim_policy(world, claim),
        },
    }
    if spec.get("volumeMode"):
        volume["spec"]["volumeMode"] = spec["volumeMode"]
    zone = objects.labels_of(node).get(ZONE)
    if zone is not None:
        expression = {"key": ZONE, "operator": "In", "values": [zone]}
        volume["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    bind(world, claim, volume)


def _reclaim_policy(world: World, claim: Plain) -> str:
    found = world.get("StorageClass", get_persistent_volume_claim_class(claim)) or {}
    policy: str = found.get("reclaimPolicy") or "Delete"
    return policy


def delete_claim(world: World, claim: Plain) -> None:
    """Begin to delete a claim; a pod that uses it holds it."""
    metadata = {**claim["metadata"], "deletionTimestamp": "2900-01-01T00:00:00Z"}
    world.put({**claim, "metadata": metadata})


def _finished(world: World, claim: Plain) -> Iterator[World]:
    """A claim that no pod uses goes, and its volume is released."""
    for pod in world.pods(objects.namespace_of(claim)):
        names = [name for name, _ in volumebinding.pod_claim_names(pod)]
        if objects.name_of(claim) in names and pod["spec"].get("nodeName") and not objects.is_terminated(pod):
            return
    after = world.copy()
    after.remove(claim)
    volume = after.get("PersistentVolume", claim["spec"].get("volumeName") or "")
    if volume is not None and volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
        after.remove(volume)
    elif volume is not None:
        after.put({**volume, "status": {"phase": "Released"}})
    yield after


def assume(world: World, pod: Plain, node: Plain) -> Optional[World]:
    """What binding a pod to a node does to its claims; None where a provisioner does not answer.

    The volumes are those that the scheduler would match: the smallest that fit, in the order of their names.
    """
    after = world.copy()
    for name, _ in volumebinding.pod_claim_names(pod):
        claim = after.get("PersistentVolumeClaim", name, objects.namespace_of(pod))
        if claim is None or volumebinding.is_pvc_fully_bound(claim):
            continue
        if name in world.settings.silent:
            return None
        volume = _matching(after, claim, node)
        if volume is not None:
            bind(after, claim, volume)
        else:
            provision(after, copy.deepcopy(claim), node)
    return after


def _matching(world: World, claim: Plain, node: Plain) -> Optional[Plain]:
    wanted = get_persistent_volume_claim_class(claim)
    volumes = [
        item for item in world.list("PersistentVolume") if volumebinding.get_persistent_volume_class(item) == wanted
    ]
    volumes.sort(key=objects.name_of)
    return volumebinding.find_matching_volume(claim, volumes, node=NodeInfo(node), excluded=[])
