"""The page of `check -o html`: findings with their lines, and pictures of placed or running workloads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Optional

from kubectl_spread.lint.finding import Finding, Severity
from kubectl_spread.report.check import text
from kubectl_spread.report.check.report import CheckReport, PageFacts, RunningResults
from kubectl_spread.report.pages import page
from kubectl_spread.text.source import Place
from kubectl_spread.text.wording import count_noun

_MOST_FINDINGS = 500
_MOST_PICTURES = 60
_SEVERITIES = {Severity.ERROR: "bad", Severity.WARNING: "warn", Severity.INFO: "soft"}


def render(report: CheckReport) -> str:
    """Return the page."""
    facts = report.page or PageFacts(page.PageSource())
    workloads = _workloads(report, facts)
    return page.render(
        "check.html",
        facts.source,
        title=_title(report),
        tone=_tone(report),
        numbers=list(_tiles(report)),
        findings=[_finding(item) for item in report.findings[:_MOST_FINDINGS]],
        more_findings=max(0, len(report.findings) - _MOST_FINDINGS),
        running=_running_lines(report.running),
        rollouts=_rollout_lines(report),
        workloads=workloads[:_MOST_PICTURES],
        more=max(0, len(workloads) - _MOST_PICTURES),
        errors=[str(error) for error in report.errors],
        unread=_unread(report),
        notes=list(facts.notes),
    )


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "severity": finding.rule.severity.value,
        "tone": _SEVERITIES[finding.rule.severity],
        "code": finding.rule.code,
        "name": finding.rule.name,
        "where": text.location(finding.place),
        "origin": text.rendered_from(finding.place),
        "object": text.object_text(finding.object) if finding.object.kind else "",
        "message": finding.message,
        "hint": finding.hint,
        "excerpt": _marked(finding.place),
        "related": [f"{text.location(label.place)}: {label.text}" for label in finding.related],
    }


def _marked(place: Place) -> Optional[dict[str, Any]]:
    """Return the line of a finding in three parts, without its indentation."""
    found = text.excerpt(place)
    if found is None:
        return None
    end = found.start + found.width
    before = found.text[: found.start]
    return {
        "line": found.number,
        "before": before.lstrip(),
        "marked": found.text[found.start : end],
        "after": found.text[end:],
    }


def _severities(report: CheckReport) -> Counter[Severity]:
    return Counter(finding.rule.severity for finding in report.findings)


def _pending(report: CheckReport) -> int:
    placed = sum(len(placement.pending) + len(placement.refused) for placement in report.placements)
    if report.running is None:
        return placed
    from kubectl_spread.report.check import workloads  # numpy: 80 ms

    waiting = ((workloads.waiting_line(item).is_failure, item) for item in report.running.waiting)
    return placed + sum(1 + len(item.explanation.others) for is_failure, item in waiting if is_failure)


def _tone(report: CheckReport) -> str:
    found = _severities(report)
    is_stuck = any(line["tone"] == "bad" for line in _running_lines(report.running))
    is_stuck = is_stuck or any(item.is_stuck for item in report.rollouts)
    if found[Severity.ERROR] or _pending(report) or report.errors or is_stuck:
        return "bad"
    return "warn" if found[Severity.WARNING] else "good"


def _title(report: CheckReport) -> str:
    checked = count_noun(report.checked.get("workloads", 0) + report.checked.get("rejected", 0), "workload")
    found = count_noun(len(report.findings), "finding") if report.findings else "no findings"
    pending = _pending(report)
    tail = f", {count_noun(pending, 'pod')} without a node" if pending else ""
    if not pending and (report.placements or report.running is not None):
        tail = ", no pod Pending"
    return f"{checked} checked: {found}{tail}"


def _tiles(report: CheckReport) -> Iterator[dict[str, Any]]:
    found = _severities(report)
    yield {"label": "errors", "number": found[Severity.ERROR], "tone": "bad" if found[Severity.ERROR] else "good"}
    warnings = found[Severity.WARNING]
    yield {"label": "warnings", "number": warnings, "tone": "warn" if warnings else "good"}
    yield {"label": "notes", "number": found[Severity.INFO], "tone": "soft"}
    if report.placements:
        yield {"label": "pods placed", "number": sum(len(item.placed) for item in report.placements), "tone": "soft"}
    if report.placements or report.running is not None:
        pending = _pending(report)
        yield {"label": "pods without a node", "number": pending, "tone": "bad" if pending else "good"}


def _running_lines(running: Optional[RunningResults]) -> list[dict[str, str]]:
    if running is None or not any(running):
        return []
    from kubectl_spread.report.check import workloads  # numpy: 80 ms

    return [
        {"label": item.label, "text": item.sentence, "tone": "bad" if item.is_failure else "warn"}
        for item in workloads.entries(running)
    ]


def _rollout_lines(report: CheckReport) -> list[dict[str, Any]]:
    """Return the lines about creations and rollouts that are about no placed workload alone."""
    if not report.rollouts:
        return []
    from kubectl_spread.report.check import rollouts  # numpy: 80 ms
    from kubectl_spread.report.pages.workloads import as_paragraphs

    if report.placements:
        return as_paragraphs(line for block in rollouts.creations(report.rollouts, colour=False) for line in block)
    return as_paragraphs(rollouts.of_running(report.rollouts, colour=False))


def _unread(report: CheckReport) -> str:
    if not report.unread:
        return ""
    from kubectl_spread.report import documents

    return documents.line(report.unread)


def _workloads(report: CheckReport, facts: PageFacts) -> list[dict[str, Any]]:
    """Return the pictures: of placements in the cluster after them, else of the running workloads."""
    if facts.cluster is None:
        return []
    from kubectl_spread.report.pages import workloads  # numpy: 80 ms

    if report.placements:
        return workloads.predicted_pictures(report, facts, facts.cluster)
    return [] if facts.wants is None else workloads.running_pictures(facts, facts.cluster)
