"""Files and directories that may not be read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

needs_file_modes = pytest.mark.skipif(
    not hasattr(os, "geteuid"),
    reason="chmod cannot forbid reading on Windows, so a refusal cannot be provoked there",
)

_NOBODY = 65534


@contextmanager
def unreadable(path: Path) -> Iterator[None]:
    """Run the block while a path is forbidden; root, who reads everything, runs it as nobody."""
    user = os.geteuid()
    for parent in list(path.resolve().parents)[:4]:
        if parent.stat().st_uid == user:
            parent.chmod(0o755)
    path.chmod(0)
    try:
        if user == 0:
            os.seteuid(_NOBODY)
        yield
    finally:
        if user == 0:
            os.seteuid(0)
        path.chmod(0o755)
