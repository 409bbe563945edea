"""The scheduler over time: which pod is tried next, every node it may get, and whom it preempts.

Source: pkg/scheduler/schedule_one.go, pkg/scheduler/backend/queue, pkg/scheduler/framework/preemption (v1.36.2). Pods
of one priority are tried in any order, and retried whenever it would help: events and hints are not modelled.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from tests.naive import config, objects, schedule_one
from tests.naive.controllers import disruption, persistentvolume
from tests.naive.controllers.world import condition, delete_pod, with_condition, World
from tests.naive.framework import CycleState, fit_error, Framework, Handle, SchedulerError
from tests.naive.nodeinfo import add_node_image_states, NodeInfo, PodInfo
from tests.naive.preemption import Candidate, DefaultPreemption, select_candidate

Plain = dict[str, Any]

_VERSION = (1, 36)
# What of the cluster decides about a pod, beside pods.
_OF_NODES = ("Node", "Namespace", "CSINode", "CSIDriver", "Service")
_OF_VOLUMES = ("PersistentVolume", "PersistentVolumeClaim", "StorageClass", "VolumeAttachment", "CSIStorageCapacity")


class Preemption(NamedTuple):
    """A node, and the pods that make way there."""

    node: str
    victims: tuple[str, ...]


class Outcome(NamedTuple):
    """The nodes that may be taken; or else the message, and every preemption that may be chosen."""

    nodes: tuple[str, ...]
    message: str = ""
    preemptions: tuple[Preemption, ...] = ()
    keeps_nomination: bool = False


class IndexedHandle(Handle):
    """A handle that finds objects by kind and name."""

    def __init__(self, world: World) -> None:
        items = [item for kind, found in world.kinds.items() if kind != "Pod" for item in found.values()]
        super().__init__(items, _VERSION)
        self._world = world

    def list(self, kind: str) -> list[Plain]:
        if kind == "PodDisruptionBudget":
            return [disruption.status_of(self._world, item) for item in self._world.list(kind)]
        return self._world.list(kind)

    def get(self, kind: str, name: str, namespace: Optional[str] = None) -> Optional[Plain]:
        return self._world.get(kind, name, namespace or "default")


def waiting(world: World) -> list[Plain]:
    """Pods that the scheduler has yet to place."""
    return [pod for pod in world.pods() if is_waiting(pod)]


def is_waiting(pod: Plain) -> bool:
    spec = pod["spec"]
    if spec.get("nodeName") or objects.is_terminating(pod) or objects.is_terminated(pod):
        return False
    return not spec.get("schedulingGates")


def next_pods(world: World) -> list[Plain]:
    """One of each class of pods that may be tried next.

    A pod of lower priority comes after those that were never tried; one that failed is out of the way for a while.
    """
    pods = waiting(world)
    untried = [objects.pod_priority(pod) for pod in pods if not _is_tried(pod)]
    limit = max(untried, default=0)
    found: dict[int, Plain] = {}
    for pod in pods:
        if _is_tried(pod) or objects.pod_priority(pod) >= limit:
            found.setdefault(world.settings.class_of(pod), pod)
    return list(found.values())


def _is_tried(pod: Plain) -> bool:
    return condition(pod, "PodScheduled") is not None


def sync(world: World, pod: Plain) -> Iterator[World]:
    """Every way in which one attempt may end; nothing where it fails and changes nothing."""
    outcome = attempt(world, pod)
    for name in outcome.nodes:
        after = _bound(world, pod, name)
        if after is not None:
            yield after
    for preemption in outcome.preemptions:
        yield _preempted(world, pod, preemption)
    if outcome.nodes or outcome.preemptions:
        return
    failed = pod
    if objects.nominated_node_name(pod) and not outcome.keeps_nomination:
        failed = {**failed, "status": {**failed["status"], "nominatedNodeName": ""}}
    if not _is_tried(pod) and len({objects.pod_priority(other) for other in waiting(world)}) > 1:
        failed = with_condition(failed, type="PodScheduled", status="False")
    if failed is not pod:
        after = world.copy()
        after.put(failed)
        yield after


def _bound(world: World, pod: Plain, name: str) -> Optional[World]:
    node = world.get("Node", name)
    assert node is not None
    after = persistentvolume.assume(world, pod, node)
    if after is None:
        return None
    status = {**(pod.get("status") or {}), "nominatedNodeName": ""}
    status["conditions"] = [item for item in status.get("conditions") or [] if item["type"] != "PodScheduled"]
    after.put({**pod, "spec": {**pod["spec"], "nodeName": name}, "status": status})
    return after


def _preempted(world: World, pod: Plain, preemption: Preemption) -> World:
    after = world.copy()
    marked = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    for other in list(world.pods()):
        if other["metadata"]["uid"] in preemption.victims:
            delete_pod(after, with_condition(other, **marked))
        elif _is_outbid(other, pod, preemption.node):
            after.put({**other, "status": {**other["status"], "nominatedNodeName": ""}})
    after.put({**pod, "status": {**(pod.get("status") or {}), "nominatedNodeName": preemption.node}})
    return after


def _is_outbid(pod: Plain, preemptor: Plain, node: str) -> bool:
    """Whether a pod of lower priority waits for the same node."""
    if not is_waiting(pod) or objects.nominated_node_name(pod) != node:
        return False
    return objects.pod_priority(pod) < objects.pod_priority(preemptor)


def attempt(world: World, pod: Plain) -> Outcome:
    """One scheduling cycle, remembered: the same pod in the same cluster fares the same."""
    memory = world.settings.memory
    key = ("cycle", world.settings.class_of(pod), signature(world, pod))
    if key not in memory:
        memory[key] = _cycle(world, pod)
    outcome: Outcome = memory[key]
    if not outcome.nodes and objects.pod_priority(pod) > _least_priority(world):
        return _cycle(world, pod)  # victims have names
    return outcome


def _least_priority(world: World) -> int:
    return min((objects.pod_priority(pod) for pod in world.pods()), default=0)


def signature(world: World, pod: Plain) -> Any:
    """What must be equal for two clusters to look the same to a pod."""
    settings = world.settings
    on_nodes = sorted(
        (other["spec"].get("nodeName") or "", settings.class_of(other))
        for other in world.pods()
        if other["spec"].get("nodeName") or objects.nominated_node_name(other)
    )
    kinds = _OF_NODES + (_OF_VOLUMES if pod["spec"].get("volumes") else ())
    others = tuple(settings.identity(item) for kind in kinds for item in world.kinds.get(kind, {}).values())
    return tuple(on_nodes), others


def _cycle(world: World, pod: Plain) -> Outcome:
    handle = new_handle(world, pod)
    profiles = config.new_profiles(world.settings.configuration, handle)
    framework = profiles.get(pod["spec"].get("schedulerName") or config.DEFAULT_SCHEDULER_NAME)
    if framework is None:
        return Outcome(())
    if not handle.node_infos:
        return Outcome((), schedule_one.NO_NODES_AVAILABLE)
    try:
        return _decided(framework, pod)
    except SchedulerError as failed:
        return Outcome((), str(failed))


def new_handle(world: World, pod: Plain) -> Handle:
    handle = IndexedHandle(world)
    on: dict[str, list[Plain]] = {}
    for other in world.pods():
        name = other["spec"].get("nodeName")
        if name and not objects.is_terminated(other):
            on.setdefault(name, []).append(other)
        elif is_waiting(other) and objects.nominated_node_name(other):
            handle.nominator.append(PodInfo(other))
    for node in world.list("Node"):
        handle.node_infos.append(_node_info(world, node, on.get(objects.name_of(node), [])))
    add_node_image_states(handle.node_infos)
    return handle


def _node_info(world: World, node: Plain, pods: list[Plain]) -> NodeInfo:
    """A node with its pods, remembered: nothing changes it after this."""
    settings = world.settings
    key = ("node", settings.identity(node), tuple(map(settings.identity, pods)))
    if key not in settings.memory:
        info = NodeInfo(node)
        for pod in pods:
            info.add_pod(_pod_info(world, pod))
        settings.memory[key] = info
    found: NodeInfo = settings.memory[key]
    return found


def _pod_info(world: World, pod: Plain) -> PodInfo:
    key = ("pod", world.settings.identity(pod))
    if key not in world.settings.memory:
        world.settings.memory[key] = PodInfo(pod)
    info: PodInfo = world.settings.memory[key]
    return info


def _decided(framework: Framework, pod: Plain) -> Outcome:
    state = CycleState()
    feasible, diagnosis = schedule_one.find_nodes_that_fit_pod(framework, state, pod)
    if not feasible:
        statuses = diagnosis.node_to_status
        message = fit_error(len(framework.handle.node_infos), statuses, pre_filter_msg=diagnosis.pre_filter_msg)
        return _with_preemptions(framework, state, pod, statuses=statuses, message=message)
    if len(feasible) == 1:
        return Outcome((feasible[0].name,))
    scores = schedule_one.prioritize_nodes(framework, state, pod, nodes=feasible)
    highest = max(found["total"] for found in scores.values())
    return Outcome(tuple(sorted(name for name, found in scores.items() if found["total"] == highest)))


def _with_preemptions(framework: Framework, state: CycleState, pod: Plain, *, statuses: Any, message: str) -> Outcome:
    plugin = next((item for item in framework.plugins["postFilter"] if isinstance(item, DefaultPreemption)), None)
    if plugin is None:
        return Outcome((), message)
    if not plugin.pod_eligible_to_preempt_others(pod, statuses)[0]:
        return Outcome((), message, keeps_nomination=True)
    candidates, _ = plugin.find_candidates(state, pod, statuses)
    found = [
        Preemption(item.name, tuple(objects.uid_of(info.pod) for info in item.victims)) for item in _best(candidates)
    ]
    return Outcome((), message, tuple(found))


def _best(candidates: list[Candidate]) -> list[Candidate]:
    """All candidates that are as good as the chosen one."""
    if not candidates:
        return []
    chosen = select_candidate(candidates)
    best = next(item for item in candidates if item.name == chosen)
    return [item for item in candidates if item is best or select_candidate([item._replace(name=""), best]) == ""]
