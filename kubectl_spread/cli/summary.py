"""The end of `check`: its outputs, the summary line, and the exit code."""

from __future__ import annotations

from collections import Counter
from typing import Optional, TYPE_CHECKING

import click

from kubectl_spread.cli.console import terminal
from kubectl_spread.cli.console.stderr import flush, print_error
from kubectl_spread.cli.exit import Exit
from kubectl_spread.cli.parameters.fix_options import offer
from kubectl_spread.cli.parameters.outputs import Output, page_source
from kubectl_spread.errors import ClusterError
from kubectl_spread.operations.inputs.rule_choice import LEVELS
from kubectl_spread.report.check.report import FORMATS as RENDERERS
from kubectl_spread.text.wording import count_noun

if TYPE_CHECKING:  # imported where they are used, so that --help stays fast
    from kubectl_spread.lint.finding import Finding
    from kubectl_spread.operations.check import CheckResult
    from kubectl_spread.report.check.report import CheckReport, PageFacts, RunningResults, WorkloadPlace
    from kubectl_spread.simulate.placement import Placement
    from kubectl_spread.simulate.rollouts.result import RolloutResult
    from kubectl_spread.simulate.running.pending import WaitingGroup

FORMATS = tuple(RENDERERS)


def outputs(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[Output, ...]:
    """Parse `FORMAT` and `FORMAT=FILE`.

    Raises:
        click.BadParameter: the format does not exist, or the file's name is empty.
    """
    found = []
    for value in values:
        name, separator, file = value.partition("=")
        if name not in FORMATS:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(map(repr, FORMATS))}.", ctx, param)
        if separator and not file:
            raise click.BadParameter(f"no file is named: {value}", ctx, param)
        found.append(Output(name, file))
    return tuple(found)


def complete_outputs(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the formats, for a shell."""
    return [name for name in FORMATS if name.startswith(incomplete)]


_WHERE_ANY = ("lists", "templates", "placeholders")  # counts that the report has only if they are not 0


def print_result(outcome: CheckResult, outputs: list[Output], *, colour: bool, statistics: bool) -> None:
    """Write every output, then report on stderr the unread inputs and the numbers of checked objects."""
    from kubectl_spread.report.check.report import render

    report = _report(outcome, {output.format for output in outputs})
    for output in outputs:
        width = None if output.file else terminal.finding_width()
        _write(output, render(report, output.format, colour=colour and not output.file, width=width))
    flush()
    for error in (*outcome.errors, *outcome.missing):
        print_error(error)
    if is_for_people(outputs):
        click.echo(_summary(outcome), err=True)
    if statistics:
        _print_statistics(outcome.findings)


def _report(outcome: CheckResult, formats: set[str]) -> CheckReport:
    """Return the report with what some formats need besides."""
    from kubectl_spread.report.check.report import CheckReport

    checked = {name: count for name, count in outcome.counts._asdict().items() if count or name not in _WHERE_ANY}
    report = CheckReport(outcome.findings, outcome.placements, outcome.errors, checked, outcome.files, outcome.running)
    report = report._replace(rollouts=outcome.rollouts, unread=outcome.unread, not_applied=outcome.not_applied)
    if "html" in formats:
        report = report._replace(page=_page(outcome))
    if outcome.rollouts and "gitlab" in formats:
        report = report._replace(places=_places(outcome))
    return report


def _places(outcome: CheckResult) -> dict[tuple[str, ...], WorkloadPlace]:
    """Return where the manifests of the workloads begin; of copies, the first."""
    from kubectl_spread.report.check.report import WorkloadPlace

    found: dict[tuple[str, ...], WorkloadPlace] = {}
    for result in outcome.read.results:
        for item in result.workloads:
            line, _ = result.source.position(item.manifest.place(()).span.start)
            owner = item.workload
            key = (owner.kind, owner.namespace or outcome.settings.namespace, owner.name)
            found.setdefault(key, WorkloadPlace(result.source.name, line))
    return found


def _page(outcome: CheckResult) -> PageFacts:
    from kubectl_spread.report.check.report import PageFacts

    facts = PageFacts(page_source(outcome.known), notes=outcome.notes)
    if outcome.known is None:
        return facts
    wants = outcome.selection.includes if outcome.selection is not None else None
    return facts._replace(cluster=outcome.known.cluster, profiles=outcome.known.profiles, wants=wants)


def _write(output: Output, text: str) -> None:
    """Write a text to the output's file, or print it."""
    if output.file:
        from kubectl_spread.sources.atomic_write import write

        write(output.file, text + "\n" if text else "")
    elif text:
        click.echo(text, color=True)


def is_for_people(outputs: list[Output]) -> bool:
    """Return whether a summary follows an output."""
    return any(output.format in ("text", "concise") for output in outputs)


def exit_code(outcome: CheckResult, outputs: list[Output], *, fail_on: str, is_asked: bool = False) -> int:
    """Return the worst exit code of unread inputs, Pending pods and findings.

    With SARIF alone its reader judges the findings, unless --fail-on is given (`is_asked`).
    """
    if _is_unreadable(outcome):
        return Exit.UNREADABLE
    if not is_asked and all(output.format == "sarif" for output in outputs):
        return Exit.CLEAN
    if outcome.missing or _is_any_stuck(outcome):
        return Exit.FINDINGS
    if fail_on == "never":
        return Exit.CLEAN
    levels = LEVELS[: LEVELS.index(fail_on) + 1]
    if "warning" in levels and any(placement.unpredicted for placement in outcome.placements):
        return Exit.FINDINGS
    return Exit.FINDINGS if any(item.rule.severity.value in levels for item in outcome.findings) else Exit.CLEAN


def _is_any_stuck(outcome: CheckResult) -> bool:
    """Return whether a pod stays Pending, or a rollout gets stuck."""
    is_rollout_stuck = any(item.is_stuck for item in outcome.rollouts)
    return any(map(_is_stuck, outcome.placements)) or is_rollout_stuck or _waits(outcome.running)


def _is_unreadable(outcome: CheckResult) -> bool:
    """Return whether an input could not be read, so that the answer is incomplete."""
    if outcome.errors or any(isinstance(error, ClusterError) for error in outcome.missing):
        return True
    return any(finding.is_unreadable for finding in outcome.findings)


def _is_stuck(placement: Placement) -> bool:
    """Return whether a pod of a placement, or a pod evicted for it, stays without a node or does not exist."""
    evicted = any(item.again is not None and not item.again.node for item in placement.evictions)
    absent = placement.not_created or placement.refused
    return bool(placement.pending or placement.on_missing_nodes or absent or evicted)


def _waits(running: Optional[RunningResults]) -> bool:
    """Return whether a Pending pod finds no node, or a pod is on a missing node or not created."""
    if running is None:
        return False
    waiting = any(item.explanation.verdict.is_waiting for item in running.waiting)
    return waiting or bool(running.lost or running.uncreated)


def _summary(outcome: CheckResult) -> str:
    text = f"{_checked(outcome)}: {', '.join(_results(outcome))}"
    text = "\nnote: ".join((text, *outcome.notes))
    text += _offer(outcome)
    if any(pod.hosts > 1 for placement in outcome.placements for pod in placement.placed):
        text += "\nnote: if several nodes have the highest score, the scheduler may choose any of them; "
        text += "here it is the first by name, or a random one with --seed"
    return text


def _offer(outcome: CheckResult) -> str:
    from kubectl_spread.operations.fix import count_fixable

    return offer(count_fixable(outcome))


def _checked(outcome: CheckResult) -> str:
    counts = outcome.counts
    where = outcome.scope or f"in {count_noun(counts.files - outcome.unread_inputs, 'file')}"
    workloads = counts.workloads + counts.rejected + counts.placeholders
    lists = f" and {count_noun(counts.lists, 'list')} of constraints without pods" if counts.lists else ""
    return f"checked {count_noun(workloads, 'workload')}{lists} {where}"


def _results(outcome: CheckResult) -> list[str]:
    counts = outcome.counts
    parts = [f"{counts.fixed} fixed"] if counts.fixed else []
    left = " left" if counts.fixed else ""
    if outcome.findings or not outcome.unread_inputs or counts.files > outcome.unread_inputs:
        parts.append(_findings(outcome) + left)
    texts = {
        f"{count_noun(outcome.unread_inputs, 'input')} not read": outcome.unread_inputs,
        f"{counts.ignored} ignored": counts.ignored,
        f"{counts.baselined} in the baseline": counts.baselined,
        f"{count_noun(counts.rejected, 'workload')} rejected": counts.rejected,
        f"{count_noun(counts.placeholders, 'workload')} with placeholders": counts.placeholders,
    }
    parts += [text for text, number in texts.items() if number]
    if outcome.running is not None:
        parts += _of_running(outcome.running, is_all=bool(outcome.scope))
    parts += _of_placements(outcome.placements) if outcome.placements else []
    return parts + (_of_rollouts(outcome.rollouts) if outcome.rollouts else [])


def _of_placements(placements: list[Placement]) -> list[str]:
    pending = sum(len(placement.pending) for placement in placements)
    unpredicted = sum(len(placement.unpredicted) for placement in placements)
    return [
        f"{count_noun(pending, 'pod')} Pending" if pending else "no pod Pending",
        *_other_troubles(placements),
        *([f"{count_noun(unpredicted, 'pod')} not predictable"] if unpredicted else []),
    ]


def _findings(outcome: CheckResult) -> str:
    """Return the number of findings; do not report success if an input could not be read."""
    if outcome.findings:
        return count_noun(len(outcome.findings), "finding")
    return "nothing found in the readable resources" if outcome.unread else "no findings"


def _other_troubles(placements: list[Placement]) -> list[str]:
    """Return the counts of pods that are not created, are on missing nodes, or are evicted."""
    counts = {
        "refused": sum(len(placement.refused) for placement in placements),
        "not created": sum(len(placement.not_created) for placement in placements),
        "evicted": sum(len(placement.evictions) for placement in placements),
        "on missing nodes": sum(len(placement.on_missing_nodes) for placement in placements),
    }
    return [f"{count_noun(count, 'pod')} {what}" for what, count in counts.items() if count]


def _of_waiting(waiting: tuple[WaitingGroup, ...]) -> list[str]:
    from kubectl_spread.explain.explanation import PodVerdict

    sizes: Counter[bool] = Counter()
    for item in waiting:
        sizes[item.explanation.verdict is PodVerdict.SCHEDULABLE] += 1 + len(item.explanation.others)
    pending, soon = sizes[False], sizes[True]
    parts = [f"{count_noun(pending, 'pod')} Pending"] if pending else []
    parts += [f"{count_noun(soon, 'pod')} {'waits' if soon == 1 else 'wait'} to be scheduled"] if soon else []
    return parts or ["no pod Pending"]


def _of_running(running: RunningResults, *, is_all: bool) -> list[str]:
    parts = _of_waiting(running.waiting) if is_all else []
    counts = {
        "on missing nodes": sum(len(item.pods) for item in running.lost),
        "not created": sum(item.number for item in running.uncreated),
    }
    return parts + [f"{count_noun(count, 'pod')} {what}" for what, count in counts.items() if count]


def _of_rollouts(results: tuple[RolloutResult, ...]) -> list[str]:
    """Return the numbers of rollouts that get stuck, may get stuck, or are not known."""
    from kubectl_spread.engine.results.summary import Verdict

    numbers = {
        "stuck": sum(item.verdict is Verdict.GETS_STUCK for item in results),
        "may get stuck": sum(item.verdict is Verdict.MAY_GET_STUCK for item in results),
        "not known": sum(item.verdict is Verdict.NOT_KNOWN for item in results),
    }
    return [f"{count_noun(number, 'rollout')} {what}" for what, number in numbers.items() if number]


def _print_statistics(findings: list[Finding]) -> None:
    """Print the number of findings of each rule, the largest first."""
    from kubectl_spread.report.table import table

    counts = Counter((finding.rule.code, finding.rule.name) for finding in findings)
    rows = [(str(count), *rule) for rule, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    for line in table([("FINDINGS", "CODE", "NAME"), *rows] if rows else []):
        click.echo(line, err=True)
