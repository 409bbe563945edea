"""Files that we write."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from kubectl_spread.errors import SourceError
from kubectl_spread.sources.files import write
from tests.unreadable import needs_file_modes


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    write(str(tmp_path / "link"), b"new\r\n")

    assert (tmp_path / "link").is_symlink()
    assert b"new\r\n" == (tmp_path / "target").read_bytes()


@needs_file_modes
def test_a_draft_of_a_killed_run_does_not_block_later_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Process numbers repeat, above all in containers."""
    monkeypatch.setattr("os.replace", lambda *paths: os._exit(0))
    if not (child := os.fork()):
        write(str(tmp_path / "file"), b"killed")
    os.waitpid(child, 0)
    monkeypatch.undo()
    monkeypatch.setattr("os.getpid", lambda: child)
    write(str(tmp_path / "file"), b"new")

    assert b"new" == (tmp_path / "file").read_bytes()


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        write(str(tmp_path / "new"), b"x")
    finally:
        os.umask(mask)

    assert 0o640 == stat.S_IMODE((tmp_path / "new").stat().st_mode)


def test_what_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        write(str(tmp_path / "none" / "file"), b"x")

    assert "cannot be written: no such file or directory" in str(caught.value)


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no such device")
def test_a_redirected_standard_output_is_added_to(tmp_path: Path) -> None:
    """Not replaced, nor cut: what the shell wrote before stays."""
    program = "from kubectl_spread.sources.files import write; write('/dev/stdout', b'ours')"
    with (tmp_path / "out").open("w") as out:
        out.write("before ")
        out.flush()
        subprocess.run([sys.executable, "-c", program], stdout=out, check=True)

    assert "before ours" == (tmp_path / "out").read_text()
