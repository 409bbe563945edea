"""ImageLocality: nodes that have the pod's images already.

Source: pkg/scheduler/framework/plugins/imagelocality/image_locality.go (v1.36.2).
"""

from __future__ import annotations

import numpy as np

from kubectl_spread.cluster.columns import Columns, Int64s
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.releases.behaviours import (
    IMAGE_VOLUMES_RAISE_MAXIMUM,
    IMAGES_OF_INIT_CONTAINERS,
    IMAGES_OF_VOLUMES,
)
from kubectl_spread.scheduler.framework.plugin import FixedScores, Plugin, SameScore, ScoreState
from kubectl_spread.scheduler.plugins import names

_MB = 1024 * 1024
_MIN_THRESHOLD = 23 * _MB
_MAX_CONTAINER_THRESHOLD = 1000 * _MB


class ImageLocality(Plugin):
    name = names.IMAGE_LOCALITY

    def pre_score(self, pod_class: PodClass, columns: Columns) -> ScoreState:
        counts_init = IMAGES_OF_INIT_CONTAINERS.of(self._release)
        counts_volumes = IMAGES_OF_VOLUMES.of(self._release)
        images = pod_class.images if counts_init else pod_class.images[pod_class.init_images :]
        volumes = pod_class.image_volumes if counts_volumes else ()
        sources = len(images) + (len(volumes) if IMAGE_VOLUMES_RAISE_MAXIMUM.of(self._release) else 0)
        total = columns.zeros()
        for name in (*images, *volumes):
            size, having = columns.images.get(name, (0, []))
            total[having] += int(size * (len(having) / columns.n))
        if not sources or not total.any():
            return SameScore(0)
        most = _MAX_CONTAINER_THRESHOLD * sources  # the threshold grows with the images
        clamped = np.minimum(np.maximum(total, _MIN_THRESHOLD), most)
        scores: Int64s = 100 * (clamped - _MIN_THRESHOLD) // (most - _MIN_THRESHOLD)
        return FixedScores(scores) if scores.any() else SameScore(0)
