"""`kubectl spread rebalance`."""

from __future__ import annotations

from typing import Any, Optional, TYPE_CHECKING

import click

from kubectl_spread.cli.console import finish, progress
from kubectl_spread.cli.options import (
    answer_options,
    cluster_facts,
    Count,
    DOCUMENTS,
    effort_option,
    kustomize_option,
    namespace_option,
    option,
    Output,
    page_source,
    print_document,
    redirect_output,
    SectionedCommand,
    targets_argument,
)
from kubectl_spread.cli.targets import namespace_of, selection
from kubectl_spread.report.wording import INTERRUPTED

if TYPE_CHECKING:  # these load numpy
    from kubectl_spread.operations.rebalance import RebalanceResult


@click.command(cls=SectionedCommand)
@targets_argument
@option("-f, --filename FILE...: Create the workloads of a manifest first.", name="paths")
@kustomize_option
@cluster_facts
@namespace_option()
@option("-A, --all-namespaces: Repair the workloads of all namespaces.")
@option("-l, --selector SELECTOR: Repair only workloads with these labels.", name="label_selector")
@option("--soft: Repair ScheduleAnyway constraints, too.", name="has_soft")
@option("--max-moves N: Accept no plan of more than N evictions.", name="most_moves", type=Count(1))
@effort_option
@answer_options("text", "json", "yaml", "html")
def command(
    targets: tuple[str, ...],
    namespace: Optional[str],
    all_namespaces: bool,
    label_selector: Optional[str],
    output: Output,
    has_soft: bool,
    most_moves: Optional[int],
    effort: float,
    **asked: Any,
) -> int:
    """Plan the fewest evictions after which violated constraints hold again.

    For workloads that `status` shows as violated, rebalance searches for the shortest list of running pods to evict.
    Every eviction is simulated with all its outcomes: disruption budgets allow it, the new pod finds a node where it
    helps, no other pod moves, and no second round is needed. The commands are printed, never run.

    \b
    Examples:
      # What is the least to do for a namespace? For one workload, with at most three evictions?
      kubectl spread rebalance -n shop
      kubectl spread rebalance deploy/web -n shop --max-moves 3
      # ScheduleAnyway constraints, too, in all namespaces of a snapshot
      kubectl spread rebalance -A --soft --snapshot facts.yaml
      # For a program, and as a page
      kubectl spread rebalance -A -o json > plan.json
      kubectl spread rebalance -A -o html=plan.html

    \b
    Exit codes:
      0  no constraint is violated, or every violated one has a plan
      1  a violated constraint has no plan, or a workload does not exist
      2  wrong usage
      3  an input could not be read, or the cluster could not be reached
      130  Ctrl-C or SIGTERM ended the search; what is known so far was printed
    """  # noqa: D301
    chosen = selection(targets, label_selector, verb="rebalance")
    where = namespace_of(chosen, namespace, all_namespaces=all_namespaces)
    with progress("reading the cluster facts") as under_way:
        from kubectl_spread.cli import search
        from kubectl_spread.operations import rebalance, simulate  # numpy: 80 ms

        inputs = simulate.SimulateRequest(namespace=where, **asked)
        request = rebalance.RebalanceRequest(inputs, chosen, has_soft, most_moves, effort)
        read = simulate.read_inputs(inputs)
        with search.interruptible(under_way) as watch:
            found = rebalance.rebalance_workloads(request, watch, read=read)
    with redirect_output(output):
        _print(found, output)
    problems = (*found.errors, *found.missing)
    return finish(problems, is_fine=found.is_fine, is_interrupted=found.is_interrupted)


def _print(found: RebalanceResult, output: Output) -> None:
    cluster = found.known.cluster
    if output.format in DOCUMENTS:
        from kubectl_spread.report.rebalance import document

        made = document(found.rebalance, found.errors, cluster.unread, is_interrupted=found.is_interrupted)
        print_document(made, output.format)
        return
    if output.format == "html":
        from kubectl_spread.report.pages import rebalance as pages  # jinja2: 30 ms

        source = page_source(found.known, output.style)
        page = pages.render(found.rebalance, cluster, source, errors=found.errors, unread=cluster.unread)
        click.echo(page, nl=False)
        return
    if found.rebalance.repairs:
        from kubectl_spread.report.rebalance import render

        shown = found.rebalance._replace(is_cut_short=False) if found.is_interrupted else found.rebalance
        click.echo(render(shown, output.style), color=output.colour)
    elif not found.missing:
        where = f" in {found.selection.namespace} namespace" if found.selection.namespace else ""
        click.echo(f"No violated constraint found{where}: there is nothing to rebalance.")
    if found.is_interrupted:
        click.echo(f"\n{INTERRUPTED}")
    if cluster.unread:
        from kubectl_spread.report import documents

        has_plan = any(item.is_repaired for item in found.rebalance.repairs)
        line = documents.line(cluster.unread)
        click.echo(f"\n{line}{'; these objects can change the plan' if has_plan else ''}")
