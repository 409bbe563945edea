"""`kubectl spread status`."""

from __future__ import annotations

import contextlib
import time
from typing import Optional, TYPE_CHECKING

import click

from kubectl_spread.cli import console
from kubectl_spread.cli.console import finish, flush, print_error, progress
from kubectl_spread.cli.options import (
    cluster_facts,
    DOCUMENTS,
    FormatChoice,
    namespace_option,
    option,
    Output,
    page_source,
    policy_option,
    print_document,
    redirect_output,
    Seconds,
    SectionedCommand,
    targets_argument,
)
from kubectl_spread.cli.targets import namespace_of, selection
from kubectl_spread.errors import SpreadError
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.operations.cluster_facts import ClusterSource
from kubectl_spread.operations.status import count_workloads_with_findings, StatusReader, StatusRequest
from kubectl_spread.text.wording import count_noun, safe

if TYPE_CHECKING:  # these load numpy
    from kubectl_spread.explain.status import WorkloadStatus
    from kubectl_spread.guarantee.policy import Policy
    from kubectl_spread.operations.status import StatusResult

FORMATS = ("wide", "json", "yaml", "prometheus", "html")


@click.command(cls=SectionedCommand)
@targets_argument
@cluster_facts
@namespace_option()
@option("-A, --all-namespaces: Show the workloads of all namespaces.")
@option("-l, --selector SELECTOR: Show only workloads with these labels.", name="label_selector")
@option("-a, --all: Also show workloads without constraints of their own.", name="shows_all")
@option("-w, --watch: Keep reading the cluster, and print changes.")
@option("--interval SECONDS: Time between two readings with --watch.", type=Seconds(min=0.1), default=5.0)
@policy_option("Policy for the running pods (docs/guarantee.md).")
@option("--no-headers: Do not print column headers.")
@option(f"-o, --output: {', '.join(FORMATS[:-1])} or {FORMATS[-1]}; =FILE writes a file.", type=FormatChoice(FORMATS))
def command(
    targets: tuple[str, ...],
    source: ClusterSource,
    namespace: Optional[str],
    all_namespaces: bool,
    label_selector: Optional[str],
    shows_all: bool,
    watch: bool,
    interval: float,
    policy: Optional[Policy],
    no_headers: bool,
    output: Optional[Output],
) -> int:
    """Show how the running pods are spread, and which constraints are violated.

    For each constraint, status prints the matching pods per domain as the scheduler counts them, and the skew.

    \b
    Examples:
      # Workloads with constraints: of a namespace, of all namespaces; one in full
      kubectl spread status -n shop
      kubectl spread status -A --snapshot facts.yaml
      kubectl spread status deploy/web -o wide
      # Also those with only the scheduler's default constraints; changes as they happen
      kubectl spread status deploy -a
      kubectl spread status -A -w
      # Do the running pods keep a policy?
      kubectl spread status -A --policy ha.yaml
      # Metrics for a textfile collector; a page with pictures
      kubectl spread status -A -o prometheus > spread.prom
      kubectl spread status -A -o html=status.html

    \b
    Exit codes:
      0  every DoNotSchedule constraint and the policy hold and no pod is Pending; always with -o prometheus
      1  a DoNotSchedule constraint or the policy is violated, a selector misses some pods, or a pod is
         Pending or missing
      2  wrong usage
      3  an input could not be read, or the cluster could not be reached
      130  -w was interrupted
    """  # noqa: D301
    form = "" if output is None else output.format
    chosen = selection(targets, label_selector, verb="show")
    where = namespace_of(chosen, namespace, all_namespaces=all_namespaces)
    if watch and output is not None and (form == "html" or output.file):
        raise click.UsageError("-w prints changes to standard output, so it cannot write a page or a file")
    if watch and form == "prometheus":
        raise click.UsageError("-w prints only changes, so it cannot print metrics")
    if watch and "-" in source.snapshot:
        raise click.UsageError("standard input cannot be read more than once")
    reader = StatusReader(StatusRequest(source, chosen, where, shows_all, policy))
    if watch:
        _watch(reader, _Shown(form, has_namespace=all_namespaces, has_headers=not no_headers), interval)
    with progress("reading the cluster facts"):
        found = reader.read()
    with redirect_output(output):
        _print(found, form, shows_all=reader.shows_all, has_headers=not no_headers)
    if form in ("", "wide") and not (no_headers or found.missing):
        number = 0
        with contextlib.suppress(SpreadError):  # check says what is wrong with its configuration
            number = count_workloads_with_findings(found, source)
        if number:
            flush()
            scope = ("-n", found.selection.namespace) if found.selection.namespace else ("-A",)
            what = f"{count_noun(number, 'workload')} {'has' if number == 1 else 'have'} findings"
            click.echo(safe(f"{what}: {source.command('check', *scope)}"), err=True)
    # With metrics, violated constraints are not failures.
    is_fine = not found.missing if form == "prometheus" else found.is_fine
    return finish((*found.known.errors, *found.missing), is_fine=is_fine)


def _print(found: StatusResult, output: str, *, shows_all: bool, has_headers: bool) -> None:
    """Print a document; or the rules of the policy, a table, and below it the unreadable resources."""
    what = "resources" if shows_all else "workloads with spread constraints"
    what += " among the readable resources" if found.known.cluster.unread else ""
    namespace = found.selection.namespace
    nothing = f"No {what} found in {namespace} namespace" if namespace else f"No {what} found"
    if output in DOCUMENTS:
        _print_document(found, output)
    elif output == "prometheus":
        from kubectl_spread.report.status import prometheus_text

        click.echo(prometheus_text(found.statuses, found.policy), nl=False)
    elif output == "html":
        from kubectl_spread.report.pages import workloads as pages  # jinja2: 30 ms

        source, unread = page_source(found.known), found.known.cluster.unread
        page = pages.render(
            found.statuses, found.known.cluster, source, nothing=nothing, unread=unread, policy=found.policy
        )
        click.echo(page, nl=False)
    else:
        from kubectl_spread.report import documents, status

        width = console.table_width() if has_headers and output != "wide" else None
        if found.policy is not None:
            lines = status.policy_lines(found.policy, width, has_namespace=not namespace, has_headers=has_headers)
            click.echo("\n".join([*lines, *([""] if found.statuses and has_headers else [])]))
        if found.statuses:
            _Shown(output, has_namespace=not namespace, has_headers=has_headers, width=width).show(found)
        elif not found.missing:
            flush()
            click.echo(f"{nothing}." if namespace else nothing, err=True)
        missing = documents.of_workloads(found.known.cluster.unread)
        if missing:
            click.echo(documents.line(missing))


def _print_document(found: StatusResult, form: str) -> None:
    from kubectl_spread.report.status import status_report

    print_document(status_report(found.statuses, found.known.errors, found.known.cluster.unread, found.policy), form)


class _Shown:
    """The lines that were already printed, so that later output contains only changes."""

    def __init__(self, form: str, *, has_namespace: bool, has_headers: bool, width: Optional[int] = None) -> None:
        from kubectl_spread.report.status import ColumnWidths

        self._form = form
        self._columns = ColumnWidths(width)
        self._settings = {"has_namespace": has_namespace, "is_wide": form == "wide"}
        self._awaits_headers = has_headers
        self._rows: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._workloads: dict[ObjectKey, WorkloadStatus] = {}

    def show(self, found: StatusResult) -> None:
        """Print new, changed and removed lines, or in JSON the workloads."""
        from kubectl_spread.report import status as table

        if self._form in DOCUMENTS:
            changed = [status for status in found.statuses if self._workloads.get(status.key) != status]
            self._workloads = {status.key: status for status in found.statuses}
            if changed or found.known.errors:
                if self._form == "yaml":
                    click.echo("---")
                _print_document(found._replace(statuses=changed), self._form)
            return
        header, rows = table.header(**self._settings), table.rows(found.statuses, **self._settings)
        here = {row.about: row.cells for row in rows}
        lines = [row.cells for row in rows if self._rows.get(row.about) != row.cells]
        status = header.index("STATUS")
        lines += [
            (*cells[:status], "gone", *cells[status + 1 :]) for about, cells in self._rows.items() if about not in here
        ]
        self._rows = here
        if lines and self._awaits_headers:
            lines.insert(0, header)
            self._awaits_headers = False
        for line in self._columns.lines(lines):
            click.echo(line)


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
            problem = "; ".join(map(str, found.known.errors))
        if problem and problem != printed:
            print_error(problem)
        printed = problem
