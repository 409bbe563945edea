"""`kubectl spread rebalance`."""

from __future__ import annotations

import shutil
from typing import Optional, TYPE_CHECKING

import click

from kubectl_spread.cli import complete
from kubectl_spread.cli.complete import FILE
from kubectl_spread.cli.console.progress import Progress, progress
from kubectl_spread.cli.console.stderr import flush, print_error
from kubectl_spread.cli.exit import Exit
from kubectl_spread.cli.parameters.options import (
    as_usage_errors,
    cluster_facts,
    colour_option,
    kustomize_option,
    namespace_option,
    search_timeout,
    wants_colour,
)
from kubectl_spread.cli.parameters.outputs import FormatChoice, Output, page_source, redirect_output
from kubectl_spread.cli.parameters.sections import SectionedCommand
from kubectl_spread.cli.parameters.targets import selection
from kubectl_spread.errors import ClusterError, RefusedError
from kubectl_spread.operations.inputs.cluster_source import ClusterSource
from kubectl_spread.text.wording import safe

if TYPE_CHECKING:  # these load numpy
    from kubectl_spread.operations.rebalance import RebalanceRequest, RebalanceResult

_WIDTH, _WIDEST = 120, 160


@click.command(cls=SectionedCommand)
@click.argument("targets", nargs=-1, shell_complete=complete.targets, metavar="[TYPE [NAME...] | TYPE/NAME...]")
@click.option(
    "-f", "--filename", multiple=True, type=FILE, metavar="FILE", help="Create the workloads of a manifest first."
)
@kustomize_option
@cluster_facts
@namespace_option("Namespace of the workloads.  [default: the context's]")
@click.option("-A", "--all-namespaces", is_flag=True, help="Repair the workloads of all namespaces.")
@click.option("-l", "--selector", "label_selector", metavar="SELECTOR", help="Repair only workloads with these labels.")
@click.option("--soft", is_flag=True, help="Repair ScheduleAnyway constraints, too.")
@click.option("--max-moves", type=click.IntRange(1), metavar="N", help="Accept no plan of more than N evictions.")
@search_timeout("Stop searching after this time; 0 means no limit.")
@click.option("--wide", is_flag=True, help="Print long lists in full.")
@click.option(
    "-o",
    "--output",
    type=FormatChoice(["text", "json", "html"]),
    default="text",
    show_default=True,
    help="Output format; with =FILE, written to that file.",
)
@colour_option
@click.pass_context
def command(
    ctx: click.Context,
    targets: tuple[str, ...],
    filename: tuple[str, ...],
    kustomize: tuple[str, ...],
    facts: ClusterSource,
    namespace: Optional[str],
    all_namespaces: bool,
    label_selector: Optional[str],
    soft: bool,
    max_moves: Optional[int],
    timeout: Optional[float],
    *,
    allow_remote: bool,
    wide: bool,
    output: Output,
    color: str,
) -> int:
    """Plan the fewest evictions after which violated constraints hold again.

    For workloads that `status` shows as violated, rebalance searches for the shortest list of running pods to evict.
    Every eviction is simulated with all its outcomes: disruption budgets allow it, the new pod finds a node where it
    helps, no other pod moves, and no second round is needed. The commands are printed, never run.

    \b
    Exit codes:
      0  no constraint is violated, or every violated one has a plan
      1  a violated constraint has no plan, or a workload does not exist
      2  wrong usage
      3  an input could not be read, or the cluster could not be reached
      130  the search was interrupted; what is known so far was printed

    \b
    Examples:
      # What is the least to do for the workloads of a namespace?
      kubectl spread rebalance -n shop

    \b
      # One workload, at most three evictions
      kubectl spread rebalance deploy/web -n shop --max-moves 3

    \b
      # ScheduleAnyway constraints, too, in all namespaces of a snapshot
      kubectl spread rebalance -A --soft --snapshot facts.yaml

    \b
      # For a program, and as a page
      kubectl spread rebalance -A -o json > plan.json
      kubectl spread rebalance -A -o html=plan.html
    """  # noqa: D301
    chosen = selection(targets, label_selector, ctx, verb="rebalance")
    if all_namespaces and (namespace is not None or chosen.targets):
        what = "--namespace" if namespace is not None else "a resource by name"
        raise click.UsageError(f"{what} and --all-namespaces exclude each other", ctx)
    with as_usage_errors(ctx), progress("reading the cluster facts") as under_way:
        from kubectl_spread.operations.rebalance import RebalanceRequest  # numpy: 80 ms

        request = RebalanceRequest(
            facts,
            chosen,
            "" if all_namespaces else namespace,
            filename,
            kustomize,
            soft,
            max_moves,
            timeout,
            allow_remote,
        )
        try:
            found = _planned(request, under_way)
        except RefusedError as error:
            click.echo(safe(str(error)), err=True)
            return Exit.FINDINGS
    with redirect_output(output):
        if output.format == "json":
            _print_json(found)
        elif output.format == "html":
            _print_page(found)
        else:
            _print(found, colour=wants_colour(color) and not output.file, is_wide=wide)
    flush()
    for problem in (*found.errors, *found.missing):
        print_error(problem)
    return _code(found)


def _planned(request: RebalanceRequest, under_way: Progress) -> RebalanceResult:
    """Plan the repairs; Ctrl-C ends the search."""
    from kubectl_spread.cli.console import search
    from kubectl_spread.operations import rebalance

    read = rebalance.read_inputs(request)
    watch = search.ShownWatch(under_way, steps=1)
    with search.interruptible(watch):
        return rebalance.rebalance(read, request, watch=watch)


def _code(found: RebalanceResult) -> int:
    if found.is_interrupted:
        return Exit.INTERRUPTED
    if found.errors or any(isinstance(error, ClusterError) for error in found.missing):
        return Exit.UNREADABLE
    return Exit.CLEAN if found.is_fine else Exit.FINDINGS


def _print_json(found: RebalanceResult) -> None:
    from kubectl_spread.report.documents import dumps
    from kubectl_spread.report.rebalance import document

    unread = found.known.cluster.unread
    click.echo(dumps(document(found.rebalance, found.errors, unread, is_interrupted=found.is_interrupted)))


def _print_page(found: RebalanceResult) -> None:
    from kubectl_spread.report.pages import rebalance as pages  # jinja2: 30 ms

    cluster = found.known.cluster
    page = pages.render(found.rebalance, cluster, page_source(found.known), errors=found.errors, unread=cluster.unread)
    click.echo(page, nl=False)


def _print(found: RebalanceResult, *, colour: bool, is_wide: bool) -> None:
    if found.rebalance.repairs:
        from kubectl_spread.report.rebalance import render
        from kubectl_spread.report.table import Style

        shown = found.rebalance._replace(is_cut_short=False) if found.is_interrupted else found.rebalance
        click.echo(render(shown, Style(_width(), colour, is_wide)), color=True)
    elif not found.missing:
        where = f" in {found.selection.namespace} namespace" if found.selection.namespace else ""
        click.echo(f"No violated constraint found{where}: there is nothing to rebalance.")
    if found.is_interrupted:
        click.echo("\nThe search was interrupted: this is what is known so far.")
    if found.known.cluster.unread:
        from kubectl_spread.report import documents

        has_plan = any(item.is_repaired for item in found.rebalance.repairs)
        line = documents.line(found.known.cluster.unread)
        click.echo(f"\n{line}{'; these objects can change the plan' if has_plan else ''}")


def _width() -> int:
    """Return the width of the text, from the terminal or from COLUMNS."""
    return min(_WIDEST, shutil.get_terminal_size((_WIDTH, 24)).columns)
