"""`kubectl spread exporter`."""

from __future__ import annotations

import functools
import importlib.util
import re
import signal
import threading
from typing import Optional, TYPE_CHECKING

import click

from kubectl_spread.cli.console import Exit, print_error
from kubectl_spread.cli.options import (
    cluster_facts,
    namespace_option,
    option,
    policy_option,
    Seconds,
    SectionedCommand,
)
from kubectl_spread.errors import ClusterError, NoClusterError, SourceError
from kubectl_spread.operations import cluster_facts as cluster_facts_of
from kubectl_spread.operations.cluster_facts import ClusterSource
from kubectl_spread.operations.status import StatusRequest

if TYPE_CHECKING:
    from kubectl_spread.guarantee.policy import Policy

_ADDRESS = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([^\[\]:]*)):(\d{1,5})", re.ASCII)
_REQUEST_TIMEOUT = "60s"
_NOT_LIVE = ("live", "snapshot", "topology", "seed", "all_nodes")  # options that --help leaves out
_STUCK_INTERVALS, _LEAST_STUCK_S = 10, 1800.0


@click.command(cls=SectionedCommand)
@functools.partial(cluster_facts, hidden=_NOT_LIVE, timeout=_REQUEST_TIMEOUT)
@option(
    "--listen HOST:PORT: Address to serve the metrics at. An empty HOST means all addresses, and port 0 any free port.",
    default="127.0.0.1:9464",
)
@option("--interval SECONDS: Time between two readings of the cluster.", type=Seconds(min=1.0), default=30.0)
@option(
    "--max-age SECONDS: Age at which a reading is no longer served.  [default: 5 intervals, at least 300]",
    type=Seconds(min=1.0),
)
@namespace_option("Namespace of the workloads.  [default: all namespaces]")
@option("-A, --all-namespaces: All namespaces, as by default.")
@option("-l, --selector SELECTOR: Export only workloads with these labels.", name="label_selector")
@policy_option("Also check the running pods against a policy.")
@option("-a, --all: Also export workloads without constraints of their own.", name="shows_all")
def command(
    source: ClusterSource,
    listen: str,
    interval: float,
    max_age: Optional[float],
    namespace: Optional[str],
    all_namespaces: bool,
    label_selector: Optional[str],
    policy: Optional[Policy],
    shows_all: bool,
) -> int:
    """Serve the metrics of `status -o prometheus` over HTTP, for Prometheus to scrape.

    The exporter reads the cluster with the rights of `status`, every 30 seconds, and never changes it. Its paths are
    /metrics, /healthz (restart it if this fails) and /readyz (there is a recent reading). It serves the last reading
    while the API server is unavailable, and tries again. kubectl_spread_up says whether the last reading succeeded.

    The exporter needs prometheus_client: pip install 'kubectl-spread[exporter]'.

    \b
    Examples:
      # Export all namespaces of the current context
      kubectl spread exporter
      curl -s http://127.0.0.1:9464/metrics

    \b
      # One namespace, on all addresses, twice a minute
      kubectl spread exporter -n shop --listen :9464 --interval 30

    \b
    Exit codes:
      0  stopped by SIGTERM
      2  wrong usage, or prometheus_client is missing
      3  the address cannot be used, or the kubeconfig cannot be read
      130  stopped by Ctrl-C
    """  # noqa: D301
    found = _ADDRESS.fullmatch(listen)
    if found is None or int(found[3]) > 65535:
        raise click.UsageError(f"--listen: `{listen}` is not HOST:PORT, such as 127.0.0.1:9464 or [::]:9464")
    if source.snapshot or source.topology:
        raise click.UsageError("the exporter reads a live cluster: leave out --snapshot and --topology")
    if importlib.util.find_spec("prometheus_client") is None:
        message = "the exporter needs prometheus_client, which is not installed: pip install 'kubectl-spread[exporter]'"
        raise click.UsageError(message)
    from kubectl_spread.cli.targets import namespace_of, selection

    chosen = selection((), label_selector, verb="export")
    namespace = namespace_of(chosen, namespace, all_namespaces=all_namespaces)
    # A server that runs for days must not wait for one answer.
    timeout = source.connection.request_timeout or _REQUEST_TIMEOUT
    connection = source.connection._replace(request_timeout=timeout)
    facts = source._replace(connection=connection, listener=cluster_facts_of.ignore)
    request = StatusRequest(facts, chosen, namespace or "", shows_all, policy=policy)
    address = found[1] or found[2] or "", int(found[3])
    return _serve(request, address, interval=interval, most_age_s=max_age or max(5 * interval, 300.0))


def _serve(request: StatusRequest, address: tuple[str, int], *, interval: float, most_age_s: float) -> int:
    """Serve until a signal arrives; return the exit code."""
    import gc

    from kubectl_spread.exporter import ExporterServer, Poller

    gc.enable()  # a long-running program needs garbage collection
    try:
        # An unreadable kubeconfig is an error now, not a failed reading.
        cluster_facts_of.open_session(request.source.or_live())
    except NoClusterError as error:
        raise ClusterError(f"no cluster is configured: {error.why}. Use --kubeconfig or --server") from None
    poller = Poller(request, interval_s=interval, report=_report)
    stuck_s = max(_STUCK_INTERVALS * interval, _LEAST_STUCK_S)
    try:
        server = ExporterServer(address, poller, most_age_s=most_age_s, stuck_s=stuck_s)
    except (OSError, OverflowError) as error:
        reason = str(getattr(error, "strerror", None) or error).lower()
        raise SourceError("--listen", f"the address cannot be used: {reason}") from None
    stopped: list[int] = []

    def stop(number: int, _frame: object) -> None:
        stopped.append(number)
        threading.Thread(target=server.shutdown, daemon=True).start()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    shown = f"[{address[0]}]" if ":" in address[0] else address[0] or "0.0.0.0"  # noqa: S104 (as the user asked)
    click.echo(f"serving http://{shown}:{server.server_address[1]}/metrics", err=True)
    poller.start()
    with server:
        server.serve_forever(poll_interval=0.2)
    poller.stop()
    return Exit.INTERRUPTED if signal.SIGINT in stopped else Exit.CLEAN


def _report(problem: Optional[str]) -> None:
    """Print the message of a failed reading, or that readings succeed again."""
    if problem is not None:
        print_error(problem)
    else:
        click.echo("the cluster was read", err=True)
