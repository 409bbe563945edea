"""Places as the client counts them: lines and units from 0, the unit as agreed upon.

Our own, as pygls ends a line at more characters than the protocol does, a form feed and U+2028 among them.
"""

from __future__ import annotations

from lsprotocol import types

from kubectl_spread.text.source import SourceFile
from kubectl_spread.text.source import Span

_BYTES = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}  # codec, bytes of a unit


def position(source: SourceFile, offset: int, encoding: str) -> types.Position:
    """Where an offset is."""
    line, column = source.position(offset)
    codec, width = _BYTES[encoding]
    before = source.text[offset - column + 1 : offset]
    return types.Position(line - 1, len(before.encode(codec)) // width)


def span_range(source: SourceFile, span: Span, encoding: str) -> types.Range:
    """Where a span is."""
    return types.Range(position(source, span.start, encoding), position(source, span.end, encoding))


def offset(source: SourceFile, where: types.Position, encoding: str) -> int:
    """The offset of a place; beyond a line's end it is that end, beyond the last line the end of the text."""
    start = source.offset(where.line + 1)
    if start == len(source.text):
        return start
    codec, width = _BYTES[encoding]
    before = source.line(where.line + 1).encode(codec)[: where.character * width]
    return start + len(before.decode(codec, "ignore"))
