"""ImageLocality: nodes that have the pod's images already.

Source: pkg/scheduler/framework/plugins/imagelocality/image_locality.go (v1.36.2).
"""

from __future__ import annotations

from typing import Union

import numpy as np

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.columns import Int64s
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.framework.plugin import NodeIndices
from kubectl_spread.scheduler.framework.plugin import ScoreState
from kubectl_spread.scheduler.plugins import names

_MB = 1024 * 1024
_MIN_THRESHOLD = 23 * _MB
_MAX_CONTAINER_THRESHOLD = 1000 * _MB


class ImageLocality:
    name = names.IMAGE_LOCALITY

    def pre_score(self, cls: PodClass, columns: Columns) -> ScoreState:
        return _State(cls, columns)


class _State:
    def __init__(self, cls: PodClass, columns: Columns) -> None:
        self._is_nowhere = False
        total = columns.zeros()
        for name in (*cls.images, *cls.image_volumes):
            size, having = columns.images.get(name, (0, []))
            total[having] += int(size * (len(having) / columns.n))
        if not total.any():
            self._is_nowhere = True
            return
        most = _MAX_CONTAINER_THRESHOLD * len(cls.images)
        clamped = np.minimum(np.maximum(total, _MIN_THRESHOLD), most)
        self._scores: Int64s = (
            100 * (clamped - _MIN_THRESHOLD) // (most - _MIN_THRESHOLD) if cls.images else columns.zeros()
        )
        self._is_nowhere = not self._scores.any()

    def score(self, feasible: NodeIndices) -> Union[Int64s, int]:
        return 0 if self._is_nowhere else self._scores[feasible]
