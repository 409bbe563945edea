"""A check's report for people: findings with their lines, then the placement of the replicas."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Finding
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.report import table
from kubectl_spread.report.check import findings as finding_text
from kubectl_spread.report.check.report import CheckReport, RunningResults
from kubectl_spread.text.wording import safe

_OUT_OF_REACH = "SPR903"


def render(report: CheckReport) -> str:
    """Return blocks with an empty line between them."""
    blocks = [finding_text.lines(finding, report.width, colour=report.colour) for finding in report.findings]
    others = (table.hang_indent(block, report.width) for block in _blocks_after_findings(report))
    return "\n\n".join("\n".join(block) for block in (*blocks, *others))


def _blocks_after_findings(report: CheckReport) -> Iterator[list[str]]:
    """Yield the lines about placements, running workloads and unreadable resources."""
    if report.placements:
        yield from _placements(report)
    if report.running is not None:
        yield from _running(report, report.running)
    if report.unread:
        from kubectl_spread.report import unread

        yield [unread.line(report.unread)]


def _placements(report: CheckReport) -> list[list[str]]:
    """Return a block for each placed workload, with its rollout, and then the creations that may get stuck."""
    from kubectl_spread.cluster.snapshot import OwnerKey  # numpy: 80 ms
    from kubectl_spread.report.check import placements as placement_text
    from kubectl_spread.report.check import rollouts

    out_of_reach = _out_of_reach(report.findings)
    left = {item.key: item for item in report.rollouts if not item.is_creation}
    blocks = []
    for placement in report.placements:
        explained = _explained_paths(out_of_reach, placement.workload)
        block = placement_text.lines(placement, colour=report.colour, explained=explained)
        owner = placement.workload
        result = left.pop(OwnerKey(owner.kind, owner.namespace, owner.name), None)
        blocks.append(block if result is None else [*block, *rollouts.of_placement(result, colour=report.colour)])
    return blocks + rollouts.creations(report.rollouts, colour=report.colour)


def _running(report: CheckReport, running: RunningResults) -> list[list[str]]:
    """Return the block about running workloads; none if there is nothing to say."""
    if not any(running) and not report.rollouts:
        return []
    from kubectl_spread.report.check import cluster, rollouts  # numpy: 80 ms

    colour = report.colour
    return [[*cluster.lines(running, colour=colour), *rollouts.of_running(report.rollouts, colour=colour)]]


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
    if any(item.is_stuck for item in report.rollouts):
        from kubectl_spread.report.check import rollouts

        lines += [f"Rollout: {rollouts.sentence(item)}" for item in report.rollouts if item.is_stuck]
    if report.unread:
        from kubectl_spread.report import unread

        lines.append(unread.line(report.unread))
    return "\n".join(lines)


def _line(finding: Finding) -> str:
    origin = finding_text.rendered_from(finding.place)
    where, rule = finding_text.location(finding.place), finding.rule
    text = f"{where}: {rule.severity.value} {rule.code} {safe(finding.message)}"
    return f"{text} ({origin})" if origin else text
