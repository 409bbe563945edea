"""A check's report for people: findings with their lines, then the placement of the replicas."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Finding
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.report import table
from kubectl_spread.report.check import findings as finding_text
from kubectl_spread.report.check.report import CheckReport
from kubectl_spread.text.wording import safe

_OUT_OF_REACH = "SPR903"


def render(report: CheckReport) -> str:
    """Return blocks with an empty line between them."""
    blocks = [finding_text.lines(finding, report.width, colour=report.colour) for finding in report.findings]
    others = (table.hung(block, report.width) for block in _blocks_after_findings(report))
    return "\n\n".join("\n".join(block) for block in (*blocks, *others))


def _blocks_after_findings(report: CheckReport) -> Iterator[list[str]]:
    """Yield the lines about placements, running workloads and unreadable resources."""
    if report.placements:
        from kubectl_spread.report.check import placements as placement_text  # numpy: 80 ms

        out_of_reach = _out_of_reach(report.findings)
        for placement in report.placements:
            explained = _explained_paths(out_of_reach, placement.workload)
            yield placement_text.lines(placement, colour=report.colour, explained=explained)
    if report.running is not None and any(report.running):
        from kubectl_spread.report.check import cluster  # numpy: 80 ms

        yield cluster.lines(report.running, colour=report.colour)
    if report.unread:
        from kubectl_spread.report import unread

        yield [unread.line(report.unread)]


def _out_of_reach(findings: list[Finding]) -> dict[tuple[str, str, str], frozenset[str]]:
    """Return the fields that findings call a domain out of reach, by kind, namespace and name of their object."""
    found: dict[tuple[str, str, str], set[str]] = {}
    for finding in findings:
        if finding.rule.code == _OUT_OF_REACH:
            key = finding.object.kind, finding.object.namespace, finding.object.name
            found.setdefault(key, set()).add(finding.path)
    return {key: frozenset(paths) for key, paths in found.items()}


def _explained_paths(out_of_reach: dict[tuple[str, str, str], frozenset[str]], workload: Workload) -> frozenset[str]:
    """Return the fields of a workload for which a finding already reports an unreachable domain."""
    keys = ((workload.kind, namespace, workload.name) for namespace in ("", workload.namespace))
    return frozenset().union(*(out_of_reach.get(key, frozenset()) for key in keys))


def render_concise(report: CheckReport) -> str:
    """Return `file:line:column: severity CODE message` lines, then a line for each workload that was placed."""
    lines = [_line(finding) for finding in report.findings]
    if report.placements:
        from kubectl_spread.report.check.placements import headline  # numpy: 80 ms

        lines += [headline(placement, colour=False) for placement in report.placements]
    if report.unread:
        from kubectl_spread.report import unread

        lines.append(unread.line(report.unread))
    return "\n".join(lines)


def _line(finding: Finding) -> str:
    origin = finding_text.rendered_from(finding.place)
    where, rule = finding_text.location(finding.place), finding.rule
    text = f"{where}: {rule.severity.value} {rule.code} {safe(finding.message)}"
    return f"{text} ({origin})" if origin else text
