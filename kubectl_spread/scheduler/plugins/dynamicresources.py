"""DynamicResources, for pods without resource claims: it scores every node 0.

Source: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go (v1.36.2). The allocation of claims is
out of scope; a pod that has claims is reported as not predictable.
"""

from __future__ import annotations

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.framework.plugin import Plugin, SameScore, ScoreState
from kubectl_spread.scheduler.plugins import names


class DynamicResources(Plugin):
    name = names.DYNAMIC_RESOURCES

    def pre_score(self, pod_class: PodClass, columns: Columns) -> ScoreState:  # noqa: ARG002
        return SameScore(0)
