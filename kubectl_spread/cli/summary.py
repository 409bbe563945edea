"""The end of `check`: the summary line, and the exit code."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kubectl_spread.cli.console import Exit
from kubectl_spread.errors import ClusterError
from kubectl_spread.operations.rule_choice import LEVELS
from kubectl_spread.text.wording import comma_list, count_noun, safe

if TYPE_CHECKING:  # imported where they are used, so that --help stays fast
    from kubectl_spread.lint.check_source import Result
    from kubectl_spread.lint.finding import Finding
    from kubectl_spread.operations.check import CheckResult, CheckSettings
    from kubectl_spread.operations.fix import Fixable
    from kubectl_spread.report.check.report import CheckReport, RunningResults
    from kubectl_spread.simulate.placement import Placement
    from kubectl_spread.simulate.rollouts.result import RolloutResult


def exit_code(outcome: CheckResult, *, fail_on: str, judges_findings: bool) -> int:
    """Return the worst exit code of unread inputs, Pending pods and findings.

    `judges_findings` is false if only the reader of the output judges them, as for SARIF.
    """
    report = outcome.report
    is_unread = bool(report.errors) or any(isinstance(error, ClusterError) for error in outcome.missing)
    if is_unread or any(finding.is_unreadable for finding in report.findings):
        return Exit.UNREADABLE
    if not judges_findings:
        return Exit.CLEAN
    if outcome.missing or _is_any_stuck(report):
        return Exit.FINDINGS
    if fail_on == "never":
        return Exit.CLEAN
    levels = LEVELS[: LEVELS.index(fail_on) + 1]
    if "warning" in levels and any(placement.unpredicted for placement in report.placements):
        return Exit.FINDINGS
    return Exit.FINDINGS if any(item.rule.severity.value in levels for item in report.findings) else Exit.CLEAN


def _is_any_stuck(report: CheckReport) -> bool:
    """Return whether a pod stays Pending, is on a missing node or not created, or a rollout gets stuck."""
    if any(map(_is_stuck, report.placements)) or any(item.is_stuck for item in report.rollouts):
        return True
    running = report.running
    if running is None:
        return False
    waiting = any(item.is_stuck for item in running.waiting)
    return waiting or bool(running.lost or running.uncreated)


def _is_stuck(placement: Placement) -> bool:
    """Return whether a pod of a placement, or a pod evicted for it, stays without a node or does not exist."""
    evicted = any(item.again is not None and not item.again.node for item in placement.evictions)
    absent = placement.not_created or placement.refused
    return bool(placement.stuck or placement.on_missing_nodes or absent or evicted)


def summary(outcome: CheckResult, fixable: Fixable) -> str:
    """Return the numbers of checked objects and findings, the notes, and what can be fixed."""
    counts, read = outcome.report.checked, outcome.run.read
    where = outcome.selection.place if outcome.selection is not None else f"in {count_noun(len(read.results), 'file')}"
    workloads = counts["workloads"] + counts["rejected"] + counts.get("placeholders", 0)
    lists = f" and {count_noun(counts['lists'], 'list')} of constraints without pods" if "lists" in counts else ""
    text = f"checked {count_noun(workloads, 'workload')}{lists} {where}: {', '.join(_results(outcome))}"
    text = "\nnote: ".join((text, *outcome.notes)) + offer(fixable)
    stuck = {item.workload.key for item in outcome.report.placements if item.stuck}
    for result in outcome.run.read.results:
        if stuck.intersection(subject.workload.key for subject in result.subjects):
            text += f"\nwhat would help: {_explain(result.source.name, outcome.run.settings)}"
            break
    if any(pod.hosts > 1 for placement in outcome.report.placements for pod in placement.placed):
        text += "\nnote: if several nodes have the highest score, the scheduler may choose any of them; "
        text += "here it is the first by name"
    return text


def _explain(name: str, settings: CheckSettings) -> str:
    """Return the command that explains a manifest in the cluster of the check."""
    piped, read = ("... | ", "-") if name == "<stdin>" else ("", name)
    option = "-k" if os.path.isdir(name) else "-f"
    return piped + safe(settings.source.command("explain", option, read, "-n", settings.namespace))


def offer(count: Fixable) -> str:
    """Return a line with the number of fixable findings and the command; empty if there are none."""
    about = "" if count.is_exact else "about "
    parts = [f"{about}{count.safe} with --fix"] if count.safe else []
    parts += [f"{about}{count.unsafe} with --fix --unsafe-fixes"] if count.unsafe else []
    return f"\ncan be fixed: {', '.join(parts)}" if parts else ""


def _results(outcome: CheckResult) -> list[str]:
    report, results = outcome.report, outcome.run.read.results
    counts = report.checked
    unread = counts["files"] - len(results)
    parts = [f"{counts['fixed']} fixed"] if counts["fixed"] else []
    left = " left" if parts else ""
    if report.findings or results or not unread:
        parts.append(_findings(report, results) + left)
    parts += _counted("input", {"not read": unread})
    parts += [f"{counts['ignored']} ignored"] if counts["ignored"] else []
    parts += [f"{counts['baselined']} in the baseline"] if counts["baselined"] else []
    with_words = {"rejected": counts["rejected"], "with placeholders": counts.get("placeholders", 0)}
    parts += _counted("workload", with_words)
    parts += _of_running(report.running) if report.running is not None else []
    parts += _of_placements(report.placements) if report.placements else []
    return parts + (_of_rollouts(report.rollouts) if report.rollouts else [])


def _findings(report: CheckReport, results: list[Result]) -> str:
    """Return the number of findings; do not report success if an input could not be read."""
    if report.findings:
        return count_noun(len(report.findings), "finding")
    empty = [item.source.name for item in results if "noObject" in {reason.value for reason in item.skipped}]
    if empty and len(empty) == len(results):
        return f"no Kubernetes object in {comma_list(empty, most=3)}"
    return "nothing found in the readable resources" if report.unread else "no findings"


def _counted(noun: str, numbers: dict[str, int]) -> list[str]:
    """Return `2 pods evicted` for each number that is not 0."""
    return [f"{count_noun(number, noun)} {what}" for what, number in numbers.items() if number]


def _of_placements(placements: list[Placement]) -> list[str]:
    numbers: Counter[str] = Counter()
    for item in placements:
        numbers["Pending"] += len(item.stuck)
        numbers["waiting for new nodes"] += len(item.pending) - len(item.stuck)
        numbers["refused"] += len(item.refused)
        numbers["not created"] += len(item.not_created)
        numbers["evicted"] += len(item.evictions)
        numbers["on missing nodes"] += len(item.on_missing_nodes)
        numbers["not predictable"] += len(item.unpredicted)
    return [*([] if numbers["Pending"] else ["no pod Pending"]), *_counted("pod", numbers)]


def _of_running(running: RunningResults) -> list[str]:
    """Return the numbers of running pods that wait, are on missing nodes, or are not created."""
    from kubectl_spread.explain.explanation import PodVerdict

    sizes: Counter[bool] = Counter()
    for item in running.waiting:
        sizes[item.explanation.verdict is PodVerdict.SCHEDULABLE] += 1 + len(item.explanation.others)
    wait = "waits" if sizes[True] == 1 else "wait"
    parts = _counted("pod", {"Pending": sizes[False], f"{wait} to be scheduled": sizes[True]}) or ["no pod Pending"]
    lost = sum(len(item.pods) for item in running.lost)
    return parts + _counted("pod", {"on missing nodes": lost, "not created": sum(x.number for x in running.uncreated)})


def _of_rollouts(rollouts: Sequence[RolloutResult]) -> list[str]:
    """Return the numbers of rollouts that get stuck, may get stuck, or are not known."""
    from kubectl_spread.engine.results.summary import Verdict

    verdicts = {
        "stuck": Verdict.GETS_STUCK,
        "may get stuck": Verdict.MAY_GET_STUCK,
        "not known": Verdict.NOT_KNOWN,
    }
    numbers = {what: sum(item.verdict is verdict for item in rollouts) for what, verdict in verdicts.items()}
    return _counted("rollout", numbers)


def numbers_of_rules(findings: list[Finding]) -> list[str]:
    """Return a table with the number of findings of each rule, the largest first."""
    from kubectl_spread.report.table import table

    counts = Counter((finding.rule.code, finding.rule.name) for finding in findings)
    rows = [(str(count), *rule) for rule, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    return list(table([("FINDINGS", "CODE", "NAME"), *rows] if rows else []))
