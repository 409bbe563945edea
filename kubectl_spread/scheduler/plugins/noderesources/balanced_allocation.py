"""NodeResourcesBalancedAllocation: nodes whose resources would be used evenly.

Source: pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go (v1.36.2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.columns import Columns, Int64s
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.releases.behaviours import BALANCE_BY_DEVIATION, BALANCE_COMPARES, BALANCE_SKIPS
from kubectl_spread.objects.releases.version import Release
from kubectl_spread.objects.resources import CPU, MEMORY
from kubectl_spread.scheduler import gomath
from kubectl_spread.scheduler.framework.node_values import NodeScores
from kubectl_spread.scheduler.framework.plugin import NodeIndices, Plain, Plugin, SameScore, ScoreState
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.noderesources.fit import is_scored

Floats = NDArray[np.float64]


class NodeResourcesBalancedAllocation(Plugin):
    name = names.NODE_RESOURCES_BALANCED_ALLOCATION

    def __init__(self, args: Plain, release: Release) -> None:
        super().__init__(args, release)
        self._resources = tuple(item.get("name") or "" for item in args.get("resources") or ()) or (CPU, MEMORY)

    def pre_score(self, pod_class: PodClass, columns: Columns) -> ScoreState:
        if not BALANCE_BY_DEVIATION.of(self._release):
            return columns.share(
                (_DifferenceState, pod_class.scored), lambda: _DifferenceState(dict(pod_class.scored), columns)
            )
        counted = pod_class.requests if pod_class.balanced is None else pod_class.balanced
        requests = dict(counted)
        is_best_effort = not any(requests.get(resource) for resource in self._resources)
        if is_best_effort and BALANCE_SKIPS.of(self._release):
            return SameScore(None)
        compares = BALANCE_COMPARES.of(self._release)
        key = (_State, counted, self._resources, compares)
        return columns.share(key, lambda: _State(requests, columns, self._resources, compares=compares))


class _State(NodeScores):
    def __init__(
        self, requests: dict[str, int], columns: Columns, resources: tuple[str, ...], *, compares: bool
    ) -> None:
        self._columns = columns
        self._compares = compares
        self._requests = requests
        self._resources = [name for name in resources if is_scored(name, requests)]
        watched: list[Int64s] = []
        for resource in self._resources:
            watched += [columns.allocatable_of(resource), columns.requested_of(resource)]
        super().__init__(names.NODE_RESOURCES_BALANCED_ALLOCATION, columns, watched)

    def node_scores(self, nodes: NodeIndices) -> Int64s:
        after = self._balance(nodes, with_pod=True)
        if not self._compares:
            return after
        before = self._balance(nodes, with_pod=False)
        return 50 + gomath.divide(50 + after - before, 2)

    def _balance(self, nodes: NodeIndices, *, with_pod: bool) -> Int64s:
        fractions: list[Floats] = []
        counted: list[NDArray[np.bool_]] = []
        for resource in self._resources:
            capacity = self._columns.allocatable_of(resource)[nodes]
            used = self._columns.requested_of(resource)[nodes]
            if with_pod:
                used = used + self._requests.get(resource, 0)
            has_any = capacity != 0
            fractions.append(np.minimum(used / np.where(has_any, capacity, 1), 1.0))
            counted.append(has_any)
        if not fractions:
            return np.full(len(nodes), 100, np.int64)
        return ((1 - _deviation(np.array(fractions), np.array(counted))) * 100.0).astype(np.int64)


class _DifferenceState(NodeScores):
    """Scores by the difference of the fractions of CPU and memory in use, as up to 1.21.

    Source: noderesources/balanced_allocation.go, balancedResourceScorer (v1.21.9).
    """

    def __init__(self, requests: dict[str, int], columns: Columns) -> None:
        self._cpu, self._memory = columns.allocatable_of(CPU), columns.allocatable_of(MEMORY)
        self._columns = columns
        self._requests = requests
        watched = [self._cpu, self._memory, columns.nonzero_cpu, columns.nonzero_memory]
        super().__init__(names.NODE_RESOURCES_BALANCED_ALLOCATION, columns, watched)

    def node_scores(self, nodes: NodeIndices) -> Int64s:
        cpu = _fraction(self._columns.nonzero_cpu[nodes] + self._requests.get(CPU, 0), self._cpu[nodes])
        memory = _fraction(self._columns.nonzero_memory[nodes] + self._requests.get(MEMORY, 0), self._memory[nodes])
        scores = ((1 - np.abs(cpu - memory)) * 100.0).astype(np.int64)
        return np.where((cpu >= 1) | (memory >= 1), 0, scores)


def _fraction(used: Int64s, capacity: Int64s) -> Floats:
    """Return the fraction in use, 1 without capacity."""
    return np.where(capacity == 0, 1.0, used / np.where(capacity == 0, 1, capacity))


def _deviation(fractions: Floats, counted: NDArray[np.bool_]) -> Floats:
    """Return the standard deviation of the counted fractions (R, K) of each node."""
    number = counted.sum(axis=0)
    if len(fractions) == 2:
        return np.where(number == 2, np.abs((fractions[0] - fractions[1]) / 2), 0.0)
    divisor = np.maximum(number, 1)
    mean = np.where(counted, fractions, 0.0).sum(axis=0) / divisor
    squares = np.where(counted, (fractions - mean) * (fractions - mean), 0.0)
    deviation = np.sqrt(squares.sum(axis=0) / divisor)
    # Half the difference of the two counted fractions, if there are two
    largest = np.where(counted, fractions, -np.inf).max(axis=0)
    smallest = np.where(counted, fractions, np.inf).min(axis=0)
    two = np.where(counted.sum(axis=0) == 2, np.abs((largest - smallest) / 2), 0.0)
    return np.where(number == 2, two, np.where(number < 2, 0.0, deviation))
