"""The scheduler's last message about a pod, and its validity today.

Times are compared as text, as the API server writes them. They are RFC 3339 in UTC, so texts sort like times, up to the
second.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.cluster.snapshot import Cluster, ClusterEvent
from kubectl_spread.explain.explanation import Explanation, PodVerdict
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.storage import Storage

if TYPE_CHECKING:  # hundreds of regular expressions
    from kubectl_spread.explain.messages.compare import Comparison

_FAILED_SCHEDULING = "FailedScheduling"
_SECONDS = len("2006-01-02T15:04:05")


class ReportedMessage(NamedTuple):
    """The scheduler's last message; `is_condition`: it is in the pod's condition, not in an event."""

    message: str = ""
    at: str = ""
    is_condition: bool = False
    times: int = 1


class ClusterChanges(NamedTuple):
    """Objects of the facts that changed after a moment; names, sorted."""

    nodes: tuple[str, ...] = ()  # created
    placed: tuple[str, ...] = ()  # pods that were created and have a node
    deleted: tuple[str, ...] = ()  # pods whose deletion was requested
    evicted: tuple[str, ...] = ()  # pods that preemption evicted for this pod
    node_count: Optional[tuple[int, int]] = None  # when the message was written, and now


class MessageStatus(Enum):
    """The relation of the reported message to the message that the scheduler would write now."""

    SAME = "same"
    BEFORE_BINDING = "beforeScheduling"  # the pod has a node now
    OUTDATED = "outdated"  # the cluster changed since
    DIFFERENT = "different"  # no change is known


class Doubt(Enum):
    """A reason why a prediction may differ from the reported message although no change is known."""

    OTHER_RELEASE = "otherRelease"  # the message is written as another release writes it
    NO_STORAGE = "noStorage"  # the pod has volumes, and the facts have neither claims nor volumes
    NOMINATED_PODS = "nominatedPods"
    CONFIGURATION = "configuration"
    UNTRACED_PODS = "untracedPods"


class MessageComparison(NamedTuple):
    """The reported message and the present one.

    counts: the differences of the numbers; None without a present message.
    era: the releases that write this message, if they do not include 1.`minor`.
    limits: only for `DIFFERENT`.
    """

    status: MessageStatus
    counts: Optional[Comparison] = None
    changes: ClusterChanges = ClusterChanges()
    limits: tuple[Doubt, ...] = ()
    era: Optional[Range] = None
    minor: int = 0


def reported_message(pod: Pod, cluster: Cluster) -> ReportedMessage:
    """Return the pod's condition, or its last FailedScheduling event if that is later."""
    event = next((event for event in events_of(pod, cluster) if event.reason == _FAILED_SCHEDULING), None)
    is_later = event is None or (not pod.node_name and event.message != pod.message and event.last <= pod.refused_since)
    if pod.message and is_later:
        return ReportedMessage(pod.message, pod.refused_since, is_condition=True)
    return ReportedMessage() if event is None else ReportedMessage(event.message, event.last, times=event.times)


def events_of(pod: Pod, cluster: Cluster) -> tuple[ClusterEvent, ...]:
    """Return the events of a pod, the latest first."""
    return cluster.events.get(ObjectKey("Pod", pod.namespace, pod.name), ())


def other_events(pod: Pod, cluster: Cluster) -> tuple[ClusterEvent, ...]:
    """Return the last event of each reason that is not the scheduler's, the latest first."""
    latest: dict[str, ClusterEvent] = {}
    for event in events_of(pod, cluster):
        if event.reason not in (_FAILED_SCHEDULING, "Scheduled"):
            latest.setdefault(event.reason, event)
    return tuple(latest.values())


def compare_with_now(
    explanation: Explanation, reported: ReportedMessage, cluster: Cluster, *, minor: int
) -> Optional[MessageComparison]:
    """Compare the reported message with the present message; None if no message was reported.

    `minor`: the release to follow, 36 for 1.36.
    """
    if not reported.message:
        return None
    if explanation.pod.node_name:
        return MessageComparison(MessageStatus.BEFORE_BINDING)
    if explanation.message == reported.message:
        return MessageComparison(MessageStatus.SAME)
    from kubectl_spread.explain.messages.compare import compare, ComparisonResult
    from kubectl_spread.explain.messages.parse import parse

    message = parse(reported.message)
    era = message.era if message.era is not None and not message.era.allows(minor) else None
    counts = compare(reported.message, explanation.message) if explanation.message else None
    found = MessageComparison(MessageStatus.SAME, counts, era=era, minor=minor)
    if counts is not None and counts.outcome in (ComparisonResult.SAME, ComparisonResult.SAME_BUT_WORDING):
        return found
    changes = _changes(explanation, reported.at, cluster)
    if message.total is not None and message.total != len(cluster.nodes):
        changes = changes._replace(node_count=(message.total, len(cluster.nodes)))
    if changes != ClusterChanges():
        return found._replace(status=MessageStatus.OUTDATED, changes=changes)
    doubts = {
        Doubt.OTHER_RELEASE: era is not None,
        Doubt.NO_STORAGE: bool(explanation.pod.cls.volumes) and cluster.storage == Storage(),
        Doubt.NOMINATED_PODS: any(pod.nominated_node for pod in cluster.pending()),
        Doubt.CONFIGURATION: True,
        Doubt.UNTRACED_PODS: True,
    }
    limits = tuple(doubt for doubt, is_possible in doubts.items() if is_possible)
    return found._replace(status=MessageStatus.DIFFERENT, limits=limits)


def _changes(explanation: Explanation, at: str, cluster: Cluster) -> ClusterChanges:
    """Return what changed after a moment; without the moment, only evictions."""
    is_waiting = explanation.verdict is PodVerdict.WAITS_FOR_PREEMPTION
    evicted = tuple(victim.key for victim in explanation.victims) if is_waiting else ()
    if not at:
        return ClusterChanges(evicted=evicted)

    def since(times: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        return tuple(sorted(name for name, time in times if time[:_SECONDS] > at[:_SECONDS]))

    return ClusterChanges(
        nodes=since((node.name, node.created) for node in cluster.nodes),
        placed=since((pod.key, pod.created) for pod in cluster.bound_pods()),
        deleted=since((pod.key, pod.deleted) for pod in cluster.pods),
        evicted=evicted,
    )
