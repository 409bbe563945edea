"""The JSON documents: CheckReport and Explanation. Their schemas are in `schemas/`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from typing import Optional
from typing import TYPE_CHECKING

from kubectl_spread.errors import SourceError
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.finding import Place
from kubectl_spread.lint.finding import Repair
from kubectl_spread.report.check import CheckReport
from kubectl_spread.text.source import Span

if TYPE_CHECKING:  # these load numpy
    from kubectl_spread.explain.explanation import ConstraintReport
    from kubectl_spread.explain.explanation import DomainReport
    from kubectl_spread.explain.explanation import Explanation
    from kubectl_spread.simulate.placement import Placement

API_VERSION = "kubectl-spread/v1"


def dumps(document: dict[str, Any]) -> str:
    """A document as text."""
    return json.dumps(document, indent=2, ensure_ascii=False)


def render(report: CheckReport) -> str:
    """A CheckReport as text."""
    return dumps(check_report(report))


def check_report(report: CheckReport) -> dict[str, Any]:
    """A CheckReport."""
    return {
        "apiVersion": API_VERSION,
        "kind": "CheckReport",
        "findings": [_finding(item) for item in report.findings],
        "placements": [_placement(item) for item in report.placements],
        "errors": [_error(item) for item in report.errors],
        "checked": report.checked,
    }


def explanations(items: Iterable[Explanation]) -> dict[str, Any]:
    """One Explanation, or an ExplanationList of several."""
    documents = [explanation(item) for item in items]
    if len(documents) == 1:
        return documents[0]
    return {"apiVersion": API_VERSION, "kind": "ExplanationList", "items": documents}


def explanation(item: Explanation) -> dict[str, Any]:
    """An Explanation."""
    pod = item.pod
    return {
        "apiVersion": API_VERSION,
        "kind": "Explanation",
        "pod": {"namespace": pod.namespace, "name": pod.name, "node": pod.node_name},
        "verdict": item.verdict.value,
        "message": item.message,
        "nominatedNode": item.nominated_node,
        "victims": [victim.key for victim in item.victims],
        "reportedMessage": item.reported,
        "feasible": list(item.diagnosis.feasible),
        "nodes": [
            {
                "name": node.name,
                "plugin": node.recorded.plugin,
                "code": node.recorded.code.value,
                "reasons": list(node.recorded.reasons),
                "also": [{"plugin": status.plugin, "reasons": list(status.reasons)} for status in node.also],
            }
            for node in item.nodes
        ],
        "constraints": [_constraint(report) for report in item.constraints],
        "conflicts": [
            {
                "requirements": [
                    {
                        "plugin": requirement.plugin,
                        "text": requirement.text,
                        "nodes": [
                            name for name, fits in zip(item.node_names, requirement.allowed, strict=True) if fits
                        ],
                    }
                    for requirement in conflict.requirements
                ],
                "nodes": [],  # that meet all of them: none, or it would be no conflict
            }
            for conflict in item.conflicts
        ],
        "notPredictable": list(item.beyond),
        "others": list(item.others),
        "ignoredFields": list(item.ignored.fields),
    }


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


def _fix(repair: Repair) -> Optional[dict[str, Any]]:
    """What would mend a finding; None where it cannot be done in this text."""
    from kubectl_spread.lint.mend import possible_edits

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
    from kubectl_spread.report.placements import blocked_by

    owner = placement.workload
    return {
        "object": {"kind": owner.kind, "namespace": owner.namespace, "name": owner.name},
        "replicas": placement.replicas,
        "placed": len(placement.placed),
        "pods": [
            {
                "pod": pod.pod,
                "node": pod.node,
                "alreadyRunning": pod.ran_already,
                "choices": pod.hosts,
                "fitting": pod.fitting,
            }
            for pod in placement.placed
        ],
        "pending": [
            {
                "pod": item.pod.name,
                "message": item.explanation.message,
                "nominatedNode": item.explanation.nominated_node,
                "victims": [victim.key for victim in item.explanation.victims],
                "blockedBy": blocked_by(item),
            }
            for item in placement.pending
        ],
        "gated": [{"pod": pod.pod, "message": pod.message} for pod in placement.gated],
        "domains": placement.domains,
        "matching": placement.matching,
        "certainty": placement.certainty.value,
        "notPredictable": list(placement.not_predictable),
        "unpredicted": [{"pod": item.pod.name, "dependsOn": list(item.reasons)} for item in placement.unpredicted],
        "notCounted": list(placement.not_counted),
        "ignoredFields": list(placement.ignored.fields),
    }


def _constraint(report: ConstraintReport) -> dict[str, Any]:
    from kubectl_spread.report.explanations import selector_text

    constraint = report.constraint
    return {
        "index": constraint.position,
        "origin": "scheduler" if report.is_default else "pod",
        "topologyKey": constraint.topology_key,
        "maxSkew": constraint.max_skew,
        "whenUnsatisfiable": constraint.when_unsatisfiable,
        "minDomains": report.min_domains,
        "nodeAffinityPolicy": constraint.node_affinity_policy or "Honor",
        "nodeTaintsPolicy": constraint.node_taints_policy or "Ignore",
        "selector": selector_text(report.selector),
        "selfMatch": report.self_match,
        "globalMinimum": report.global_minimum,
        "minimumIn": list(report.minimum_in),
        "eligibleDomains": report.eligible_domains,
        "nodesWithoutKey": list(report.without_key),
        "ignoredPods": report.ignored_pods,
        "domains": [_domain(domain) for domain in report.domains],
    }


def _domain(domain: DomainReport) -> dict[str, Any]:
    return {
        "value": domain.value,
        "nodes": domain.nodes,
        "countedNodes": domain.counted,
        "usableNodes": domain.usable,
        "matching": domain.matching,
        "eligible": domain.eligible,
        "whyNot": domain.why_not,
        "skewIfPlaced": domain.skew_if_placed,
        "fits": domain.fits,
        "unusableBecause": domain.unusable_because,
    }
