"""The program's scheduler, asked in the form of a recording, also where a cycle is given up."""

from __future__ import annotations

import copy
import json
from typing import Any

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.releases.version import nearest_release, release_of
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.plugin import ScoreError
from kubectl_spread.scheduler.profiles import profiles
from tests.conformance import replay

Plain = dict[str, Any]

FAILS = {"error": "the cycle is given up"}


class Core:
    """The program's scheduler with the cluster of a case."""

    def __init__(self, case: Plain) -> None:
        self._columns = Columns(cluster_of(copy.deepcopy(case["objects"] + case["incoming"])))
        configuration = json.loads(case["schedulerConfig"]) if case.get("schedulerConfig") else None
        by_name = profiles(configuration, nearest_release(release_of(case.get("kubernetesVersion", "1.36"))))
        self._scheduler = Scheduler(self._columns, by_name, all_nodes=True)
        self._preempts = bool(case.get("preempt"))

    def decide(self, incoming: Plain) -> Plain:
        """What it says of a pod; nothing is placed."""
        pod = read.pod(incoming)
        try:
            return replay.decision(pod, self._scheduler, preempts=self._preempts)
        except ScoreError:
            return self._unscored(pod)

    def bind(self, incoming: Plain, node: str) -> None:
        """Place a pod."""
        self._scheduler.bind(read.pod(incoming), self._columns.index[node])

    def _unscored(self, pod: Pod) -> Plain:
        """A single node is taken without a score; of several none is."""
        filtered = self._scheduler.filter(pod)
        names = [self._columns.nodes[at].name for at in range(self._columns.n) if filtered.feasible[at]]
        if len(names) > 1:
            return FAILS
        rejected = replay._rejected(filtered)
        return {"feasible": names, "scores": {names[0]: {"total": 0}}, "placed": names[0], **rejected}
