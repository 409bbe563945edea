"""Changes of a document as the protocol sends them: a sequence of ranges with new text.

pygls is not used here, because it ends lines at more characters than the protocol does. The text is kept as lines, so
that the cost of many changes in one message depends only on the size of the changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lsprotocol import types

from kubectl_spread.lsp.positions import units_before

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


def apply_changes(text: str, changes: Iterable[types.TextDocumentContentChangeEvent], encoding: str) -> str:
    """Return a text after changes; a change without a range replaces the whole text."""
    lines = _LINE.findall(text)
    for change in changes:
        if isinstance(change, types.TextDocumentContentChangePartial):
            _replace(lines, change.range, change.text, encoding=encoding)
        else:
            lines = _LINE.findall(change.text)
    return "".join(lines)


def _replace(lines: list[str], where: types.Range, text: str, *, encoding: str) -> None:
    """Replace a range by a text. Split only the affected lines and their neighbours again."""
    first, before = _place(lines, where.start, encoding)
    last, after = _place(lines, where.end, encoding)
    last, after = max((last, after), (first, before))
    head = lines[first][:before] if first < len(lines) else ""
    tail = lines[last][after:] if last < len(lines) else ""
    begin, end = max(0, first - 1), min(len(lines), last + 2)
    middle = "".join((*lines[begin:first], head, text, tail, *lines[last + 1 : end]))
    lines[begin:end] = _LINE.findall(middle)


def _place(lines: Sequence[str], position: types.Position, encoding: str) -> tuple[int, int]:
    """Return the line and the character in it. Places beyond the end of a line or of the text are moved to that end."""
    if position.line >= len(lines):
        return len(lines), 0
    line = lines[position.line].rstrip("\r\n")
    return position.line, units_before(line, position.character, encoding)
