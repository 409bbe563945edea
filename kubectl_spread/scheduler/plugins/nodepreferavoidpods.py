"""NodePreferAvoidPods: a node may name controllers to keep their pods away.

Source: pkg/scheduler/framework/plugins/nodepreferavoidpods/node_prefer_avoid_pods.go (v1.21.9).
"""

from __future__ import annotations

import numpy as np

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.framework.plugin import FixedScores, Plugin, SameScore, ScoreState
from kubectl_spread.scheduler.plugins import names

_MOST = 100
_KINDS = ("ReplicationController", "ReplicaSet")


class NodePreferAvoidPods(Plugin):
    name = names.NODE_PREFER_AVOID_PODS

    def pre_score(self, pod_class: PodClass, columns: Columns) -> ScoreState:
        owner = pod_class.owner
        if owner is None or owner.kind not in _KINDS:
            return SameScore(_MOST)
        controller = (owner.kind, pod_class.owner_uid)
        avoids = [controller in node.avoids for node in columns.nodes]
        return FixedScores(np.where(avoids, 0, _MOST).astype(np.int64)) if any(avoids) else SameScore(_MOST)
