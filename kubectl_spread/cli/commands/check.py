"""`kubectl spread check`."""

from __future__ import annotations

import os
from typing import NamedTuple, Optional, TYPE_CHECKING

import click

from kubectl_spread.cli import complete
from kubectl_spread.cli.complete import FILE
from kubectl_spread.cli.console import Exit, finding_width, flush, print_error, progress
from kubectl_spread.cli.options import (
    all_namespaces_option,
    as_usage_errors,
    cluster_facts,
    colour_option,
    FormatChoice,
    gather_options,
    kustomize_option,
    namespace_option,
    Output,
    page_source,
    SectionedCommand,
    selector_option,
    wants_colour,
    write_output,
)
from kubectl_spread.cli.rule_options import choice_options
from kubectl_spread.cli.summary import exit_code, numbers_of_rules, offer, summary
from kubectl_spread.errors import ClusterError, SourceError
from kubectl_spread.operations import check
from kubectl_spread.operations.check import CheckRequest
from kubectl_spread.operations.cluster_facts import ClusterSource, open_session
from kubectl_spread.operations.rule_choice import InputPaths, load_config, RuleChoice
from kubectl_spread.report.check.report import FORMATS as RENDERERS
from kubectl_spread.text.wording import count_noun, safe

if TYPE_CHECKING:  # imported where they are used, so that --help and usage errors stay fast
    from kubectl_spread.lint.check_source import Result
    from kubectl_spread.lint.selection import Config
    from kubectl_spread.operations.check import CheckResult
    from kubectl_spread.operations.fix import Fixable
    from kubectl_spread.report.check.report import CheckReport, PageFacts, WorkloadPlace

FORMATS = tuple(RENDERERS)
_WHERE_ANY = ("lists", "templates", "placeholders")  # counts that the report has only if they are not 0


class FixOptions(NamedTuple):
    """The command line's options for fixes."""

    fix: bool
    unsafe_fixes: bool
    diff: bool

    def check(self) -> None:
        """Raise a usage error if the options do not go together."""
        if self.unsafe_fixes and not (self.fix or self.diff):
            raise click.UsageError("--unsafe-fixes needs --fix or --diff")


_FIX_OPTIONS = (
    click.option("--fix", is_flag=True, help="Apply the fixes that keep a manifest's meaning to the files."),
    click.option(
        "--unsafe-fixes", is_flag=True, help="With --fix or --diff: also apply fixes that may change where pods run."
    ),
    click.option("--diff", is_flag=True, help="Print what --fix would change as a diff; write nothing."),
)
_fix_options = gather_options("fixes", FixOptions, _FIX_OPTIONS, fields=FixOptions._fields)


@click.command(cls=SectionedCommand)
@click.argument("files", nargs=-1, shell_complete=complete.files_or_targets, metavar="[FILE | TYPE/NAME]...")
@click.option(
    "-f",
    "--filename",
    multiple=True,
    type=FILE,
    metavar="FILE",
    help="File or directory to check; - is standard input. Repeatable.",
)
@click.option("-R", "--recursive", is_flag=True, help="Also check the directories below the named ones.")
@kustomize_option
@cluster_facts
@namespace_option(
    "Namespace of the running workloads, and of objects that name none.  [default: the context's, or default]"
)
@all_namespaces_option("Check the running workloads of all namespaces.")
@selector_option("Check only running workloads with these labels.")
@click.option(
    "-o",
    "--output",
    multiple=True,
    metavar="FORMAT[=FILE]",
    type=FormatChoice(FORMATS),
    help=f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}; with =FILE, written to that file. Repeatable.  [default: text]",
)
@click.option("--output-file", type=FILE, metavar="FILE", help="File for the output, if there is only one format.")
@choice_options
@_fix_options
@click.option("--statistics", is_flag=True, help="Print the number of findings per rule at the end.")
@click.option(
    "--show-files",
    is_flag=True,
    help="List the files that would be checked and their project roots, without checking them.",
)
@colour_option
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[str, ...],
    filename: tuple[str, ...],
    recursive: bool,
    kustomize: tuple[str, ...],
    allow_remote: bool,
    facts: ClusterSource,
    namespace: Optional[str],
    all_namespaces: bool,
    label_selector: Optional[str],
    output: tuple[Output, ...],
    output_file: Optional[str],
    choices: RuleChoice,
    fixes: FixOptions,
    statistics: bool,
    show_files: bool,
    color: str,
) -> int:
    """Check topology spread constraints in manifests or of running workloads.

    Without cluster facts, check reports what the API server would reject and what would go wrong later. With --live,
    --snapshot or --topology, it also places every replica as kube-scheduler would, and reports which replicas stay
    Pending and why.

    In a directory, it reads the files that end in .yaml, .yml or .json; with -R also those in subdirectories, except
    hidden and linked ones. A named file may have any extension. --show-files lists the files.

    Without files, it checks the workloads that run in the live cluster or in a snapshot. It reports wrong constraints,
    violated constraints, Pending pods with the reason, and rollouts that would get stuck.

    \b
    Exit codes:
      0  nothing to report
      1  findings, or pods that stay Pending or do not exist; with --fail-on warning or info also unpredictable pods
      2  wrong usage, or an invalid configuration file
      3  an input could not be read, or the cluster could not be reached

    With -o sarif as the only format, the code is 0 even with findings or Pending pods, unless --fail-on is given.
    --fail-on never ignores findings, but not Pending pods. With --diff, the exit code is 1 if there is anything to fix.

    \b
    Examples:
      # Check a file, a directory, standard input, a kustomization
      kubectl spread check web.yaml
      kubectl spread check -R deploy/ --ignore SPR4,selector-missing
      helm template shop charts/shop | kubectl spread check -
      kubectl spread check -k overlays/production

    \b
      # Would all replicas be scheduled?
      kubectl spread check web.yaml --topology zones=3,nodes=2,cpu=4,memory=16Gi
      kubectl spread check web.yaml --snapshot facts.yaml -o json
      kubectl spread check web.yaml --live

    \b
      # Check running workloads: of a namespace, of all namespaces, just one
      kubectl spread check -n shop
      kubectl spread check -A -l team=web --snapshot facts.yaml
      kubectl spread check deploy/web -n shop

    \b
      # Show the fixes, then apply them
      kubectl spread check -R deploy/ --diff
      kubectl spread check -R deploy/ --fix

    \b
      # Check the whole project, and report only new findings
      kubectl spread check --project --write-baseline spread-baseline.json
      kubectl spread check --project --baseline spread-baseline.json

    \b
      # Write SARIF for code scanning, and text to the terminal
      kubectl spread check -R deploy/ -o sarif=spread.sarif -o text
    """  # noqa: D301
    chosen = _chosen(output, output_file)
    fixes.check()
    with as_usage_errors(ctx):
        config = load_config(choices)
        words = WorkloadWords(files, namespace, all_namespaces, label_selector)
        if words.mean_running(has_files=bool(filename or kustomize or choices.project), config=config, facts=facts):
            if fixes.diff or fixes.fix or show_files:
                raise click.UsageError(
                    "running workloads have no file: --fix, --diff and --show-files need manifests", ctx
                )
            result = _running(words, choices, config, facts, ctx)
        else:
            request = CheckRequest(
                (*filename, *files), recursive, kustomize, facts, namespace, choices, config, allow_remote
            )
            if show_files:
                return _show_files(request, config)
            if fixes.diff:
                return _show_diff(request, fixes, colour=wants_colour(color))
            result = _checked(request, fixes)
    _print(result, chosen, colour=wants_colour(color), statistics=statistics)
    fail_on = choices.fail_on or config.fail_on or "error"
    judges_findings = choices.fail_on is not None or any(item.format != "sarif" for item in chosen)
    return exit_code(result, fail_on=fail_on, judges_findings=judges_findings)


def _checked(request: CheckRequest, fixes: FixOptions) -> CheckResult:
    """Check manifests, and fix them first if the options say so."""
    if fixes.fix:
        from kubectl_spread.operations.fix import fix_files

        return fix_files(request, unsafe=fixes.unsafe_fixes)
    return check.check_files(request)


class WorkloadWords(NamedTuple):
    """The parts of the command line that select running workloads; `words` may also be files."""

    words: tuple[str, ...]
    namespace: Optional[str]
    all_namespaces: bool
    label_selector: Optional[str]

    def mean_running(self, *, has_files: bool, config: Config, facts: ClusterSource) -> bool:
        """Return whether to check running workloads instead of manifests: they are named, or there are no files.

        Raises:
            click.UsageError: files are named together with workloads.
        """
        names = [word for word in self.words if _is_target(word)]
        if not (names or self.all_namespaces or self.label_selector is not None):
            if facts.topology is not None or has_files or self.words or config.paths:
                return False
            return self.namespace is not None or facts.is_given or _is_cluster_known(facts)
        if has_files or len(names) < len(self.words):
            raise click.UsageError(
                "-A, -l and TYPE/NAME check running workloads; they cannot be combined with files",
                click.get_current_context(),
            )
        return True


def _is_cluster_known(facts: ClusterSource) -> bool:
    """Return whether kubectl would find a cluster."""
    try:
        open_session(facts.or_live())
    except ClusterError:
        return False
    return True


def _is_target(word: str) -> bool:
    """Return whether a word is TYPE/NAME, and not a file."""
    kind, slash, name = word.partition("/")
    if not slash or "/" in name or not name or os.path.exists(word):
        return False
    from kubectl_spread.objects.workloads.kinds import find_kind

    return find_kind(kind) is not None


def _running(
    words: WorkloadWords, choices: RuleChoice, config: Config, facts: ClusterSource, ctx: click.Context
) -> CheckResult:
    """Check workloads that run."""
    from kubectl_spread.cli import targets  # not needed for manifests

    selection = targets.selection(words.words, words.label_selector, ctx, verb="check")
    namespace = targets.namespace_of(selection, words.namespace, ctx, all_namespaces=words.all_namespaces)
    with progress("reading the cluster facts"):
        from kubectl_spread.operations import check_cluster  # numpy: 80 ms

        request = check_cluster.ClusterCheckRequest(facts, selection, namespace, choices, config)
        return check_cluster.check_workloads(request)


def _chosen(asked: tuple[Output, ...], file: Optional[str]) -> list[Output]:
    """Return the outputs; by default text on standard output."""
    chosen = list(asked or (Output("text", ""),))
    if file is not None:
        if len(chosen) > 1 or chosen[0].file:
            raise click.UsageError(f"--output-file is for one output: write -o {chosen[-1].format}={file}")
        return [chosen[0]._replace(file=file)]
    if sum(not output.file for output in chosen) > 1:
        name = chosen[-1].format
        raise click.UsageError(f"only one format can go to standard output: name a file, -o {name}=FILE")
    _refuse_shared_files(chosen)
    return chosen


def _refuse_shared_files(chosen: list[Output]) -> None:
    """Refuse two outputs to one file: the second would replace the first.

    Raises:
        UsageError: the path that is named twice; devices may be, as /dev/null.
    """
    formats: dict[str, str] = {}
    for output in chosen if len(chosen) > 1 else ():
        path = os.path.realpath(output.file) if output.file else ""
        if path in formats and (os.path.isfile(path) or not os.path.exists(path)):
            raise click.UsageError(f"two formats would go to {output.file}: {formats[path]} and {output.format}")
        formats[path] = output.format


def _print(outcome: CheckResult, outputs: list[Output], *, colour: bool, statistics: bool) -> None:
    """Write every output, then report on stderr the unread inputs and the numbers of checked objects."""
    from kubectl_spread.operations.fix import count_fixable
    from kubectl_spread.report.check.report import render

    report = _report(outcome, {output.format for output in outputs})
    for output in outputs:
        width = None if output.file else finding_width()
        text = render(report, output.format, colour=colour and not output.file, width=width)
        if output.file:
            write_output(output, text + "\n" if text else "")
        elif text:
            click.echo(text, color=True)
    flush()
    for error in (*outcome.errors, *outcome.missing):
        print_error(error)
    if any(output.format in ("text", "concise") for output in outputs):  # for people
        click.echo(summary(outcome, count_fixable(outcome)), err=True)
    if statistics:
        for line in numbers_of_rules(outcome.findings):
            click.echo(line, err=True)


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


def _show_diff(request: CheckRequest, fixes: FixOptions, *, colour: bool) -> int:
    """Print the diff of every text that would change, and the errors; return the exit code."""
    from kubectl_spread.operations.fix import preview_fixes
    from kubectl_spread.report.diff import render

    found = preview_fixes(request, unsafe=fixes.unsafe_fixes)
    for error in found.errors:
        print_error(error)
    for source, text in found.changes:
        click.echo(render(source, text, colour=colour), nl=False, color=True)
    if found.changes:
        summary = f"would fix {count_noun(found.fixed, 'finding')} in {count_noun(len(found.changes), 'file')}"
    else:
        summary = _nothing(found.left)
    click.echo(summary, err=True)
    if found.errors:
        return Exit.UNREADABLE
    return Exit.FINDINGS if found.changes else Exit.CLEAN


def _nothing(count: Fixable) -> str:
    """Return why a diff is empty."""
    if count.unsafe and not count.safe:
        have = "finding has an unsafe fix" if count.unsafe == 1 else "findings have unsafe fixes"
        return f"no safe fix; {count.unsafe} {have}: add --unsafe-fixes"
    return f"nothing to fix{offer(count)}"


def _show_files(request: CheckRequest, config: Config) -> int:
    """Print a line for each file: its path and, if there are several roots, a tab and its roots."""
    from kubectl_spread.sources.files import files, read_text

    given = check.paths_of(request, config)
    asked = check.settings(request.choice, config, source=request.source, namespace=request.namespace)
    errors = 0
    paths: list[str] = []
    results: list[Result] = []
    for found in files(given.paths, recursive=given.recursive, exclusion=given.exclusion):
        if isinstance(found, SourceError):
            errors += 1
            print_error(found)
            continue
        paths.append(found.path)
        try:
            results += [asked.read(read_text(found.path))] if found.path != "-" else []
        except SourceError as error:
            errors += 1
            print_error(error)
    roots = _roots(given, asked, results)
    is_one = len({root for names in roots.values() for root in names}) <= 1
    for path in paths:
        names = roots.get(path, ())
        shown = safe(path)
        click.echo(shown if is_one or not names else f"{shown}\t{safe(', '.join(names))}")
    return Exit.UNREADABLE if errors else Exit.CLEAN


def _roots(given: InputPaths, asked: check.CheckSettings, results: list[Result]) -> dict[str, list[str]]:
    """Return the roots of each file that was read, by its name."""
    from kubectl_spread.lint.projects import roots_of

    rules = check.root_rules_of(given, asked.config, [result.source for result in results], texts=())
    found: dict[str, list[str]] = {result.source.name: [] for result in results}
    for root in roots_of(results, rules, asked.namespace):
        for source in root.sources:
            if (shown := root.display_name(source)) not in found[source.name]:
                found[source.name].append(shown)
    return found
