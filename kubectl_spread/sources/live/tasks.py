"""Calls that run in parallel to the rest of the program."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, Optional, TypeVar

T = TypeVar("T")
_HEARS_S = 0.2  # Seconds between checks for Ctrl-C while another thread works.


class Task(Generic[T]):
    """A call on its own thread, which does not keep the process from ending."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._result: list[T] = []
        self._error: Optional[BaseException] = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def result(self) -> T:
        """Wait for the result; Ctrl-C works in the meantime, on Windows too."""
        while self._thread.is_alive():
            self._thread.join(_HEARS_S)
        if self._error is not None:
            raise self._error
        return self._result[0]

    def wait(self, seconds: float) -> bool:
        """Wait for the end of the call, up to a time limit; return whether it has ended."""
        end = time.monotonic() + seconds
        while self._thread.is_alive() and (left := end - time.monotonic()) > 0:
            self._thread.join(min(left, _HEARS_S))
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._result.append(self._call())
        except BaseException as error:  # noqa: BLE001 (it is raised where the result is used)
            self._error = error
