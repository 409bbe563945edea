"""Fields that the target does not know, and policies that it asks for."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding, Severity
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import new_fields
from kubectl_spread.lint.rule import (
    workload_rule,
)
from kubectl_spread.lint.workload import FIELD, Subject
from kubectl_spread.objects.releases.version import FIELD_SINCE


@workload_rule("SPR601", "field-unknown-to-version", "a field is newer than the target version of Kubernetes")
def field_unknown_to_version(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find fields that the target's API server does not keep; each once a workload."""
    minor = project.target.minor
    if minor is None:
        return
    for name, places in new_fields.unknown_fields(subject, minor):
        yield RuleFinding(
            new_fields.effect(name, minor, server=f"Kubernetes 1.{minor}"),
            subject.place(places[0], key=True),
            subject.path(places[0]),
            "remove the field, or use this manifest only for newer clusters",
            new_fields.labels_of_others(subject, places[1:]),
        )


@workload_rule(
    "SPR909", "field-unknown-to-server", "a field is newer than the API server, which drops it", needs_facts=True
)
def field_unknown_to_server(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find fields that the server drops; where a version is named, SPR601 does; each once a workload."""
    server = project.facts.server if project.facts is not None else None
    if server is None or project.target.minor is not None:
        return
    minor = f"1.{server.minor}"
    api_server = f"the API server ({minor})" if server.is_certain else f"an API server as old as its kubelets ({minor})"
    for name, places in new_fields.unknown_fields(subject, server.minor):
        yield RuleFinding(
            new_fields.effect(name, server.minor, server=api_server),
            subject.place(places[0], key=True),
            subject.path(places[0]),
            f"remove the field, or upgrade to 1.{FIELD_SINCE[name]}",
            new_fields.labels_of_others(subject, places[1:]),
            severity=None if server.is_certain else Severity.WARNING,
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
    if project.facts is None:
        return
    route = (*subject.spec_route, FIELD)
    for found in project.facts.refuted_rules(subject.workload):
        yield RuleFinding(
            f"policy {found.policy}: `{found.rule}` can be violated by {found.regime}"
            f"{'' if found.is_settled else ' while pods move'}: {found.violation}",
            subject.place(route, key=True),
            subject.path(route),
            "`kubectl spread guarantee` with the same policy shows the events, and with --recommend other constraints",
        )
