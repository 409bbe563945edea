"""`kubectl spread check`."""

from __future__ import annotations

import os
from typing import NamedTuple, Optional, TYPE_CHECKING

import click

from kubectl_spread.cli import complete
from kubectl_spread.cli.complete import FILE
from kubectl_spread.cli.parameters import fix_options
from kubectl_spread.cli.parameters.options import (
    as_usage_errors,
    cluster_facts,
    colour_option,
    kustomize_option,
    namespace_option,
    wants_colour,
)
from kubectl_spread.cli.parameters.outputs import Output
from kubectl_spread.cli.parameters.rule_options import choice_options
from kubectl_spread.cli.parameters.sections import SectionedCommand
from kubectl_spread.cli.summary import complete_outputs, exit_code, FORMATS, outputs, print_result
from kubectl_spread.errors import ClusterError
from kubectl_spread.operations.check import CheckRequest
from kubectl_spread.operations.inputs.cluster_facts import open_session
from kubectl_spread.operations.inputs.cluster_source import ClusterSource
from kubectl_spread.operations.inputs.rule_choice import load_config, RuleChoice

if TYPE_CHECKING:  # imported where they are used, so that --help and usage errors stay fast
    from kubectl_spread.lint.selection import Config
    from kubectl_spread.operations.check import CheckResult


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
@click.option("-A", "--all-namespaces", is_flag=True, help="Check the running workloads of all namespaces.")
@click.option(
    "-l", "--selector", "label_selector", metavar="SELECTOR", help="Check only running workloads with these labels."
)
@click.option(
    "-o",
    "--output",
    multiple=True,
    metavar="FORMAT[=FILE]",
    callback=outputs,
    shell_complete=complete_outputs,
    help=f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}; with =FILE, written to that file. Repeatable.  [default: text]",
)
@click.option("--output-file", type=FILE, metavar="FILE", help="File for the output, if there is only one format.")
@choice_options
@fix_options.fix_options
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
    fixes: fix_options.FixOptions,
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
                from kubectl_spread.cli import showing

                return showing.show_files(request, config)
            if fixes.diff:
                return fix_options.show(request, fixes, colour=wants_colour(color))
            result = _checked(request, fixes)
    print_result(result, chosen, colour=wants_colour(color), statistics=statistics)
    fail_on = choices.fail_on or config.fail_on or "error"
    return exit_code(result, chosen, fail_on=fail_on, is_asked=choices.fail_on is not None)


def _checked(request: CheckRequest, fixes: fix_options.FixOptions) -> CheckResult:
    """Check manifests, and fix them first if the options say so."""
    if fixes.fix:
        from kubectl_spread.operations.fix import fix_files

        return fix_files(request, unsafe=fixes.unsafe_fixes)
    from kubectl_spread.operations.check import check_files

    return check_files(request)


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
    from kubectl_spread.cli.console.progress import progress  # not needed for manifests, as the next one
    from kubectl_spread.cli.parameters import targets

    selection = targets.selection(words.words, words.label_selector, ctx, verb="check")
    if words.all_namespaces and (words.namespace is not None or selection.targets):
        what = "--namespace" if words.namespace is not None else "a resource by name"
        raise click.UsageError(f"{what} and --all-namespaces exclude each other", ctx)
    namespace = "" if words.all_namespaces else words.namespace
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
