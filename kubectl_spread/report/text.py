"""A check's report for people: findings with their lines, then where the replicas went."""

from __future__ import annotations

from kubectl_spread.report import findings as finding_text
from kubectl_spread.report.check import CheckReport


def render(report: CheckReport, *, colour: bool) -> str:
    """Blocks with an empty line between them."""
    blocks = [finding_text.lines(finding, colour=colour) for finding in report.findings]
    if report.placements:
        from kubectl_spread.report import placements as placement_text  # numpy: 80 ms

        blocks += [placement_text.lines(placement, colour=colour) for placement in report.placements]
    return "\n\n".join("\n".join(block) for block in blocks)
