"""TaintToleration: a node with an untolerated NoSchedule or NoExecute taint is out, PreferNoSchedule scores less.

Source: pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go (v1.36.2).
"""

from __future__ import annotations

from typing import Union

import numpy as np

from kubectl_spread.cluster.columns import Columns, Int64s
from kubectl_spread.objects.node import PREFER_NO_SCHEDULE, Taint
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.releases.behaviours import TAINT_REASON
from kubectl_spread.scheduler import gomath
from kubectl_spread.scheduler.framework.plugin import (
    bit,
    Code,
    FilterState,
    FixedState,
    no_bits,
    NodeIndices,
    Plugin,
    Reason,
    ScoreState,
)
from kubectl_spread.scheduler.plugins import names


class TaintToleration(Plugin):
    name = names.TAINT_TOLERATION

    def pre_filter(self, pod_class: PodClass, columns: Columns) -> FilterState:
        if not columns.has_taints:
            return FixedState((), no_bits(columns))
        codes, taints = columns.tainted.first(pod_class.tolerations)
        texts = list(dict.fromkeys(map(self._text, taints)))
        by_code = [bit(min(texts.index(self._text(taint)), 63)) for taint in taints]
        bits = np.array([*by_code, 0], np.uint64)[codes]  # the code of a node that is tolerated is -1
        return FixedState(tuple(Reason(text, Code.UNSCHEDULABLE_AND_UNRESOLVABLE) for text in texts[:64]), bits)

    def pre_score(self, pod_class: PodClass, columns: Columns) -> ScoreState:
        return _ScoreState(pod_class, columns)

    def _text(self, taint: Taint) -> str:
        """Return the reason, which may name the taint's key and value."""
        return TAINT_REASON.of(self._release).format(key=taint.key, value=taint.value)


class _ScoreState:
    def __init__(self, pod_class: PodClass, columns: Columns) -> None:
        tolerations = [item for item in pod_class.tolerations if item.effect in ("", PREFER_NO_SCHEDULE)]
        self._raw = columns.tainted.count(  # the PreferNoSchedule taints that the pod does not tolerate
            lambda taints: sum(
                taint.effect == PREFER_NO_SCHEDULE and not any(item.tolerates(taint) for item in tolerations)
                for taint in taints
            )
        )
        self._is_nowhere = not self._raw.any()

    def score(self, feasible: NodeIndices) -> Union[Int64s, int]:
        if self._is_nowhere:
            return 100
        return gomath.default_normalize(self._raw[feasible], reverse=True)
