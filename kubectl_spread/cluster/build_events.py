"""Events, read from plain objects of either API group."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kubectl_spread.cluster.snapshot import Event
from kubectl_spread.cluster.snapshot import OwnerKey

Plain = dict[str, Any]


def event(plain: Plain) -> Event:
    """Read an Event of v1 or of events.k8s.io/v1."""
    about = plain.get("involvedObject") or plain.get("regarding") or {}
    series = plain.get("series") or {}
    times = (
        series.get("lastObservedTime"),
        plain.get("lastTimestamp") or plain.get("deprecatedLastTimestamp"),
        plain.get("eventTime") or plain.get("firstTimestamp"),
    )
    source = plain.get("source") or plain.get("deprecatedSource") or {}
    return Event(
        about=OwnerKey(about.get("kind") or "", about.get("namespace") or "default", about.get("name") or ""),
        reason=plain.get("reason") or "",
        message=plain.get("message") or plain.get("note") or "",
        kind=plain.get("type") or "",
        times=series.get("count") or plain.get("count") or plain.get("deprecatedCount") or 1,
        last=next((time for time in times if time), ""),
        source=source.get("component") or plain.get("reportingComponent") or plain.get("reportingController") or "",
    )


def by_object(events: Iterable[Event]) -> dict[OwnerKey, tuple[Event, ...]]:
    """Group events by the object they are about, the latest first."""
    found: dict[OwnerKey, list[Event]] = {}
    for event in events:
        found.setdefault(event.about, []).append(event)
    return {about: tuple(sorted(own, key=lambda event: event.last, reverse=True)) for about, own in found.items()}
