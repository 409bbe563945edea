"""ImageLocality: nodes that have the pod's images already.

Source: pkg/scheduler/framework/plugins/imagelocality/image_locality.go (v1.36.2).
"""

from __future__ import annotations

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
        total = columns.zeros()
        wanted = (*cls.images, *cls.image_volumes)
        having = {name: np.zeros(columns.n, np.bool_) for name in wanted}
        sizes: dict[str, int] = {}
        for at, node in enumerate(columns.nodes):
            for name, size in node.images:
                if name in having:
                    having[name][at] = True
                    sizes.setdefault(name, size)  # of the first node that reports it
        for name in wanted:
            if name in sizes:
                spread = int(having[name].sum()) / columns.n
                total += np.where(having[name], int(sizes[name] * spread), 0)
        most = _MAX_CONTAINER_THRESHOLD * len(cls.images)
        clamped = np.minimum(np.maximum(total, _MIN_THRESHOLD), most)
        self._scores: Int64s = (
            100 * (clamped - _MIN_THRESHOLD) // (most - _MIN_THRESHOLD) if cls.images else columns.zeros()
        )

    def score(self, feasible: NodeIndices) -> Int64s:
        return self._scores[feasible]
