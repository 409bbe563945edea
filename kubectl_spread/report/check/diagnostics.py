"""The problems of a run as one list: findings, pods without a node, rollouts, and what could not be read."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.lint.finding import Finding, Severity
from kubectl_spread.report.check.report import CheckReport
from kubectl_spread.report.check.text import message
from kubectl_spread.text.wording import safe

if TYPE_CHECKING:  # loads numpy
    from kubectl_spread.simulate.placement import Placement


class Topic(Enum):
    """The part of a run that a diagnostic is about."""

    FINDING = "finding"
    PLACEMENT = "placement"
    CLUSTER = "cluster"  # running workloads, rollouts, and resources that may not be listed
    INPUT = "input"


class Diagnostic(NamedTuple):
    """A problem of a run. An info is no failure.

    title: the code and the name of a rule, or a state such as `Pending`. subject: a workload, an object or a file.
    finding: with the place, if a rule found the problem. is_unread: the state is unknown, because something could not
    be read.
    """

    topic: Topic
    title: str
    subject: str
    text: str
    severity: Severity = Severity.ERROR
    finding: Optional[Finding] = None
    is_unread: bool = False


def diagnostics(report: CheckReport) -> Iterator[Diagnostic]:
    """Yield the problems of a run: findings, placements, those of the cluster, inputs."""
    for finding in report.findings:
        rule = finding.rule
        title, subject = f"{rule.code} {rule.name}", finding.place.source.name
        yield Diagnostic(Topic.FINDING, title, subject, message(finding), rule.severity, finding)
    for placement in report.placements:
        title = _worst_state(placement)
        if title:
            yield Diagnostic(Topic.PLACEMENT, title, placement.workload.key, _placed(placement))
    yield from _of_cluster(report)
    for error in report.errors:
        yield Diagnostic(Topic.INPUT, "read", error.source, error.message, is_unread=True)


def _worst_state(placement: Placement) -> str:
    """Return the worst state among the pods of a workload; empty if all have a node."""
    states = {
        "Pending": placement.pending,
        "Refused": placement.refused,
        "Lost": placement.on_missing_nodes,
        "Not created": placement.not_created,
    }
    return next((state for state, pods in states.items() if pods), "")


def _placed(placement: Placement) -> str:
    from kubectl_spread.report.check.workloads import headline  # numpy: 80 ms

    text = headline(placement, colour=False)
    return f"{text}: {safe(placement.refused[0].message)}" if placement.refused else text


def _of_cluster(report: CheckReport) -> Iterator[Diagnostic]:
    """Yield problems of running workloads and of rollouts, and the resources that may not be listed."""
    if report.running is not None:
        from kubectl_spread.report.check import workloads  # numpy: 80 ms

        for line in workloads.entries(report.running):
            severity = Severity.ERROR if line.is_failure else Severity.INFO
            yield Diagnostic(Topic.CLUSTER, "Running", line.subject, line.text, severity)
    if any(result.is_stuck for result in report.rollouts):
        from kubectl_spread.report.check import rollouts  # numpy: 80 ms

        for result in report.rollouts:
            if result.is_stuck:
                names = " ".join(safe(f"{key.kind} {key.namespace}/{key.name}") for key in result.keys)
                yield Diagnostic(Topic.CLUSTER, "Rollout", names, f"Rollout: {rollouts.sentence(result)}")
    if report.unread:
        from kubectl_spread.report import documents

        text = documents.line(report.unread)
        yield Diagnostic(Topic.CLUSTER, "Partly known", "cluster", text, Severity.WARNING, is_unread=True)
