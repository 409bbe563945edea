"""NodePorts: a host port is free or the node is out.

Source: pkg/scheduler/framework/plugins/nodeports/node_ports.go; framework/types.go, HostPortInfo (v1.36.2).
"""

from __future__ import annotations

from typing import Union

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.pod import HostPort
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.framework.plugin import Bits
from kubectl_spread.scheduler.framework.plugin import FilterState
from kubectl_spread.scheduler.framework.plugin import no_bits
from kubectl_spread.scheduler.framework.plugin import Skip
from kubectl_spread.scheduler.framework.status import Code
from kubectl_spread.scheduler.framework.status import Reason
from kubectl_spread.scheduler.plugins import names

REASONS = (Reason("node(s) didn't have free ports for the requested pod ports", Code.UNSCHEDULABLE),)


class NodePorts:
    name = names.NODE_PORTS

    def pre_filter(self, cls: PodClass, columns: Columns) -> Union[FilterState, Skip]:
        return _State(cls.host_ports, columns) if cls.host_ports else Skip()


class _State:
    reasons = REASONS
    narrowed = None

    def __init__(self, wanted: tuple[HostPort, ...], columns: Columns) -> None:
        self._wanted = wanted
        self._bits: Bits = no_bits(columns)
        for node, pods in enumerate(columns.pods):
            for pod in pods:
                self.pod_added(pod, node)

    def filter(self) -> Bits:
        return self._bits

    def pod_added(self, pod: Pod, node: int) -> None:
        if any(port.conflicts(used) for used in pod.cls.host_ports for port in self._wanted):
            self._bits[node] = 1
