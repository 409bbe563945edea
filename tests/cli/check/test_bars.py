"""Small bars per domain: on a terminal that shows them, and nowhere else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kubectl_spread.report.bars import bars

EXAMPLES = Path(__file__).parents[3] / "examples"
STATUS = ["status", "-A", "--snapshot", str(EXAMPLES / "shop" / "running.yaml")]
CHECK = ["check", str(EXAMPLES / "shop" / "web.yaml"), "--snapshot", str(EXAMPLES / "shop" / "cluster.yaml")]


def on_terminal(command: list[str], columns: int, **environment: str) -> str:
    """The output of the program on a pseudo-terminal of a width."""
    fcntl, pty = pytest.importorskip("fcntl"), pytest.importorskip("pty")
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    known = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    with subprocess.Popen(
        [sys.executable, "-m", "kubectl_spread", *command],
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env={**known, "TERM": "xterm", "PYTHONUTF8": "1", **environment},
    ):
        os.close(theirs)
        found = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            found += part
    os.close(ours)
    return found.decode().replace("\r\n", "\n")


def test_bars_are_as_high_as_their_counts() -> None:
    assert bars([2, 1, 0]) == "█▅▁"
    assert bars([100, 1, 0]) == "█▂▁"
    assert bars([0, 0]) == bars([3]) == bars([]) == bars(range(41)) == ""


def test_status_draws_bars_on_a_terminal() -> None:
    lines = on_terminal(STATUS, 120).splitlines()

    assert "COUNTS" in lines[0]
    assert "█▁▁ a=3 b=0 c=0" in lines[2]
    assert max(map(len, lines)) <= 120


def test_status_draws_bars_in_60_columns() -> None:
    lines = on_terminal(STATUS, 60).splitlines()

    assert "  COUNTS: █▁▁ a=3 b=0 c=0" in lines
    assert max(map(len, lines)) <= 60


def test_check_draws_bars_on_a_terminal() -> None:
    text = on_terminal(CHECK, 60)

    assert "  topology.kubernetes.io/zone: ██▁ a=1 b=1 c=0\n" in text


@pytest.mark.slow
@pytest.mark.parametrize("command", [STATUS, CHECK], ids=["status", "check"])
def test_a_pipe_a_dumb_terminal_and_ascii_show_no_bars(command: list[str]) -> None:
    piped = subprocess.run([sys.executable, "-m", "kubectl_spread", *command], capture_output=True, check=False)
    shown = (
        piped.stdout.decode(),
        on_terminal(command, 160, TERM="dumb"),
        on_terminal(command, 160, PYTHONUTF8="0", PYTHONIOENCODING="ascii"),
    )

    for text in shown:
        assert "a=" in text
        assert not set("▁▂▃▄▅▆▇█") & set(text)
