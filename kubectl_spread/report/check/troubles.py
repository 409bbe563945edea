"""Problems of a run besides findings, for machine-readable formats; loads numpy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Optional

from kubectl_spread.report import documents
from kubectl_spread.report.check import cluster, rollouts
from kubectl_spread.report.check.placements import headline
from kubectl_spread.report.check.report import CheckReport
from kubectl_spread.simulate.placement import Placement
from kubectl_spread.text.wording import safe


class Trouble(NamedTuple):
    """A problem of a run besides findings.

    subject: a workload, or the input.
    is_failure: a pod does not run.
    is_unread: the state is unknown, because something could not be read.
    """

    title: str
    subject: str
    text: str
    is_failure: bool = True
    is_unread: bool = False


def troubles(report: CheckReport) -> Iterator[Trouble]:
    """Yield unplaced pods, pods that are not created, problems of running workloads, rollouts and unread resources."""
    for placement in report.placements:
        found = of_placement(placement)
        if found is not None:
            yield found
    yield from of_cluster(report)


def of_placement(placement: Placement) -> Optional[Trouble]:
    """Return the problem of a workload's placement; None if all its pods have nodes."""
    title = _title(placement)
    return Trouble(title, safe(placement.workload.key), _text(placement)) if title else None


def of_cluster(report: CheckReport) -> Iterator[Trouble]:
    """Yield problems of running workloads and of rollouts, and the resources of the cluster that could not be read."""
    for entry in () if report.running is None else cluster.entries(report.running):
        yield Trouble("Running", entry.subject, entry.text, entry.is_failure)
    for result in report.rollouts:
        if result.is_stuck:
            subject = " ".join(safe(f"{key.kind} {key.namespace}/{key.name}") for key in result.keys)
            yield Trouble("Rollout", subject, f"Rollout: {rollouts.sentence(result)}")
    if report.unread:
        yield Trouble("Partly known", "cluster", documents.line(report.unread), is_failure=False, is_unread=True)


def _title(placement: Placement) -> str:
    """Return the worst state among the pods of a workload; empty if all have a node."""
    if placement.pending:
        return "Pending"
    if placement.refused:
        return "Refused"
    if placement.on_missing_nodes:
        return "Lost"
    return "Not created" if placement.not_created else ""


def _text(placement: Placement) -> str:
    text = headline(placement, colour=False)
    return f"{text}: {safe(placement.refused[0].message)}" if placement.refused else text
