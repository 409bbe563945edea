"""GitLab's code quality report: findings and rollouts that get stuck, at lines of files; fingerprints of findings."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from kubectl_spread.lint.finding import Finding, Severity
from kubectl_spread.report.check.report import CheckReport
from kubectl_spread.report.check.text import rendered_from

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(report: CheckReport) -> str:
    """Return a JSON list with an entry for each finding, and for each stuck rollout that no finding is about."""
    digests = fingerprints(report.findings)
    entries = [_entry(*pair) for pair in zip(report.findings, digests, strict=True)]
    return json.dumps([*entries, *_rollouts(report)], indent=2)


_ABOUT_ROLLOUTS = "SPR402"


def _rollouts(report: CheckReport) -> Iterator[dict[str, Any]]:
    """Yield an entry for each stuck rollout of a workload whose place is known."""
    if not any(item.is_stuck for item in report.rollouts):
        return
    from kubectl_spread.report.check import rollouts  # numpy: 80 ms

    known = {tuple(item.object) for item in report.findings if item.rule.code == _ABOUT_ROLLOUTS}
    for result in report.rollouts:
        place = report.places.get(result.key)
        if not result.is_stuck or place is None or (tuple(result.key) in known and not result.is_creation):
            continue
        identity = "\0".join((result.kind.value, place.file, *(text for key in result.keys for text in key)))
        yield {
            "description": f"Rollout: {rollouts.sentence(result)}",
            "check_name": "rollout",
            "fingerprint": _digest(identity),
            "severity": "major",
            "location": {"path": os.path.relpath(place.file), "lines": {"begin": place.line, "end": place.line}},
        }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _entry(finding: Finding, fingerprint: str) -> dict[str, Any]:
    place = finding.place
    begin, _ = place.source.position(place.span.start)
    origin = rendered_from(place)
    end, _ = place.source.position(place.span.end)
    return {
        "description": f"{finding.message} ({origin})" if origin else finding.message,
        "check_name": finding.rule.code,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[finding.rule.severity],
        "location": {"path": os.path.relpath(place.source.name), "lines": {"begin": begin, "end": end}},
    }


def fingerprints(findings: Iterable[Finding]) -> list[str]:
    """Return a digest of rule, file, object and field for each finding; equal ones are numbered."""
    seen: Counter[str] = Counter()
    digests = []
    for finding in findings:
        text = "\0".join(identity(finding, finding.place.source.name))
        seen[text] += 1
        digests.append(_digest(f"{text}\0{seen[text]}"))
    return digests


def identity(finding: Finding, file: str) -> tuple[str, ...]:
    """Return the identity of a finding without its line: rule, file, kind, namespace and name of the object, field."""
    return (finding.rule.code, file, *finding.object, finding.path)
