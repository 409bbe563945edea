"""Findings as text, each with its source line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Optional

from kubectl_spread.lint.finding import Finding, ObjectRef, Place, Severity
from kubectl_spread.report.table import hang_indent, NARROWEST, paint
from kubectl_spread.text.source import Position
from kubectl_spread.text.wording import safe

_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_MAX_LINE = 160


def lines(finding: Finding, width: Optional[int] = None, *, colour: bool) -> list[str]:
    """Return a finding: place and message, the object, the source line with a caret, the hint.

    Sentences wrap at `width`, and the source line is cut; None does neither.
    """
    severity = finding.rule.severity
    head = f"{paint(severity.value, _STYLES[severity], colour=colour)} {finding.rule.code} {finding.rule.name}"
    out = hang_indent([f"{location(finding.place)}: {head}"], width, hanging="    ")
    out += hang_indent([f"  {safe(finding.message)}", *_origin(finding)], width)
    out += _excerpt(finding.place, width, colour=colour)
    out += hang_indent((f"  {location(label.place)}: {safe(label.text)}" for label in finding.related), width)
    if finding.hint:
        hint = f"  {paint('hint:', 'bold', colour=colour)} {safe(finding.hint)}"
        out += hang_indent([hint], width, hanging=" " * len("hint: "))
    return out


def _origin(finding: Finding) -> Iterator[str]:
    """Yield the object of a finding, and the template that its text was rendered from."""
    if finding.object.kind:
        yield f"  in {object_text(finding.object)}"
    if finding.place.template:
        yield f"  {rendered_from(finding.place)}"


def location(place: Place) -> str:
    """Return `file:line:column`, which terminals and editors make a link of."""
    line, column = place.source.position(place.span.start)
    return f"{safe(place.source.name)}:{line}:{column}"


def message(finding: Finding) -> str:
    """Return the message, the template and the hint of a finding, for formats that show nothing else."""
    parts = (finding.message, rendered_from(finding.place), f"hint: {finding.hint}" if finding.hint else "")
    return "\n".join(part for part in parts if part)


def rendered_from(place: Place) -> str:
    """Return `from shop/templates/web.yaml`; empty if the text was not rendered. The template's line is unknown."""
    return f"from {safe(place.template)}" if place.template else ""


def object_text(ref: ObjectRef) -> str:
    """Return `Deployment shop/web`, with the namespace only if the manifest sets it."""
    name = f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name
    return safe(f"{ref.kind} {name or '(without a name)'}")


class Excerpt(NamedTuple):
    """The line of a place, and the range of the marked characters."""

    number: int
    text: str
    start: int
    width: int


def excerpt(place: Place, most: int = _MAX_LINE) -> Optional[Excerpt]:
    """Return the line of a place, cut to `most` characters around the place; None if it is blank."""
    return _cut_line(place, place.source.position(place.span.start), most)


def _cut_line(place: Place, position: Position, most: int) -> Optional[Excerpt]:
    """Return the line at a position, which is the beginning of a place."""
    line, column = position
    text = place.source.line(line)
    if not text.strip():
        return None
    width = max(1, min(place.span.end, place.span.start + len(text) - column + 1) - place.span.start)
    start = column - 1
    if len(text) > most:
        cut = max(0, start - most // 2)
        text, start = text[cut : cut + most], start - cut
        width = max(1, min(width, len(text) - start))
    return Excerpt(line, _printable(text.rstrip()), start, width)


def _printable(text: str) -> str:
    """Return a text with blanks in place of control characters."""
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)


def _excerpt(place: Place, width: Optional[int], *, colour: bool) -> list[str]:
    position = place.source.position(place.span.start)
    number = str(position.line)
    room = _MAX_LINE if width is None else max(width, NARROWEST) - len(f"  {number} | ")
    found = _cut_line(place, position, min(_MAX_LINE, room))
    if found is None:
        return []
    caret = paint("^" * found.width, "red", colour=colour)
    return [f"  {number} | {found.text}", f"  {' ' * len(number)} | {' ' * found.start}{caret}"]
