"""The report on a pod: its explanation, the events about it, and sentences about the message in the cluster."""

from __future__ import annotations

from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.advice.change import Suggestions
from kubectl_spread.cluster.snapshot import ClusterEvent
from kubectl_spread.explain.explanation import Explanation, NodeView, PodVerdict
from kubectl_spread.explain.forecast import Forecast
from kubectl_spread.explain.placement import Placement
from kubectl_spread.explain.reported_message import Doubt, MessageComparison, MessageStatus, ReportedMessage
from kubectl_spread.explain.status import WorkloadState
from kubectl_spread.objects.admission import Quantities
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.text.wording import count_noun, safe

if TYPE_CHECKING:
    from kubectl_spread.explain.messages.compare import Comparison, CountChange
    from kubectl_spread.provisioners.prospect import Outlook


class PodReport(NamedTuple):
    """The explanation of one pod, or of several pods of one class.

    alike: other workloads whose pods wait for the same reason, and which have no report.
    reported: the scheduler's last message.
    comparison: whether the message still holds.
    other_events: events of other components.
    raised_quotas: by the name of each quota that refuses pods of the workload, limits with which all find a node.
    outlook: what Karpenter does about Pending pods; None without NodePools.
    """

    explanation: Explanation
    workload: Optional[WorkloadState] = None
    alike: tuple[ObjectKey, ...] = ()
    placement: Optional[Placement] = None  # of the manifest that the pod is of
    file: str = ""  # of the manifest, if other files have the same workload
    reported: ReportedMessage = ReportedMessage()
    comparison: Optional[MessageComparison] = None
    other_events: tuple[ClusterEvent, ...] = ()
    suggestions: Optional[Suggestions] = None
    raised_quotas: dict[str, Quantities] = {}  # noqa: RUF012 (never written to)
    not_reported: tuple[str, ...] = ()  # Pending pods of the workload that no report covers
    node: Optional[NodeView] = None  # the only requested node
    outlook: Optional[Outlook] = None
    forecast: Optional[Forecast] = None  # of a workload with soft constraints

    @property
    def is_fine(self) -> bool:
        """Return whether nothing keeps the pod from its node, or from staying there until it has ended.

        Karpenter may have to add the node. If the pod is one of a workload, no other pod of it may be Pending
        or be refused by the API server. If all of them have a node, one more may wait.
        """
        if self.workload is not None and self.workload.failures:
            return False
        if self.workload is not None and self.workload.is_whole and self.explanation.pod.new_of:
            return True
        if self.outlook is not None and self.outlook.all_run:
            return not self.not_reported
        if self.not_reported and (self.workload is None or self.workload.finding is None):
            return False
        if self.explanation.verdict is PodVerdict.TERMINATING:
            return bool(self.explanation.pod.node_name)
        return self.explanation.verdict in (PodVerdict.SCHEDULABLE, PodVerdict.RUNNING, PodVerdict.FINISHED)


def sentence(reported: ReportedMessage, comparison: MessageComparison) -> str:
    """Return how the reported message compares with the message of now."""
    where = "the pod's status" if reported.is_condition else "the pod's last event"
    last = f"{where}{times_text(reported.at, reported.times)}"
    numbers = difference(comparison)
    if comparison.status is MessageStatus.SAME:
        return f"This is the message in {last}{f', {numbers}' if numbers else ''}."
    if comparison.status is MessageStatus.BEFORE_BINDING:
        return f"Outdated: reported before the pod was scheduled, in {last}:"
    numbers = f" ({numbers})" if numbers else ""
    if comparison.status is MessageStatus.OUTDATED:
        return f"The message in {last} is outdated{numbers}. Since then {', '.join(changes(comparison))}:"
    return (
        f"The message in {last} differs{numbers}, and no change since then is known. "
        f"Possible reasons: {'; '.join(limits(comparison))}:"
    )


def difference(comparison: MessageComparison) -> str:
    """Return how the numbers differ: `then 2 Insufficient cpu of 5 nodes; now 1 of 6`; empty without a difference."""
    if comparison.counts is None:
        return ""
    if comparison.status is not MessageStatus.SAME:
        return counts(comparison.counts)
    if comparison.era is None:
        return "in other words"
    return f"{_wording(comparison.era)}; the rules of 1.{comparison.minor} are followed here"


def changes(comparison: MessageComparison) -> list[str]:
    """Return what changed since the message was written, a clause each."""
    found, parts = comparison.changes, []
    if found.node_count is not None:
        parts.append("the number of nodes changed from {} to {}".format(*found.node_count))
    parts += [f"pod {name} was evicted to make room" for name in found.evicted]
    for names, one, many in (
        (found.nodes, "node {} was created", "{} nodes were created"),
        (found.placed, "pod {} was created and has a node", "{} pods were created and have nodes"),
        (found.deleted, "pod {} was deleted", "{} pods were deleted"),
    ):
        if names:
            parts.append(one.format(names[0]) if len(names) == 1 else many.format(len(names)))
    return parts


def limits(comparison: MessageComparison) -> list[str]:
    """Return why the prediction may differ although no change is known, a clause each."""
    other = "another release wrote the message"
    if comparison.era is not None:
        other = (
            f"the message is {_wording(comparison.era)}, and the rules of "
            f"1.{comparison.minor} are followed here (--kubernetes-version)"
        )
    return [_LIMITS.get(item, other) for item in comparison.limits]


_LIMITS = {
    Doubt.NO_STORAGE: "the pod has volumes, but the facts contain no claims and no volumes",
    Doubt.NOMINATED_PODS: "pods are nominated to nodes, which counts only while the scheduler remembers it",
    Doubt.CONFIGURATION: "the scheduler's configuration or plugins differ from those assumed (--scheduler-config)",
    Doubt.UNTRACED_PODS: "pods that were placed and deleted in the meantime leave no trace in the facts",
}


def counts(found: Comparison) -> str:
    """Return how two messages differ: `then 2 Insufficient cpu of 5 nodes; now 1 of 6`."""
    from kubectl_spread.explain.messages.compare import ComparisonResult

    if found.outcome is ComparisonResult.SAME:
        return "the same as now"
    if found.outcome is ComparisonResult.SAME_BUT_WORDING:
        return "the same as now, as another release writes it"
    if found.outcome is ComparisonResult.INCOMPARABLE:
        return "not comparable"
    then, now = found.total_then or 0, found.total_now or 0
    if not found.changes:
        if then != now:
            return f"the same reasons; then {count_noun(then, 'node')}, now {count_noun(now, 'node')}"
        if not found.preemption:
            return "the same reasons for the nodes, but another result of preemption"
        return f"the same reasons; of preemption {_listed(found.preemption)}"
    if len(found.changes) == 1:
        only = found.changes[0]
        return f"then {only.then} {only.reason} of {count_noun(then, 'node')}; now {only.now} of {now}"
    return f"{count_noun(then, 'node')} then, {now} now: {_listed(found.changes)}"


def _listed(changes: tuple[CountChange, ...]) -> str:
    return "; ".join(f"{item.reason}: {item.then} then, {item.now} now" for item in changes)


def _wording(era: Range) -> str:
    """Return `written as 1.24 to 1.33 writes it`."""
    from kubectl_spread.report.messages import releases

    return f"written as {releases(era)} writes it"


def times_text(at: str, times: int) -> str:
    """Return ` (7 times, last 2026-11-21T10:00:00Z)`; empty without a time."""
    number = f"{times} times" if times > 1 else ""
    when = f"{'last ' if number else ''}{safe(at)}" if at else ""
    return f" ({', '.join(filter(None, (number, when)))})" if number or when else ""
