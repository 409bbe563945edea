"""Whether a node has room for a pod, and how full it would be.

Source: pkg/scheduler/framework/plugins/noderesources/{fit,resource_allocation,least_allocated,most_allocated,
requested_to_capacity_ratio,balanced_allocation}.go, pkg/scheduler/framework/plugins/helper/shape_score.go (v1.36.2;
v1.34.1 for the older balance). Extended resources that a DeviceClass backs are not known here.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Optional

from tests.naive import gomath, requests
from tests.naive.framework import CycleState, Handle, MAX_NODE_SCORE, SKIP, Status, SUCCESS, unresolvable, unschedulable
from tests.naive.nodeinfo import NodeInfo, Resource

Plain = dict[str, Any]

_DEFAULT_RESOURCES = [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]
_MAX_CUSTOM_PRIORITY_SCORE = 10


class _Request(NamedTuple):
    """What the pod asks for."""

    resource: Resource

    def clone(self) -> _Request:
        return self


class InsufficientResource(NamedTuple):
    """A resource of which there is too little; unresolvable if even the empty node had too little."""

    reason: str
    unresolvable: bool = False


class Fit:
    """NodeResourcesFit."""

    name = "NodeResourcesFit"

    def __init__(self, args: Plain, handle: Handle) -> None:
        self.ignored_resources = set(args.get("ignoredResources") or [])
        self.ignored_resource_groups = set(args.get("ignoredResourceGroups") or [])
        self.strategy = args.get("scoringStrategy") or {"type": "LeastAllocated"}
        self.resources = weights(self.strategy.get("resources") or _DEFAULT_RESOURCES)

    def pre_filter(self, state: CycleState, pod: Plain) -> tuple[Optional[frozenset[str]], Status]:
        state.values[self.name] = _Request(compute_pod_resource_request(pod))
        return None, SUCCESS

    def filter(self, state: CycleState, pod: Plain, node: NodeInfo) -> Status:
        insufficient = self.fits_request(state.read(self.name).resource, node)
        if not insufficient:
            return SUCCESS
        reasons = [item.reason for item in insufficient]
        if any(item.unresolvable for item in insufficient):
            return unresolvable(*reasons)
        return unschedulable(*reasons)

    def fits_request(self, wanted: Resource, node: NodeInfo) -> list[InsufficientResource]:
        found = []
        if len(node.pods) + 1 > node.allocatable["pods"]:
            found.append(InsufficientResource("Too many pods"))
        native = ("cpu", "memory", "ephemeral-storage")
        for name in native:
            self._check(found, wanted, name=name, node=node)
        # Upstream's order is that of a Go map.
        for name in sorted(wanted.amounts):
            if name not in (*native, "pods") and not self._is_ignored(name):
                self._check(found, wanted, name=name, node=node)
        return found

    def _check(self, found: list[InsufficientResource], wanted: Resource, *, name: str, node: NodeInfo) -> None:
        amount = wanted[name]
        if amount > 0 and amount > gomath.int64(node.allocatable[name] - node.requested[name]):
            found.append(InsufficientResource(f"Insufficient {name}", amount > node.allocatable[name]))

    def _is_ignored(self, name: str) -> bool:
        if not requests.is_extended_resource_name(name):
            return False
        return name in self.ignored_resources or name.partition("/")[0] in self.ignored_resource_groups

    def score(self, state: CycleState, pod: Plain, node: NodeInfo) -> int:
        rows = []
        for name, weight in self.resources:
            # The scorer is built without the gate for pod-level resources, so it does not see the pod's own.
            wanted = requests.pod_requests(pod, requests.NON_ZERO_DEFAULTS, skip_pod_level=True)
            allocatable, requested = calculate_resource_allocatable_request(
                node, requests.value(name, wanted.get(name, 0)), name=name
            )
            if allocatable != 0:
                rows.append((requested, allocatable, weight))
        kind = self.strategy.get("type")
        if kind == "MostAllocated":
            return most_resource_scorer(rows)
        if kind == "RequestedToCapacityRatio":
            return requested_to_capacity_ratio_scorer(rows, self.strategy["requestedToCapacityRatio"]["shape"])
        return least_resource_scorer(rows)


def weights(resources: list[Plain]) -> list[tuple[str, int]]:
    """Resources with their weights; a weight of 0 or none is 1."""
    return [(resource["name"], resource.get("weight") or 1) for resource in resources]


def compute_pod_resource_request(pod: Plain) -> Resource:
    wanted = Resource()
    wanted.add(requests.pod_requests(pod))
    return wanted


def calculate_resource_allocatable_request(
    node: NodeInfo, pod_request: int, *, name: str, use_requested: bool = False
) -> tuple[int, int]:
    """Allocatable, and requested with the pod on the node; both 0 for a scalar the pod does not ask for."""
    scalar = requests.is_scalar_resource_name(name)
    if pod_request == 0 and scalar:
        return 0, 0
    if name in ("cpu", "memory") and not use_requested:
        return node.allocatable[name], gomath.int64(node.non_zero_requested[name] + pod_request)
    if scalar or name in ("cpu", "memory", "ephemeral-storage"):
        return node.allocatable[name], gomath.int64(node.requested[name] + pod_request)
    return 0, 0


def least_resource_scorer(rows: list[tuple[int, int, int]]) -> int:
    return _weighted(
        [
            (0 if requested > capacity else _percentage(capacity - requested, capacity), weight)
            for requested, capacity, weight in rows
        ]
    )


def most_resource_scorer(rows: list[tuple[int, int, int]]) -> int:
    return _weighted(
        [(_percentage(min(requested, capacity), capacity), weight) for requested, capacity, weight in rows]
    )


def _percentage(part: int, of: int) -> int:
    return gomath.divide(gomath.int64(part * MAX_NODE_SCORE), of)


def _weighted(scores: list[tuple[int, int]]) -> int:
    weight_sum = sum(weight for _, weight in scores)
    return gomath.divide(sum(score * weight for score, weight in scores), weight_sum) if weight_sum else 0


def requested_to_capacity_ratio_scorer(rows: list[tuple[int, int, int]], shape: list[Plain]) -> int:
    """Score by a piecewise linear function; a resource that scores 0 has no weight."""
    node_score = weight_sum = 0
    for requested, capacity, weight in rows:
        utilization = 100 if requested > capacity else _percentage(requested, capacity)
        score = build_broken_linear_function(shape, utilization)
        if score > 0:
            node_score += score * weight
            weight_sum += weight
    if weight_sum == 0:
        return 0
    return gomath.round_half_away(float(node_score) / float(weight_sum))


def build_broken_linear_function(shape: list[Plain], at: int) -> int:
    scale = MAX_NODE_SCORE // _MAX_CUSTOM_PRIORITY_SCORE
    points = [(point.get("utilization") or 0, (point.get("score") or 0) * scale) for point in shape]
    for index, (x1, y1) in enumerate(points):
        if at > x1:
            continue
        if index == 0:
            return y1
        x0, y0 = points[index - 1]
        return y0 + gomath.divide((y1 - y0) * (at - x0), x1 - x0)
    return points[-1][1]


class _Balance(NamedTuple):
    """What the pod asks for, by configured resource."""

    pod_requests: list[int]


class BalancedAllocation:
    """NodeResourcesBalancedAllocation: prefer nodes whose resources are used evenly."""

    name = "NodeResourcesBalancedAllocation"

    def __init__(self, args: Plain, handle: Handle) -> None:
        self.resources = [name for name, _ in weights(args.get("resources") or _DEFAULT_RESOURCES)]
        self.compares_with_before = handle.version >= (1, 36)

    def pre_score(self, state: CycleState, pod: Plain, nodes: list[NodeInfo]) -> Status:
        wanted = requests.pod_requests(pod)
        amounts = [requests.value(name, wanted.get(name, 0)) for name in self.resources]
        if not any(amounts):
            return SKIP
        state.values[self.name] = _Balance(amounts)
        return SUCCESS

    def score(self, state: CycleState, pod: Plain, node: NodeInfo) -> int:
        before, after = [], []
        for name, amount in zip(self.resources, state.read(self.name).pod_requests, strict=True):
            allocatable, requested = calculate_resource_allocatable_request(node, amount, name=name, use_requested=True)
            if allocatable != 0:
                after.append((requested, allocatable))
                before.append((gomath.int64(requested - amount), allocatable))
        if not self.compares_with_before:
            return balanced_resource_scorer(after)
        gain = balanced_resource_scorer(after) - balanced_resource_scorer(before)
        return MAX_NODE_SCORE // 2 + gomath.divide(MAX_NODE_SCORE // 2 + gain, 2)


def balanced_resource_scorer(rows: list[tuple[int, int]]) -> int:
    fractions = [min(1.0, float(requested) / float(capacity)) for requested, capacity in rows]
    std = 0.0
    if len(fractions) == 2:
        std = abs((fractions[0] - fractions[1]) / 2)
    elif len(fractions) > 2:
        total = 0.0
        for fraction in fractions:
            total += fraction
        mean = total / len(fractions)
        squares = 0.0
        for fraction in fractions:
            squares += (fraction - mean) * (fraction - mean)
        std = math.sqrt(squares / len(fractions))
    return int((1 - std) * float(MAX_NODE_SCORE))
