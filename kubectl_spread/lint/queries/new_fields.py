"""Fields of constraints that an API server of a release does not keep."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects import field_versions
from kubectl_spread.objects.version import FIELD_SINCE
from kubectl_spread.text.node import Route


def too_new(subject: Subject, minor: int) -> Iterator[tuple[str, list[Route]]]:
    """The fields that an API server 1.`minor` does not keep, and where they stand."""
    for name in FIELD_SINCE:
        places = [subject.route(item, name) for item in subject.constraints if name in field_versions.lost(item, minor)]
        if places:
            yield name, places


def fate(name: str, minor: int) -> str:
    """What becomes of a field in such an API server."""
    if minor < field_versions.KNOWN_SINCE[name]:
        return f"1.{minor} does not know it, and refuses it or drops it in silence"
    return f"1.{minor} drops it in silence, as its feature gate is off"


def again(subject: Subject, places: list[Route]) -> tuple[Label, ...]:
    """The other constraints that have the field."""
    return tuple(Label(subject.place(route, key=True), "this one, too") for route in places)
