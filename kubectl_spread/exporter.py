"""Repeated readings of the status, and the HTTP server of their metrics: `/metrics`, `/healthz` and `/readyz`.

Only the text of the last reading's metrics is kept. The exporter has metrics about itself, too.
"""

from __future__ import annotations

import contextlib
import gc
import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Optional, TYPE_CHECKING

from prometheus_client import CollectorRegistry, GCCollector, generate_latest, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from kubectl_spread import __version__
from kubectl_spread.errors import SpreadError
from kubectl_spread.operations.status import StatusReader, StatusRequest

if TYPE_CHECKING:
    from kubectl_spread.explain.status import WorkloadStatus

_LONGEST_PAUSE_S = 300.0


class Reading(NamedTuple):
    """The metrics of one reading of the cluster.

    Attributes:
        text: in Prometheus' text format.
        at: the time at its end, in seconds since 1970.
        duration_s: of the reading.
        workloads: the number of workloads.
        forbidden: plural names of the resources that may not be read.
        left_out: the number of objects that could not be decoded.
    """

    text: str
    at: float
    duration_s: float
    workloads: int
    forbidden: tuple[str, ...]
    left_out: int


class Poller(threading.Thread):
    """A thread that reads the cluster repeatedly, and keeps the last reading.

    After a failure the next reading opens a new connection, so a changed kubeconfig, certificate or token is used.
    The pause doubles with each further failure in a row, up to five minutes.

    Args:
        request: the workloads.
        interval_s: seconds from the end of one reading to the beginning of the next.
        report: gets each new message of a failure, and None for the first success after one.
    """

    def __init__(
        self, request: StatusRequest, *, interval_s: float, report: Callable[[Optional[str]], None] = lambda _: None
    ) -> None:
        super().__init__(name="poller", daemon=True)
        self.interval_s = interval_s
        self.successes = self.failures = 0
        self.last: Optional[Reading] = None
        self.began = time.monotonic()
        self._request = request
        self._report = report
        self._reader: Optional[StatusReader] = None
        self._problem: Optional[str] = None
        self._end = threading.Event()

    @property
    def is_up(self) -> bool:
        """Return whether the last reading succeeded, and nothing was forbidden."""
        return self.last is not None and self._problem is None

    def stop(self) -> None:
        """Stop before the next reading; a reading in progress ends with the process."""
        self._end.set()

    def recent(self, most_s: float) -> Optional[Reading]:
        """Return the last reading, unless it is older than a number of seconds."""
        last = self.last
        return last if last is not None and time.time() - last.at <= most_s else None

    def read_once(self) -> bool:
        """Read the cluster; return whether it succeeded."""
        self.began = time.monotonic()
        try:
            reading = self._read()
        except SpreadError as error:
            self.failures += 1
            self._close()
            self._tell(str(error))
            return False
        self.last = reading
        gc.collect()  # a cluster of a large reading must not wait for the next collection
        self.successes += 1
        forbidden = ", ".join(reading.forbidden)
        self._tell(f"the cluster does not allow to list {forbidden}: metrics are missing" if forbidden else None)
        return True

    def run(self) -> None:
        """Read until the end; the thread calls it."""
        failures_in_a_row = 0
        while not self._end.is_set():
            failures_in_a_row = 0 if self.read_once() else failures_in_a_row + 1
            pause_s = self.interval_s * 2.0 ** min(max(failures_in_a_row - 1, 0), 10)
            self._end.wait(min(pause_s, max(_LONGEST_PAUSE_S, self.interval_s)))

    def _read(self) -> Reading:
        """Return a new reading.

        Raises:
            SpreadError: the cluster cannot be read.
        """
        from kubectl_spread.report.status import prometheus_text

        if self._reader is None:
            self._reader = StatusReader(self._request)
        statuses, known, policy = self._reader.stream(is_again=True)
        workloads = 0

        def counted() -> Iterator[WorkloadStatus]:
            nonlocal workloads
            for status in statuses:
                workloads += 1
                yield status

        return Reading(
            text=prometheus_text(counted(), policy),
            at=time.time(),
            duration_s=time.monotonic() - self.began,
            workloads=workloads,
            forbidden=tuple(sorted({item.plural for item in known.cluster.unread})),
            left_out=len(known.errors),
        )

    def _close(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None and reader.session is not None:
            reader.session.close()

    def _tell(self, problem: Optional[str]) -> None:
        if problem != self._problem or self.successes + self.failures == 1:
            self._report(problem)
        self._problem = problem


CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_PATIENCE_S = 30.0  # for a request and its answer as a whole, however slowly the client sends or reads
_MAX_CONNECTIONS = 32
_BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_FIRST_PAGE = "<title>kubectl spread</title><h1>kubectl spread exporter</h1><p><a href='/metrics'>Metrics</a>\n"


class HttpResponse(NamedTuple):
    """Status code, content type and text of an answer."""

    status: int
    text: str
    kind: str = "text/plain; charset=utf-8"


class ExporterServer(ThreadingHTTPServer):
    """Server of the metrics of a poller.

    Args:
        address: host and port; port 0 means any free one.
        poller: the readings.
        most_age_s: age in seconds at which a reading is no longer served.
        stuck_s: duration in seconds after which a reading counts as stuck.

    Raises:
        OSError: the address cannot be used.
    """

    daemon_threads = True
    request_queue_size = 32

    def __init__(self, address: tuple[str, int], poller: Poller, *, most_age_s: float, stuck_s: float) -> None:
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, _Handler)
        self.poller = poller
        self._most_age_s = most_age_s
        self._stuck_s = stuck_s
        self._registry = CollectorRegistry(auto_describe=False)  # of the readings, the process, and Python
        self._registry.register(HealthCollector(poller))
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        self._free = threading.BoundedSemaphore(_MAX_CONNECTIONS)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread for a connection; refuse it if there are too many."""
        if not self._free.acquire(blocking=False):
            with contextlib.suppress(OSError):
                request.setblocking(False)
                request.send(_BUSY)
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Handle a connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def answer(self, path: str) -> HttpResponse:
        """Return the answer to a GET request."""
        page, _, _ = path.partition("?")
        reading = self.poller.recent(self._most_age_s)
        if page == "/":
            return HttpResponse(200, _FIRST_PAGE, "text/html; charset=utf-8")
        if page == "/metrics":
            own = generate_latest(self._registry).decode()
            return HttpResponse(200, own if reading is None else reading.text + own, CONTENT_TYPE)
        if page not in ("/healthz", "/readyz"):
            return HttpResponse(404, "not found\n")
        if page == "/readyz" and reading is None:
            return HttpResponse(503, "no recent reading of the cluster\n")
        # The process works also while the API server does not answer: that is not a reason to restart it.
        if page == "/healthz" and not self.poller.is_alive():
            return HttpResponse(500, "the reading thread has ended\n")
        if page == "/healthz" and time.monotonic() - self.poller.began > self._stuck_s:
            return HttpResponse(500, "a reading is stuck\n")
        return HttpResponse(200, "ok\n")

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that close the connection."""


class _Handler(BaseHTTPRequestHandler):
    """Handler of GET and HEAD requests."""

    server: ExporterServer
    server_version = "kubectl-spread"
    sys_version = ""
    timeout = _PATIENCE_S
    protocol_version = "HTTP/1.1"

    def handle_one_request(self) -> None:
        """Handle a request; close the connection if that takes too long."""
        limit = threading.Timer(_PATIENCE_S, self._close)
        limit.daemon = True
        limit.start()
        try:
            super().handle_one_request()
        finally:
            limit.cancel()

    def _close(self) -> None:
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def do_GET(self) -> None:
        self._send(self.server.answer(self.path), has_body=True)

    def do_HEAD(self) -> None:
        self._send(self.server.answer(self.path), has_body=False)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name)
        """Log no requests: Prometheus sends one every few seconds."""

    def _send(self, answer: HttpResponse, *, has_body: bool) -> None:
        body = answer.text.encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.kind)
        self.send_header("X-Content-Type-Options", "nosniff")
        if "gzip" in (self.headers.get("Accept-Encoding") or "") and len(body) > 1024:
            body = gzip.compress(body, 5)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if has_body:
            with contextlib.suppress(ConnectionError, TimeoutError):
                self.wfile.write(body)


class HealthCollector(Collector):
    """Collector of the state of a poller."""

    def __init__(self, poller: Poller) -> None:
        self._poller = poller

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics. The metrics of a reading exist only after the first reading."""
        poller = self._poller
        yield GaugeMetricFamily(
            "kubectl_spread_up",
            "1 if the last reading of the cluster succeeded, and no resource was forbidden, else 0.",
            value=int(poller.is_up),
        )
        readings = CounterMetricFamily("kubectl_spread_readings", "Readings of the cluster.", labels=["result"])
        readings.add_metric(["success"], poller.successes)
        readings.add_metric(["failure"], poller.failures)
        yield readings
        build = GaugeMetricFamily("kubectl_spread_build_info", "Version of the exporter.", labels=["version"])
        build.add_metric([__version__], 1)
        yield build
        last = poller.last
        if last is None:
            return
        yield GaugeMetricFamily(
            "kubectl_spread_last_reading_timestamp_seconds", "End of the last successful reading.", value=last.at
        )
        yield GaugeMetricFamily(
            "kubectl_spread_last_reading_duration_seconds",
            "Duration of the last successful reading.",
            value=last.duration_s,
        )
        yield GaugeMetricFamily("kubectl_spread_workloads", "Workloads in the last reading.", value=last.workloads)
        yield GaugeMetricFamily(
            "kubectl_spread_undecodable_objects",
            "Objects of the last reading that could not be decoded.",
            value=last.left_out,
        )
        forbidden = GaugeMetricFamily(
            "kubectl_spread_resource_forbidden", "1 for each resource that may not be listed.", labels=["resource"]
        )
        for plural in last.forbidden:
            forbidden.add_metric([plural], 1)
        yield forbidden
