"""Sentences about the message in the cluster: whether it still holds, and what changed since."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_spread.explain.reported_message import Doubt, MessageComparison, MessageStatus, ReportedMessage
from kubectl_spread.objects.keys import Range
from kubectl_spread.text.wording import count_noun, safe

if TYPE_CHECKING:  # hundreds of regular expressions
    from kubectl_spread.explain.messages.compare import Comparison, CountChange


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
