"""Bound pods: the scheduler's decision today.

The scheduler's decision when it placed the pod is not recorded. The pod is removed from the cluster and scheduled as if
it were new.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.explain.constraints.report import constraint_reports, ConstraintReport
from kubectl_spread.explain.scores import score_table, ScoreTable
from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.framework.status import Status
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import hard_counts
from kubectl_spread.scheduler.unsupported import unsupported_features


class NodeToday(Enum):
    """The node that the scheduler would choose for the pod today."""

    SAME_NODE = "sameNode"
    ANY_OF_SEVERAL = "anyOfSeveral"  # its own node is one of those with the highest score
    ANOTHER_NODE = "anotherNode"
    NOWHERE = "nowhere"
    UNKNOWN = "unknown"


class UnknownReason(Enum):
    """Why the scheduler's decision today is unknown."""

    STATIC_POD = "staticPod"
    NO_PROFILE = "noProfile"  # names: the pod's schedulerName
    NO_NODE = "noNode"  # names: the node, which the facts lack
    NOT_EVALUATED = "notEvaluated"  # names: features that are not evaluated


class NotComparable(NamedTuple):
    """A reason with the names that belong to it."""

    reason: UnknownReason
    names: tuple[str, ...] = ()


class BoundPodReport(NamedTuple):
    """The scheduler's decision on a bound pod today.

    unknown: why `again` is UNKNOWN. refusals: of its own node. constraints: without the pod. skews: the hard ones
    that have a domain, with it. scores: None if no node fits.
    """

    again: NodeToday
    unknown: Optional[NotComparable] = None
    refusals: tuple[Status, ...] = ()
    constraints: tuple[ConstraintReport, ...] = ()
    skews: tuple[ConstraintReport, ...] = ()
    scores: Optional[ScoreTable] = None


def bound_pod_report(pod: Pod, cluster: Cluster, profiles: Mapping[str, Profile]) -> BoundPodReport:
    """Schedule a bound pod as if it were new, with all other pods in place."""
    unknown = _unknown(pod, cluster, profiles)
    if unknown is not None:
        return BoundPodReport(NodeToday.UNKNOWN, unknown)
    unbound = pod._replace(node_name="", nominated_node="", terminating=False)
    others = tuple(other for other in cluster.pods if other is not pod)
    scheduler = Scheduler(Columns(cluster._replace(pods=others)), profiles)
    filtered = scheduler.filter(unbound)
    scores = score_table(unbound, filtered, scheduler)
    at, refusals = scheduler.columns.index[pod.node_name], tuple[Status, ...]()
    if not filtered.feasible[at]:
        is_examined = filtered.rejection is None and filtered.considered[at]
        refusals = tuple(filtered.failures(at)) if is_examined else (filtered.diagnosis().status(pod.node_name),)
    again = NodeToday.NOWHERE
    if scores is not None and scores.error:
        again = NodeToday.UNKNOWN
    elif scores is not None and pod.node_name not in scores.hosts:
        again = NodeToday.ANOTHER_NODE
    elif scores is not None:
        again = NodeToday.SAME_NODE if len(scores.hosts) == 1 else NodeToday.ANY_OF_SEVERAL
    report = BoundPodReport(
        again=again,
        refusals=refusals,
        constraints=constraint_reports(
            unbound.cls, filtered, is_detailed=True, profile=profiles[pod.cls.scheduler_name]
        ),
        scores=scores,
    )
    scheduler.columns.bind(pod, at)
    skews, without_pod = [], {item.constraint.position: item for item in report.constraints}
    for counts in hard_counts(filtered):
        counts.sync()
        if counts.domains_num:
            skews.append(without_pod[counts.constraint.position]._replace(counts=counts.now()))
    return report._replace(skews=tuple(skews))


def _unknown(pod: Pod, cluster: Cluster, profiles: Mapping[str, Profile]) -> Optional[NotComparable]:
    """Return why the scheduler's decision today is unknown; None if it is known."""
    if pod.owner is not None and pod.owner.kind == "Node":
        return NotComparable(UnknownReason.STATIC_POD)
    if pod.cls.scheduler_name not in profiles:
        return NotComparable(UnknownReason.NO_PROFILE, (pod.cls.scheduler_name,))
    if all(node.name != pod.node_name for node in cluster.nodes):
        return NotComparable(UnknownReason.NO_NODE, (pod.node_name,))
    features = unsupported_features(pod.cls, profiles[pod.cls.scheduler_name], cluster)
    return NotComparable(UnknownReason.NOT_EVALUATED, tuple(features)) if features else None
