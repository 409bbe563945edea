"""One scheduling cycle.

Source: pkg/scheduler/schedule_one.go (v1.36.2). Every node is evaluated; scores are computed for a single feasible
node too; of the highest totals the smallest name wins, where the scheduler may take any.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from tests.naive import objects
from tests.naive.framework import CycleState, Framework, NodeToStatus, unresolvable
from tests.naive.nodeinfo import NodeInfo

Plain = dict[str, Any]

NO_NODES_AVAILABLE = "no nodes available to schedule pods"


class Diagnosis:
    """Why nodes did not fit."""

    def __init__(self) -> None:
        self.node_to_status = NodeToStatus()
        self.pre_filter_msg = ""


class Fit(NamedTuple):
    """The nodes that fit, and why the others do not."""

    feasible: list[NodeInfo]
    diagnosis: Diagnosis


def find_nodes_that_fit_pod(framework: Framework, state: CycleState, pod: Plain) -> Fit:
    diagnosis = Diagnosis()
    result, status = framework.run_pre_filter_plugins(state, pod)
    if not status.is_success():
        diagnosis.node_to_status.absent = status
        diagnosis.pre_filter_msg = status.message()
        return Fit([], diagnosis)
    feasible = evaluate_nominated_node(framework, state, pod, diagnosis=diagnosis)
    if feasible:
        return Fit(feasible, diagnosis)
    nodes = framework.handle.node_infos
    if result.node_names is not None:
        nodes = [node for node in nodes if node.name in result.node_names]
        reason = f"node(s) didn't satisfy plugin(s) [{' '.join(result.plugins)}]"
        diagnosis.node_to_status.absent = unresolvable(reason)
    return Fit(find_nodes_that_pass_filters(framework, state, pod, nodes=nodes, diagnosis=diagnosis), diagnosis)


def evaluate_nominated_node(
    framework: Framework, state: CycleState, pod: Plain, *, diagnosis: Diagnosis
) -> list[NodeInfo]:
    """Try the pod's own nominated node by itself; a name that no node has is ignored."""
    node = framework.handle.node_info(objects.nominated_node_name(pod))
    if node is None:
        return []
    return find_nodes_that_pass_filters(framework, state, pod, nodes=[node], diagnosis=diagnosis)


def find_nodes_that_pass_filters(
    framework: Framework, state: CycleState, pod: Plain, *, nodes: list[NodeInfo], diagnosis: Diagnosis
) -> list[NodeInfo]:
    feasible = []
    for node in nodes:
        status = framework.run_filter_plugins_with_nominated_pods(state, pod, node)
        if status.is_success():
            feasible.append(node)
        else:
            diagnosis.node_to_status.statuses[node.name] = status
    return feasible


def prioritize_nodes(
    framework: Framework, state: CycleState, pod: Plain, *, nodes: list[NodeInfo]
) -> dict[str, dict[str, int]]:
    if not framework.plugins["score"]:
        return {node.name: {"total": 0} for node in nodes}
    framework.run_pre_score_plugins(state, pod, nodes)
    return framework.run_score_plugins(state, pod, nodes)


def select_host(scores: dict[str, dict[str, int]]) -> Optional[str]:
    """The highest total, and of those the smallest name."""
    best: Optional[str] = None
    for name in sorted(scores):
        if best is None or scores[name]["total"] > scores[best]["total"]:
            best = name
    return best
