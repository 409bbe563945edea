"""What happens to nodes: cordons, kubelets that die, taints that drive pods away, nodes that are gone.

Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go, pkg/controller/tainteviction/taint_eviction.go,
pkg/controller/podgc/gc_controller.go (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional

from tests.naive import objects, selectors
from tests.naive.controllers.admission import NOT_READY, UNREACHABLE
from tests.naive.controllers.world import condition, delete_pod, is_ready, terminated, with_condition, World

Plain = dict[str, Any]

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
NODE_LOST = "NodeStatusUnknown"
_SMALL_ZONE = 50
_REGION, _ZONE = "topology.kubernetes.io/region", "topology.kubernetes.io/zone"


def is_down(node: Plain) -> bool:
    """Whether no kubelet answers for the node; one without conditions is up."""
    found = condition(node, "Ready")
    return found is not None and found["status"] != "True"


def taints_of(node: Plain) -> list[Plain]:
    return (node.get("spec") or {}).get("taints") or []


def with_taints(node: Plain, taints: list[Plain]) -> Plain:
    return {**node, "spec": {**(node.get("spec") or {}), "taints": taints}}


def without_taint(node: Plain, key: str, effect: str = "") -> Plain:
    kept = [taint for taint in taints_of(node) if taint["key"] != key or (effect and taint["effect"] != effect)]
    return with_taints(node, kept)


def with_taint(node: Plain, taint: Plain) -> Plain:
    kept = [other for other in taints_of(node) if (other["key"], other["effect"]) != (taint["key"], taint["effect"])]
    return with_taints(node, [*kept, taint])


def cordon(world: World, name: str, *, unschedulable: bool) -> None:
    """Write `spec.unschedulable`, and the taint that goes with it at once."""
    node = world.get("Node", name)
    if node is None:
        return
    node = {**node, "spec": {**(node.get("spec") or {}), "unschedulable": unschedulable}}
    if unschedulable:
        world.put(with_taint(node, {"key": UNSCHEDULABLE, "effect": "NoSchedule"}))
    else:
        world.put(without_taint(node, UNSCHEDULABLE))


def go_down(world: World, name: str) -> None:
    """The kubelet dies: the node is not schedulable, and its pods are not ready."""
    node = world.get("Node", name)
    if node is None:
        return
    node = with_condition(node, type="Ready", status="Unknown")
    world.put(with_taint(node, {"key": UNREACHABLE, "effect": "NoSchedule"}))
    for pod in list(world.pods()):
        if pod["spec"].get("nodeName") == name and is_ready(pod):
            world.put(with_condition(pod, type="Ready", status="False", reason=NODE_LOST))


def come_up(world: World, name: str) -> None:
    node = world.get("Node", name)
    if node is not None:
        node = with_condition(without_taint(without_taint(node, UNREACHABLE), NOT_READY), type="Ready", status="True")
        world.put(node)


def zone_of(node: Plain) -> tuple[str, str]:
    labels = objects.labels_of(node)
    return labels.get(_REGION, ""), labels.get(_ZONE, "")


def zone_is_evicted(nodes: list[Plain]) -> bool:
    """Whether pods of dead nodes are evicted in a zone, going by how many of its nodes are dead."""
    down = sum(map(is_down, nodes))
    is_partial = down > 2 and down < len(nodes) and down / len(nodes) >= 0.55
    return not (is_partial and len(nodes) <= _SMALL_ZONE)


def sync(world: World, node: Plain) -> Iterator[World]:
    """Add the NoExecute taint of a dead node, unless that would empty too much at once.

    A node that says it is ready loses taints that say otherwise, whoever added them. A cordoned node has the taint of a
    cordon, and others have not.
    """
    is_cordoned = bool((node.get("spec") or {}).get("unschedulable"))
    if is_cordoned != any(taint["key"] == UNSCHEDULABLE for taint in taints_of(node)):
        after = world.copy()
        cordon(after, objects.name_of(node), unschedulable=is_cordoned)
        yield after
    kept = [taint for taint in taints_of(node) if not _is_lost(taint, "NoSchedule")]
    if (condition(node, "Ready") or {}).get("status") == "True" and len(kept) < len(taints_of(node)):
        after = world.copy()
        after.put(with_taints(node, kept))
        yield after
    if not is_down(node) or any(_is_lost(taint, "NoExecute") for taint in taints_of(node)):
        return
    by_zone: dict[tuple[str, str], list[Plain]] = {}
    for other in world.list("Node"):
        by_zone.setdefault(zone_of(other), []).append(other)
    if all(all(map(is_down, nodes)) for nodes in by_zone.values()) or not zone_is_evicted(by_zone[zone_of(node)]):
        return
    after = world.copy()
    found = condition(node, "Ready") or {}
    key = UNREACHABLE if found.get("status") == "Unknown" else NOT_READY
    after.put(with_taint(node, {"key": key, "effect": "NoExecute"}))
    yield after


def _is_lost(taint: Plain, effect: str) -> bool:
    return taint["key"] in (UNREACHABLE, NOT_READY) and taint["effect"] == effect


def evict_for_taints(world: World, pod: Plain, *, is_late: bool = False) -> Iterator[World]:
    """Delete a pod that a NoExecute taint drives away now, or soon enough to wait for it.

    A pod that came late has its seconds to itself: all that happens by then has happened.
    """
    node = world.get("Node", pod["spec"].get("nodeName") or "")
    if node is None or objects.is_terminating(pod):
        return
    taints = [taint for taint in taints_of(node) if taint.get("effect") == "NoExecute"]
    seconds = _seconds_left(pod, taints)
    old = world.settings.old
    if is_late != bool(seconds and old is not None and pod["metadata"]["uid"] not in old):
        return
    if seconds is not None and seconds <= world.settings.patience_s:
        after = world.copy()
        delete_pod(after, disrupted(pod, "DeletionByTaintManager"))
        yield after


def disrupted(pod: Plain, reason: str) -> Plain:
    """A copy of a pod that is about to be deleted for a reason of the cluster's."""
    return with_condition(pod, type="DisruptionTarget", status="True", reason=reason)


def _seconds_left(pod: Plain, taints: list[Plain]) -> Optional[int]:
    """How long the pod may stay; None for ever."""
    used = []
    for taint in taints:
        found = [item for item in pod["spec"].get("tolerations") or [] if selectors.tolerates_taint(item, taint)]
        if not found:
            return 0
        used += found
    limits = [max(0, item["tolerationSeconds"]) for item in used if item.get("tolerationSeconds") is not None]
    return min(limits, default=None)


def collect(world: World, pod: Plain) -> Iterator[World]:
    """`podgc`: pods of nodes that are gone, and terminating ones without a node or of nodes that are out of service."""
    name = pod["spec"].get("nodeName") or ""
    if not objects.is_terminating(pod) and (not name or world.settings.patience_s <= 0):
        return
    node = world.get("Node", name)
    is_lost = node is None
    if node is not None and objects.is_terminating(pod):
        is_lost = is_down(node) and any(taint["key"] == OUT_OF_SERVICE for taint in taints_of(node))
    if is_lost:
        after = world.copy()
        if pod["metadata"].get("finalizers"):
            failed = terminated(pod)
            if not objects.is_terminated(pod):
                is_orphan = bool(name) and node is None
                failed = terminated(disrupted(pod, "DeletionByPodGC") if is_orphan else pod, phase="Failed")
            if failed == pod:
                return
            after.put(failed)
        else:
            after.remove(pod)
        yield after
