"""The terminal: exit codes, its width, standard error, and progress."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Optional, TYPE_CHECKING, Union

import click

from kubectl_spread.errors import NotFoundError, RefusedError, SpreadError
from kubectl_spread.operations.cluster_facts import Level, Notice
from kubectl_spread.text.wording import count_noun, safe

if TYPE_CHECKING:
    import threading


class Exit:
    """Exit codes of the program; no enum, as `Exit.CLEAN` is the number itself."""

    CLEAN = 0  # nothing to report
    FINDINGS = 1  # findings at or above --fail-on, or a pod is predicted Pending
    USAGE = 2  # wrong usage
    UNREADABLE = 3  # an input could not be read
    BUG = 70  # ours
    INTERRUPTED = 130
    READER_GONE = 141  # the reader of the output closed the pipe; shells have this code for SIGPIPE, too


def flush() -> None:
    """Flush standard output, if it is open, so that it precedes later errors."""
    if sys.stdout is not None:
        sys.stdout.flush()


def print_error(what: Union[SpreadError, str]) -> None:
    """Print an error; a refusal is already what kubectl prints."""
    click.echo(f"{'' if isinstance(what, RefusedError) else 'error: '}{safe(str(what))}", err=True)


def warn(message: str) -> None:
    """Print a warning: an input is not as it should be."""
    click.echo(f"warning: {safe(message)}", err=True)


def finish(errors: Sequence[SpreadError], *, is_fine: bool, is_interrupted: bool = False) -> int:
    """Print the errors of a run below its answer, and return the exit code.

    An object that does not exist, or is refused, is an answer; any other error means that an input could not be read.
    """
    flush()
    for error in errors[:_MOST_ERRORS]:
        print_error(error)
    more = len(errors) - _MOST_ERRORS
    if more > 0:
        context = click.get_current_context(silent=True)
        chosen = None if context is None else context.params.get("output")
        is_listed = isinstance(chosen, str) or getattr(chosen, "format", "") in ("json", "yaml")  # a file of `snapshot`
        click.echo(f"and {count_noun(more, 'more error')}{'' if is_listed else '; -o json lists all'}", err=True)
    if is_interrupted:
        return Exit.INTERRUPTED
    if not all(isinstance(error, (NotFoundError, RefusedError)) for error in errors):
        return Exit.UNREADABLE
    return Exit.CLEAN if is_fine else Exit.FINDINGS


_MOST_ERRORS = 5
_NOTED = "kubectl_spread.noted"


def note(message: str) -> None:
    """Print an assumption of the answer, once in a run; nothing if the message is empty."""
    context = click.get_current_context(silent=True)
    noted = set() if context is None else context.find_root().meta.setdefault(_NOTED, set())
    if message and message not in noted:
        noted.add(message)
        click.echo(f"note: {safe(message)}", err=True)


def announce(notice: Notice) -> None:
    """Print a notice of an operation."""
    (note if notice.level is Level.NOTE else warn)(notice.text)


_WIDEST = 160  # sentences in longer lines are hard to read
_USUAL = 80


def width(default: int) -> int:
    """Return the columns of the terminal or of COLUMNS, at most 160; `default` without a terminal."""
    return min(_WIDEST, _columns(default))


def table_width() -> Optional[int]:
    """Return the width that a table has to fit; None for a file or a pipe, in which lines stay whole."""
    return _columns(_USUAL) if is_terminal() or "COLUMNS" in os.environ else None


def finding_width() -> Optional[int]:
    """Return the width at which findings wrap, at most 160; None for a file or a pipe, so that grep finds sentences."""
    return width(_WIDEST) if is_terminal() else None


def _columns(default: int) -> int:
    """Return the columns that COLUMNS sets, or those of the terminal, as `shutil` does; its import takes 3 ms."""
    written = os.environ.get("COLUMNS", "")
    if written.strip().isdecimal() and int(written) > 0:
        return int(written)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or default  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):  # closed, detached, or no terminal
        return default


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()  # None: it is closed


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
