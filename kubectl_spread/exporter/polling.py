"""Repeated readings of the status; only the text of the metrics is kept."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.errors import SpreadError
from kubectl_spread.operations.status import StatusReader, StatusRequest

if TYPE_CHECKING:
    from kubectl_spread.simulate.running.status import WorkloadStatus

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


class Poller:
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
        self.interval_s = interval_s
        self.successes = self.failures = 0
        self.last: Optional[Reading] = None
        self.began = time.monotonic()
        self._request = request
        self._report = report
        self._reader: Optional[StatusReader] = None
        self._problem: Optional[str] = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="poller", daemon=True)

    @property
    def is_up(self) -> bool:
        """Return whether the last reading succeeded, and nothing was forbidden."""
        return self.last is not None and self._problem is None

    @property
    def is_alive(self) -> bool:
        """Return whether the thread still reads."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop before the next reading; a reading in progress ends with the process."""
        self._stopped.set()

    def fresh(self, most_s: float) -> Optional[Reading]:
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

    def _run(self) -> None:
        failures_in_a_row = 0
        while not self._stopped.is_set():
            failures_in_a_row = 0 if self.read_once() else failures_in_a_row + 1
            self._stopped.wait(self._pause_s(failures_in_a_row))

    def _pause_s(self, failures_in_a_row: int) -> float:
        longest = max(_LONGEST_PAUSE_S, self.interval_s)
        return min(self.interval_s * 2.0 ** min(max(failures_in_a_row - 1, 0), 10), longest)

    def _read(self) -> Reading:
        """Return a new reading.

        Raises:
            SpreadError: the cluster cannot be read.
        """
        from kubectl_spread.report import prometheus

        if self._reader is None:
            self._reader = StatusReader(self._request)
        statuses, known, policy = self._reader.stream(is_again=True)
        workloads = 0

        def counted() -> Iterator[WorkloadStatus]:
            nonlocal workloads
            for status in statuses:
                workloads += 1
                yield status

        text = prometheus.text(counted())
        text += "" if policy is None else "".join(f"{line}\n" for line in prometheus.metrics(policy))
        return Reading(
            text=text,
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
