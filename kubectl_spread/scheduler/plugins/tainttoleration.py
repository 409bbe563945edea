"""TaintToleration (Filter): a node with an untolerated NoSchedule or NoExecute taint is out.

Source: pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go, Filter (v1.36.2).
"""

from __future__ import annotations

import numpy as np

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.taints import first_untolerated
from kubectl_spread.scheduler.framework.plugin import FilterState
from kubectl_spread.scheduler.framework.plugin import FixedState
from kubectl_spread.scheduler.framework.status import Code
from kubectl_spread.scheduler.framework.status import Reason
from kubectl_spread.scheduler.plugins import names

REASONS = (Reason("node(s) had untolerated taint(s)", Code.UNSCHEDULABLE_AND_UNRESOLVABLE),)


class TaintToleration:
    name = names.TAINT_TOLERATION

    def pre_filter(self, cls: PodClass, columns: Columns) -> FilterState:
        untolerated = [first_untolerated(node.taints, cls.tolerations) is not None for node in columns.nodes]
        return FixedState(REASONS, np.array(untolerated, np.uint64))
