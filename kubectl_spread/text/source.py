"""A text, its name, and the line and column of any place in it."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple, Optional

from kubectl_spread.errors import SourceError

_BREAK = r"\r\n?|\n"  # a lone "\r" ends a line, too, as in YAML
_ORIGIN = r"(?m)^# Source: (\S(?:[^\r\n]*\S)?)"  # compiled on first use


class Span(NamedTuple):
    """A half-open range of a text, in code points."""

    start: int
    end: int


class Position(NamedTuple):
    """A place for people: line and column count from 1, the column in code points."""

    line: int
    column: int


class SourceFile:
    """One input, decoded, without its byte order mark.

    `name` is its name in messages: the path as given, or `<stdin>`. `origins` returns, on demand, the begin of each
    part of a rendered text with the template that it comes from.
    """

    __slots__ = ("_find_origins", "_origins", "_path", "_starts", "name", "text")

    def __init__(self, name: str, text: str, origins: Optional[Callable[[], list[tuple[int, str]]]] = None) -> None:
        self.name = name
        self.text = text
        self._path = ""
        self._starts: list[int] = []
        self._origins: Optional[list[tuple[int, str]]] = None
        self._find_origins = origins  # a bound method here would keep the text forever, as no garbage is collected

    @property
    def path(self) -> str:
        """Return the absolute path of a file."""
        self._path = self._path or os.path.abspath(self.name)  # perf: each pass of fixes asks for all
        return self._path

    def position(self, offset: int) -> Position:
        """Return the line and column of an offset; the end of the text is a valid place."""
        starts = self._starts or self._line_starts()
        line = bisect_right(starts, offset)
        return Position(line, offset - starts[line - 1] + 1)

    def error(self, offset: int, message: str) -> SourceError:
        """Return an error at an offset."""
        line, column = self.position(offset)
        return SourceError(self.name, message, line=line, column=column)

    def offset(self, number: int) -> int:
        """Return the offset of a line (from 1), or the end of the text for the line after the last."""
        starts = self._line_starts()
        return starts[number - 1] if number <= len(starts) else len(self.text)

    def line(self, number: int) -> str:
        """Return the text of one line (from 1), without its line break."""
        starts = self._line_starts()
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r\n")

    def origin(self, offset: int) -> str:
        """Return the chart template, or the file and line, that a place was rendered from; empty if unknown.

        The nearest note before the place counts, also beyond a `---`: a template may hold several documents.
        """
        if self._origins is None:
            # Helm notes the template above each document.
            noted = re.finditer(_ORIGIN, self.text) if "# Source: " in self.text and not self._find_origins else ()
            self._origins = self._find_origins() if self._find_origins else [(note.start(), note[1]) for note in noted]
        at = bisect_right(self._origins, offset, key=lambda origin: origin[0])
        return self._origins[at - 1][1] if at else ""

    def _line_starts(self) -> list[int]:
        if not self._starts:
            self._starts = [0, *(found.end() for found in re.finditer(_BREAK, self.text))]
        return self._starts


class Place(NamedTuple):
    """A range of a source."""

    source: SourceFile
    span: Span

    @property
    def template(self) -> str:
        """Return the chart's template that it was rendered from, where the source says it."""
        return self.source.origin(self.span.start)
