"""`kubectl spread check`."""

from __future__ import annotations

from typing import Optional

import click

from kubectl_spread.cli import acceptance
from kubectl_spread.cli import checking
from kubectl_spread.cli import fixing
from kubectl_spread.cli.choices import choice_options
from kubectl_spread.cli.choices import ChoiceOptions
from kubectl_spread.cli.choices import Inputs
from kubectl_spread.cli.choices import inputs
from kubectl_spread.cli.choices import load_config
from kubectl_spread.cli.exit import Exit
from kubectl_spread.cli.options import cluster_facts
from kubectl_spread.cli.options import colour_option
from kubectl_spread.cli.options import FactOptions
from kubectl_spread.cli.options import kustomize_option
from kubectl_spread.cli.options import load_facts
from kubectl_spread.cli.options import open_session
from kubectl_spread.cli.options import wants_colour
from kubectl_spread.cli.outcome import complete_outputs
from kubectl_spread.cli.outcome import Counts
from kubectl_spread.cli.outcome import exit_code
from kubectl_spread.cli.outcome import FORMATS
from kubectl_spread.cli.outcome import Outcome
from kubectl_spread.cli.outcome import Output
from kubectl_spread.cli.outcome import outputs
from kubectl_spread.cli.outcome import print_outcome
from kubectl_spread.cli.stderr import complain
from kubectl_spread.errors import SourceError


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("-f", "--filename", multiple=True, metavar="FILE", help="File or directory to check; - is stdin.")
@click.option("-R", "--recursive", is_flag=True, help="Look into the directories below the ones named.")
@kustomize_option
@cluster_facts
@click.option("-n", "--namespace", metavar="NAME", help="Namespace of objects that name none.  [default: default]")
@click.option(
    "-o",
    "--output",
    multiple=True,
    metavar="FORMAT[=FILE]",
    callback=outputs,
    shell_complete=complete_outputs,
    help=f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}; with = also the file it goes to.  [default: text]",
)
@click.option("--output-file", metavar="FILE", help="The file that a single output goes to.")
@choice_options
@fixing.fix_options
@click.option("--statistics", is_flag=True, help="Say at the end how many findings each rule has.")
@click.option("--show-files", is_flag=True, help="Say which files would be checked, and check none.")
@colour_option
def command(
    files: tuple[str, ...],
    filename: tuple[str, ...],
    recursive: bool,
    kustomize: tuple[str, ...],
    facts: FactOptions,
    namespace: Optional[str],
    output: tuple[Output, ...],
    output_file: Optional[str],
    choices: ChoiceOptions,
    fixes: fixing.FixOptions,
    statistics: bool,
    show_files: bool,
    color: str,
) -> int:
    """Check topology spread constraints in manifests.

    Without cluster facts it says what the API server would reject, or what would fail later. With --live, --snapshot
    or --topology it also places every replica of every workload, one after another by the scheduler's rules,
    and says which stay Pending and why.

    \b
    Exit codes:
      0  nothing to report
      1  findings, or Pending pods; with --fail-on warning or info also pods that are not predictable
      2  wrong usage, or a config that cannot be followed
      3  an input could not be read, or the cluster could not be reached

    \b
    Examples:
      # Manifests, a directory, standard input
      kubectl spread check web.yaml
      kubectl spread check -R deploy/ --ignore SPR4,double-hard
      helm template shop charts/shop | kubectl spread check -
      kubectl spread check -k overlays/production

    \b
      # Would the replicas find nodes?
      kubectl spread check web.yaml --topology zones=3,nodes=2,cpu=4,memory=16Gi
      kubectl spread check web.yaml --snapshot facts.yaml -o json
      kubectl spread check web.yaml --live

    \b
      # See what can be mended, then mend it
      kubectl spread check -R deploy/ --diff
      kubectl spread check -R deploy/ --fix

    \b
      # The whole project, as .kubectl-spread.yaml has it; only what is new
      kubectl spread check --project --write-baseline spread-baseline.json
      kubectl spread check --project --baseline spread-baseline.json

    \b
      # For code scanning, and for people
      kubectl spread check -R deploy/ -o sarif=spread.sarif -o text
    """  # noqa: D301
    chosen = _chosen(output, output_file)
    fixes.check((*filename, *files), kustomize)
    config = load_config(choices)
    given = inputs((*filename, *files), choices, config, recursive=recursive, kustomized=kustomize)
    if show_files:
        return _show_files(given)
    session = open_session(facts)
    asked = checking.asked(choices, config, facts=facts, namespace=namespace, session=session)
    read = checking.read(given, asked)
    known = load_facts(asked.facts, session, checking.question(read, asked) if session is not None else None)
    known = checking.beside(known, read, namespace=asked.namespace)
    unread = list(known.errors) if known is not None else []
    placements = checking.placed(read, known, namespace=asked.namespace)
    judge = checking.judge(read, asked, known=known, placements=placements)
    if fixes.diff or fixes.fix:
        mended = fixing.mended(read.results, judge, fixes, recheck=asked.check)
        if fixes.diff:
            return fixing.show(read.results, mended, fixes, errors=[*read.errors, *unread], colour=wants_colour(color))
        read = checking.written(read, mended)
        placements = checking.placed(read, known, namespace=asked.namespace)
        judge = checking.judge(read, asked, known=known, placements=placements)
    judged = judge(read.results)
    fresh = acceptance.fresh(judged.findings, read, asked)
    counts = Counts(read.files, len(judged.workloads), read.rejected, judged.ignored, fresh.known, read.fixed)
    names = tuple(result.source.name for result in read.results)
    offer = fixing.offer(fresh.findings, fixes)
    outcome = Outcome(fresh.findings, placements, [*read.errors, *unread], counts, names, fresh.notes, offer)
    print_outcome(outcome, chosen, colour=wants_colour(color), statistics=statistics)
    return exit_code(outcome, chosen, fail_on=choices.fail_on or config.fail_on or "error")


def _show_files(given: Inputs) -> int:
    from kubectl_spread.sources.files import files

    errors = 0
    for found in files(given.paths, recursive=given.recursive, exclusion=given.exclusion):
        if isinstance(found, SourceError):
            errors += 1
            complain(found)
        else:
            click.echo(found.path)
    return Exit.UNREADABLE if errors else Exit.CLEAN


def _chosen(asked: tuple[Output, ...], file: Optional[str]) -> list[Output]:
    """What goes where; text to standard output where nobody says anything."""
    chosen = list(asked or (Output("text", ""),))
    if file is not None:
        if len(chosen) > 1 or chosen[0].file:
            raise click.UsageError(f"--output-file is for one output: write -o {chosen[-1].format}={file}")
        return [chosen[0]._replace(file=file)]
    if sum(not output.file for output in chosen) > 1:
        name = chosen[-1].format
        raise click.UsageError(f"only one format can go to standard output: name a file, -o {name}=FILE")
    return chosen
