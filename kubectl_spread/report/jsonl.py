"""The parts of a CheckReport, one JSON document a line, each with its kind."""

from __future__ import annotations

import json

from kubectl_spread.report.check import CheckReport
from kubectl_spread.report.json import check_report

_KINDS = {"findings": "Finding", "placements": "Placement", "errors": "Error"}


def render(report: CheckReport) -> str:
    """Findings, placements and errors in this order; nothing where there are none."""
    document = check_report(report)
    return "\n".join(
        json.dumps({"kind": kind, **item}, ensure_ascii=False)
        for part, kind in _KINDS.items()
        for item in document[part]
    )
