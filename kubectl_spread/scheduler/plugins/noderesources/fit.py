"""NodeResourcesFit: the node must have the requested resources left; scores depend on the node's utilization.

Source: pkg/scheduler/framework/plugins/noderesources/fit.go, fitsRequest; resource_allocation.go (v1.36.2).
Difference: resources that a DeviceClass provides are not known here.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kubectl_spread.caching import cached_method
from kubectl_spread.cluster.columns import Bools, Columns, Int64s, wrapped
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.releases.behaviours import (
    ALLOCATION_SKIPS_ABSENT,
    FIT_SKIPS_UNREQUESTED,
    FIT_SKIPS_ZERO,
    FIT_TOO_LARGE_IS_FINAL,
)
from kubectl_spread.objects.releases.version import Release
from kubectl_spread.objects.resources import (
    CPU,
    EPHEMERAL_STORAGE,
    is_extended,
    is_scalar,
    is_scheduled,
    MEMORY,
)
from kubectl_spread.scheduler import gomath
from kubectl_spread.scheduler.framework.node_values import NodeScores, NodeValues
from kubectl_spread.scheduler.framework.plugin import (
    bit,
    Bits,
    Code,
    FilterState,
    NodeIndices,
    Plain,
    Plugin,
    Reason,
    ScoreState,
)
from kubectl_spread.scheduler.plugins import names

_BASIC = (CPU, MEMORY, EPHEMERAL_STORAGE)

TOO_MANY_PODS = Reason("Too many pods", Code.UNSCHEDULABLE)

LEAST_ALLOCATED = "LeastAllocated"
MOST_ALLOCATED = "MostAllocated"
REQUESTED_TO_CAPACITY_RATIO = "RequestedToCapacityRatio"


class ScoringStrategy(NamedTuple):
    """A strategy; resources: names and weights. shape: utilizations in percent, and scores of 0 to 10."""

    type: str
    resources: tuple[tuple[str, int], ...]
    shape: tuple[tuple[int, int], ...] = ()


class NodeResourcesLeastAllocated(Plugin):
    """The plugin that scored by default before NodeResourcesFit had a strategy."""

    name = names.NODE_RESOURCES_LEAST_ALLOCATED
    _type = LEAST_ALLOCATED

    def __init__(self, args: Plain, release: Release) -> None:
        super().__init__(args, release)
        written = args.get("resources") or ({"name": CPU}, {"name": MEMORY})
        resources = tuple((item.get("name") or "", int(item.get("weight") or 1)) for item in written)
        self._strategy = ScoringStrategy(self._type, resources)

    def pre_score(self, pod_class: PodClass, columns: Columns) -> ScoreState:
        """Return the state that classes with equal requests share."""
        skips, name = ALLOCATION_SKIPS_ABSENT.of(self._release), self.name
        return columns.share(
            (_ScoreState, pod_class.scored, self._strategy, name, skips),
            lambda: _ScoreState(pod_class.scored, columns, self._strategy, name=name, skips_absent=skips),
        )


class NodeResourcesMostAllocated(NodeResourcesLeastAllocated):
    name = names.NODE_RESOURCES_MOST_ALLOCATED
    _type = MOST_ALLOCATED


class NodeResourcesFit(NodeResourcesLeastAllocated):
    name = names.NODE_RESOURCES_FIT

    def __init__(self, args: Plain, release: Release) -> None:
        strategy = fields(args, "scoringStrategy")
        super().__init__(strategy, release)
        self._ignored = frozenset(args.get("ignoredResources") or ())
        self._ignored_groups = frozenset(args.get("ignoredResourceGroups") or ())
        points = fields(strategy, "requestedToCapacityRatio").get("shape") or ()
        shape = tuple((int(point.get("utilization") or 0), int(point.get("score") or 0)) for point in points)
        self._strategy = self._strategy._replace(type=strategy.get("type") or LEAST_ALLOCATED, shape=shape)

    def pre_filter(self, pod_class: PodClass, columns: Columns) -> FilterState:
        wanted = self._wanted(pod_class)
        is_final = FIT_TOO_LARGE_IS_FINAL.of(self._release)
        key = (_FilterState, tuple(wanted), is_final)
        return columns.share(key, lambda: _FilterState(wanted, columns, too_large_is_final=is_final))

    def _ignores(self, resource: str) -> bool:
        """Return whether a resource is ignored, which only extended resources can be."""
        is_named = resource in self._ignored or resource.partition("/")[0] in self._ignored_groups
        return is_named and is_extended(resource)

    def _wanted(self, pod_class: PodClass) -> list[tuple[str, int]]:
        """Return the requests to compare, in the order of their reasons.

        Newer releases compare only requests above zero. Older releases also compare zero requests; those for CPU and
        the like only if the pod requests anything.
        """
        requests = dict(pod_class.requests)
        scalar = [
            (name, amount) for name, amount in pod_class.requests if name not in _BASIC and not self._ignores(name)
        ]
        if FIT_SKIPS_ZERO.of(self._release):
            scalar = [(name, amount) for name, amount in scalar if amount > 0]
        compares_all = not FIT_SKIPS_UNREQUESTED.of(self._release) and (
            len(requests.keys() - _BASIC) > 0 or any(requests.values())
        )
        return [
            *((name, requests.get(name, 0)) for name in _BASIC if compares_all or requests.get(name, 0) > 0),
            *scalar,
        ]


class _FilterState(FilterState):
    """Bit 0: no pod slot. Then two bits a resource: not enough left, and more than the node has at all."""

    def __init__(self, wanted: list[tuple[str, int]], columns: Columns, *, too_large_is_final: bool) -> None:
        self._columns = columns
        self._wanted = wanted
        too_large = Code.UNSCHEDULABLE_AND_UNRESOLVABLE if too_large_is_final else Code.UNSCHEDULABLE
        reasons = [TOO_MANY_PODS]
        for resource, _ in self._wanted:
            text = f"Insufficient {resource}"
            reasons.append(Reason(text, Code.UNSCHEDULABLE))
            reasons.append(Reason(text, too_large))
        self.reasons = tuple(reasons)
        watched = [columns.pod_count, columns.slots()]
        for resource, _ in self._wanted:
            watched += [columns.allocatable_of(resource), columns.requested_of(resource)]
        self._bits = NodeValues(columns, watched, self._compute)
        self._fits = NodeValues(columns, watched, lambda nodes: self._compute(nodes) == 0)

    def fits(self) -> Bools:
        return self._fits.now()

    def filter(self) -> Bits:
        return self._bits.now()

    def filter_with(self, node: int, removed: Sequence[Pod], added: Sequence[Pod]) -> int:
        columns = self._columns
        count = int(columns.pod_count[node]) - len(removed) + len(added)
        bits = int(count + 1 > columns.slots()[node])
        for at, (resource, amount) in enumerate(self._wanted):
            total = int(columns.allocatable_of(resource)[node])
            used = int(columns.requested_of(resource)[node])
            for sign, pods in ((-1, removed), (1, added)):
                used += sign * sum(self._amounts(columns.class_index(pod.cls))[at] for pod in pods)
            if amount > wrapped(total - used):
                bits |= 1 << (2 + 2 * at if amount > total else 1 + 2 * at)
        return bits

    @cached_method
    def _amounts(self, class_at: int) -> tuple[int, ...]:
        """Return the request of each wanted resource by a pod of a class."""
        requests = dict(self._columns.with_summed_requests(self._columns.classes[class_at]).requests)
        return tuple(requests.get(resource, 0) for resource, _ in self._wanted)

    def _compute(self, nodes: NodeIndices) -> Bits:
        columns = self._columns
        full = columns.pod_count[nodes] + 1 > columns.slots()[nodes]
        bits = full.astype(np.uint64)
        for at, (resource, amount) in enumerate(self._wanted):
            total = columns.allocatable_of(resource)[nodes]
            lacking = amount > total - columns.requested_of(resource)[nodes]
            never = amount > total
            bits |= np.where(lacking, np.where(never, bit(2 + 2 * at), bit(1 + 2 * at)), np.uint64(0))
        return bits


class _ScoreState(NodeScores):
    """Scores of all nodes, kept up to date; they do not depend on which nodes are feasible."""

    def __init__(
        self,
        requests: tuple[tuple[str, int], ...],
        columns: Columns,
        strategy: ScoringStrategy,
        *,
        name: str,
        skips_absent: bool,
    ) -> None:
        self._columns = columns
        self._strategy = strategy
        self._skips_absent = skips_absent
        self._requests = dict(requests)
        self._resources = [
            resource for resource in strategy.resources if not skips_absent or is_scored(resource[0], self._requests)
        ]
        watched: list[Int64s] = []
        for resource, _ in self._resources:
            watched += [columns.allocatable_of(resource), nonzero_requested(columns, resource)]
        super().__init__(name, columns, watched)

    def node_scores(self, nodes: NodeIndices) -> Int64s:
        total = np.zeros(len(nodes), np.int64)
        weights = np.zeros(len(nodes), np.int64)
        ratio = self._strategy.type == REQUESTED_TO_CAPACITY_RATIO
        for resource, weight in self._resources:
            capacity = self._columns.allocatable_of(resource)[nodes]
            used = nonzero_requested(self._columns, resource)[nodes] + self._requests.get(resource, 0)
            scores = self._resource_score(capacity, used)
            counted = (capacity != 0) | (not self._skips_absent)
            if ratio:
                counted &= scores > 0  # a resource that scores 0 does not weigh either
            total += np.where(counted, scores * weight, 0)
            weights += np.where(counted, weight, 0)
        divisor = np.maximum(weights, 1)
        if ratio:
            return np.where(weights > 0, gomath.round_half_away(total / divisor), 0)
        return np.where(weights > 0, gomath.divide(total, divisor), 0)

    def _resource_score(self, capacity: Int64s, used: Int64s) -> Int64s:
        """Return one resource's score on each node; ignore nodes with capacity 0, whose score has no meaning."""
        safe = np.where(capacity == 0, 1, capacity)
        if self._strategy.type == LEAST_ALLOCATED:
            return np.where((used > capacity) | (capacity == 0), 0, gomath.divide((capacity - used) * 100, safe))
        if self._strategy.type == MOST_ALLOCATED:
            return gomath.divide(np.minimum(used, capacity) * 100, safe)
        utilization = np.where(used > capacity, 100, gomath.divide(used * 100, safe))
        return _broken_linear(utilization, self._strategy.shape)


def is_scored(resource: str, requests: dict[str, int]) -> bool:
    """Return whether a configured resource counts for a pod: a scalar must be requested, another name scheduled.

    `pods` does not count, although nodes have slots.
    """
    if is_scalar(resource):
        return bool(requests.get(resource))
    return is_scheduled(resource)


def nonzero_requested(columns: Columns, resource: str) -> Int64s:
    """Return int64 (N,): the usage of bound pods in scores."""
    if resource == CPU:
        return columns.nonzero_cpu
    if resource == MEMORY:
        return columns.nonzero_memory
    return columns.requested_of(resource)


def _broken_linear(percent: Int64s, shape: tuple[tuple[int, int], ...]) -> Int64s:
    """Return the scores of utilizations in percent, interpolated between the points of a shape; int64 (F,).

    Source: pkg/scheduler/framework/plugins/helper/shape_score.go, BuildBrokenLinearFunction (v1.36.2).
    """
    points = [(utilization, score * 10) for utilization, score in shape]
    result = np.full_like(percent, points[-1][1])
    for (x0, y0), (x1, y1) in reversed(list(itertools.pairwise(points))):
        between = y0 + gomath.divide((y1 - y0) * (percent - x0), x1 - x0)
        result = np.where(percent <= x1, between, result)
    return np.where(percent <= points[0][0], points[0][1], result)
