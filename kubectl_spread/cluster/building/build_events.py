"""Events, read from plain objects of either API group."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kubectl_spread.cluster.snapshot import ClusterEvent, OwnerKey

Plain = dict[str, Any]


def _about(reference: Plain) -> OwnerKey:
    """Return the object of an event, which is in the namespace `default` if it names none."""
    name, namespace = reference.get("name") or "", reference.get("namespace") or "default"
    return OwnerKey(reference.get("kind") or "", namespace, name)


def event(plain: Plain) -> ClusterEvent:
    """Read an Event of v1 or of events.k8s.io/v1, whose fields have other names."""
    series = plain.get("series") or {}
    times = (
        series.get("lastObservedTime"),
        _first(plain, "lastTimestamp", "deprecatedLastTimestamp"),
        _first(plain, "eventTime", "firstTimestamp"),
    )
    source = _first(plain, "source", "deprecatedSource") or {}
    return ClusterEvent(
        about=_about(_first(plain, "involvedObject", "regarding") or {}),
        reason=_first(plain, "reason") or "",
        message=_first(plain, "message", "note") or "",
        kind=_first(plain, "type") or "",
        times=series.get("count") or _first(plain, "count", "deprecatedCount") or 1,
        last=next((time for time in times if time), ""),
        source=source.get("component") or _first(plain, "reportingComponent", "reportingController") or "",
    )


def _first(plain: Plain, *names: str) -> Any:
    """Return the first field that is set; None if none is."""
    return next((plain[name] for name in names if plain.get(name)), None)


def by_object(events: Iterable[ClusterEvent]) -> dict[OwnerKey, tuple[ClusterEvent, ...]]:
    """Group events by the object they are about, the latest first."""
    found: dict[OwnerKey, list[ClusterEvent]] = {}
    for event in events:
        found.setdefault(event.about, []).append(event)
    return {about: tuple(sorted(own, key=lambda event: event.last, reverse=True)) for about, own in found.items()}
