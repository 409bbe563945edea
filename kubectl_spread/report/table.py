"""Tables in kubectl's manner, paragraphs that keep to a width, and colour. Words are never broken: they are copied."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Optional, Union

from kubectl_spread.text.wording import count_noun, safe

NARROWEST = 40
_CODES = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "bold": "1"}
_CODES |= {"good": "32", "warn": "33", "bad": "31", "soft": "33"}  # the tones of verdicts, which pages have, too
_GAP, _NARROW_GAP = 3, 2
_SHORT = 18  # columns up to this width stay whole as long as possible, for example the arithmetic of a domain
_NARROWEST_COLUMNS = (_SHORT, 12, 0)  # how narrow columns may become, one attempt after another


class Style(NamedTuple):
    """The width of a text, None to break no line; and whether it has all details, and long lists in full.

    kubectl: how commands for the reader begin: with the reader's flags for the cluster.
    """

    width: Optional[int] = 120
    is_detailed: bool = False
    kubectl: str = "kubectl"

    def command(self, line: str) -> str:
        """Return a command line to copy, which asks the cluster that the answer is about."""
        return safe(_KUBECTL.sub(lambda _: self.kubectl, line))

    def commands(self, lines: Iterable[str]) -> list[str]:
        """Return command lines to copy, each after a prompt."""
        return [f"  $ {self.command(line)}" for line in lines]


_KUBECTL = re.compile(r"(?:^|(?<=\| |\$\()|(?<=`))kubectl(?= )")  # where a command begins

UNBROKEN = Style(None)


class Rows(NamedTuple):
    """Rows of a table, the header first, that are laid out when the width is known."""

    rows: tuple[tuple[str, ...], ...]
    indent: str = ""


Block = Union[str, Rows]


def paint(text: str, style: str) -> str:
    """Return text in a colour; click takes the codes away where colour is not wanted."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m"


def unpainted(text: str) -> str:
    """Return text without colour."""
    return re.sub(r"\x1b\[\d+m", "", text) if "\x1b" in text else text


def wrap(text: str, style: Style, *, indent: str = "", hanging: str = "", colour: str = "") -> list[str]:
    """Return a paragraph as lines in the width of a style.

    The first line starts with `indent`, the others with `indent` and `hanging`.
    """
    lines = paragraphs([text], style, indent=indent, hanging=hanging)
    return [paint(line, colour) for line in lines] if colour else lines


def paragraphs(texts: Iterable[str], style: Style, *, indent: str = "", hanging: str = "") -> list[str]:
    """Return several paragraphs as `wrap` does; empty ones are left out."""
    return hang_indent((indent + safe(text) for text in texts if text), style.width, hanging=hanging)


def lay_out(blocks: Iterable[Block], style: Style = UNBROKEN) -> list[str]:
    """Return paragraphs without colour, and tables, as lines in the width of a style."""
    out: list[str] = []
    for block in blocks:
        if isinstance(block, Rows):
            out += table(block.rows, style, indent=block.indent)
        else:
            out += hang_indent([safe(block)], style.width)
    return out


def hang_indent(lines: Iterable[str], width: Optional[int], *, hanging: str = "  ") -> list[str]:
    """Break lines that may be painted and are longer than `width`; None breaks no line.

    A line goes on with its own indentation and `hanging`.
    """
    if width is None:
        return list(lines)
    width, parts = max(width, NARROWEST), list[str]()
    for line in lines:
        words = line.lstrip(" ").split(" ") if len(unpainted(line)) > width else [line]
        lead = line[: len(line) - len(line.lstrip(" "))]
        parts.append(line if len(words) == 1 else lead + words[0])
        for word in words[1:]:
            if len(unpainted(parts[-1])) + 1 + len(unpainted(word)) <= width:  # colour codes take no room
                parts[-1] += f" {word}"
            else:
                parts.append(lead + hanging + word)
    return parts


def table(rows: Sequence[tuple[str, ...]], style: Style = UNBROKEN, *, indent: str = "") -> list[str]:
    """Return left-aligned columns; cells wrap if a row is wider than the style. The first row is the header.

    Columns and gaps become narrower while words stay whole. If that is not enough, each row becomes a block of lines.
    Without a width no cell wraps.
    """
    cells = [tuple(safe(cell) or "<none>" for cell in row) for row in rows]
    if not cells:
        return []
    natural = [max(len(row[at]) for row in cells) for at in range(len(cells[0]))]
    if style.width is None:
        return _columns(cells, natural, _GAP, indent=indent)
    room = max(style.width, NARROWEST) - len(indent)
    longest_word = [max(max(map(len, row[at].split()), default=0) for row in cells) for at in range(len(natural))]
    wide, narrow = (room - gap * (len(natural) - 1) for gap in (_GAP, _NARROW_GAP))
    for narrowest in _NARROWEST_COLUMNS:
        # Words stay whole, and so do columns that are short anyway.
        least = [
            most if narrowest and most <= _SHORT else max(word, min(most, narrowest))
            for most, word in zip(natural, longest_word, strict=True)
        ]
        # The narrow gap if that keeps cells whole, or the table within its width
        gap = _GAP if sum(natural) <= wide or (sum(natural) > narrow and sum(least) <= wide) else _NARROW_GAP
        widths = _widths(natural, least, wide if gap == _GAP else narrow)
        lines = _columns(cells, widths, gap, indent=indent)
        if max(map(len, lines)) <= room + len(indent):
            return lines
    return _blocks(cells, style, indent=indent)


def domain_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, of: int, style: Style) -> list[str]:
    """Return a table of domains with their numbers of pods, and a line about those beyond its rows."""
    lines = table([tuple(head), *map(tuple, rows)], style, indent="  ")
    more = of - len(rows)
    return [*lines, f"  and {count_noun(more, 'more domain')}"] if more else lines


def _columns(cells: list[tuple[str, ...]], widths: list[int], gap: int, *, indent: str) -> list[str]:
    import textwrap  # 2 ms

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


def _blocks(cells: list[tuple[str, ...]], style: Style, *, indent: str) -> list[str]:
    """Return `HEADER: cell` lines for each row, the first cell on top."""
    header, *rows = cells
    out = []
    for first, *others in rows:
        out += wrap(f"{header[0]}: {first}", style, indent=indent, hanging="    ")
        for name, cell in zip(header[1:], others, strict=True):
            out += wrap(f"{name}: {cell}", style, indent=f"{indent}  ", hanging="  ")
    return out


def _widths(natural: list[int], least: list[int], room: int) -> list[int]:
    """Return the width of each column, so that the table fits if possible."""
    widths = list(natural)
    while sum(widths) > room:
        able = [at for at in range(len(widths)) if widths[at] > least[at]]
        if not able:
            break
        widths[max(able, key=lambda at: widths[at])] -= 1
    return widths
