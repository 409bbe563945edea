"""Fields of constraints that an API server of a release does not keep."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.releases import field_versions
from kubectl_spread.objects.releases.version import FIELD_SINCE
from kubectl_spread.text.node import Route


def unknown_fields(subject: Subject, minor: int) -> Iterator[tuple[str, list[Route]]]:
    """Yield the fields that an API server 1.`minor` does not keep, and their routes."""
    for name in FIELD_SINCE:
        places = [
            subject.route(item, name) for item in subject.constraints if name in field_versions.lost_fields(item, minor)
        ]
        if places:
            yield name, places


def effect(name: str, minor: int, *, server: str) -> str:
    """Return what happens to the pods because an API server 1.`minor`, called `server`, does not keep a field."""
    without = f"the pods are scheduled as if `{name}` were not set"
    since = FIELD_SINCE[name]
    if minor < field_versions.KNOWN_SINCE[name]:
        return f"{without}, or the object is refused: {server} does not know the field, which works from 1.{since} on"
    return f"{without}: {server} silently drops the field, whose feature gate is off until 1.{since}"


def labels_of_others(subject: Subject, places: list[Route]) -> tuple[Label, ...]:
    """Return labels for the other constraints with the field."""
    return tuple(Label(subject.place(route, key=True), "also here") for route in places)
