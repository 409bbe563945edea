"""A check's report as JSON: one document, or one line for each of its parts."""

from __future__ import annotations

import json
from typing import Optional

from kubectl_spread.lint.finding import DocumentFix, Finding
from kubectl_spread.report.check.report import CheckReport
from kubectl_spread.report.check.text import region
from kubectl_spread.report.documents import (
    API_VERSION,
    dumps,
    error_documents,
    escape_json,
    Plain,
    to_document,
    unread_documents,
)
from kubectl_spread.text.source import Place, Span

# The kinds of the documents in `-o jsonl`.
_KINDS = {"findings": "Finding", "placements": "Placement"}
_KINDS |= {"pending": "Pending", "stuckRollouts": "StuckRollout", "rollouts": "Rollout", "errors": "Error"}


def render(report: CheckReport) -> str:
    """Return a CheckReport as one document."""
    return dumps(check_report(report))


def render_lines(report: CheckReport) -> str:
    """Return a line for each finding, placement, Pending pod, stuck rollout, rollout and error, in this order."""
    document = check_report(report)
    return "\n".join(
        escape_json(json.dumps({"kind": kind, **item}, ensure_ascii=False))
        for part, kind in _KINDS.items()
        for item in document[part]
    )


def check_report(report: CheckReport) -> Plain:
    """Return a CheckReport."""
    return {
        "apiVersion": API_VERSION,
        "kind": "CheckReport",
        "findings": [_finding(item) for item in report.findings],
        "placements": _placements(report),
        "errors": error_documents(report.errors),
        "checked": report.checked,
        **_running(report),
        **_rollouts(report),
        "unread": unread_documents(report.unread),
        "notApplied": list(report.not_applied),
    }


def _finding(finding: Finding) -> Plain:
    return {
        **to_document(finding, "code=rule.code name=rule.name severity=rule.severity message"),
        **_place(finding.place),
        **to_document(finding, "object template=place.template path hint"),
        "related": [{**_place(label.place), "message": label.text} for label in finding.related],
        "fix": _fix(finding.repair),
    }


def _placements(report: CheckReport) -> list[Plain]:
    """Return the results for workloads that do not run yet."""
    if not report.placements:
        return []
    from kubectl_spread.report.check import workloads  # numpy: 80 ms

    return workloads.documents(report.placements)


def _running(report: CheckReport) -> Plain:
    """Return the results for running workloads."""
    if report.running is None:
        return {"pending": [], "onMissingNodes": [], "notCreated": []}
    from kubectl_spread.report.check import workloads  # numpy: 80 ms

    return workloads.running_document(report.running)


def _rollouts(report: CheckReport) -> Plain:
    """Return the results of rollouts."""
    if not report.rollouts:
        return {"stuckRollouts": [], "rolloutsUnderWay": [], "rollouts": []}
    from kubectl_spread.report.check import rollouts  # numpy: 80 ms

    return rollouts.documents(report.rollouts)


def _fix(repair: Optional[DocumentFix]) -> Optional[Plain]:
    """Return the fix of a finding; None if there is none, or if the text cannot be edited."""
    if repair is None:
        return None
    from kubectl_spread.lint.fixing import possible_edits

    edits = [
        {**_place(Place(repair.source, Span(edit.start, edit.end))), "text": edit.text}
        for edit in possible_edits(repair)
    ]
    safety = "safe" if repair.fix.is_safe else "unsafe"
    return {"title": repair.fix.title, "safety": safety, "edits": edits} if edits else None


def _place(place: Place) -> Plain:
    names = ("line", "column", "endLine", "endColumn")
    return {"file": place.source.name, **dict(zip(names, region(place), strict=True))}
