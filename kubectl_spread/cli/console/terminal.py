"""The width of the terminal, for text that wraps."""

from __future__ import annotations

import os
import sys
from typing import Optional

_WIDEST = 160  # sentences in longer lines are hard to read
_USUAL = 80


def width(default: int) -> int:
    """Return the columns of the terminal or of COLUMNS, at most 160; `default` without a terminal."""
    return min(_WIDEST, _columns(default))


def table_width() -> Optional[int]:
    """Return the width that a table has to fit; None for a file or a pipe, in which lines stay whole."""
    return _columns(_USUAL) if _is_terminal() or "COLUMNS" in os.environ else None


def finding_width() -> Optional[int]:
    """Return the width at which findings wrap, at most 160; None for a file or a pipe, so that grep finds sentences."""
    return width(_WIDEST) if _is_terminal() else None


def _columns(default: int) -> int:
    """Return the columns that COLUMNS sets, or those of the terminal, as `shutil` does; its import takes 3 ms."""
    written = os.environ.get("COLUMNS", "")
    if written.strip().isdecimal() and int(written) > 0:
        return int(written)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or default  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):  # closed, detached, or no terminal
        return default


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()  # None: it is closed
