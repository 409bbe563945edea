"""What the cluster itself says of a pod: the scheduler's last words, what changed since, and other events.

Times are compared as the API server writes them: RFC 3339 in UTC, so that the order of the texts is that of the times
up to the second.
"""

from __future__ import annotations

from typing import NamedTuple

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.snapshot import Event
from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.objects.pod import Pod

_FAILED_SCHEDULING = "FailedScheduling"
_SECONDS = len("2006-01-02T15:04:05")


class LastWords(NamedTuple):
    """The message that the scheduler wrote last, and when; `seen` is from where: the condition or an event."""

    message: str = ""
    at: str = ""
    seen: str = ""
    times: int = 1


class Changes(NamedTuple):
    """What the facts hold that is younger than the scheduler's last words; names, sorted."""

    nodes: tuple[str, ...] = ()
    placed: tuple[str, ...] = ()  # pods that were created since and have a node
    deleted: tuple[str, ...] = ()  # pods whose deletion was asked for since

    @property
    def is_empty(self) -> bool:
        return not (self.nodes or self.placed or self.deleted)


def last_words(pod: Pod, cluster: Cluster) -> LastWords:
    """What the scheduler wrote last: the pod's condition, or its last FailedScheduling event where that is later."""
    events = [event for event in events_of(pod, cluster) if event.reason == _FAILED_SCHEDULING]
    if not events:
        return LastWords(pod.message, pod.refused_since, "condition") if pod.message else LastWords()
    event = events[0]
    if pod.message and not pod.node_name and event.message != pod.message and event.last <= pod.refused_since:
        return LastWords(pod.message, pod.refused_since, "condition")
    return LastWords(event.message, event.last, "event", event.times)


def changes_since(at: str, cluster: Cluster) -> Changes:
    """What is younger than a moment; nothing where the moment is not known."""
    if not at:
        return Changes()
    return Changes(
        nodes=tuple(sorted(node.name for node in cluster.nodes if _is_after(node.created, at))),
        placed=tuple(sorted(pod.key for pod in cluster.bound() if _is_after(pod.created, at))),
        deleted=tuple(sorted(pod.key for pod in cluster.pods if _is_after(pod.deleted, at))),
    )


def events_of(pod: Pod, cluster: Cluster) -> tuple[Event, ...]:
    """The events of a pod, the latest first."""
    return cluster.events.get(OwnerKey("Pod", pod.namespace, pod.name), ())


def notices(pod: Pod, cluster: Cluster) -> tuple[Event, ...]:
    """What others than the scheduler say of a pod: the last event of each reason, the latest first."""
    latest: dict[str, Event] = {}
    for event in events_of(pod, cluster):
        if event.reason not in (_FAILED_SCHEDULING, "Scheduled"):
            latest.setdefault(event.reason, event)
    return tuple(latest.values())


def _is_after(time: str, at: str) -> bool:
    return time[:_SECONDS] > at[:_SECONDS]
