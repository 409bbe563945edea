"""SelectorSpread: few pods of the same Services and controllers on a node, and in its zone.

The default of releases without built-in default constraints. Not measured against recordings.
Source: pkg/scheduler/framework/plugins/selectorspread/selector_spread.go (v1.19.16).
"""

from __future__ import annotations

import numpy as np

from kubectl_spread.cluster.columns import Columns, Int64s, MatchCounter
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.selectors import Selector, zone_of
from kubectl_spread.scheduler.framework.plugin import NodeIndices, Plugin, SameScore, ScoreState
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import default_selector

_ZONE_WEIGHT = 2.0 / 3.0


class SelectorSpread(Plugin):
    name = names.SELECTOR_SPREAD

    def pre_score(self, pod_class: PodClass, columns: Columns) -> ScoreState:
        if pod_class.constraints:
            return SameScore(0)
        return _State(default_selector(pod_class, columns, self._release), pod_class, columns)


class _State:
    def __init__(self, selector: Selector, pod_class: PodClass, columns: Columns) -> None:
        self._counter = None if selector.is_empty else MatchCounter(pod_class.namespace, selector, columns)
        zones = [zone_of(node.labels) for node in columns.nodes]
        known = {zone: at for at, zone in enumerate(dict.fromkeys(zone for zone in zones if any(zone)))}
        self._zones = np.array([known.get(zone, -1) for zone in zones], np.intp)
        self._counts: Int64s = columns.zeros() if self._counter is None else self._counter.counts

    def score(self, feasible: NodeIndices) -> Int64s:
        """Score by the pods on the node. If nodes have zones, the zone's pods count twice as much."""
        if self._counter is not None:
            self._counter.sync()
        counts = self._counts[feasible]
        zones = self._zones[feasible]
        scores = _fewer(counts, int(counts.max()))
        zoned = zones >= 0
        if zoned.any():
            in_zone = np.zeros(int(zones.max()) + 1, np.int64)
            np.add.at(in_zone, zones[zoned], counts[zoned])
            by_zone = _fewer(in_zone, int(in_zone.max()))[zones]
            scores = np.where(zoned, scores * (1.0 - _ZONE_WEIGHT) + _ZONE_WEIGHT * by_zone, scores)
        return scores.astype(np.int64)


def _fewer(counts: Int64s, most: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return scores as float64: 100 for no pods, 0 for the most pods."""
    if not most:
        return np.full(len(counts), 100.0)
    return 100.0 * ((most - counts) / float(most))
