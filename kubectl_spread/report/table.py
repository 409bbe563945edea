"""Tables in kubectl's manner, colour, and text that is safe to print."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Optional

_CODES = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "bold": "1"}


def paint(text: str, style: str, *, colour: bool) -> str:
    """Text in a colour, where colour is wanted."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if colour else text


def safe(text: str) -> str:
    """Text from a manifest or a cluster, unable to move the cursor or colour the terminal."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)


def table(rows: Iterable[tuple[str, ...]], *, indent: str = "") -> list[str]:
    """Left-aligned columns, three spaces apart; the first row is the header."""
    cells = [tuple(safe(cell) or "<none>" for cell in row) for row in rows]
    if not cells:
        return []
    widths = [max(len(row[at]) for row in cells) for at in range(len(cells[0]))]
    return [
        indent + "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]


def listed(names: Iterable[str], *, most: int) -> str:
    """Names with commas, cut where there are more than `most`."""
    names = [safe(name) for name in names]
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def wrapped(line: str, *, indent: int, width: Optional[int]) -> list[str]:
    """A line in pieces no longer than a width, those after the first indented; a word that is longer stays whole."""
    if width is None or len(line) <= width:
        return [line]
    lead = len(line) - len(line.lstrip())
    return textwrap.wrap(
        line.lstrip(),
        max(width, indent + 20),
        initial_indent=" " * lead,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
