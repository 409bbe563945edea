"""NodeResourcesFit (Filter): what the pod requests must be left on the node.

Source: pkg/scheduler/framework/plugins/noderesources/fit.go, fitsRequest (v1.36.2). Ignored resources and
resources that a DeviceClass takes over are not known here.
"""

from __future__ import annotations

import numpy as np

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.resources import CPU
from kubectl_spread.objects.resources import EPHEMERAL_STORAGE
from kubectl_spread.objects.resources import MEMORY
from kubectl_spread.scheduler.framework.plugin import bit
from kubectl_spread.scheduler.framework.plugin import Bits
from kubectl_spread.scheduler.framework.plugin import FilterState
from kubectl_spread.scheduler.framework.status import Code
from kubectl_spread.scheduler.framework.status import Reason
from kubectl_spread.scheduler.plugins import names

TOO_MANY_PODS = Reason("Too many pods", Code.UNSCHEDULABLE)


class NodeResourcesFit:
    name = names.NODE_RESOURCES_FIT

    def pre_filter(self, cls: PodClass, columns: Columns) -> FilterState:
        return _State(cls, columns)


def _wanted(cls: PodClass) -> list[tuple[str, int]]:
    """Requests above zero, in the order their reasons are given."""
    requests = dict(cls.requests)
    order = [name for name in (CPU, MEMORY, EPHEMERAL_STORAGE) if name in requests]
    order += [name for name, _ in cls.requests if name not in order]
    return [(name, requests[name]) for name in order if requests[name] > 0]


class _State:
    """Bit 0: no pod slot. Then two bits a resource: not enough left, and more than the node has at all."""

    narrowed = None

    def __init__(self, cls: PodClass, columns: Columns) -> None:
        self._columns = columns
        self._wanted = _wanted(cls)
        reasons = [TOO_MANY_PODS]
        for resource, _ in self._wanted:
            text = f"Insufficient {resource}"
            reasons.append(Reason(text, Code.UNSCHEDULABLE))
            reasons.append(Reason(text, Code.UNSCHEDULABLE_AND_UNRESOLVABLE))
        self.reasons = tuple(reasons)
        self._bits = self._compute(np.arange(columns.n))

    def filter(self) -> Bits:
        return self._bits

    def pod_added(self, pod: Pod, node: int) -> None:  # noqa: ARG002 (the columns have it)
        at = np.array([node])
        self._bits[at] = self._compute(at)

    def _compute(self, nodes: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Bits:
        columns = self._columns
        full = columns.pod_count[nodes] + 1 > columns.slots()[nodes]
        bits = full.astype(np.uint64)
        for at, (resource, amount) in enumerate(self._wanted):
            total = columns.allocatable_of(resource)[nodes]
            lacking = amount > total - columns.requested_of(resource)[nodes]
            never = amount > total
            bits |= np.where(lacking, np.where(never, bit(2 + 2 * at), bit(1 + 2 * at)), np.uint64(0))
        return bits
