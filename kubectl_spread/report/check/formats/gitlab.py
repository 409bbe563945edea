"""GitLab's code quality report, which holds findings only, and fingerprints of findings."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable
from typing import Any

from kubectl_spread.lint.finding import Finding, Severity
from kubectl_spread.report.check.findings import rendered_from
from kubectl_spread.report.check.report import CheckReport

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(report: CheckReport) -> str:
    """Return a JSON list with an entry for each finding."""
    digests = fingerprints(report.findings)
    return json.dumps([_entry(*pair) for pair in zip(report.findings, digests, strict=True)], indent=2)


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
        digests.append(hashlib.sha256(f"{text}\0{seen[text]}".encode("utf-8", "surrogatepass")).hexdigest()[:32])
    return digests


def identity(finding: Finding, file: str) -> tuple[str, ...]:
    """Return the identity of a finding without its line: rule, file, kind, namespace and name of the object, field."""
    return (finding.rule.code, file, *finding.object, finding.path)
