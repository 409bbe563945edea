"""NodeUnschedulable: cordoned nodes are out.

Source: pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go (v1.36.2).
"""

from __future__ import annotations

import numpy as np

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.node import UNSCHEDULABLE
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.framework.plugin import Code, FilterState, FixedState, no_bits, Plugin, Reason
from kubectl_spread.scheduler.plugins import names

REASONS = (Reason("node(s) were unschedulable", Code.UNSCHEDULABLE_AND_UNRESOLVABLE),)


class NodeUnschedulable(Plugin):
    name = names.NODE_UNSCHEDULABLE

    def pre_filter(self, pod_class: PodClass, columns: Columns) -> FilterState:
        if any(toleration.tolerates(UNSCHEDULABLE) for toleration in pod_class.tolerations):
            return FixedState(REASONS, no_bits(columns))
        return FixedState(REASONS, columns.unschedulable.astype(np.uint64))
