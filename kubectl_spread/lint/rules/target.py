"""Fields that the target does not know, and policies that it asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from kubectl_spread.lint.finding import rule, RuleFinding, Severity
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.releases import field_versions


def _lost_fields(
    subject: Subject, minor: int, *, server: str, hint: str, severity: Optional[Severity] = None
) -> Iterator[RuleFinding]:
    """Find the fields that an API server 1.`minor`, called `server`, does not keep; each once a workload."""
    for name, row in field_versions.constraint_rows().items():
        places = [
            subject.route(item, name) for item in subject.constraints if name in field_versions.lost_fields(item, minor)
        ]
        if not places:
            continue
        without = "the pods are scheduled as if it were not set"
        yield RuleFinding(
            f"{server} does not know `{name}`, which works from {row.begin} on. Either the object is refused, or "
            f"{without}"
            if not field_versions.is_known(name, minor)
            else f"{server} silently drops `{name}`, whose feature gate is off until {row.begin}. So {without}",
            places[0],
            hint.format(row.begin),
            subject.related("also here", *places[1:], key=True),
            severity=severity,
            key=True,
        )


@rule("SPR601", "a field is newer than the target version of Kubernetes")
def field_unknown_to_version(subject: Subject) -> Iterator[RuleFinding]:
    """Find fields that the target's API server does not keep; each once a workload."""
    minor = subject.target.minor
    if minor is not None:
        hint = "remove the field, or use this manifest only for newer clusters"
        yield from _lost_fields(subject, minor, server=f"Kubernetes 1.{minor}", hint=hint)


@rule("SPR909", "a field is newer than the API server, which drops it", needs_facts=True)
def field_unknown_to_server(subject: Subject) -> Iterator[RuleFinding]:
    """Find fields that the server drops; where a version is named, SPR601 does; each once a workload."""
    server = subject.cluster.server
    if server is None or subject.target.minor is not None:
        return
    minor = f"1.{server.minor}"
    api_server = f"the API server ({minor})" if server.is_certain else f"an API server as old as its kubelets ({minor})"
    severity = None if server.is_certain else Severity.WARNING
    hint = "remove the field, or upgrade to {}"
    yield from _lost_fields(subject, server.minor, server=api_server, hint=hint, severity=severity)


@rule(
    "SPR918",
    "the constraints do not keep a policy of the configuration",
    Severity.ERROR,
    needs_facts=True,
    needs_constraints=False,
)
def policy_refuted(subject: Subject) -> Iterator[RuleFinding]:
    """Find rules of policies that some order of events violates."""
    route = subject.list_route
    for found in subject.cluster.refuted_rules(subject.workload):
        yield RuleFinding(
            f"policy {found.policy}: `{found.rule}` can be violated by {found.regime}"
            f"{'' if found.is_settled else ' while pods move'}: {found.violation}",
            route,
            "`kubectl spread guarantee` with the same policy shows the events, and with --recommend other constraints",
            key=True,
        )


@rule(
    "SPR919",
    "the manifest changes an immutable field of the running workload",
    needs_facts=True,
    needs_constraints=False,
)
def immutable_field(subject: Subject) -> Iterator[RuleFinding]:
    """Find values of immutable fields that differ from those of the running workload."""
    for text in subject.cluster.immutable_changes(subject.workload, fields(subject.manifest.plain, "spec")):
        yield RuleFinding(
            f"the API server refuses this change of the running workload: {text}",
            ("spec",),
            "write the value that the running workload has, or give the workload another name",
            key=True,
        )
