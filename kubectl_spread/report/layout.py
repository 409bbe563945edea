"""Prose and tables that keep to a width; words are never broken, for they are copied."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from collections.abc import Sequence

from kubectl_spread.report.table import safe

NARROWEST = 40
_GAP, _NARROW_GAP = 3, 2
_LEAST = 18  # of a column that wraps; the arithmetic of a domain stays whole


def wrapped(text: str, width: int, *, indent: str = "", hanging: str = "") -> list[str]:
    """A paragraph in lines of at most `width`, the first after `indent`, the others after `indent` and `hanging`."""
    return textwrap.wrap(
        safe(text),
        max(width, NARROWEST),
        initial_indent=indent,
        subsequent_indent=indent + hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def fitted(lines: Iterable[str], width: int) -> list[str]:
    """Lines that were made without a width, those that are longer broken with the indentation that they have."""
    out: list[str] = []
    for line in lines:
        lead = len(line) - len(line.lstrip())
        out += wrapped(line.strip(), width, indent=" " * lead, hanging="  ") if len(line) > width else [line]
    return out


def table(rows: Sequence[tuple[str, ...]], width: int, *, indent: str = "") -> list[str]:
    """Left-aligned columns whose cells wrap where a row is wider than `width`; the first row is the header.

    The gaps give way first where that is enough, else the widest columns, then both. A word that is wider than its
    column sticks out.
    """
    cells = [tuple(safe(cell) or "<none>" for cell in row) for row in rows]
    if not cells:
        return []
    room = max(width, NARROWEST) - len(indent)
    natural = [max(len(row[at]) for row in cells) for at in range(len(cells[0]))]
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
