"""The page of `check -o html`: findings with their lines, and pictures of placed or running workloads."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any, TYPE_CHECKING

from kubectl_spread.lint.finding import Severity
from kubectl_spread.report import documents
from kubectl_spread.report.check import text
from kubectl_spread.report.check.formats import HOME
from kubectl_spread.report.check.report import CheckReport, PageFacts
from kubectl_spread.report.pages import page
from kubectl_spread.text.wording import count_noun

if TYPE_CHECKING:  # loads numpy
    from kubectl_spread.report.check.workloads import WorkloadLine

_MOST_PICTURES = 60
_SEVERITIES = {Severity.ERROR: "bad", Severity.WARNING: "warn", Severity.INFO: "soft"}


def render(report: CheckReport) -> str:
    """Return the page."""
    facts = report.page or PageFacts(page.PageSource())
    pictures, lines = list[dict[str, Any]](), list[dict[str, Any]]()
    if facts.cluster is not None or report.rollouts:
        from kubectl_spread.report.check import rollouts  # numpy: 80 ms
        from kubectl_spread.report.pages import workloads

        if facts.cluster is not None and report.placements:
            pictures = workloads.predicted_pictures(report, facts, facts.cluster)
        elif facts.cluster is not None and facts.wants is not None:
            pictures = workloads.running_pictures(facts, facts.cluster)
        # Those about no placed workload alone
        creations = itertools.chain(*rollouts.creations(report.rollouts))
        lines = workloads.as_paragraphs(creations if report.placements else rollouts.of_running(report.rollouts))
    severities = Counter(finding.rule.severity for finding in report.findings)
    running: list[WorkloadLine] = []
    if report.running is not None and any(report.running):
        from kubectl_spread.report.check.workloads import entries  # numpy: 80 ms

        running = entries(report.running)
    pending = sum(len(placement.stuck) + len(placement.refused) for placement in report.placements)
    waiting = zip(report.running.waiting if report.running is not None else (), running, strict=False)
    pending += sum(1 + len(item.explanation.others) for item, line in waiting if line.is_failure)
    is_stuck = any(line.is_failure for line in running) or any(item.is_stuck for item in report.rollouts)
    is_bad = bool(severities[Severity.ERROR] or pending or report.errors or is_stuck)
    checked = count_noun(report.checked.get("workloads", 0) + report.checked.get("rejected", 0), "workload")
    title = f"{checked} checked: {count_noun(len(report.findings), 'finding') if report.findings else 'no findings'}"
    numbers = [
        ("errors", severities[Severity.ERROR], "bad"),
        ("warnings", severities[Severity.WARNING], "warn"),
        ("notes", severities[Severity.INFO], "soft"),
    ]
    if report.placements:
        numbers.append(("pods placed", sum(len(item.placed) for item in report.placements), "soft"))
    if report.placements or report.running is not None:
        numbers.append(("pods without a node", pending, "bad"))
        title += f", {count_noun(pending, 'pod')} without a node" if pending else ", no pod Pending"
    return page.render(
        "check.html",
        facts.source,
        title=title,
        tone="bad" if is_bad else "warn" if severities[Severity.WARNING] else "good",
        numbers=numbers,
        findings=report.findings,
        tones=_SEVERITIES,
        pages=f"{HOME}/blob/main/kubectl_spread/lint/pages",
        text=text,
        running=running,
        rollouts=lines,
        workloads=pictures[:_MOST_PICTURES],
        more=max(0, len(pictures) - _MOST_PICTURES),
        errors=report.errors,
        unread=documents.line(report.unread),
        notes=list(facts.notes),
    )
