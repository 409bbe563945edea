"""Tables in kubectl's manner, paragraphs that keep to a width, and colour. Words are never broken: they are copied."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from collections.abc import Sequence
from typing import NamedTuple
from typing import Optional

from kubectl_spread.text.wording import safe

NARROWEST = 40
_CODES = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "bold": "1"}
_GAP, _NARROW_GAP = 3, 2
_LEAST = 18  # of a column that wraps; the arithmetic of a domain stays whole


class Style(NamedTuple):
    """The width of a text, whether it is coloured, and whether long lists are complete."""

    width: int = 120
    colour: bool = False
    is_wide: bool = False


def paint(text: str, style: str, *, colour: bool) -> str:
    """Return text in a colour if colour is wanted."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if colour else text


def wrapped(text: str, width: Optional[int], *, indent: str = "", hanging: str = "") -> list[str]:
    """Return a paragraph as lines of at most `width`; None breaks no line.

    The first line starts with `indent`, the others with `indent` and `hanging`.
    """
    if width is None:
        return [indent + safe(text)]
    return textwrap.wrap(
        safe(text),
        max(width, NARROWEST),
        initial_indent=indent,
        subsequent_indent=indent + hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def fitted(lines: Iterable[str], width: int) -> list[str]:
    """Break the lines that are longer than `width`, with the indentation that they have."""
    out: list[str] = []
    for line in lines:
        lead = len(line) - len(line.lstrip())
        out += wrapped(line.strip(), width, indent=" " * lead, hanging="  ") if len(line) > width else [line]
    return out


def table(rows: Sequence[tuple[str, ...]], width: Optional[int] = None, *, indent: str = "") -> list[str]:
    """Return left-aligned columns; cells wrap if a row is wider than `width`. The first row is the header.

    The gaps give way first where that is enough, else the widest columns, then both. A word that is wider than its
    column sticks out. Without a width no cell wraps.
    """
    cells = [tuple(safe(cell) or "<none>" for cell in row) for row in rows]
    if not cells:
        return []
    natural = [max(len(row[at]) for row in cells) for at in range(len(cells[0]))]
    room = sum(natural) + _GAP * len(natural) if width is None else max(width, NARROWEST) - len(indent)
    least = _least(cells, natural)
    gap = _gap(natural, least, room)
    widths = _widths(natural, least, room - gap * (len(natural) - 1))
    out = []
    for row in cells:
        columns = [
            textwrap.wrap(cell, most, break_long_words=False, break_on_hyphens=False)
            for cell, most in zip(row, widths, strict=True)
        ]
        for at in range(max(map(len, columns))):
            line = (column[at] if at < len(column) else "" for column in columns)
            padded = (" " * gap).join(cell.ljust(most) for cell, most in zip(line, widths, strict=True))
            out.append((indent + padded).rstrip())
    return out


def _least(cells: list[tuple[str, ...]], natural: list[int]) -> list[int]:
    """How narrow each column may become: a word, and some, stays whole."""
    longest_word = [max(max(map(len, row[at].split()), default=0) for row in cells) for at in range(len(cells[0]))]
    return [min(most, max(word, _LEAST)) for most, word in zip(natural, longest_word, strict=True)]


def _gap(natural: list[int], least: list[int], room: int) -> int:
    """The narrow gap where that spares breaking cells, or sticking out."""
    wide, narrow = (room - gap * (len(natural) - 1) for gap in (_GAP, _NARROW_GAP))
    if sum(natural) <= wide:
        return _GAP
    return _GAP if sum(natural) > narrow and sum(least) <= wide else _NARROW_GAP


def _widths(natural: list[int], least: list[int], room: int) -> list[int]:
    """The width of each column, so that all have room together where that can be."""
    widths = list(natural)
    excess = sum(widths) - room
    while excess > 0:
        able = [at for at in range(len(widths)) if widths[at] > least[at]]
        if not able:
            break
        widest = max(able, key=lambda at: widths[at])
        widths[widest] -= 1
        excess -= 1
    return widths
