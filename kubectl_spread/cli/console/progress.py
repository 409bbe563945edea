"""A progress line on standard error, on a terminal only, after one second."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threading

_AFTER = 1.0  # seconds
_EVERY = 0.2


class Progress:
    """The stage that is under way."""

    def __init__(self, stage: str) -> None:
        self.stage = stage


@contextlib.contextmanager
def progress(stage: str) -> Iterator[Progress]:
    """Show the stage and the seconds until the work is done; the line is taken away then."""
    shown = Progress(stage)
    if sys.stderr is None or not sys.stderr.isatty():
        yield shown
        return
    import threading  # 1 ms, and few runs show progress

    over = threading.Event()
    thread = threading.Thread(target=_show, args=(shown, over), daemon=True)
    thread.start()
    try:
        yield shown
    finally:
        over.set()
        thread.join()


def _show(shown: Progress, over: threading.Event) -> None:
    started = time.monotonic()
    if over.wait(_AFTER):
        return
    while not over.wait(_EVERY):
        _write(f"\r\x1b[K{shown.stage} ... {int(time.monotonic() - started)} s")
    _write("\r\x1b[K")


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
