"""The scores of the feasible nodes: the winner, the decisive plugins, and the plugins that they outvote.

Source: pkg/scheduler/schedule_one.go, prioritizeNodes, selectHost (v1.36.2). A node's score is the sum of the plugins'
scores, each from 0 to 100 times the plugin's weight. The scheduler takes one of the nodes with the highest sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple, Optional

import numpy as np

from kubectl_spread.cluster.columns import Int64s
from kubectl_spread.objects.node import PREFER_NO_SCHEDULE
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.selectors import HOSTNAME
from kubectl_spread.scheduler.cycle import Scheduler, Scores
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.framework.plugin import NodeIndices, ScoreError
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubectl_spread.scheduler.plugins.podtopologyspread.scoring import RawScore


class ScoreRow(NamedTuple):
    """A node with its weighted score from each plugin of the table, and the sum."""

    node: str
    points: tuple[int, ...]
    total: int


class Because(NamedTuple):
    """Why a plugin scores two nodes differently.

    taints: PreferNoSchedule taints of `worse` that the pod does not tolerate. weights: of the pod's preferred node
    affinity terms that match `better` and `worse`.
    """

    better: str
    worse: str
    taints: tuple[str, ...] = ()
    weights: tuple[int, int] = (0, 0)


class Share(NamedTuple):
    """The difference in points between two nodes by one plugin; negative if it prefers the second.

    one, other: the points of each. because: None if no fact about the nodes explains the difference.
    """

    plugin: str
    points: int
    one: int
    other: int
    because: Optional[Because]


class Decision(NamedTuple):
    """Why the best nodes are ahead of the others.

    `shares` add up to `margin`, by which `winner` leads `runner_up`, the best of the others; the largest come first.
    `decisive`: the smallest sets of plugins without which a node that is not among the best would be.
    """

    winner: str
    runner_up: str
    margin: int
    shares: tuple[Share, ...]
    decisive: tuple[tuple[str, ...], ...]


class SoftDomain(NamedTuple):
    """A domain of a soft constraint that has a node to score; `raw` is its part of the score, the lower the better."""

    value: str
    matching: int
    raw: float


class SoftConstraint(NamedTuple):
    """The scores of a soft constraint; `domains` the emptiest first."""

    position: int
    is_default: bool
    topology_key: str
    domains: tuple[SoftDomain, ...]


class SoftVote(NamedTuple):
    """The preference of the soft constraints, and its outcome.

    favourites: the nodes that PodTopologySpread scores highest.
    favourite: if another node is among the best, the favourite that is among them too, or came nearest.
    margin: by how much the constraints prefer the favourite to that node.
    outvoted_by: the plugins that prefer that node, the most weighty first.
    is_tied: both are among the best.
    unlabelled: nodes that lack a key, and get 0.
    """

    constraints: tuple[SoftConstraint, ...]
    favourites: tuple[str, ...]
    favourite: str = ""
    margin: int = 0
    outvoted_by: tuple[Share, ...] = ()
    unlabelled: tuple[str, ...] = ()
    is_tied: bool = False


class ScoreTable(NamedTuple):
    """The scores of the feasible nodes, the best first, then in the cluster's order.

    plugins, weights: the columns of the rows; a plugin that skips the pod is absent.
    hosts: the nodes with the highest total, any of which may be taken.
    feasible: the number of feasible nodes; in a cluster of 100 nodes and more the scheduler may score fewer.
    error: why scoring fails, so that the pod is not placed.
    """

    plugins: tuple[str, ...] = ()
    weights: tuple[int, ...] = ()
    rows: tuple[ScoreRow, ...] = ()
    hosts: tuple[str, ...] = ()
    feasible: int = 0
    decision: Optional[Decision] = None
    soft: Optional[SoftVote] = None
    error: str = ""

    @property
    def is_sampled(self) -> bool:
        """Return whether nodes that fit were not scored."""
        return not self.error and len(self.rows) < self.feasible


def score_table(pod: Pod, filtered: FilterResult, scheduler: Scheduler) -> Optional[ScoreTable]:
    """Score the nodes that fit, or the sample of them that the scheduler would visit; return None if none fits.

    No pod may have been bound since the pod was filtered. The scheduler's state does not change.
    """
    nodes = scheduler.to_score(pod, filtered)
    if not len(nodes):
        return None
    feasible = int(np.count_nonzero(filtered.feasible))
    try:
        scores = scheduler.score(pod, filtered, nodes)
    except ScoreError as error:
        return ScoreTable(feasible=feasible, error=str(error))
    return _Table(pod.cls, scores, scheduler).table(feasible)


class _Table:
    """The scores of one pod as a matrix: int64 (plugins, F), the best nodes first."""

    def __init__(self, cls: PodClass, scores: Scores, scheduler: Scheduler) -> None:
        self._cls = cls
        self._columns = scheduler.columns
        self._profile = scheduler.profile_of(cls)
        order = np.lexsort((scores.nodes, -scores.total))  # the last key counts first
        self._nodes: NodeIndices = scores.nodes[order]
        self._names = [self._columns.nodes[node].name for node in self._nodes.tolist()]
        self._plugins = tuple(scores.by_plugin)
        points: Int64s = np.zeros((len(self._plugins), len(order)), np.int64)
        for at, of_plugin in enumerate(scores.by_plugin.values()):
            points[at] = of_plugin
        self._points = points[:, order]
        self._total = scores.total[order]
        self._best = self._total == self._total[0]

    def table(self, feasible: int) -> ScoreTable:
        weights = {weighted.plugin.name: weighted.weight for weighted in self._profile.score}
        return ScoreTable(
            plugins=self._plugins,
            weights=tuple(weights[plugin] for plugin in self._plugins),
            rows=tuple(map(ScoreRow, self._names, map(tuple, self._points.T.tolist()), self._total.tolist())),
            hosts=tuple(self._names[: self._best.sum()]),
            feasible=feasible,
            decision=self._decision(),
            soft=self._soft(),
        )

    def _decision(self) -> Optional[Decision]:
        runner_up = int(self._best.sum())
        if runner_up == len(self._names):
            return None
        # The smallest sets of plugins without which another node is among the best.
        matter = [at for at, points in enumerate(self._points) if points.min() != points.max()]
        decisive: list[tuple[int, ...]] = []
        for size in range(1, len(matter) + 1):
            for left_out in combinations(matter, size):
                without = self._total - self._points[list(left_out)].sum(axis=0)
                if bool(((without == without.max()) & ~self._best).any()):
                    decisive.append(left_out)
            if decisive:
                break
        return Decision(
            winner=self._names[0],
            runner_up=self._names[runner_up],
            margin=int(self._total[0] - self._total[runner_up]),
            shares=tuple(self._shares(0, runner_up)),
            decisive=tuple(tuple(self._plugins[at] for at in left_out) for left_out in decisive),
        )

    def _shares(self, one: int, other: int) -> Iterator[Share]:
        """Yield the points that each plugin adds to the lead of one node over another, the largest first."""
        parts = (self._points[:, one] - self._points[:, other]).tolist()
        for at in sorted(range(len(parts)), key=lambda at: -abs(parts[at])):
            if parts[at]:
                better, worse = (one, other) if parts[at] > 0 else (other, one)
                of_one, of_other = self._points[at, [one, other]].tolist()
                because = self._because(self._plugins[at], better, worse)
                yield Share(self._plugins[at], parts[at], of_one, of_other, because)

    def _because(self, plugin: str, better: int, worse: int) -> Optional[Because]:
        """Return the fact about two nodes that makes a plugin score them differently."""
        one, other = (self._columns.nodes[self._nodes.item(at)] for at in (better, worse))
        if plugin == names.TAINT_TOLERATION:
            # Of a taint with PreferNoSchedule, only tolerations of this effect or of all effects count.
            tolerations = [item for item in self._cls.tolerations if item.effect in ("", PREFER_NO_SCHEDULE)]
            taints = (taint for taint in other.taints if taint.effect == PREFER_NO_SCHEDULE)
            untolerated = [str(taint) for taint in taints if not any(item.tolerates(taint) for item in tolerations)]
            return Because(one.name, other.name, tuple(untolerated)) if untolerated else None
        if plugin == names.NODE_AFFINITY:
            terms = [item for item in self._cls.node_affinity.preferred if item.weight and not item.term.is_empty]
            weight, lesser = (
                sum(item.weight for item in terms if item.term.matches(node.labels, node.name)) for node in (one, other)
            )
            return Because(one.name, other.name, weights=(weight, lesser)) if weight != lesser else None
        return None

    def _soft(self) -> Optional[SoftVote]:
        """Return the soft constraints' preference; None without soft constraints, or if the plugin does not score."""
        plugin = next((item.plugin for item in self._profile.score if isinstance(item.plugin, PodTopologySpread)), None)
        if plugin is None or plugin.name not in self._plugins:
            return None
        keyed, raw = plugin.pre_score(self._cls, self._columns).raw(self._nodes)
        points = self._points[self._plugins.index(plugin.name)]
        # A favourite that is among the best comes first in the order, if there is one.
        favourites = np.flatnonzero(points == points.max()).tolist()
        vote = SoftVote(
            constraints=tuple(self._soft_constraint(item, keyed) for item in raw),
            favourites=tuple(self._names[at] for at in favourites),
            unlabelled=tuple(self._columns.nodes[node].name for node in sorted(set(self._nodes) - set(keyed))),
        )
        favourite = favourites[0]
        rivals = np.flatnonzero(self._best & (points < points[favourite])).tolist()
        if not raw or not rivals:
            return vote
        shares, enough = [*self._shares(rivals[0], favourite)], []  # the largest that together outweigh all against
        against = -sum(share.points for share in shares if share.points < 0)
        for share in shares:
            if share.points > 0 and against >= 0:
                against -= share.points
                enough.append(share)
        return vote._replace(
            is_tied=bool(self._best[favourite]),
            favourite=self._names[favourite],
            margin=int(points[favourite] - points[rivals[0]]),
            outvoted_by=tuple(enough),
        )

    def _soft_constraint(self, raw: RawScore, nodes: NodeIndices) -> SoftConstraint:
        key = raw.constraint.topology_key
        found: dict[str, SoftDomain] = {}
        for at, node in enumerate(nodes.tolist()):
            # For the hostname key, the scheduler scores by nodes, not by the label's values.
            value = self._columns.nodes[node].name if key == HOSTNAME else self._columns.nodes[node].labels.get(key, "")
            if value not in found:
                found[value] = SoftDomain(value, int(raw.matching[at]), float(raw.scores[at]))
        domains = sorted(found.values(), key=lambda domain: (domain.matching, domain.value))
        return SoftConstraint(raw.constraint.position, not self._cls.constraints, key, tuple(domains))
