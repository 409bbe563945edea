"""A recording replayed: its incoming pods decided one after another.

The conventions are those of the recordings: every incoming pod is pending from the start, a placed pod is bound and
has its late-binding claims reserved, victims of preemption stay.
"""

from __future__ import annotations

from typing import Any

from tests.naive import config, objects, schedule_one
from tests.naive.framework import CycleState, fit_error, Framework, Handle, SchedulerError
from tests.naive.nodeinfo import add_node_image_states, NodeInfo, PodInfo
from tests.naive.schedule_one import Diagnosis

Plain = dict[str, Any]


def decide(case: Plain) -> list[Plain]:
    """Return what the scheduler would do with each incoming pod, in the form of `expected`.

    A cycle that fails, which no recording has, leaves its text in `error`.
    """
    handle = _handle(case)
    pending = [PodInfo(objects.admit(pod)) for pod in case["incoming"]]
    handle.nominator += [info for info in pending if objects.nominated_node_name(info.pod)]
    profiles = config.new_profiles(_configuration(case), handle)
    # Only pods of these schedulers are in the queue, and with it in the nominator.
    handle.nominator = [info for info in handle.nominator if _scheduler_name(info) in profiles]
    decisions = []
    for info in pending:
        name = _scheduler_name(info)
        # Nobody schedules a pod that names a scheduler without a profile.
        decision: Plain = {"feasible": []}
        if name in profiles:
            decision = schedule_pod(profiles[name], info, preempt=bool(case.get("preempt")))
        decisions.append({"pod": objects.key_of(info.pod), **decision})
    return decisions


def _scheduler_name(info: PodInfo) -> str:
    name: str = info.pod["spec"].get("schedulerName") or config.DEFAULT_SCHEDULER_NAME
    return name


def _configuration(case: Plain) -> Plain:
    text = case.get("schedulerConfig")
    return config.read(text) if text else {}


def _handle(case: Plain) -> Handle:
    major, minor = (case.get("kubernetesVersion") or "1.36").split(".")[:2]
    handle = Handle([item for item in case["objects"] or [] if item["kind"] != "Pod"], (int(major), int(minor)))
    handle.node_infos = [NodeInfo(node) for node in handle.list("Node")]
    add_node_image_states(handle.node_infos)
    for item in case["objects"] or []:
        if item["kind"] == "Pod" and not objects.is_terminated(item):
            _add_existing(handle, PodInfo(objects.admit(item)))
    return handle


def _add_existing(handle: Handle, info: PodInfo) -> None:
    """A bound pod goes to its node, if there is one; a pending one may be nominated."""
    bound_to = info.pod["spec"].get("nodeName")
    if not bound_to:
        handle.nominator.append(info)
        return
    node = handle.node_info(bound_to)
    if node is not None:
        node.add_pod(info)


def schedule_pod(framework: Framework, info: PodInfo, *, preempt: bool) -> Plain:
    gate = framework.run_pre_enqueue_plugins(info.pod)
    if not gate.is_success():
        return {"feasible": [], "gated": gate.message()}
    if not framework.handle.node_infos:
        return {"feasible": [], "message": schedule_one.NO_NODES_AVAILABLE}
    try:
        return _scheduling_cycle(framework, info, preempt=preempt)
    except SchedulerError as failed:
        return {"feasible": [], "error": str(failed)}


def _scheduling_cycle(framework: Framework, info: PodInfo, *, preempt: bool) -> Plain:
    handle, pod = framework.handle, info.pod
    state = CycleState()
    feasible, diagnosis = schedule_one.find_nodes_that_fit_pod(framework, state, pod)
    decision: Plain = {"feasible": sorted(node.name for node in feasible)}
    if diagnosis.pre_filter_msg:
        decision["preFilter"] = diagnosis.pre_filter_msg
    else:
        rejected = _rejected(handle, feasible, diagnosis)
        if rejected:
            decision["rejected"] = rejected
    if not feasible:
        return {**decision, **_failure(framework, state, info, diagnosis=diagnosis, preempt=preempt)}
    try:
        scores = schedule_one.prioritize_nodes(framework, state, pod, nodes=feasible)
    except SchedulerError:
        # A single feasible node is taken without a score; only the recordings look at one.
        if len(feasible) > 1:
            raise
        scores = {feasible[0].name: {"total": 0}}
    placed = schedule_one.select_host(scores) or ""
    _assume(framework, state, info, node_name=placed)
    return {**decision, "scores": scores, "placed": placed}


def _rejected(handle: Handle, feasible: list[NodeInfo], diagnosis: Diagnosis) -> dict[str, Plain]:
    names = {node.name for node in feasible}
    rejected = {}
    for node in handle.node_infos:
        status = diagnosis.node_to_status.get(node.name)
        if node.name not in names and status.reasons:
            rejected[node.name] = {"plugin": status.plugin, "code": status.code.value, "reasons": list(status.reasons)}
    return rejected


def _failure(framework: Framework, state: CycleState, info: PodInfo, *, diagnosis: Diagnosis, preempt: bool) -> Plain:
    """The event's message, and the node that preemption nominates."""
    statuses = diagnosis.node_to_status
    post_filter_msg, nominated = "", None
    if preempt:
        nominated, status = framework.run_post_filter_plugins(state, info.pod, statuses)
        post_filter_msg = status.message()
    message = fit_error(
        len(framework.handle.node_infos),
        statuses,
        pre_filter_msg=diagnosis.pre_filter_msg,
        post_filter_msg=post_filter_msg,
    )
    return {"message": message, "nominated": nominated} if nominated else {"message": message}


def _assume(framework: Framework, state: CycleState, info: PodInfo, *, node_name: str) -> None:
    """Bind the pod, and let plug-ins reserve what it takes."""
    handle = framework.handle
    handle.nominator = [other for other in handle.nominator if other is not info]
    bound = {**info.pod, "spec": {**info.pod["spec"], "nodeName": node_name}}
    node = handle.node_info(node_name)
    if node is not None:
        node.add_pod(PodInfo(bound))
    for plugin in framework.plugins["reserve"]:
        plugin.reserve(state, info.pod, node_name)
