"""NodeDeclaredFeatures: a node must declare the features that the pod needs.

Source: pkg/scheduler/framework/plugins/nodedeclaredfeatures/nodedeclaredfeatures.go (v1.36.2).
"""

from __future__ import annotations

from typing import Union

import numpy as np

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.framework.plugin import Code, FilterState, FixedState, Plugin, Reason, Skip
from kubectl_spread.scheduler.plugins import names

REASONS = (Reason("node(s) didn't match Pod's required features", Code.UNSCHEDULABLE_AND_UNRESOLVABLE),)


class NodeDeclaredFeatures(Plugin):
    name = names.NODE_DECLARED_FEATURES

    def pre_filter(self, pod_class: PodClass, columns: Columns) -> Union[FilterState, Skip]:
        if not pod_class.features:
            return Skip()
        needed = frozenset(pod_class.features)
        return FixedState(REASONS, np.array([not needed <= set(node.features) for node in columns.nodes], np.uint64))
