"""Fields that the target does not know, and policies that it asks for."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Label, RuleFinding, Severity
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.rule import (
    workload_rule,
)
from kubectl_spread.lint.workload import FIELD, Subject
from kubectl_spread.objects.releases import field_versions
from kubectl_spread.text.node import Route


def unknown_fields(subject: Subject, minor: int) -> Iterator[tuple[str, list[Route]]]:
    """Yield the fields that an API server 1.`minor` does not keep, and their routes."""
    for name in field_versions.constraint_rows():
        places = [
            subject.route(item, name) for item in subject.constraints if name in field_versions.lost_fields(item, minor)
        ]
        if places:
            yield name, places


def effect(name: str, minor: int, *, server: str) -> str:
    """Return what happens to the pods because an API server 1.`minor`, called `server`, does not keep a field."""
    without = f"the pods are scheduled as if `{name}` were not set"
    since = field_versions.constraint_rows()[name].begin
    if not field_versions.is_known(name, minor):
        return f"{without}, or the object is refused: {server} does not know the field, which works from {since} on"
    return f"{without}: {server} silently drops the field, whose feature gate is off until {since}"


def labels_of_others(subject: Subject, places: list[Route]) -> tuple[Label, ...]:
    """Return labels for the other constraints with the field."""
    return tuple(Label(subject.place(route, key=True), "also here") for route in places)


@workload_rule("SPR601", "field-unknown-to-version", "a field is newer than the target version of Kubernetes")
def field_unknown_to_version(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find fields that the target's API server does not keep; each once a workload."""
    minor = project.target.minor
    if minor is None:
        return
    for name, places in unknown_fields(subject, minor):
        yield RuleFinding(
            effect(name, minor, server=f"Kubernetes 1.{minor}"),
            places[0],
            "remove the field, or use this manifest only for newer clusters",
            labels_of_others(subject, places[1:]),
            key=True,
        )


@workload_rule(
    "SPR909", "field-unknown-to-server", "a field is newer than the API server, which drops it", needs_facts=True
)
def field_unknown_to_server(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find fields that the server drops; where a version is named, SPR601 does; each once a workload."""
    server = project.cluster.server
    if server is None or project.target.minor is not None:
        return
    minor = f"1.{server.minor}"
    api_server = f"the API server ({minor})" if server.is_certain else f"an API server as old as its kubelets ({minor})"
    for name, places in unknown_fields(subject, server.minor):
        yield RuleFinding(
            effect(name, server.minor, server=api_server),
            places[0],
            f"remove the field, or upgrade to {field_versions.constraint_rows()[name].begin}",
            labels_of_others(subject, places[1:]),
            severity=None if server.is_certain else Severity.WARNING,
            key=True,
        )


@workload_rule(
    "SPR918",
    "policy-refuted",
    "the constraints do not keep a policy of the configuration",
    Severity.ERROR,
    needs_facts=True,
    needs_constraints=False,
)
def policy_refuted(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find rules of policies that some order of events violates."""
    route = (*subject.spec_route, FIELD)
    for found in project.cluster.refuted_rules(subject.workload):
        yield RuleFinding(
            f"policy {found.policy}: `{found.rule}` can be violated by {found.regime}"
            f"{'' if found.is_settled else ' while pods move'}: {found.violation}",
            route,
            "`kubectl spread guarantee` with the same policy shows the events, and with --recommend other constraints",
            key=True,
        )
