"""The width of the terminal, for text that wraps."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Optional

_WIDEST = 160  # sentences in longer lines are hard to read


def width(default: int) -> int:
    """Return the columns of the terminal or of COLUMNS, at most 160; `default` without a terminal."""
    return min(_WIDEST, shutil.get_terminal_size((default, 24)).columns)


def table_width() -> Optional[int]:
    """Return the width that a table has to fit; None for a file or a pipe, in which lines stay whole."""
    return shutil.get_terminal_size().columns if _is_terminal() or "COLUMNS" in os.environ else None


def finding_width() -> Optional[int]:
    """Return the width at which findings wrap, at most 160; None for a file or a pipe, so that grep finds sentences."""
    return width(_WIDEST) if _is_terminal() else None


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()  # None: it is closed
