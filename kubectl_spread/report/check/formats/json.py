"""A check's report as JSON: one document, or one line for each of its parts."""

from __future__ import annotations

import json
from typing import Any, Optional, TYPE_CHECKING

from kubectl_spread.errors import SourceError
from kubectl_spread.lint.finding import DocumentFix, Finding, Place
from kubectl_spread.report.check.report import CheckReport
from kubectl_spread.report.documents import API_VERSION, dumps, escape_json
from kubectl_spread.report.documents import document as unread_document
from kubectl_spread.text.source import Span

if TYPE_CHECKING:  # these load numpy
    from kubectl_spread.simulate.placement import EvictedPod, PendingPod, PlacedPod, Placement

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


def check_report(report: CheckReport) -> dict[str, Any]:
    """Return a CheckReport."""
    return {
        "apiVersion": API_VERSION,
        "kind": "CheckReport",
        "findings": [_finding(item) for item in report.findings],
        "placements": [_placement(item) for item in report.placements],
        "errors": [_error(item) for item in report.errors],
        "checked": report.checked,
        **_running(report),
        **_rollouts(report),
        "unread": unread_document(report.unread),
        "notApplied": list(report.not_applied),
    }


def _running(report: CheckReport) -> dict[str, Any]:
    """Return the results for running workloads."""
    if report.running is None:
        return {"pending": [], "onMissingNodes": [], "notCreated": []}
    from kubectl_spread.report.check import cluster  # numpy: 80 ms

    return cluster.document(report.running)


def _rollouts(report: CheckReport) -> dict[str, Any]:
    """Return the results of rollouts."""
    if not report.rollouts:
        return {"stuckRollouts": [], "rolloutsUnderWay": [], "rollouts": []}
    from kubectl_spread.report.check import rollouts  # numpy: 80 ms

    return rollouts.documents(report.rollouts)


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.rule.code,
        "name": finding.rule.name,
        "severity": finding.rule.severity.value,
        "message": finding.message,
        **_place(finding.place),
        "object": finding.object._asdict(),
        "template": finding.place.template,
        "path": finding.path,
        "hint": finding.hint,
        "related": [{**_place(label.place), "message": label.text} for label in finding.related],
        "fix": None if finding.repair is None else _fix(finding.repair),
    }


def _fix(repair: DocumentFix) -> Optional[dict[str, Any]]:
    """Return the fix of a finding; None if the text cannot be edited."""
    from kubectl_spread.lint.fixing.apply_fixes import possible_edits

    edits = [
        {**_place(Place(repair.source, Span(edit.start, edit.end))), "text": edit.text}
        for edit in possible_edits(repair)
    ]
    safety = "safe" if repair.fix.is_safe else "unsafe"
    return {"title": repair.fix.title, "safety": safety, "edits": edits} if edits else None


def _place(place: Place) -> dict[str, Any]:
    line, column = place.source.position(place.span.start)
    end_line, end_column = place.source.position(place.span.end)
    return {
        "file": place.source.name,
        "line": line,
        "column": column,
        "endLine": end_line,
        "endColumn": end_column,
    }


def _error(error: SourceError) -> dict[str, Any]:
    return {"file": error.source, "message": error.message, "line": error.line, "column": error.column}


def _placement(placement: Placement) -> dict[str, Any]:
    owner = placement.workload
    return {
        "object": {"kind": owner.kind, "namespace": owner.namespace, "name": owner.name},
        "replicas": placement.replicas,
        "placed": len(placement.placed),
        "pods": list(map(_placed, placement.placed)),
        "pending": list(map(_pending, placement.pending)),
        "gated": [{"pod": pod.pod, "message": pod.message} for pod in placement.gated],
        "domains": placement.domains,
        "matching": placement.matching,
        "certainty": placement.certainty.value,
        "inAnyOrder": None if (found := placement.in_any_order) is None else {"min": found.least, "max": found.most},
        "notPredictable": list(placement.not_predictable),
        "unpredicted": [{"pod": item.pod.name, "dependsOn": list(item.reasons)} for item in placement.unpredicted],
        "notCounted": list(placement.not_counted),
        "ignoredFields": list(placement.ignored.fields),
        "notCreated": list(placement.not_created),
        "notTried": placement.not_tried,
        "evicted": [_evicted(item) for item in placement.evictions],
        "onMissingNodes": list(placement.on_missing_nodes),
        "refused": [item._asdict() for item in placement.refused],
    }


def _placed(pod: PlacedPod) -> dict[str, Any]:
    return {
        "pod": pod.pod,
        "node": pod.node,
        "alreadyRunning": pod.ran_already,
        "choices": pod.hosts,
        "fitting": pod.fitting,
    }


def _pending(item: PendingPod) -> dict[str, Any]:
    from kubectl_spread.report.check.placements import blocking_requirements  # numpy: 80 ms

    return {
        "pod": item.pod.name,
        "message": item.explanation.message,
        "nominatedNode": item.explanation.nominated_node,
        "victims": [victim.key for victim in item.explanation.victims],
        "blockedBy": blocking_requirements(item),
    }


def _evicted(eviction: EvictedPod) -> dict[str, Any]:
    """Return an evicted pod, and the replacement that its controller creates."""
    again = eviction.again
    return {
        "pod": eviction.pod.key,
        "node": eviction.pod.node_name,
        "by": eviction.by,
        "createdAgain": None if again is None else {"node": again.node or None, "message": again.message or None},
    }
