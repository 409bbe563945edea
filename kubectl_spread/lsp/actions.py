"""Code actions: the fixes of findings, the comments that suppress them, and all safe fixes of a document at once."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Optional

from lsprotocol import types

from kubectl_spread.lint import suppress
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.fixing import apply_fixes, edits_of
from kubectl_spread.lsp.protocol import Client, diagnostic, offset, span_range
from kubectl_spread.lsp.review import Review, ReviewedDocument
from kubectl_spread.operations.rule_choice import DocumentChecker
from kubectl_spread.text import compose
from kubectl_spread.text.edit import Edit, with_edits
from kubectl_spread.text.source import Place, SourceFile, Span

_ALWAYS_TOLD = "SPR005"  # a useless suppression is not a finding in its line


def ignore_edit(finding: Finding) -> Optional[Edit]:
    """Return the edit that suppresses a finding at the end of its line; None if no comment can do that.

    If the line has such a comment already, add the code to it.
    """
    source = finding.place.source
    is_json = source.name.endswith(".json") or source.text.lstrip()[:1] in ("{", "[")
    if finding.is_unreadable or finding.rule.code == _ALWAYS_TOLD or is_json:
        return None
    edit = _edit(finding, source)
    edited = SourceFile(source.name, with_edits(source.text, [edit]))
    start = finding.place.span.start
    start += len(edit.text) - (edit.end - edit.start) if edit.end <= start else 0
    moved = finding._replace(place=Place(edited, Span(start, start)))
    helps = any(
        finding.rule.code in suppression.words
        and suppression.covers(moved)
        # The edit added it.
        and suppression.place.span.start <= edit.start + len(edit.text)
        and edit.start <= suppression.place.span.end
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


def _meaning(source: SourceFile) -> list[Any]:
    """Return the plain values of the documents; None for a document that is not YAML."""
    return [found.plain if isinstance(found, compose.Document) else None for found in compose.compose(source)]


QUICK_FIX = types.CodeActionKind.QuickFix.value
FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.kubectl-spread"

_MOST_FINDINGS = 20  # in one answer, because each action was tried on the whole text


class Editor(NamedTuple):
    """A client, with the review of its documents and their checker."""

    client: Client
    review: Review
    checker: DocumentChecker


def actions(asked: types.CodeActionParams, editor: Editor) -> list[types.CodeAction]:
    """Return the actions for the findings in a range: fixes, then comments, then all fixes of the document."""
    checked = editor.review.documents.get(asked.text_document.uri)
    if checked is None:
        return []
    answer: list[types.CodeAction] = []
    if _is_asked_for(QUICK_FIX, asked.context):
        source, encoding = checked.result.source, editor.client.encoding
        start, end = (offset(source, place, encoding) for place in (asked.range.start, asked.range.end))
        touched = (item for item in checked.findings if item.place.span.start <= end and start <= item.place.span.end)
        here = list(itertools.islice(touched, _MOST_FINDINGS))
        answer += [action for finding in here for action in _fixes(finding, checked, editor)]
        answer += [
            _action(f"ignore {finding.rule.code} here", checked, editor, edits=[edit], finding=finding)
            for finding in here
            if (edit := ignore_edit(finding)) is not None
        ]
    if _is_asked_for(FIX_ALL, asked.context):
        answer += _fix_all(checked, editor)
    return answer


def _is_asked_for(kind: str, context: types.CodeActionContext) -> bool:
    """Return whether a kind is requested; skip slow kinds for requests that only follow the cursor."""
    if context.only is None:
        return kind == QUICK_FIX or context.trigger_kind != types.CodeActionTriggerKind.Automatic
    wanted = [str(getattr(item, "value", item)) for item in context.only]
    return any(item in ("", kind) or kind.startswith(f"{item}.") for item in wanted)


def _fixes(finding: Finding, checked: ReviewedDocument, editor: Editor) -> Iterator[types.CodeAction]:
    """Yield the fix of a finding, if it passes verification in this text."""
    repair = finding.repair
    if repair is None or repair.source is not checked.result.source:
        return
    done = apply_fixes([checked.result], lambda _: [finding], recheck=editor.checker.read, is_wanted=lambda _: True)
    if done.fixed:
        action = _action(repair.fix.title, checked, editor, edits=edits_of(repair), finding=finding)
        action.is_preferred = repair.fix.is_safe or None
        yield action


def _fix_all(checked: ReviewedDocument, editor: Editor) -> Iterator[types.CodeAction]:
    if not any(item.repair is not None and item.repair.fix.is_safe for item in checked.findings):
        return
    before = [other.result for other in editor.review.documents.values()]
    name = checked.result.source.name
    done = apply_fixes(
        before,
        editor.checker.findings,
        recheck=editor.checker.read,
        is_wanted=lambda repair: repair.fix.is_safe and repair.source.name == name,
    )
    old, new = checked.result.source.text, done.results[before.index(checked.result)].source.text
    if old == new:
        return
    # Line ends stay with their lines, so that no edit comes between "\r" and "\n".
    old_lines, new_lines = old.splitlines(keepends=True), new.splitlines(keepends=True)
    start = _alike(old_lines, new_lines)
    end = _alike(old_lines[start:][::-1], new_lines[start:][::-1])
    head, tail = sum(map(len, old_lines[:start])), sum(map(len, old_lines[len(old_lines) - end :]))
    edit = Edit(head, len(old) - tail, new[head : len(new) - tail])
    yield _action("fix all that is safe to fix", checked, editor, edits=[edit])


def _alike(lines: Sequence[str], others: Sequence[str]) -> int:
    """Return how many lines are the same from the first on."""
    pairs = enumerate(zip(lines, others, strict=False))
    return next((at for at, (line, other) in pairs if line != other), min(len(lines), len(others)))


def _action(
    title: str,
    checked: ReviewedDocument,
    editor: Editor,
    *,
    edits: Iterable[Edit],
    finding: Optional[Finding] = None,
) -> types.CodeAction:
    """Return an action for a finding, or for the whole document."""
    source, uri = checked.result.source, checked.opened.uri
    written = [
        types.TextEdit(span_range(source, Span(edit.start, edit.end), editor.client.encoding), edit.text)
        for edit in edits
    ]
    if editor.client.has_versions:
        document = types.OptionalVersionedTextDocumentIdentifier(uri, checked.opened.version)
        whole = types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, written)])
    else:
        whole = types.WorkspaceEdit(changes={uri: written})
    if finding is None:
        return types.CodeAction(title, kind=FIX_ALL, edit=whole)
    found = [diagnostic(finding, editor.client, uri=editor.review.uri)]
    return types.CodeAction(title, kind=QUICK_FIX, edit=whole, diagnostics=found)
