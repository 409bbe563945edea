"""A check's report for people: findings with their lines, then where the replicas went."""

from __future__ import annotations

from kubectl_spread.lint.finding import Finding
from kubectl_spread.objects.workload import Workload
from kubectl_spread.report import findings as finding_text
from kubectl_spread.report.check import CheckReport

_OUT_OF_REACH = "SPR903"


def render(report: CheckReport, *, colour: bool) -> str:
    """Blocks with an empty line between them."""
    blocks = [finding_text.lines(finding, colour=colour) for finding in report.findings]
    if report.placements:
        from kubectl_spread.report import placements as placement_text  # numpy: 80 ms

        for placement in report.placements:
            told = _told(report.findings, placement.workload)
            blocks.append(placement_text.lines(placement, colour=colour, told=told))
    if report.running is not None and any(report.running):
        from kubectl_spread.report import running  # numpy: 80 ms

        blocks.append(running.lines(report.running, colour=colour))
    if report.unread:
        from kubectl_spread.report import unread

        blocks.append([unread.line(report.unread)])
    return "\n\n".join("\n".join(block) for block in blocks)


def _told(findings: list[Finding], workload: Workload) -> frozenset[str]:
    """The fields of a workload of which a finding says already that they count a domain out of reach."""
    return frozenset(
        finding.path
        for finding in findings
        if finding.rule.code == _OUT_OF_REACH
        and (finding.object.kind, finding.object.name) == (workload.kind, workload.name)
        and finding.object.namespace in ("", workload.namespace)
    )
