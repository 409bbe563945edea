"""A search that shows its progress on a terminal, and that Ctrl-C or SIGTERM ends; loads numpy."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import Any

from kubectl_spread.cli.console import Progress
from kubectl_spread.engine.run import Watch


class ShownWatch(Watch):
    """A watch that shows the search's progress in the progress line."""

    def __init__(self, shown: Progress, steps: int) -> None:
        super().__init__()
        self._shown = shown
        self._steps = steps

    def saw(self, states: int) -> bool:
        """Take note of how many states were visited; return whether to stop."""
        subject = f"{self.subject}: " if self.subject else ""
        step = f"step {self.step + 1}: " if self._steps > 1 else ""
        self._shown.stage = f"{subject}{step}{states:,} states visited; Ctrl-C ends the search"
        return super().saw(states)


@contextlib.contextmanager
def interruptible(shown: Progress, *, steps: int = 1) -> Iterator[ShownWatch]:
    """Return the watch of a search of some steps, which Ctrl-C or SIGTERM ends.

    A second signal, or one before the search has begun, ends the program.
    """
    watch = ShownWatch(shown, steps)
    before: dict[int, Any] = {}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def stop(_number: int, _frame: object) -> None:
        watch.stop()
        restore()
        if not watch.has_begun:
            raise KeyboardInterrupt

    with contextlib.suppress(ValueError):  # signals arrive only on the main thread
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, stop)
    try:
        yield watch
    finally:
        restore()
