"""The comment that suppresses a finding."""

from __future__ import annotations

from typing import Any, Optional

from kubectl_spread.lint.finding import Finding, Place
from kubectl_spread.lint.selection import suppress
from kubectl_spread.text import compose
from kubectl_spread.text.edit import Edit, with_edits
from kubectl_spread.text.source import SourceFile, Span

_ALWAYS_TOLD = "SPR005"  # a useless suppression is not a finding in its line


def ignore_edit(finding: Finding) -> Optional[Edit]:
    """Return the edit that suppresses a finding at the end of its line; None if no comment can do that.

    If the line has such a comment already, add the code to it.
    """
    source = finding.place.source
    if finding.is_unreadable or finding.rule.code == _ALWAYS_TOLD or _is_json(source):
        return None
    edit = _edit(finding, source)
    edited = SourceFile(source.name, with_edits(source.text, [edit]))
    start = finding.place.span.start
    start += len(edit.text) - (edit.end - edit.start) if edit.end <= start else 0
    moved = finding._replace(place=Place(edited, Span(start, start)))
    helps = any(
        finding.rule.code in suppression.words and suppression.covers(moved) and _overlaps(suppression, edit)
        for suppression in suppress.from_comments(edited)
    )
    return edit if helps and _meaning(edited) == _meaning(source) else None


def _edit(finding: Finding, source: SourceFile) -> Edit:
    code = finding.rule.code
    number = source.position(finding.place.span.start).line
    for suppression in suppress.from_comments(source):
        start, end = suppression.place.span
        if source.position(start).line == number:
            if not source.text.endswith("]", start, end):
                return Edit(end, end, f"[{code}]")
            return Edit(end - 1, end - 1, f", {code}" if suppression.words else code)
    line = source.line(number)
    start = source.offset(number)
    return Edit(start + len(line.rstrip()), start + len(line), f"  # spread: ignore[{code}]")


def _overlaps(suppression: suppress.Suppression, edit: Edit) -> bool:
    """Return whether the edit added a suppression of the edited text."""
    start, end = suppression.place.span
    return start <= edit.start + len(edit.text) and edit.start <= end


def _is_json(source: SourceFile) -> bool:
    return source.name.endswith(".json") or source.text.lstrip()[:1] in ("{", "[")


def _meaning(source: SourceFile) -> list[Any]:
    """Return the plain values of the documents; None for a document that is not YAML."""
    return [found.plain if isinstance(found, compose.Document) else None for found in compose.compose(source)]
