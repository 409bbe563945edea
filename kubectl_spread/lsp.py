"""The language server: it reads messages, and sends diagnostics and code actions.

```
didOpen, didSave, didClose ──▶ check now ─┐
didChange ──▶ check when typing pauses ───┴▶ Review ──▶ publishDiagnostics
codeAction, hover ──▶ the Review of the open documents, updated after changes ──▶ answer
```

Checks run in a thread, one at a time, so that messages are read meanwhile. All open documents are one project, like the
files of one run of `check`. So a HorizontalPodAutoscaler in one tab counts for the Deployment in another. An unchanged
document is not parsed again. Code actions are the fixes of findings, the comments that suppress them, and all safe
fixes of a document at once.

Places are lines and units from 0, the unit as agreed upon. They are our own, as pygls ends a line at more characters
than the protocol does, a form feed and U+2028 among them.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import logging
import os
import re
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Optional, TypeVar

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from kubectl_spread import __version__
from kubectl_spread.containers import grouped
from kubectl_spread.lint import suppress
from kubectl_spread.lint.check_source import Result
from kubectl_spread.lint.finding import Finding, Severity
from kubectl_spread.lint.fixing import apply_fixes, edits_of
from kubectl_spread.operations.rule_choice import DocumentChecker
from kubectl_spread.report.rules import markdown, page, title
from kubectl_spread.text import compose
from kubectl_spread.text.edit import Edit, with_edits
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


def _span_range(source: SourceFile, span: Span, encoding: str) -> types.Range:
    """Return the range of a span."""
    return types.Range(position(source, span.start, encoding), position(source, span.end, encoding))


def offset(source: SourceFile, where: types.Position, encoding: str) -> int:
    """Return the offset of a place. Places beyond the end of a line or of the text are moved to that end."""
    start = source.offset(where.line + 1)
    if start == len(source.text):
        return start
    return start + _units_before(source.line(where.line + 1), where.character, encoding)


def _units_before(line: str, units: int, encoding: str) -> int:
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


def _client_of(capabilities: types.ClientCapabilities, encoding: str) -> Client:
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
        return _span_range(place.source, place.span, client.encoding)

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


def _fixes(finding: Finding, checked: _ReviewedDocument, editor: Editor) -> Iterator[types.CodeAction]:
    """Yield the fix of a finding, if it passes verification in this text."""
    repair = finding.repair
    if repair is None or repair.source is not checked.result.source:
        return
    done = apply_fixes([checked.result], lambda _: [finding], recheck=editor.checker.read, is_wanted=lambda _: True)
    if done.fixed:
        action = _action(repair.fix.title, checked, editor, edits=edits_of(repair), finding=finding)
        action.is_preferred = repair.fix.is_safe or None
        yield action


def _fix_all(checked: _ReviewedDocument, editor: Editor) -> Iterator[types.CodeAction]:
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
    checked: _ReviewedDocument,
    editor: Editor,
    *,
    edits: Iterable[Edit],
    finding: Optional[Finding] = None,
) -> types.CodeAction:
    """Return an action for a finding, or for the whole document."""
    source, uri = checked.result.source, checked.opened.uri
    written = [
        types.TextEdit(_span_range(source, Span(edit.start, edit.end), editor.client.encoding), edit.text)
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


T = TypeVar("T")


class OpenDocument(NamedTuple):
    """An open document in the client's version; `name` is its path, or its URI if it is not a file."""

    uri: str
    name: str
    version: Optional[int]
    text: str


class _ReviewedDocument(NamedTuple):
    """An open document with its objects and findings."""

    opened: OpenDocument
    result: Result
    findings: tuple[Finding, ...]


class Review(NamedTuple):
    """The open documents by URI, and bugs of this program that occurred; a bug's own results are missing."""

    documents: dict[str, _ReviewedDocument]
    bugs: tuple[Exception, ...] = ()

    @property
    def open_documents(self) -> tuple[OpenDocument, ...]:
        return tuple(checked.opened for checked in self.documents.values())

    def uri(self, source: SourceFile) -> str:
        """Return the URI of a source's document; the source's name if it is not open."""
        for uri, checked in self.documents.items():
            if checked.result.source is source:
                return uri
        return source.name


def review_documents(opened: Iterable[OpenDocument], checker: DocumentChecker, *, before: Review) -> Review:
    """Check the open documents together. If a bug prevents that, check each one separately."""
    bugs: list[Exception] = []
    results: list[tuple[OpenDocument, Result]] = []
    for document in opened:
        known = before.documents.get(document.uri)
        if known is not None and known.opened.text == document.text:
            results.append((document, known.result))
            continue
        # A file contains neither a byte order mark nor single halves of surrogate pairs.
        text = document.text.removeprefix("\ufeff").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        source = SourceFile(document.name, text)
        results.append((document, _tried(partial(checker.read, source), bugs) or Result(source, ())))
    together = [result for _, result in results]
    found = _tried(partial(checker.findings, together), bugs)
    if found is None:
        alone = [_tried(partial(checker.findings, [result]), bugs) or [] for result in together]
        found = [finding for findings in alone for finding in findings]
    by_source = grouped((id(finding.place.source), finding) for finding in found)
    documents = {
        document.uri: _ReviewedDocument(document, result, tuple(by_source.get(id(result.source), ())))
        for document, result in results
    }
    return Review(documents, tuple(bugs))


def _tried(work: Callable[[], T], bugs: list[Exception]) -> Optional[T]:
    """Return the result of a call; None if it fails. Record the bug, because other requests still need answers."""
    try:
        return work()
    except Exception as error:  # noqa: BLE001 (a bug must not end the session)
        bugs.append(error)
        return None


def hover(findings: Iterable[Finding], offset: int, client: Client) -> Optional[types.Hover]:
    """Return the documentation of each rule with a finding at an offset; None without findings.

    The range is the first finding's.
    """
    spans = ((finding, finding.place.span) for finding in findings)  # an empty finding covers one character
    here = [finding for finding, (start, end) in spans if start <= offset < max(end, start + 1)]
    if not here:
        return None
    rules = {finding.rule.code: finding.rule for finding in here}.values()
    place = here[0].place
    where = _span_range(place.source, place.span, client.encoding)
    if client.has_markdown:
        text = "\n\n---\n\n".join(f"**{title(rule)}**\n\n{markdown(rule)}" for rule in rules)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), where)
    text = "\n\n".join(map(page, rules))
    return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, text), where)


_PAUSE_S = 0.2  # without a change, before a check starts

_log = logging.getLogger(__name__)


def serve(checker: DocumentChecker) -> bool:
    """Serve one client over standard input and output; return whether it shut the server down before it left."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s: %(message)s")
    logging.getLogger().handlers[0].addFilter(_without_traceback)
    # A duplicate, because pygls closes its stream, and nothing else may write to it.
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    session = _Session(checker)
    with contextlib.redirect_stdout(sys.stderr):
        session.server.start_io(sys.stdin.buffer, output)
    return session.has_said_goodbye


def _without_traceback(record: logging.LogRecord) -> bool:
    """Keep one line of what pygls logs about a message that it cannot read; all records are wanted."""
    if str(record.msg).startswith(("Unable to handle message", "Unable to deserialize message")):
        error = record.exc_info[1] if record.exc_info else None
        record.msg, record.args = "%s", (str(record.msg).partition("\n")[0] + (f": {error}" if error else ""),)
        record.exc_info = None
    return True


class _Protocol(LanguageServerProtocol):
    """The protocol of pygls. A request with wrong fields is answered, and one of an unknown method may have none."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Convert a JSON object to a message of the protocol."""
        if "method" in data and self.get_message_type(data["method"]) is None:
            data.setdefault("params", None)
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise


class _Session:
    """A client with the diagnostics that were published last; pygls keeps the texts of its documents."""

    def __init__(self, checker: DocumentChecker) -> None:
        # With whole texts, pygls need not split lines: it ends them at more characters than the protocol does.
        sync = types.TextDocumentSyncKind.Full
        self.server = LanguageServer(
            "kubectl-spread", __version__, text_document_sync_kind=sync, protocol_cls=_Protocol
        )
        self.checker = checker
        self.client = Client()
        self.review = Review({})
        self.published: dict[str, tuple[Optional[int], list[types.Diagnostic]]] = {}
        self.turn = asyncio.Lock()
        self.timer: Optional[asyncio.TimerHandle] = None
        self.tasks: set[asyncio.Task[None]] = set()
        self.has_said_goodbye = False
        self._listen()

    def _listen(self) -> None:
        feature = self.server.feature

        feature(types.TEXT_DOCUMENT_DID_OPEN)(lambda _: self.check_in(0))
        feature(types.TEXT_DOCUMENT_DID_CHANGE)(lambda _: self.check_in(_PAUSE_S))
        feature(types.TEXT_DOCUMENT_DID_SAVE, types.SaveOptions(include_text=False))(lambda _: self.check_in(0))

        @feature(types.TEXT_DOCUMENT_DID_CLOSE)
        def closed(params: types.DidCloseTextDocumentParams) -> None:
            uri = params.text_document.uri
            self.published.pop(uri, None)
            self.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
            self.check_in(0)

        @feature(types.INITIALIZE)
        def initialize(params: types.InitializeParams) -> None:
            encoding = self.server.workspace.position_encoding
            self.client = _client_of(params.capabilities, str(getattr(encoding, "value", encoding)))

        @feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([QUICK_FIX, FIX_ALL]))
        async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
            editor = Editor(self.client, await self.current(), self.checker)
            return await asyncio.to_thread(actions, params, editor)

        @feature(types.TEXT_DOCUMENT_HOVER)
        async def hovered(params: types.HoverParams) -> Optional[types.Hover]:
            checked = (await self.current()).documents.get(params.text_document.uri)
            if checked is None:
                return None
            place = offset(checked.result.source, params.position, self.client.encoding)
            return hover(checked.findings, place, self.client)

        @feature(types.SHUTDOWN)
        def shutdown(params: None) -> None:
            self.has_said_goodbye = True

    def open_documents(self) -> tuple[OpenDocument, ...]:
        """Return the documents as they are now."""
        documents = self.server.workspace.text_documents.values()
        return tuple(OpenDocument(item.uri, item.path, item.version, item.source) for item in documents)

    def check_in(self, delay_s: float) -> None:
        """Check and publish after a delay; cancel an earlier pending check, which this one includes."""

        def check() -> None:
            task = asyncio.ensure_future(self._publish())
            self.tasks.add(task)  # an unreferenced task may be garbage-collected
            task.add_done_callback(self.tasks.discard)

        if self.timer is not None:
            self.timer.cancel()
        self.timer = asyncio.get_running_loop().call_later(delay_s, check)

    async def current(self) -> Review:
        """Return the review of the documents as they are now."""
        async with self.turn:
            documents = self.open_documents()
            if documents != self.review.open_documents:
                self.review = await asyncio.to_thread(review_documents, documents, self.checker, before=self.review)
                # Bugs of this program: the traceback on standard error, and one line in the editor's log
                for bug in self.review.bugs:
                    text = f"this is a bug in kubectl spread {__version__}"
                    _log.error(text, exc_info=bug)
                    line = f"{text}: {type(bug).__name__}: {bug}"
                    self.server.window_log_message(types.LogMessageParams(types.MessageType.Error, line))
            return self.review

    async def _publish(self) -> None:
        """Publish new diagnostics; skip a document that changed in the meantime, as its own check follows."""
        review = await self.current()
        now = self.open_documents()
        for uri, checked in review.documents.items():
            found = [diagnostic(finding, self.client, uri=review.uri) for finding in checked.findings]
            said = (checked.opened.version, found)
            if checked.opened in now and self.published.get(uri) != said:
                self.published[uri] = said
                params = types.PublishDiagnosticsParams(uri, found, checked.opened.version)
                self.server.text_document_publish_diagnostics(params)
