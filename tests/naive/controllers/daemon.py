"""DaemonSets.

Source: pkg/controller/daemon/daemon_controller.go, update.go, util/daemonset_util.go (v1.36.2).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from tests.naive import objects, selectors
from tests.naive.controllers import admission, controller_utils, replicaset
from tests.naive.controllers.controller_utils import scaled
from tests.naive.controllers.world import delete_pod, hashed, is_active, is_owned_by, World

Plain = dict[str, Any]

REVISION = "controller-revision-hash"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFIX = "node.kubernetes.io/"


def _tolerations(spec: Plain) -> list[Plain]:
    """`AddOrUpdateDaemonPodTolerations`."""
    pressed = ["disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"]
    wanted = [(name, "NoExecute") for name in ("not-ready", "unreachable")] + [(name, "NoSchedule") for name in pressed]
    if spec.get("hostNetwork"):
        wanted.append(("network-unavailable", "NoSchedule"))
    return [{"key": _PREFIX + name, "operator": "Exists", "effect": effect} for name, effect in wanted]


def pod_for(item: Plain, node_name: str) -> Plain:
    """The pod that is to run on a node."""
    labels = {REVISION: revision_name(item)}
    pod = controller_utils.pod_from_template(item, item["spec"]["template"], labels=labels)
    spec = pod["spec"]
    spec["tolerations"] = [*(spec.get("tolerations") or []), *_tolerations(spec)]
    affinity = copy.deepcopy(spec.get("affinity") or {})
    required = affinity.setdefault("nodeAffinity", {}).setdefault(_REQUIRED, {})
    field = {"key": "metadata.name", "operator": "In", "values": [node_name]}
    terms = required.get("nodeSelectorTerms") or [{}]
    required["nodeSelectorTerms"] = [{**term, "matchFields": [field]} for term in terms]
    spec["affinity"] = affinity
    return pod


def revision_name(item: Plain) -> str:
    known: dict[str, str] = (item.get("status") or {}).get("revisionNames") or {}
    short = hashed(item["spec"]["template"])
    return known.get(short) or short


def target_node(pod: Plain) -> str:
    """The node a pod is on, or is meant for."""
    if pod["spec"].get("nodeName"):
        return str(pod["spec"]["nodeName"])
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    for term in (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or []:
        for field in term.get("matchFields") or []:
            return str(field["values"][0])
    return ""


def node_should_run(item: Plain, node: Plain) -> bool:
    """`NodeShouldRunDaemonPod`: selectors and taints, whatever room there is."""
    name = objects.name_of(node)
    pod = pod_for(item, name)
    admission.default_toleration_seconds(pod["spec"])
    if pod["spec"].get("nodeName") not in (None, "", name) or not selectors.match_required_node_affinity(pod, node):
        return False
    return selectors.find_matching_untolerated_taint(node, pod) is None


def should_continue(item: Plain, node: Plain) -> bool:
    """Whether a pod that runs there may stay: only NoExecute taints drive it away."""
    taints = [taint for taint in (node.get("spec") or {}).get("taints") or [] if taint.get("effect") == "NoExecute"]
    return node_should_run(item, {**node, "spec": {**(node.get("spec") or {}), "taints": taints}})


def pods_by_node(world: World, item: Plain) -> dict[str, list[Plain]]:
    found: dict[str, list[Plain]] = {}
    for pod in world.pods(objects.namespace_of(item)):
        if is_owned_by(pod, item):
            found.setdefault(target_node(pod), []).append(pod)
    return found


def sync(world: World, item: Plain) -> Iterator[World]:
    """What one reconciliation leads to; nothing where there is nothing to do."""
    if objects.is_terminating(item):
        return
    claimed = replicaset.claim(world, item, list(world.pods(objects.namespace_of(item))))
    if claimed is not None:
        yield claimed
        return
    after = world.copy()
    if _manage(after, item):
        yield after
    elif ((item["spec"].get("updateStrategy") or {}).get("type") or "RollingUpdate") == "RollingUpdate":
        yield from _rolling_update(world, item)


def _manage(after: World, item: Plain) -> bool:
    """Create pods where they are missing, and delete those that are too many; change the world."""
    by_node = pods_by_node(after, item)
    surge = _fenceposts(item, len(after.list("Node")))[0]
    changed = False
    for node in after.list("Node"):
        pods = by_node.get(objects.name_of(node), [])
        active = [pod for pod in pods if not objects.is_terminating(pod)]
        if not pods and node_should_run(item, node):
            changed = admission.try_create(after, pod_for(item, objects.name_of(node))) or changed
        surplus = _surplus(item, node, active, surge=surge)
        for pod in surplus:
            delete_pod(after, pod)
        changed = changed or bool(surplus)
    return changed


def _surplus(item: Plain, node: Plain, active: list[Plain], *, surge: int) -> list[Plain]:
    if not should_continue(item, node):
        return active
    failed = [pod for pod in active if objects.is_terminated(pod)]
    if surge:
        new = [pod for pod in active if _is_new(item, pod)]
        old = [pod for pod in active if not _is_new(item, pod)]
        is_replaced = any(controller_utils.is_available(pod, _min_ready(item)) for pod in new)
        return failed + new[1:] + (old if is_replaced else old[1:])
    return failed + active[1:]


def _is_new(item: Plain, pod: Plain) -> bool:
    return objects.labels_of(pod).get(REVISION) == revision_name(item)


def _min_ready(item: Plain) -> int:
    return item["spec"].get("minReadySeconds") or 0


def _fenceposts(item: Plain, nodes: int) -> tuple[int, int]:
    """Surge and unavailable; both percentages round up."""
    rolling = (item["spec"].get("updateStrategy") or {}).get("rollingUpdate") or {}
    surge = scaled(rolling.get("maxSurge", 0), nodes, up=True)
    unavailable = scaled(rolling.get("maxUnavailable", 0 if surge else 1), nodes, up=True)
    return surge, unavailable if surge or unavailable else 1


def _rolling_update(world: World, item: Plain) -> Iterator[World]:
    by_node = pods_by_node(world, item)
    desired = sum(node_should_run(item, node) for node in world.list("Node"))
    surge, most = _fenceposts(item, desired)
    if surge:
        yield from _with_surge(world, item, by_node, surge)
        return
    broken, candidates, unavailable = [], [], 0
    for pods in by_node.values():
        new = [pod for pod in pods if _is_new(item, pod) and is_active(pod)]
        old = [pod for pod in pods if not _is_new(item, pod) and is_active(pod)]
        if new or not old:
            unavailable += not any(controller_utils.is_available(pod, _min_ready(item)) for pod in new)
        elif controller_utils.is_available(old[0], _min_ready(item)):
            candidates.append(old[0])
        else:
            broken.append(old[0])
            unavailable += 1
    left = min(max(0, most - unavailable), len(candidates))
    if not broken and not left:
        return
    for some in controller_utils.subsets(world, candidates, left):
        after = world.copy()
        for pod in [*broken, *some]:
            delete_pod(after, pod)
        yield after


def _with_surge(world: World, item: Plain, by_node: dict[str, list[Plain]], surge: int) -> Iterator[World]:
    """A new pod beside the old one; an old pod that is not available is replaced whatever the limit is.

    A node that should not run the pod gets none. Its old pod goes once as many others are available as are wanted.
    """
    wanted = {objects.name_of(node) for node in world.list("Node") if node_should_run(item, node)}
    broken, lost, candidates, leaving, surging, available = [], [], [], [], 0, 0
    for name, pods in by_node.items():
        new = [pod for pod in pods if _is_new(item, pod) and is_active(pod)]
        old = [pod for pod in pods if not _is_new(item, pod) and is_active(pod)]
        is_available = bool(old or new) and controller_utils.is_available((old or new)[0], _min_ready(item))
        available += is_available
        if not old:
            continue
        if new:
            surging += 1
        elif is_available:
            (candidates if name in wanted else leaving).append((name, old[0]))
        elif name in wanted:
            broken.append(name)
        else:
            lost.append(old[0])
    left = min(max(0, surge - surging), len(candidates))
    spare = min(max(0, available - len(wanted)), len(leaving))
    for gone in controller_utils.subsets(world, [pod for _, pod in leaving], spare):
        for chosen in controller_utils.subsets(world, [pod for _, pod in candidates], left):
            after = world.copy()
            for pod in [*lost, *gone]:
                delete_pod(after, pod)
            names = [*broken, *map(target_node, chosen)]
            created = [admission.try_create(after, pod_for(item, name)) for name in names]
            if lost or gone or any(created):
                yield after
