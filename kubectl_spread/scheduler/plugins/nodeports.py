"""NodePorts: a host port is free or the node is out.

Source: pkg/scheduler/framework/plugins/nodeports/node_ports.go; framework/types.go, HostPortInfo (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

import numpy as np

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.pod import HostPort, Pod, PodClass
from kubectl_spread.scheduler.framework.plugin import Bits, Code, FilterState, no_bits, Plugin, Reason, Skip
from kubectl_spread.scheduler.plugins import names

REASONS = (Reason("node(s) didn't have free ports for the requested pod ports", Code.UNSCHEDULABLE),)


class NodePorts(Plugin):
    name = names.NODE_PORTS

    def pre_filter(self, pod_class: PodClass, columns: Columns) -> Union[FilterState, Skip]:
        return _State(pod_class.host_ports, columns) if pod_class.host_ports else Skip()


class _State(FilterState):
    reasons = REASONS

    def __init__(self, wanted: tuple[HostPort, ...], columns: Columns) -> None:
        self._wanted = wanted
        self._columns = columns
        self._seen = self._unbound = 0
        self._bits: Bits = no_bits(columns)

    def filter(self) -> Bits:
        if self._unbound != self._columns.unbound:  # some pods were removed: read all present ones again
            has_conflict = [any(self._conflicts(pod.cls.host_ports) for pod in pods) for pods in self._columns.pods]
            self._bits = np.array(has_conflict, np.uint64)
            self._seen, self._unbound = len(self._columns.bound_pods), self._columns.unbound
        pods, nodes = self._columns.bound_pods, self._columns.bound_nodes
        for at in range(self._seen, len(pods)):
            if self._conflicts(pods[at].cls.host_ports):
                self._bits[nodes[at]] = 1
        self._seen = len(pods)
        return self._bits

    def filter_with(self, node: int, removed: Sequence[Pod], added: Sequence[Pod]) -> int:
        """Return the bits; a node's ports are a set, so that removing one of two pods frees their port."""
        used = {port for pod in self._columns.pods[node] for port in pod.cls.host_ports}
        used.difference_update(port for pod in removed for port in pod.cls.host_ports)
        used.update(port for pod in added for port in pod.cls.host_ports)
        return int(self._conflicts(tuple(used)))

    def _conflicts(self, used: tuple[HostPort, ...]) -> bool:
        return any(port.conflicts(other) for other in used for port in self._wanted)
