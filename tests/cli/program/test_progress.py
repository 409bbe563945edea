"""The line that says what takes so long."""

from __future__ import annotations

import contextlib
import io
import signal
import sys
import time

import pytest

from kubectl_spread.cli import console, search


class Terminal(io.StringIO):
    """A standard error that is a terminal."""

    def isatty(self) -> bool:
        return True


def waited(monkeypatch: pytest.MonkeyPatch, stderr: io.StringIO, seconds: float) -> str:
    monkeypatch.setattr("sys.stderr", stderr)
    monkeypatch.setattr(console, "_AFTER", 0.05)
    monkeypatch.setattr(console, "_EVERY", 0.01)
    with console.progress("reading") as under_way:
        time.sleep(seconds / 2)
        under_way.stage = "explaining"
        time.sleep(seconds / 2)
    return stderr.getvalue()


def test_long_work_is_told_on_a_terminal_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = waited(monkeypatch, Terminal(), 0.4)

    assert "\r\x1b[Kreading ... 0 s" in shown
    assert "\r\x1b[Kexplaining ... 0 s" in shown
    assert shown.endswith("\r\x1b[K")


def test_short_work_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "" == waited(monkeypatch, Terminal(), 0)


def test_what_is_no_terminal_gets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "" == waited(monkeypatch, io.StringIO(), 0.2)


def test_an_error_takes_the_line_away(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = Terminal()
    monkeypatch.setattr("sys.stderr", stderr)
    monkeypatch.setattr(console, "_AFTER", 0.01)
    monkeypatch.setattr(console, "_EVERY", 0.01)
    with contextlib.suppress(KeyboardInterrupt), console.progress("reading"):
        time.sleep(0.1)
        raise KeyboardInterrupt

    assert stderr.getvalue().endswith("\r\x1b[K")


@pytest.mark.skipif(sys.platform == "win32", reason="no signals for one process")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_search_and_the_program_before_it(number: signal.Signals) -> None:
    """Before the search begins, nothing is known that could be printed."""
    before = signal.getsignal(number)
    with console.progress("reading") as shown, pytest.raises(KeyboardInterrupt), search.interruptible(shown):
        signal.raise_signal(number)
    with console.progress("reading") as shown, search.interruptible(shown) as watch:
        watch.saw(1)
        signal.raise_signal(number)

    assert watch.is_stopped
    assert signal.getsignal(number) == before
