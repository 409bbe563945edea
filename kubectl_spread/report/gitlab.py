"""GitLab's code quality report: findings only, for it knows nothing else."""

from __future__ import annotations

import json
import os
from typing import Any

from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.finding import Severity
from kubectl_spread.report.check import CheckReport
from kubectl_spread.report.findings import rendered_from
from kubectl_spread.report.fingerprint import fingerprints

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(report: CheckReport) -> str:
    """A JSON list with an entry for each finding."""
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
