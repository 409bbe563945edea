"""One line each, as compilers have it."""

from __future__ import annotations

from kubectl_spread.report.check import CheckReport
from kubectl_spread.report.findings import location
from kubectl_spread.report.table import safe


def render(report: CheckReport) -> str:
    """`file:line:column: severity CODE message`, then a line for each workload that was placed."""
    lines = [
        f"{location(finding.place)}: {finding.rule.severity.value} {finding.rule.code} {safe(finding.message)}"
        for finding in report.findings
    ]
    if report.placements:
        from kubectl_spread.report.placements import headline  # numpy: 80 ms

        lines += [headline(placement, colour=False) for placement in report.placements]
    return "\n".join(lines)
