"""A pod that is on a node already: what the scheduler would say of it today.

Nothing of this is what the scheduler said when it placed the pod, which nobody recorded. The pod is taken out of the
cluster and looked at as if it were new.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple
from typing import Optional

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.explain.constraints.report import constraint_reports
from kubectl_spread.explain.constraints.report import ConstraintReport
from kubectl_spread.explain.scores import score_table
from kubectl_spread.explain.scores import ScoreTable
from kubectl_spread.objects.constraint_counts import ConstraintCounts
from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.cycle import FilterResult
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.framework.status import Status
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import PreFilterState
from kubectl_spread.scheduler.unsupported import not_evaluated


class Again(Enum):
    """Where a pod would go if it were scheduled once more, with all others where they are."""

    SAME_NODE = "sameNode"
    ANY_OF_SEVERAL = "anyOfSeveral"  # its own node is one of those with the highest score
    ANOTHER_NODE = "anotherNode"
    NOWHERE = "nowhere"
    UNKNOWN = "unknown"


class SkewNow(NamedTuple):
    """A hard constraint with its counts, the pod included; it has at least one eligible domain."""

    position: int
    is_default: bool
    topology_key: str
    max_skew: int
    counts: ConstraintCounts

    @property
    def fullest(self) -> str:
        return self.counts.fullest

    @property
    def most(self) -> int:
        return self.counts.most

    @property
    def emptiest(self) -> str:
        """The first domain that holds the global minimum; empty if minDomains makes it 0."""
        return next(iter(self.counts.minimum_in), "")

    @property
    def least(self) -> int:
        return self.counts.minimum

    @property
    def skew(self) -> int:
        return self.counts.skew or 0

    @property
    def holds(self) -> bool:
        return self.skew <= self.max_skew


class BoundPodReport(NamedTuple):
    """A bound pod, as the scheduler would see it today.

    unknown: why nothing can be said, `again` being UNKNOWN. refusals: what speaks against its own node today.
    constraints: without the pod; `skews` with it. scores: None where no node fits.
    """

    again: Again
    unknown: str = ""
    refusals: tuple[Status, ...] = ()
    constraints: tuple[ConstraintReport, ...] = ()
    skews: tuple[SkewNow, ...] = ()
    scores: Optional[ScoreTable] = None


def bound_pod_report(
    pod: Pod, cluster: Cluster, profiles: Mapping[str, Profile], *, all_nodes: bool = False
) -> BoundPodReport:
    """Look at a bound pod as if it were new, all others being where they are."""
    unknown = _unknown(pod, cluster, profiles)
    if unknown:
        return BoundPodReport(Again.UNKNOWN, unknown)
    anew = pod._replace(node_name="", nominated_node="", terminating=False)
    others = tuple(other for other in cluster.pods if other is not pod)
    scheduler = Scheduler(Columns(cluster._replace(pods=others)), profiles, all_nodes=all_nodes)
    filtered = scheduler.filter(anew)
    scores = score_table(anew, filtered, scheduler)
    at = scheduler.columns.index[pod.node_name]
    return BoundPodReport(
        again=_again(pod, scores),
        refusals=() if filtered.feasible[at] else tuple(_refusals(filtered, at)),
        constraints=constraint_reports(anew.cls, filtered, is_detailed=True, profile=profiles[pod.cls.scheduler_name]),
        skews=tuple(_skews(pod, filtered, at)),
        scores=scores,
    )


def _unknown(pod: Pod, cluster: Cluster, profiles: Mapping[str, Profile]) -> str:
    """Why nobody can say what the scheduler thinks of a pod."""
    if pod.owner is not None and pod.owner.kind == "Node":
        return "it is a static pod of its node, which no scheduler looks at"
    if pod.cls.scheduler_name not in profiles:
        return f"the scheduler {pod.cls.scheduler_name} is not one of the profiles known here"
    if all(node.name != pod.node_name for node in cluster.nodes):
        return f"its node {pod.node_name} is not in the cluster facts"
    beyond = not_evaluated(pod.cls, profiles[pod.cls.scheduler_name], cluster)
    return f"it depends on {' and '.join(beyond)}" if beyond else ""


def _again(pod: Pod, scores: Optional[ScoreTable]) -> Again:
    if scores is None:
        return Again.NOWHERE
    if scores.error:
        return Again.UNKNOWN
    if pod.node_name not in scores.hosts:
        return Again.ANOTHER_NODE
    return Again.SAME_NODE if len(scores.hosts) == 1 else Again.ANY_OF_SEVERAL


def _refusals(filtered: FilterResult, at: int) -> list[Status]:
    if filtered.rejection is not None or not filtered.considered[at]:
        return [filtered.diagnosis().status(filtered.columns.nodes[at].name)]
    return filtered.failures(at)


def _skews(pod: Pod, filtered: FilterResult, at: int) -> list[SkewNow]:
    states = [verdict.state for verdict in filtered.plugin_results if isinstance(verdict.state, PreFilterState)]
    return [_skew(counts, pod, at) for state in states for counts in state.counts if counts.domains_num]


def _skew(counts: DomainCounts, pod: Pod, at: int) -> SkewNow:
    """Count the pod where it is; one on its way out does not count."""
    constraint = counts.constraint
    matching = counts.match_num.copy()
    counts_itself = constraint.self_match_num and not pod.terminating and not constraint.selector.is_empty
    if counts_itself and counts.included[at]:
        matching[counts.topology.codes[at]] += 1
    return SkewNow(
        position=constraint.position,
        is_default=not pod.cls.constraints,
        topology_key=constraint.topology_key,
        max_skew=constraint.max_skew,
        counts=counts.now(matching),
    )
