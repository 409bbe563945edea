"""NodeName: a pod that names its node fits no other.

Source: pkg/scheduler/framework/plugins/nodename/node_name.go (v1.36.2).
"""

from __future__ import annotations

import numpy as np

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.releases.behaviours import NODE_NAME_REASON
from kubectl_spread.scheduler.framework.plugin import Code, FilterState, FixedState, no_bits, Plugin, Reason
from kubectl_spread.scheduler.plugins import names


class NodeName(Plugin):
    name = names.NODE_NAME

    def pre_filter(self, pod_class: PodClass, columns: Columns) -> FilterState:
        reason = Reason(NODE_NAME_REASON.of(self._release), Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
        if not pod_class.node_name:
            return FixedState((reason,), no_bits(columns))
        others = [node.name != pod_class.node_name for node in columns.nodes]
        return FixedState((reason,), np.array(others, np.uint64))
