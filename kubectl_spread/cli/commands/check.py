"""`kubectl spread check`."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from typing import Any, Optional, TYPE_CHECKING

import click

from kubectl_spread.cli import complete
from kubectl_spread.cli.console import Exit, finding_width, flush, print_error, progress
from kubectl_spread.cli.options import (
    cluster_facts,
    colour_option,
    FormatChoice,
    gather_options,
    kustomize_option,
    namespace_option,
    option,
    Output,
    page_source,
    redirect_output,
    RULES,
    SectionedCommand,
    wants_colour,
)
from kubectl_spread.errors import ClusterError, SourceError
from kubectl_spread.operations import check
from kubectl_spread.operations.check import CheckRequest
from kubectl_spread.operations.cluster_facts import ClusterSource, open_session
from kubectl_spread.operations.rule_choice import LEVELS, load_config, RuleChoice
from kubectl_spread.report.check.report import FORMATS as RENDERERS
from kubectl_spread.text.wording import comma_list, count_noun, safe

if TYPE_CHECKING:  # imported where they are used, so that --help and usage errors stay fast
    from kubectl_spread.explain.placement import Placement
    from kubectl_spread.lint.check_source import Result
    from kubectl_spread.lint.selection import Config
    from kubectl_spread.operations.check import CheckResult
    from kubectl_spread.operations.fix import Fixable
    from kubectl_spread.report.check.report import RunningResults

FORMATS = tuple(RENDERERS)


def _glob(text: str) -> str:
    """Return a glob.

    Raises:
        ValueError: a set in it is not complete.
    """
    from kubectl_spread.text.glob import glob_error

    wrong = glob_error(text)
    if wrong:
        raise ValueError(f"{text!r} is not a glob: {wrong}.")
    return text


_choice_options = gather_options(
    "choice",
    RuleChoice,
    (
        option("--fail-on LEVEL: error (default), warning, info or never.", type=click.Choice((*LEVELS, "never"))),
        option(
            "--profile NAME: minimal (only errors), default, or strict.",
            type=click.Choice(("minimal", "default", "strict")),
        ),
        option(
            "--select RULES...: Run only these: SPR3,selector-missing.",
            shell_complete=complete.rules,
        ),
        option("--extend-select RULES...: Run these as well.", shell_complete=complete.rules),
        option(
            "--ignore RULES...: Skip these; the longer prefix wins.",
            shell_complete=complete.rules,
        ),
        option(
            "--severity RULE=LEVEL...: Override a rule's severity.",
            shell_complete=complete.levels_of_rules,
        ),
        option(
            "--autoscaler NAME: cluster-autoscaler or karpenter: its rules.",
            type=click.Choice(("cluster-autoscaler", "karpenter")),
        ),
        option("--exclude GLOB...: Skip files that match, unless named.", read=_glob),
        option("--force-exclude: Skip excluded files even if they are named.", hidden=True),
        option("--project: Check the paths of the configuration file."),
        option("--baseline FILE: Report only findings that it lacks."),
        option("--write-baseline FILE: Accept all findings of this run."),
        option("--no-ignores: Also report suppressed findings."),
        option("--config FILE: Instead of the nearest .kubectl-spread.yaml."),
        option("--no-config: Ignore configuration files."),
    ),
    section=RULES,
)


@click.command(cls=SectionedCommand)
@click.argument("files", nargs=-1, shell_complete=complete.files_or_targets, metavar="[FILE | TYPE/NAME]...")
@option("-f, --filename FILE...: File or directory; - is standard input.", name="paths")
@option("-R, --recursive: Also the directories below.")
@kustomize_option
@cluster_facts
@namespace_option("Namespace of running workloads.")
@option("-A, --all-namespaces: Running workloads of all namespaces.")
@option("-l, --selector SELECTOR: Only running workloads with these labels.", name="label_selector")
@option(
    f"-o, --output FORMAT[=FILE]...: {', '.join(FORMATS)}.",
    type=FormatChoice(FORMATS),
)
@_choice_options
@option("--fix: Apply fixes that keep a manifest's meaning.")
@option("--unsafe-fixes: Also fixes that may change where pods run.")
@option("--diff: Print what --fix would change.")
@option("--statistics: Print the number of findings per rule.")
@option("--show-files: List the files that would be checked.")
@colour_option
def command(
    files: tuple[str, ...],
    paths: tuple[str, ...],
    source: ClusterSource,
    namespace: Optional[str],
    all_namespaces: bool,
    label_selector: Optional[str],
    output: tuple[Output, ...],
    choice: RuleChoice,
    fix: bool,
    unsafe_fixes: bool,
    diff: bool,
    statistics: bool,
    show_files: bool,
    color: str,
    **asked: Any,
) -> int:
    """Check topology spread constraints in manifests or of running workloads.

    check reports what the API server would refuse and what would go wrong later. With --live, --snapshot or --topology,
    it also places every replica as kube-scheduler would. Without files, it checks the workloads that run.

    \b
    Examples:
      kubectl spread check -R deploy/ --ignore SPR4,selector-missing
      helm template shop charts/shop | kubectl spread check -
      # Would all replicas be scheduled?
      kubectl spread check web.yaml --live
      kubectl spread check web.yaml --topology zones=3,nodes=2,cpu=4,memory=16Gi
      # Running workloads
      kubectl spread check -A
      # In CI: SARIF for code scanning, and text
      kubectl spread check -R deploy/ -o sarif=spread.sarif -o text

    \b
    Exit codes:
      0  nothing to report (with -o sarif alone always, unless --fail-on is given)
      1  findings, or pods that stay Pending; with --diff, something to fix
      2  wrong usage, or an invalid configuration file
      3  an input could not be read, or the cluster could not be reached
    """  # noqa: D301
    chosen = _chosen(output)
    if unsafe_fixes and not (fix or diff):
        raise click.UsageError("--unsafe-fixes needs --fix or --diff")
    config = load_config(choice)
    names = [word for word in files if _is_target(word)]
    has_files = bool(paths or asked["kustomize"] or choice.project)
    if names or all_namespaces or label_selector is not None:
        if has_files or len(names) < len(files):
            raise click.UsageError("-A, -l and TYPE/NAME check running workloads; they cannot be combined with files")
        is_running = True
    elif source.topology is not None or has_files or files or config.paths:
        is_running = False
    else:
        is_running = namespace is not None or source.is_given
        with contextlib.suppress(ClusterError):
            if not is_running:  # whether kubectl would find a cluster
                open_session(source.or_live())
                is_running = True
    if is_running:
        if diff or fix or show_files:
            raise click.UsageError("running workloads have no file: --fix, --diff and --show-files need manifests")
        from kubectl_spread.cli import targets  # not needed for manifests

        selection = targets.selection(files, label_selector, verb="check", takes_names=False)
        where = targets.namespace_of(selection, namespace, all_namespaces=all_namespaces)
        with progress("reading the cluster facts"):
            from kubectl_spread.operations import check_cluster  # numpy: 80 ms

            result = check_cluster.check_workloads(
                CheckRequest(source=source, namespace=where, choice=choice, config=config, selection=selection)
            )
    else:
        request = CheckRequest(
            (*paths, *files), source=source, namespace=namespace, choice=choice, config=config, **asked
        )
        if show_files:
            return _show_files(request, config)
        if diff:
            return _show_diff(request, unsafe=unsafe_fixes, colour=wants_colour(color))
        if fix:
            from kubectl_spread.operations.fix import fix_files

            result = fix_files(request, unsafe=unsafe_fixes)
        else:
            result = check.check_files(request)
    _print(result, chosen, colour=wants_colour(color), statistics=statistics)
    fail_on = choice.fail_on or config.fail_on or "error"
    judges_findings = choice.fail_on is not None or any(item.format != "sarif" for item in chosen)
    return _exit_code(result, fail_on=fail_on, judges_findings=judges_findings)


def _is_target(word: str) -> bool:
    """Return whether a word is TYPE/NAME, and not a file."""
    kind, slash, name = word.partition("/")
    if not slash or "/" in name or not name or os.path.exists(word):
        return False
    from kubectl_spread.objects.workloads.kinds import find_kind

    return find_kind(kind) is not None


def _chosen(asked: tuple[Output, ...]) -> list[Output]:
    """Return the outputs; by default text on standard output.

    Raises:
        UsageError: two go to one place, where the second would replace the first; devices such as /dev/null may be
            named twice.
    """
    chosen = list(asked or (Output("text", ""),))
    if sum(not output.file for output in chosen) > 1:
        name = chosen[-1].format
        raise click.UsageError(f"only one format can go to standard output: name a file, -o {name}=FILE")
    formats: dict[str, str] = {}
    for output in chosen if len(chosen) > 1 else ():
        path = os.path.realpath(output.file) if output.file else ""
        if path in formats and (os.path.isfile(path) or not os.path.exists(path)):
            raise click.UsageError(f"two formats would go to {output.file}: {formats[path]} and {output.format}")
        formats[path] = output.format
    return chosen


def _print(outcome: CheckResult, outputs: list[Output], *, colour: bool, statistics: bool) -> None:
    """Write every output, then report on stderr the unread inputs and the numbers of checked objects."""
    from kubectl_spread.operations.fix import count_fixable
    from kubectl_spread.report.check.report import render

    report = outcome.report
    formats = {output.format for output in outputs}
    if "html" in formats:
        from kubectl_spread.report.check.report import PageFacts

        known = outcome.run.known
        page = PageFacts(page_source(known), notes=outcome.notes)
        if known is not None:
            wants = outcome.selection.includes if outcome.selection is not None else None
            page = page._replace(cluster=known.cluster, profiles=known.profiles, wants=wants)
        report = report._replace(page=page)
    for output in outputs:
        width = None if output.file else finding_width()
        text = render(report, output.format, width=width)
        with redirect_output(output):
            if text:
                click.echo(text, color=colour and not output.file)
    flush()
    for error in (*report.errors, *outcome.missing):
        print_error(error)
    if formats & {"text", "concise"}:  # for people
        click.echo(summary(outcome, count_fixable(outcome)), err=True)
    if statistics and report.findings:
        from kubectl_spread.report.table import table

        numbers = Counter((finding.rule.code, finding.rule.name) for finding in report.findings)
        rows = [(str(count), *rule) for rule, count in sorted(numbers.items(), key=lambda item: (-item[1], item[0]))]
        click.echo("\n".join(table([("FINDINGS", "CODE", "NAME"), *rows])), err=True)


def _show_diff(request: CheckRequest, *, unsafe: bool, colour: bool) -> int:
    """Print the diff of every text that would change, and the errors; return the exit code."""
    from kubectl_spread.operations.fix import preview_fixes
    from kubectl_spread.report.diff import render

    found = preview_fixes(request, unsafe=unsafe)
    for error in found.errors:
        print_error(error)
    for source, text in found.changes:
        click.echo(render(source, text), nl=False, color=colour)
    left = found.left
    if found.changes:
        summary = f"would fix {count_noun(found.fixed, 'finding')} in {count_noun(len(found.changes), 'file')}"
    elif left.unsafe and not left.safe:
        have = "finding has an unsafe fix" if left.unsafe == 1 else "findings have unsafe fixes"
        summary = f"no safe fix; {left.unsafe} {have}: add --unsafe-fixes"
    else:
        summary = f"nothing to fix{offer(left)}"
    click.echo(summary, err=True)
    if found.errors or found.is_unreadable:
        return Exit.UNREADABLE
    return Exit.FINDINGS if found.changes else Exit.CLEAN


def _show_files(request: CheckRequest, config: Config) -> int:
    """Print a line for each file: its path and, if there are several roots, a tab and its roots."""
    from kubectl_spread.lint.roots import roots_of
    from kubectl_spread.sources.files import files, is_own, read_text

    given = check.input_paths(request, config)
    asked = check.settings(request, config)
    errors = 0
    paths: list[str] = []
    results: list[Result] = []
    for found in files(given.paths, recursive=given.recursive, exclusion=given.exclusion):
        try:
            if isinstance(found, SourceError):
                raise found
            source = read_text(found.path) if found.path != "-" else None
            if source is None or found.named or not is_own(source.text):
                paths.append(found.path)
                results += [asked.read(source)] if source is not None else []
        except SourceError as error:
            errors += 1
            print_error(error)
    rules = check.root_rules_of(given, config, [result.source for result in results], texts=())
    roots: dict[str, list[str]] = {result.source.name: [] for result in results}
    for root in roots_of(results, rules, asked.namespace):
        for source in root.sources:
            if (shown := root.display_name(source)) not in roots[source.name]:
                roots[source.name].append(shown)
    is_one = len({root for names in roots.values() for root in names}) <= 1
    for path in paths:
        names = roots.get(path, ())
        click.echo(safe(path) if is_one or not names else f"{safe(path)}\t{safe(', '.join(names))}")
    return Exit.UNREADABLE if errors else Exit.CLEAN


def _exit_code(outcome: CheckResult, *, fail_on: str, judges_findings: bool) -> int:
    """Return the worst exit code of unread inputs, Pending pods and findings.

    `judges_findings` is false if only the reader of the output judges them, as for SARIF.
    """
    report = outcome.report
    is_unread = bool(report.errors) or any(isinstance(error, ClusterError) for error in outcome.missing)
    if is_unread or any(finding.is_unreadable for finding in report.findings):
        return Exit.UNREADABLE
    if not judges_findings:
        return Exit.CLEAN
    running = report.running
    # A pod stays Pending, is on a missing node or not created, or a rollout gets stuck.
    stuck = [*(item.is_stuck for item in report.placements), *(item.is_stuck for item in report.rollouts)]
    if running is not None:
        stuck += [bool(running.lost or running.uncreated), *(item.is_stuck for item in running.waiting)]
    if outcome.missing or any(stuck):
        return Exit.FINDINGS
    if fail_on == "never":
        return Exit.CLEAN
    levels = LEVELS[: LEVELS.index(fail_on) + 1]
    if "warning" in levels and any(placement.unpredicted for placement in report.placements):
        return Exit.FINDINGS
    return Exit.FINDINGS if any(item.rule.severity.value in levels for item in report.findings) else Exit.CLEAN


def summary(outcome: CheckResult, fixable: Fixable) -> str:
    """Return the numbers of checked objects and findings, the notes, and what can be fixed."""
    counts = outcome.report.checked
    where = (
        outcome.selection.place
        if outcome.selection is not None
        else f"in {count_noun(len(outcome.run.results), 'file')}"
    )
    workloads = counts["workloads"] + counts["rejected"] + counts.get("placeholders", 0)
    lists = f" and {count_noun(counts['lists'], 'list')} of constraints without pods" if "lists" in counts else ""
    text = f"checked {count_noun(workloads, 'workload')}{lists} {where}: {', '.join(_results(outcome))}"
    text = "\nnote: ".join((text, *outcome.notes)) + offer(fixable)
    if any(pod.hosts > 1 for placement in outcome.report.placements for pod in placement.placed):
        text += "\nnote: if several nodes have the highest score, the scheduler may choose any of them; "
        text += "here it is the first by name"
    return text


def offer(count: Fixable) -> str:
    """Return a line with the number of fixable findings and the command; empty if there are none."""
    about = "" if count.is_exact else "about "
    parts = [f"{about}{count.safe} with --fix"] if count.safe else []
    more = f"{count.unsafe}{' more' if count.safe else ''}"
    parts += [f"{about}{more} with --fix --unsafe-fixes"] if count.unsafe else []
    return f"\ncan be fixed: {', '.join(parts)}" if parts else ""


def _results(outcome: CheckResult) -> list[str]:
    report, results = outcome.report, outcome.run.results
    counts = report.checked
    unread = counts["files"] - len(results)
    parts = [f"{counts['fixed']} fixed"] if counts["fixed"] else []
    left = " left" if parts else ""
    if report.findings or results or not unread:
        empty = [item.source.name for item in results if "noObject" in {reason.value for reason in item.skipped}]
        # An input that could not be read is no success.
        text = "nothing found in the readable resources" if report.unread else "no findings"
        if report.findings:
            text = count_noun(len(report.findings), "finding")
        elif empty and len(empty) == len(results):
            text = f"no Kubernetes object in {comma_list(empty, most=3)}"
        parts.append(text + left)
    parts += _counted("input", {"not read": unread})
    parts += [f"{counts['ignored']} ignored"] if counts["ignored"] else []
    parts += [f"{counts['baselined']} in the baseline"] if counts["baselined"] else []
    with_words = {"rejected": counts["rejected"], "with placeholders": counts.get("placeholders", 0)}
    parts += _counted("workload", with_words)
    parts += _of_running(report.running) if report.running is not None else []
    parts += _of_placements(report.placements) if report.placements else []
    if report.rollouts:
        from kubectl_spread.engine.results.summary import Verdict

        verdicts = {
            "stuck": Verdict.GETS_STUCK,
            "may get stuck": Verdict.MAY_GET_STUCK,
            "not known": Verdict.NOT_KNOWN,
        }
        numbers = {text: sum(item.verdict is verdict for item in report.rollouts) for text, verdict in verdicts.items()}
        parts += _counted("rollout", numbers)
    return parts


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
