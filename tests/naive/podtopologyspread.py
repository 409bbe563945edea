"""PodTopologySpread.

Source: pkg/scheduler/framework/plugins/podtopologyspread/plugin.go, filtering.go, scoring.go (v1.36.2). The minimum of
a constraint is computed anew whenever it is asked for; upstream keeps the two smallest domains.
"""

from __future__ import annotations

import math
from typing import Any, Optional

from tests.naive import gomath, objects
from tests.naive.framework import (
    CycleState,
    error,
    Handle,
    MAX_NODE_SCORE,
    SKIP,
    Status,
    SUCCESS,
    unresolvable,
    unschedulable,
)
from tests.naive.nodeinfo import NodeInfo, PodInfo
from tests.naive.selectors import ParseError
from tests.naive.spreadconstraints import (
    build_default_constraints,
    filter_topology_spread_constraints,
    is_hostname,
    node_labels_match_spread_constraints,
    pods_on,
    SYSTEM_DEFAULT_CONSTRAINTS,
    TopologySpreadConstraint,
)

Plain = dict[str, Any]

_MAX_INT32 = 2**31 - 1


class PreFilterState:
    """Hard constraints, and matching pods by domain for each of them."""

    def __init__(self, constraints: list[TopologySpreadConstraint]) -> None:
        self.constraints = constraints
        self.tp_value_to_match_num: list[dict[str, int]] = [{} for _ in constraints]

    def clone(self) -> PreFilterState:
        twin = PreFilterState(self.constraints)
        twin.tp_value_to_match_num = [dict(counts) for counts in self.tp_value_to_match_num]
        return twin

    def min_match_num(self, index: int) -> int:
        """The global minimum: 0 while there are fewer domains than `minDomains`."""
        counts = self.tp_value_to_match_num[index]
        if len(counts) < self.constraints[index].min_domains:
            return 0
        return min(counts.values(), default=_MAX_INT32)

    def update_with_pod(self, pod: Plain, changed: PodInfo, delta: int, *, node: NodeInfo) -> None:
        """Add a pod to a node or take it off.

        Unlike the first count, this asks neither whether the pod terminates nor whether the selector is empty.
        """
        if objects.namespace_of(changed.pod) != objects.namespace_of(pod):
            return
        if not node_labels_match_spread_constraints(node.labels, self.constraints):
            return
        for constraint, counts in zip(self.constraints, self.tp_value_to_match_num, strict=True):
            if not constraint.selector.matches(objects.labels_of(changed.pod)):
                continue
            if not constraint.match_node_inclusion_policies(pod, node.node):
                continue
            value = node.labels[constraint.topology_key]
            counts[value] = counts.get(value, 0) + delta


class PreScoreState:
    """Soft constraints, matching pods by domain, and the nodes that take no part."""

    def __init__(self, constraints: list[TopologySpreadConstraint]) -> None:
        self.constraints = constraints
        self.ignored_nodes: set[str] = set()
        self.tp_value_to_match_num: list[dict[str, int]] = [{} for _ in constraints]
        self.topology_normalizing_weight: list[float] = []


class PodTopologySpread:
    """Spread the matching pods over domains."""

    name = "PodTopologySpread"

    def __init__(self, args: Plain, handle: Handle) -> None:
        self.handle = handle
        self.system_defaulted = args.get("defaultingType", "System") == "System"
        self.default_constraints = SYSTEM_DEFAULT_CONSTRAINTS
        if not self.system_defaulted:
            self.default_constraints = args.get("defaultConstraints") or []

    def get_constraints(self, pod: Plain, action: str) -> list[TopologySpreadConstraint]:
        """The pod's own constraints of an action, or else the cluster's."""
        written = pod["spec"].get("topologySpreadConstraints") or []
        if written:
            return filter_topology_spread_constraints(written, objects.labels_of(pod), action)
        return build_default_constraints(self.handle, pod, self.default_constraints, action=action)

    def pre_filter(self, state: CycleState, pod: Plain) -> tuple[Optional[frozenset[str]], Status]:
        try:
            constraints = self.get_constraints(pod, "DoNotSchedule")
        except ParseError as broken:
            return None, error(str(broken))
        if not constraints:
            return None, SKIP
        state.values[self.name] = self.cal_pre_filter_state(pod, constraints)
        return None, SUCCESS

    def cal_pre_filter_state(self, pod: Plain, constraints: list[TopologySpreadConstraint]) -> PreFilterState:
        found = PreFilterState(constraints)
        namespace = objects.namespace_of(pod)
        for node in self.handle.node_infos:
            # A node without the key of one constraint is out of sight for all of them.
            if not node_labels_match_spread_constraints(node.labels, constraints):
                continue
            for constraint, counts in zip(constraints, found.tp_value_to_match_num, strict=True):
                if not constraint.match_node_inclusion_policies(pod, node.node):
                    continue
                value = node.labels[constraint.topology_key]
                counts[value] = counts.get(value, 0) + pods_on(node, constraint, namespace)
        return found

    def add_pod(self, state: CycleState, pod: Plain, added: PodInfo, *, node: NodeInfo) -> None:
        state.read(self.name).update_with_pod(pod, added, 1, node=node)

    def remove_pod(self, state: CycleState, pod: Plain, removed: PodInfo, *, node: NodeInfo) -> None:
        state.read(self.name).update_with_pod(pod, removed, -1, node=node)

    def filter(self, state: CycleState, pod: Plain, node: NodeInfo) -> Status:
        found: PreFilterState = state.read(self.name)
        for index, constraint in enumerate(found.constraints):
            if constraint.topology_key not in node.labels:
                return unresolvable("node(s) didn't match pod topology spread constraints (missing required label)")
            # matching pods in the domain + the pod itself - global minimum <= maxSkew
            value = node.labels[constraint.topology_key]
            match_num = found.tp_value_to_match_num[index].get(value, 0)
            self_match_num = 1 if constraint.selector.matches(objects.labels_of(pod)) else 0
            if match_num + self_match_num - found.min_match_num(index) > constraint.max_skew:
                return unschedulable("node(s) didn't match pod topology spread constraints")
        return SUCCESS

    def pre_score(self, state: CycleState, pod: Plain, nodes: list[NodeInfo]) -> Status:
        try:
            constraints = self.get_constraints(pod, "ScheduleAnyway")
        except ParseError as broken:
            return error(str(broken))
        if not constraints:
            return SKIP
        has_own = bool(pod["spec"].get("topologySpreadConstraints"))
        require_all = has_own or not self.system_defaulted
        found = PreScoreState(constraints)
        self.init_pre_score_state(found, nodes, require_all=require_all)
        self._process_all_nodes(found, pod, require_all=require_all)
        # Its own key: the hard constraints' state stays.
        state.values["PreScore" + self.name] = found
        return SUCCESS

    def init_pre_score_state(self, found: PreScoreState, nodes: list[NodeInfo], *, require_all: bool) -> None:
        """Find the domains among the feasible nodes, and from their number the weights."""
        for node in nodes:
            if require_all and not node_labels_match_spread_constraints(node.labels, found.constraints):
                found.ignored_nodes.add(node.name)
                continue
            for constraint, counts in zip(found.constraints, found.tp_value_to_match_num, strict=True):
                if not is_hostname(constraint):
                    # Without the label the value is empty; with system defaults that makes a domain of its own.
                    counts.setdefault(node.labels.get(constraint.topology_key, ""), 0)
        for constraint, counts in zip(found.constraints, found.tp_value_to_match_num, strict=True):
            size = len(nodes) - len(found.ignored_nodes) if is_hostname(constraint) else len(counts)
            found.topology_normalizing_weight.append(topology_normalizing_weight(size))

    def _process_all_nodes(self, found: PreScoreState, pod: Plain, *, require_all: bool) -> None:
        """Count over all nodes, but only in the domains of feasible ones."""
        namespace = objects.namespace_of(pod)
        for node in self.handle.node_infos:
            if require_all and not node_labels_match_spread_constraints(node.labels, found.constraints):
                continue
            for constraint, counts in zip(found.constraints, found.tp_value_to_match_num, strict=True):
                value = node.labels.get(constraint.topology_key, "")
                if is_hostname(constraint) or value not in counts:
                    continue
                if constraint.match_node_inclusion_policies(pod, node.node):
                    counts[value] += pods_on(node, constraint, namespace)

    def score(self, state: CycleState, pod: Plain, node: NodeInfo) -> int:
        found: PreScoreState = state.read("PreScore" + self.name)
        if node.name in found.ignored_nodes:
            return 0
        total = 0.0
        for index, constraint in enumerate(found.constraints):
            if constraint.topology_key not in node.labels:
                continue
            if is_hostname(constraint):
                count = pods_on(node, constraint, objects.namespace_of(pod))
            else:
                count = found.tp_value_to_match_num[index][node.labels[constraint.topology_key]]
            total += score_for_count(count, constraint.max_skew, found.topology_normalizing_weight[index])
        return gomath.round_half_away(total)

    def normalize_score(self, state: CycleState, scores: list[int], nodes: list[NodeInfo]) -> list[int]:
        found: PreScoreState = state.read("PreScore" + self.name)
        kept = [score for score, node in zip(scores, nodes, strict=True) if node.name not in found.ignored_nodes]
        lowest, highest = min(kept, default=0), max(kept, default=0)
        normalized = []
        for score, node in zip(scores, nodes, strict=True):
            if node.name in found.ignored_nodes:
                normalized.append(0)
            elif highest == 0:
                normalized.append(MAX_NODE_SCORE)
            else:
                normalized.append(MAX_NODE_SCORE * (highest + lowest - score) // highest)
        return normalized


def topology_normalizing_weight(size: int) -> float:
    return math.log(float(size + 2))


def score_for_count(count: int, max_skew: int, weight: float) -> float:
    return float(count) * weight + float(max_skew - 1)
