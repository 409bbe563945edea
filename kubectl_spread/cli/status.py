"""`kubectl spread status`."""

from __future__ import annotations

import time
from typing import NamedTuple
from typing import Optional
from typing import TYPE_CHECKING

import click

from kubectl_spread.cli import complete
from kubectl_spread.cli.exit import Exit
from kubectl_spread.cli.options import cluster_facts
from kubectl_spread.cli.options import FactOptions
from kubectl_spread.cli.options import Facts
from kubectl_spread.cli.options import named_facts
from kubectl_spread.cli.options import open_session
from kubectl_spread.cli.progress import progress
from kubectl_spread.cli.stderr import complain
from kubectl_spread.cli.stderr import flush
from kubectl_spread.cli.targets import Named
from kubectl_spread.cli.targets import named
from kubectl_spread.cli.targets import selector
from kubectl_spread.errors import ClusterError
from kubectl_spread.errors import SourceError
from kubectl_spread.errors import SpreadError

if TYPE_CHECKING:  # these load numpy
    from kubectl_spread.cluster.snapshot import Cluster
    from kubectl_spread.cluster.snapshot import OwnerKey
    from kubectl_spread.objects.labels import Labels
    from kubectl_spread.objects.selector import Selector
    from kubectl_spread.simulate.status import WorkloadStatus
    from kubectl_spread.sources.live.reading import Session

FORMATS = ("wide", "json", "prometheus")


class _Asked(NamedTuple):
    """Which workloads; `namespace` is empty for all, `shows_all`: also those without constraints of their own."""

    named: Named
    selector: Optional[Selector]
    namespace: str
    shows_all: bool

    def wants(self, key: OwnerKey, labels: Labels) -> bool:
        """Whether a workload is asked about."""
        if self.namespace and key.namespace != self.namespace:
            return False
        return self.named.includes(key.kind, key.name) and (self.selector is None or self.selector.matches(labels))


class _Found(NamedTuple):
    """The workloads, and what could not be read."""

    statuses: list[WorkloadStatus]
    errors: tuple[SourceError, ...]
    cluster: Cluster


@click.command()
@click.argument("targets", nargs=-1, shell_complete=complete.targets, metavar="[TYPE [NAME...] | TYPE/NAME...]")
@cluster_facts
@click.option(
    "-n",
    "--namespace",
    metavar="NAME",
    shell_complete=complete.namespaces,
    help="Namespace of the workloads.  [default: the context's]",
)
@click.option("-A", "--all-namespaces", is_flag=True, help="Show the workloads of all namespaces.")
@click.option("-l", "--selector", "label_selector", metavar="SELECTOR", help="Show only workloads with these labels.")
@click.option("-a", "--all", "shows_all", is_flag=True, help="Also show workloads without constraints of their own.")
@click.option("-w", "--watch", is_flag=True, help="Keep reading the cluster, and print what changes.")
@click.option(
    "--interval",
    type=click.FloatRange(min=0.1),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="Time between two readings with --watch.",
)
@click.option("--no-headers", is_flag=True, help="Do not print column headers.")
@click.option("-o", "--output", type=click.Choice(FORMATS), help="Output format.  [default: a table]")
@click.pass_context
def command(
    ctx: click.Context,
    targets: tuple[str, ...],
    facts: FactOptions,
    namespace: Optional[str],
    all_namespaces: bool,
    label_selector: Optional[str],
    shows_all: bool,
    watch: bool,
    interval: float,
    no_headers: bool,
    output: Optional[str],
) -> int:
    """Show how the running pods are spread, and which constraints are violated.

    For each constraint, status prints the matching pods per domain as the scheduler counts them, and the skew.

    \b
    Exit codes:
      0  every DoNotSchedule constraint holds and no pod is Pending; always with -o prometheus
      1  a DoNotSchedule constraint is violated or counts only some of its pods, or a pod is Pending or does not exist
      2  wrong usage
      3  an input could not be read, or the cluster could not be reached
      130  -w was interrupted

    \b
    Examples:
      # Workloads with constraints: of a namespace, of all namespaces of a snapshot
      kubectl spread status -n shop
      kubectl spread status -A --snapshot facts.yaml

    \b
      # All Deployments, also those that have only the scheduler's default constraints
      kubectl spread status deploy -a

    \b
      # One workload in full; changes as they happen
      kubectl spread status deploy/web -o wide
      kubectl spread status -A -w

    \b
      # Metrics for a textfile collector, to alert on kubectl_spread_constraint_violated
      kubectl spread status -A -o prometheus > spread.prom
    """  # noqa: D301
    asked_names, facts = named(targets, ctx, verb="show"), facts.or_live()
    if all_namespaces and (namespace is not None or asked_names.targets):
        what = "--namespace" if namespace is not None else "a resource by name"
        raise click.UsageError(f"{what} and --all-namespaces exclude each other", ctx)
    if watch and output == "prometheus":
        raise click.UsageError("-w prints what changes, which is no complete set of metrics", ctx)
    if watch and "-" in facts.snapshot:
        raise click.UsageError("standard input cannot be read again and again", ctx)
    session = open_session(facts)
    own = session.target.namespace if session is not None else "default"
    asked = _Asked(
        asked_names,
        selector(label_selector, asked_names, ctx),
        "" if all_namespaces else namespace or own,
        shows_all or bool(asked_names.targets),
    )
    if watch:
        shown = _Shown(output, has_namespace=all_namespaces, has_headers=not no_headers)
        _watch(_Looking(facts, asked, session), shown, interval)
    with progress("reading the cluster facts"):
        found = _Looking(facts, asked, session).look()
    absent = _absent(found, asked)
    if output in ("json", "prometheus") or found.statuses or not absent:
        _print(found, asked, output, has_headers=not no_headers)
    if output not in ("json", "prometheus"):
        _print_unread(found)
    flush()
    for error in (*found.errors, *absent):
        complain(error)
    if found.errors or any(isinstance(error, ClusterError) for error in absent):
        return Exit.UNREADABLE
    is_fine = output == "prometheus" or all(status.is_fine for status in found.statuses)
    is_fine &= not absent
    return Exit.CLEAN if is_fine else Exit.FINDINGS


class _Looking(NamedTuple):
    """Where to look: the facts that are named, or a live cluster."""

    facts: FactOptions
    asked: _Asked
    session: Optional[Session]

    def look(self, *, is_again: bool = False) -> _Found:
        """The workloads as they are now; `is_again` as in `live.load`."""
        known = self._load(is_again=is_again)
        from kubectl_spread.simulate.status import statuses  # numpy: 80 ms

        found = statuses(known.cluster, known.profiles, wants=self.asked.wants)
        shown = [status for status in found if self.asked.shows_all or status.has_own]
        return _Found(shown, known.errors, known.cluster)

    def _load(self, *, is_again: bool) -> Facts:
        if self.session is None:
            return named_facts(self.facts)
        from kubectl_spread.cli import live
        from kubectl_spread.sources.live.resources import Question

        asked = self.asked
        kinds = {target.kind for target in asked.named.targets} | asked.named.kinds
        question = Question(
            asked.namespace, tuple(sorted(kinds)), is_overview=not kinds, shows_defaults=asked.shows_all
        )
        return live.load(self.facts, self.session, question, is_again=is_again)


def _absent(found: _Found, asked: _Asked) -> list[SpreadError]:
    """What is named and is not there, be it a workload or the namespace."""
    from kubectl_spread.cli.absent import absent
    from kubectl_spread.cli.absent import is_missing
    from kubectl_spread.cli.absent import no_namespace

    there = {(status.key.kind, status.key.name) for status in found.statuses}
    missing = [
        absent(target.kind, target.name, namespace=asked.namespace, cluster=found.cluster)
        for target in asked.named.targets
        if (target.kind, target.name) not in there
    ]
    is_nowhere = not missing and is_missing(asked.namespace, found.cluster)
    return [no_namespace(asked.namespace)] if is_nowhere else missing


def _print(found: _Found, asked: _Asked, output: Optional[str], *, has_headers: bool) -> None:
    if output == "json":
        _print_json(found)
    elif output == "prometheus":
        from kubectl_spread.report import prometheus

        click.echo(prometheus.text(found.statuses), nl=False)
    elif found.statuses:
        shown = _Shown(output, has_namespace=not asked.namespace, has_headers=has_headers)
        shown.show(found)
    else:
        where = f" in {asked.namespace} namespace" if asked.namespace else ""
        what = "resources" if asked.shows_all else "workloads with spread constraints"
        what += " among those that may be read" if found.cluster.unread else ""
        flush()
        click.echo(f"No {what} found{where}." if where else f"No {what} found", err=True)


def _print_unread(found: _Found) -> None:
    """Say below the table what of the cluster might not be read."""
    if found.cluster.unread:
        from kubectl_spread.report import unread

        missing = unread.of_workloads(found.cluster.unread)
        if missing:
            click.echo(unread.line(missing))


def _print_json(found: _Found) -> None:
    from kubectl_spread.report.json import dumps
    from kubectl_spread.report.status_json import status_report

    click.echo(dumps(status_report(found.statuses, found.errors, found.cluster.unread)))


class _Shown:
    """What was printed already, so that only what has changed comes after it."""

    def __init__(self, output: Optional[str], *, has_namespace: bool, has_headers: bool) -> None:
        from kubectl_spread.report import status_table

        self._table = status_table
        self._columns = status_table.Columns()
        self._is_wide = output == "wide"
        self._is_json = output == "json"
        self._has_namespace = has_namespace
        self._awaits_headers = has_headers
        self._rows: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._workloads: dict[OwnerKey, WorkloadStatus] = {}

    def show(self, found: _Found) -> None:
        """Print the lines that are new or have changed, or in JSON the workloads; and those that are gone."""
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

    def _show_json(self, found: _Found) -> None:
        changed = [status for status in found.statuses if self._workloads.get(status.key) != status]
        self._workloads = {status.key: status for status in found.statuses}
        if changed or found.errors:
            _print_json(found._replace(statuses=changed))


def _watch(looking: _Looking, shown: _Shown, interval_s: float) -> None:
    """Look until somebody interrupts; what goes wrong for a while is said once, after the first look."""
    import gc

    gc.enable()  # a program that goes on has what to collect
    shown.show(looking.look(is_again=True))
    told = ""
    while True:
        flush()
        time.sleep(interval_s)
        try:
            found = looking.look(is_again=True)
        except SpreadError as error:
            problem = str(error)
        else:
            shown.show(found)
            problem = "; ".join(map(str, found.errors))
        if problem and problem != told:
            complain(problem)
        told = problem
