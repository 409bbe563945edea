"""`kubectl spread status`."""

from __future__ import annotations

import time
from typing import Optional, TYPE_CHECKING

import click

from kubectl_spread.cli import complete, console
from kubectl_spread.cli.complete import FILE
from kubectl_spread.cli.console import finish, flush, print_error, progress
from kubectl_spread.cli.options import (
    all_namespaces_option,
    as_usage_errors,
    cluster_facts,
    FormatChoice,
    namespace_option,
    Output,
    page_source,
    redirect_output,
    Seconds,
    SectionedCommand,
    selector_option,
)
from kubectl_spread.cli.targets import namespace_of, selection
from kubectl_spread.errors import SpreadError
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.operations.cluster_facts import ClusterSource
from kubectl_spread.operations.status import StatusReader, StatusRequest

if TYPE_CHECKING:  # these load numpy
    from kubectl_spread.guarantee.policy.policy import Policy
    from kubectl_spread.operations.status import StatusResult
    from kubectl_spread.simulate.running.status import WorkloadStatus

FORMATS = ("wide", "json", "prometheus", "html")
_DOCUMENTS = ("json", "prometheus", "html")  # which are complete without a line below them


@click.command(cls=SectionedCommand)
@click.argument("targets", nargs=-1, shell_complete=complete.targets, metavar="[TYPE [NAME...] | TYPE/NAME...]")
@cluster_facts
@namespace_option("Namespace of the workloads.  [default: the context's]")
@all_namespaces_option("Show the workloads of all namespaces.")
@selector_option("Show only workloads with these labels.")
@click.option("-a", "--all", "shows_all", is_flag=True, help="Also show workloads without constraints of their own.")
@click.option("-w", "--watch", is_flag=True, help="Keep reading the cluster, and print changes.")
@click.option(
    "--interval",
    type=Seconds(min=0.1),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="Time between two readings with --watch.",
)
@click.option("--policy", type=FILE, metavar="FILE", help="Check the running pods against a policy (`kind: Policy`).")
@click.option("--no-headers", is_flag=True, help="Do not print column headers.")
@click.option(
    "-o",
    "--output",
    type=FormatChoice(FORMATS),
    help="Output format; with =FILE, written to that file.  [default: a table]",
)
@click.pass_context
def command(
    ctx: click.Context,
    targets: tuple[str, ...],
    facts: ClusterSource,
    namespace: Optional[str],
    all_namespaces: bool,
    label_selector: Optional[str],
    shows_all: bool,
    watch: bool,
    interval: float,
    policy: Optional[str],
    no_headers: bool,
    output: Optional[Output],
) -> int:
    """Show how the running pods are spread, and which constraints are violated.

    For each constraint, status prints the matching pods per domain as the scheduler counts them, and the skew.

    \b
    Exit codes:
      0  every DoNotSchedule constraint and the policy hold and no pod is Pending; always with -o prometheus
      1  a DoNotSchedule constraint or the policy is violated, a selector misses pods, or a pod is Pending or missing
      2  wrong usage
      3  an input could not be read, or the cluster could not be reached
      130  -w was interrupted

    \b
    Examples:
      # Workloads with constraints: of a namespace, of all namespaces of a snapshot
      kubectl spread status -n shop
      kubectl spread status -A --snapshot facts.yaml

    \b
      # All Deployments, including those with only the scheduler's default constraints
      kubectl spread status deploy -a

    \b
      # One workload in full; changes as they happen
      kubectl spread status deploy/web -o wide
      kubectl spread status -A -w

    \b
      # Metrics for a textfile collector, to alert on kubectl_spread_constraint_violated
      kubectl spread status -A -o prometheus > spread.prom

    \b
      # Do the running pods keep a policy?
      kubectl spread status -A --policy ha.yaml

    \b
      # A page with pictures
      kubectl spread status -A -o html=status.html
    """  # noqa: D301
    form = None if output is None else output.format
    chosen = selection(targets, label_selector, ctx, verb="show")
    where = namespace_of(chosen, namespace, ctx, all_namespaces=all_namespaces)
    if watch:
        _check_watch(facts, output, ctx)
    rules = None if policy is None else _load(policy)
    with as_usage_errors(ctx):
        reader = StatusReader(StatusRequest(facts, chosen, where, shows_all, rules))
        if watch:
            shown = _Shown(form, has_namespace=all_namespaces, has_headers=not no_headers)
            _watch(reader, shown, interval)
        with progress("reading the cluster facts"):
            found = reader.read()
    with redirect_output(output):
        if form in _DOCUMENTS or found.statuses or not found.missing:
            _print(found, form, shows_all=reader.shows_all, has_headers=not no_headers)
        if form not in _DOCUMENTS:
            _print_policy(found, has_headers=not no_headers, is_wide=form == "wide")
            _print_unread(found)
    # With metrics, violated constraints are not failures.
    is_fine = not found.missing if form == "prometheus" else found.is_fine
    return finish((*found.errors, *found.missing), is_fine=is_fine)


def _load(path: str) -> Policy:
    from kubectl_spread.sources import policy_file

    return policy_file.load(path)


def _check_watch(facts: ClusterSource, output: Optional[Output], ctx: click.Context) -> None:
    """Check that --watch can be combined with the other options.

    Raises:
        click.UsageError: it cannot.
    """
    if output is not None and (output.format == "html" or output.file):
        raise click.UsageError("-w prints changes to standard output, so it cannot write a page or a file", ctx)
    if output is not None and output.format == "prometheus":
        raise click.UsageError("-w prints only changes, so it cannot print metrics", ctx)
    if "-" in facts.snapshot:
        raise click.UsageError("standard input cannot be read more than once", ctx)


def _print(found: StatusResult, output: Optional[str], *, shows_all: bool, has_headers: bool) -> None:
    if output == "json":
        _print_json(found)
    elif output == "prometheus":
        from kubectl_spread.report import prometheus

        click.echo(prometheus.text(found.statuses), nl=False)
        if found.policy is not None:
            click.echo("\n".join(prometheus.metrics(found.policy)))
    elif output == "html":
        from kubectl_spread.report.pages import workloads as pages  # jinja2: 30 ms

        source = page_source(found.known)
        nothing = _nothing_found(found, shows_all=shows_all).rstrip(".")
        unread = found.cluster.unread
        text = pages.render(found.statuses, found.cluster, source, nothing=nothing, unread=unread, policy=found.policy)
        click.echo(text, nl=False)
    elif found.statuses:
        width = console.table_width() if has_headers and output != "wide" else None
        shown = _Shown(output, has_namespace=not found.selection.namespace, has_headers=has_headers, width=width)
        shown.show(found)
    else:
        flush()
        click.echo(_nothing_found(found, shows_all=shows_all), err=True)


def _nothing_found(found: StatusResult, *, shows_all: bool) -> str:
    """Return kubectl's sentence about an empty list."""
    what = "resources" if shows_all else "workloads with spread constraints"
    what += " among the readable resources" if found.cluster.unread else ""
    namespace = found.selection.namespace
    return f"No {what} found in {namespace} namespace." if namespace else f"No {what} found"


def _print_policy(found: StatusResult, *, has_headers: bool, is_wide: bool) -> None:
    """Print the rules of the policy below the table."""
    if found.policy is None:
        return
    from kubectl_spread.report import status

    width = console.table_width() if has_headers and not is_wide else None
    lines = status.policy_lines(found.policy, width, has_namespace=not found.selection.namespace)
    gap = [""] if found.statuses and has_headers else []
    click.echo("\n".join([*gap, *lines[0 if has_headers else 1 :]]))


def _print_unread(found: StatusResult) -> None:
    """Print the unreadable resources of the cluster below the table."""
    if found.cluster.unread:
        from kubectl_spread.report import documents

        missing = documents.of_workloads(found.cluster.unread)
        if missing:
            click.echo(documents.line(missing))


def _print_json(found: StatusResult) -> None:
    from kubectl_spread.report.documents import dumps
    from kubectl_spread.report.status import status_report

    click.echo(dumps(status_report(found.statuses, found.errors, found.cluster.unread, found.policy)))


class _Shown:
    """The lines that were already printed, so that later output contains only changes."""

    def __init__(
        self, output: Optional[str], *, has_namespace: bool, has_headers: bool, width: Optional[int] = None
    ) -> None:
        from kubectl_spread.report import status as table

        self._table = table
        self._columns = table.ColumnWidths(width)
        self._is_wide = output == "wide"
        self._is_json = output == "json"
        self._has_namespace = has_namespace
        self._awaits_headers = has_headers
        self._rows: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._workloads: dict[ObjectKey, WorkloadStatus] = {}

    def show(self, found: StatusResult) -> None:
        """Print new, changed and removed lines, or in JSON the workloads."""
        if self._is_json:
            self._show_json(found)
            return
        rows = self._table.rows(found.statuses, has_namespace=self._has_namespace, is_wide=self._is_wide)
        lines = [row.cells for row in rows if self._rows.get(row.about) != row.cells]
        here = {row.about: row.cells for row in rows}
        status = self._table.header(has_namespace=self._has_namespace, is_wide=self._is_wide).index("STATUS")
        for about, cells in self._rows.items():
            if about not in here:
                lines.append((*cells[:status], "gone", *cells[status + 1 :]))
        self._rows = here
        if lines and self._awaits_headers:
            lines.insert(0, self._table.header(has_namespace=self._has_namespace, is_wide=self._is_wide))
            self._awaits_headers = False
        for line in self._columns.lines(lines):
            click.echo(line)

    def _show_json(self, found: StatusResult) -> None:
        changed = [status for status in found.statuses if self._workloads.get(status.key) != status]
        self._workloads = {status.key: status for status in found.statuses}
        if changed or found.errors:
            _print_json(found._replace(statuses=changed))


def _watch(reader: StatusReader, shown: _Shown, interval_s: float) -> None:
    """Read the status until the user interrupts. After the first read, report a lasting error only once."""
    import gc

    gc.enable()  # a long-running program needs garbage collection
    shown.show(reader.read(is_again=True))
    printed = ""
    while True:
        flush()
        time.sleep(interval_s)
        try:
            found = reader.read(is_again=True)
        except SpreadError as error:
            problem = str(error)
        else:
            shown.show(found)
            problem = "; ".join(map(str, found.errors))
        if problem and problem != printed:
            print_error(problem)
        printed = problem
