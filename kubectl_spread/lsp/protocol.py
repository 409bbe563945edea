"""What a client is told: its capabilities, places as it counts them, and findings as diagnostics.

Places are lines and units from 0, the unit as agreed upon. They are our own, as pygls ends a line at more characters
than the protocol does, a form feed and U+2028 among them.
"""

from __future__ import annotations

import functools
import itertools
import re
from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

from lsprotocol import types
from pygls.capabilities import get_capability

from kubectl_spread.lint.finding import Finding, Severity
from kubectl_spread.text.source import Place, SourceFile, Span

_BYTES = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}  # codec, bytes of a unit
# Characters of more than one unit. A text of 2.5 MB may be one line with thousands of requested positions.
_WIDE = {"utf-8": re.compile(r"[^\x00-\x7f]"), "utf-16": re.compile(r"[^\x00-\uffff]")}
_REMEMBERED = 8  # texts


def position(source: SourceFile, offset: int, encoding: str) -> types.Position:
    """Return the position of an offset."""
    line, column = source.position(offset)
    start = offset - column + 1
    return types.Position(line - 1, column - 1 + _surplus(source, offset, encoding) - _surplus(source, start, encoding))


def span_range(source: SourceFile, span: Span, encoding: str) -> types.Range:
    """Return the range of a span."""
    return types.Range(position(source, span.start, encoding), position(source, span.end, encoding))


def offset(source: SourceFile, where: types.Position, encoding: str) -> int:
    """Return the offset of a place. Places beyond the end of a line or of the text are moved to that end."""
    start = source.offset(where.line + 1)
    if start == len(source.text):
        return start
    return start + units_before(source.line(where.line + 1), where.character, encoding)


def units_before(line: str, units: int, encoding: str) -> int:
    """Return how many characters of a line fit into a number of units, at most all of them."""
    if line.isascii() or encoding == "utf-32":
        return min(units, len(line))
    passed = 0
    for at, character in enumerate(line):
        passed += _units(character, encoding)
        if passed > units:
            return at
    return len(line)


def _units(character: str, encoding: str) -> int:
    codec, width = _BYTES[encoding]
    return len(character.encode(codec, "surrogatepass")) // width


def _surplus(source: SourceFile, offset: int, encoding: str) -> int:
    """Return how many units the text before an offset has beyond one for each character."""
    places, sums = _wide(source, encoding)
    at = bisect_left(places, offset)
    return sums[at - 1] if at else 0


@functools.lru_cache(maxsize=_REMEMBERED)
def _wide(source: SourceFile, encoding: str) -> tuple[list[int], list[int]]:
    """Return the offsets of characters with several units, and the number of extra units up to each."""
    if encoding not in _WIDE or source.text.isascii():
        return [], []
    found = list(_WIDE[encoding].finditer(source.text))
    more = (_units(match[0], encoding) - 1 for match in found)
    return [match.start() for match in found], list(itertools.accumulate(more))


class Client(NamedTuple):
    """The capabilities of a client: its unit of columns, and the parts of the protocol that it supports."""

    encoding: str = "utf-16"
    has_related: bool = False  # places besides the finding's own
    has_versions: bool = False  # edits that say which version of a document they are for
    has_markdown: bool = False


def client_of(capabilities: types.ClientCapabilities, encoding: str) -> Client:
    """Return the capabilities of a client, with the agreed encoding."""
    formats = get_capability(capabilities, "text_document.hover.content_format") or ()
    return Client(
        encoding,
        bool(get_capability(capabilities, "text_document.publish_diagnostics.related_information")),
        bool(get_capability(capabilities, "workspace.workspace_edit.document_changes")),
        types.MarkupKind.Markdown in formats,
    )


SOURCE = "kubectl-spread"

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


def diagnostic(finding: Finding, client: Client, *, uri: Callable[[SourceFile], str]) -> types.Diagnostic:
    """Return a finding for an editor: the hint is a line of its message."""

    def where(place: Place) -> types.Range:
        return span_range(place.source, place.span, client.encoding)

    related = [
        types.DiagnosticRelatedInformation(types.Location(uri(place.source), where(place)), text)
        for place, text in finding.related
    ]
    return types.Diagnostic(
        where(finding.place),
        message=finding.message + (f"\nhint: {finding.hint}" if finding.hint else ""),
        severity=_SEVERITIES[finding.rule.severity],
        code=finding.rule.code,
        source=SOURCE,
        related_information=related if related and client.has_related else None,
    )
