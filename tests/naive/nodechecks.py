"""The plug-ins that ask one plain question of a node, and the gate before the queue.

Source: pkg/scheduler/framework/plugins/{schedulinggates/scheduling_gates.go, nodeunschedulable/node_unschedulable.go,
nodename/node_name.go, nodeports/node_ports.go, nodedeclaredfeatures/nodedeclaredfeatures.go} (v1.36.2).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from tests.naive import objects, selectors
from tests.naive.framework import CycleState, Handle, SKIP, Status, SUCCESS, unresolvable, unschedulable
from tests.naive.nodeinfo import check_conflict, host_ports, NodeInfo

Plain = dict[str, Any]
PreFilter = tuple[Optional[frozenset[str]], Status]


class SchedulingGates:
    """Hold back a pod with gates."""

    name = "SchedulingGates"

    def __init__(self, args: Plain, handle: Handle) -> None:
        pass

    def pre_enqueue(self, pod: Plain) -> Status:
        gates = [gate["name"] for gate in pod["spec"].get("schedulingGates") or []]
        if not gates:
            return SUCCESS
        return unresolvable(f"waiting for scheduling gates: [{' '.join(gates)}]")


class NodeUnschedulable:
    """Keep off a cordoned node."""

    name = "NodeUnschedulable"

    def __init__(self, args: Plain, handle: Handle) -> None:
        pass

    def filter(self, state: CycleState, pod: Plain, node: NodeInfo) -> Status:
        if not (node.node.get("spec") or {}).get("unschedulable"):
            return SUCCESS
        taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
        if selectors.tolerations_tolerate_taint(pod["spec"].get("tolerations") or [], taint):
            return SUCCESS
        return unresolvable("node(s) were unschedulable")


class NodeName:
    """Keep to the node a pod names."""

    name = "NodeName"

    def __init__(self, args: Plain, handle: Handle) -> None:
        pass

    def filter(self, state: CycleState, pod: Plain, node: NodeInfo) -> Status:
        wanted = pod["spec"].get("nodeName")
        if not wanted or wanted == node.name:
            return SUCCESS
        return unresolvable("node(s) didn't match the requested node name")


class NodePorts:
    """Keep off a node where a host port is taken."""

    name = "NodePorts"

    def __init__(self, args: Plain, handle: Handle) -> None:
        pass

    def pre_filter(self, state: CycleState, pod: Plain) -> PreFilter:
        return None, SUCCESS if host_ports(pod) else SKIP

    def filter(self, state: CycleState, pod: Plain, node: NodeInfo) -> Status:
        if any(check_conflict(node.used_ports, port) for port in host_ports(pod)):
            return unschedulable("node(s) didn't have free ports for the requested pod ports")
        return SUCCESS


class _Features(NamedTuple):
    """What a pod needs a node to declare."""

    required: frozenset[str]

    def clone(self) -> _Features:
        return self


class NodeDeclaredFeatures:
    """Keep off a node whose kubelet lacks a feature the pod uses."""

    name = "NodeDeclaredFeatures"

    def __init__(self, args: Plain, handle: Handle) -> None:
        pass

    def pre_filter(self, state: CycleState, pod: Plain) -> PreFilter:
        required = infer_for_pod_scheduling(pod)
        if not required:
            return None, SKIP
        state.values[self.name] = _Features(required)
        return None, SUCCESS

    def filter(self, state: CycleState, pod: Plain, node: NodeInfo) -> Status:
        declared = (node.node.get("status") or {}).get("declaredFeatures") or []
        if state.read(self.name).required <= set(declared):
            return SUCCESS
        return unresolvable("node(s) didn't match Pod's required features")


def infer_for_pod_scheduling(pod: Plain) -> frozenset[str]:
    found = set()
    for container in objects.containers(pod) + objects.init_containers(pod):
        rules = container.get("restartPolicyRules") or []
        if any(rule.get("action") == "RestartAllContainers" for rule in rules):
            found.add("RestartAllContainersOnContainerExits")
    if pod["spec"].get("hostNetwork") and pod["spec"].get("hostUsers") is False:
        found.add("UserNamespacesHostNetworkSupport")
    return frozenset(found)
