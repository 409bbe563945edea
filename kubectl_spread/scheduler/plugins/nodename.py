"""NodeName: a pod that names its node fits no other.

Source: pkg/scheduler/framework/plugins/nodename/node_name.go (v1.36.2).
"""

from __future__ import annotations

import numpy as np

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.framework.plugin import FilterState
from kubectl_spread.scheduler.framework.plugin import FixedState
from kubectl_spread.scheduler.framework.plugin import no_bits
from kubectl_spread.scheduler.framework.status import Code
from kubectl_spread.scheduler.framework.status import Reason
from kubectl_spread.scheduler.plugins import names

REASONS = (Reason("node(s) didn't match the requested node name", Code.UNSCHEDULABLE_AND_UNRESOLVABLE),)


class NodeName:
    name = names.NODE_NAME

    def pre_filter(self, cls: PodClass, columns: Columns) -> FilterState:
        if not cls.node_name:
            return FixedState(REASONS, no_bits(columns))
        others = [node.name != cls.node_name for node in columns.nodes]
        return FixedState(REASONS, np.array(others, np.uint64))
