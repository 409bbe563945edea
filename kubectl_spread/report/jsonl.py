"""The parts of a CheckReport, one JSON document a line, each with its kind."""

from __future__ import annotations

import json

from kubectl_spread.report.check import CheckReport
from kubectl_spread.report.json import check_report
from kubectl_spread.report.json import harmless

_KINDS = {"findings": "Finding", "placements": "Placement"}
_KINDS |= {"pending": "Pending", "stuckRollouts": "StuckRollout", "errors": "Error"}


def render(report: CheckReport) -> str:
    """Findings, placements, what is said of what runs, and errors in this order; nothing where there are none."""
    document = check_report(report)
    return "\n".join(
        harmless(json.dumps({"kind": kind, **item}, ensure_ascii=False))
        for part, kind in _KINDS.items()
        for item in document[part]
    )
