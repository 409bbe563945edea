"""A search that shows its progress on a terminal, and that Ctrl-C ends; loads numpy."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

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
    """Return the watch of a search of some steps, which Ctrl-C ends; a second one ends the program."""
    watch = ShownWatch(shown, steps)

    def stop(_number: int, _frame: object) -> None:
        watch.stop()
        signal.signal(signal.SIGINT, before)

    try:
        before = signal.signal(signal.SIGINT, stop)
    except ValueError:  # signals arrive only on the main thread
        yield watch
        return
    try:
        yield watch
    finally:
        signal.signal(signal.SIGINT, before)
