"""One line each, as compilers have it."""

from __future__ import annotations

from kubectl_spread.lint.finding import Finding
from kubectl_spread.report.check import CheckReport
from kubectl_spread.report.findings import location
from kubectl_spread.report.findings import rendered_from
from kubectl_spread.report.table import safe


def render(report: CheckReport) -> str:
    """`file:line:column: severity CODE message`, then a line for each workload that was placed."""
    lines = [_line(finding) for finding in report.findings]
    if report.placements:
        from kubectl_spread.report.placements import headline  # numpy: 80 ms

        lines += [headline(placement, colour=False) for placement in report.placements]
    if report.unread:
        from kubectl_spread.report import unread

        lines.append(unread.line(report.unread))
    return "\n".join(lines)


def _line(finding: Finding) -> str:
    origin = rendered_from(finding.place)
    text = f"{location(finding.place)}: {finding.rule.severity.value} {finding.rule.code} {safe(finding.message)}"
    return f"{text} ({origin})" if origin else text
