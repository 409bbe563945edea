"""The language server itself: messages in, messages out.

```
didOpen, didSave, didClose ──▶ check now ─┐
didChange ──▶ check when typing pauses ───┴▶ Review ──▶ publishDiagnostics
codeAction, hover ──▶ the Review of the open documents, updated after changes ──▶ answer
```

Checks run in a thread, one at a time, so that messages are read meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import sys
from collections.abc import Callable, Generator, Iterable
from typing import Any, BinaryIO, cast, Optional

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.uris import to_fs_path

from kubectl_spread import __version__
from kubectl_spread.errors import SourceError
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lsp.actions import actions, Desk, FIX_ALL, QUICK_FIX
from kubectl_spread.lsp.changes import apply_changes as changed_text
from kubectl_spread.lsp.client import Client, client_of
from kubectl_spread.lsp.diagnostics import diagnostic
from kubectl_spread.lsp.positions import offset, span_range
from kubectl_spread.lsp.refusal import escape_for_display, of_parameters, Refusal, refusal_of
from kubectl_spread.lsp.review import OpenDocument, Review, review_documents, ReviewedDocument
from kubectl_spread.operations.inputs.documents import DocumentChecker
from kubectl_spread.report.rules import markdown, page, title


def hover(findings: Iterable[Finding], offset: int, client: Client) -> Optional[types.Hover]:
    """Return the documentation of each rule with a finding at an offset; None without findings.

    The range is the first finding's.
    """
    here = [finding for finding in findings if _is_at(finding, offset)]
    if not here:
        return None
    rules = {finding.rule.code: finding.rule for finding in here}.values()
    place = here[0].place
    where = span_range(place.source, place.span, client.encoding)
    if client.has_markdown:
        text = "\n\n---\n\n".join(f"**{title(rule)}**\n\n{markdown(rule)}" for rule in rules)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), where)
    text = "\n\n".join(map(page, rules))
    return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, text), where)


def _is_at(finding: Finding, offset: int) -> bool:
    """Return whether a finding is at an offset; an empty finding covers one character."""
    start, end = finding.place.span
    return start <= offset < max(end, start + 1)


MOST_BYTES = 1 << 30  # of one message; no editor opens such a file
_LONGEST = 1 << 13  # bytes of a header line

_HEADER = re.compile(rb"(?P<name>[A-Za-z][A-Za-z0-9-]*):[ \t]*(?P<value>[^\r\n]*?)[ \t]*\r?\n")
_LENGTH = re.compile(rb"[0-9]{1,10}")


class FramedInput:
    """Standard input as pygls reads it.

    `problem` is the client's error that ended it, if any. `refuse` gets the reason for each message that is skipped.
    """

    def __init__(self, stream: BinaryIO, refuse: Callable[[Refusal], None]) -> None:
        self._stream = stream
        self._refuse = refuse
        self._length = 0
        self.problem = ""

    def readline(self) -> bytes:
        """Return the next header line, or an empty one at the end."""
        line = self._stream.readline(_LONGEST)
        if not line.strip():
            return line
        header = _HEADER.fullmatch(line)
        if header is None:
            return self._end(f"not a header of a message: {escape_for_display(line)}")
        if header["name"].lower() != b"content-length":
            return line
        if not _LENGTH.fullmatch(header["value"]) or int(header["value"]) > MOST_BYTES:
            return self._end(f"not a length of a message: Content-Length: {escape_for_display(header['value'])}")
        self._length = int(header["value"])
        return b"Content-Length: %d\r\n" % self._length

    def read(self, size: int) -> bytes:
        """Return the message of this size, or the next one in order; empty bytes if the client disconnected."""
        body = self._body(size)
        while body and (refusal := refusal_of(body)) is not None:
            self._refuse(refusal)
            body = self._body(self._next_length())
        return body

    def _body(self, size: int) -> bytes:
        body = self._stream.read(size) if size else b""
        if len(body) < size:
            return self._end(f"the client ended in the middle of a message, after {len(body)} of {size} bytes")
        return body

    def _next_length(self) -> int:
        """Read the headers of the next message, and return its length; 0 at the end."""
        self._length = 0
        while line := self.readline():
            if not line.strip() and self._length:
                return self._length
        return 0

    def _end(self, problem: str) -> bytes:
        self.problem = problem
        return b""


_PAUSE_S = 0.2  # without a change, before a check starts

_log = logging.getLogger(__name__)
_pygls_log = logging.getLogger("pygls.protocol.json_rpc")


def serve(checker: DocumentChecker) -> bool:
    """Serve one client over standard input and output; return whether it shut the server down before it left.

    Raises:
        SourceError: the client sends something that is not a message.
    """
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s: %(message)s")
    logging.getLogger().handlers[0].addFilter(_without_traceback)
    # A duplicate, because pygls closes its stream, and nothing else may write to it.
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    session = _Session(checker)
    messages = FramedInput(sys.stdin.buffer, session.refuse)
    with contextlib.redirect_stdout(sys.stderr):
        session.server.start_io(cast("BinaryIO", messages), output)
    if messages.problem:
        raise SourceError("<stdin>", messages.problem)
    return session.has_said_goodbye


def _without_traceback(record: logging.LogRecord) -> bool:
    """Remove the traceback from the record of a client's error; all records are wanted."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, JsonRpcException):
        record.exc_info = None
        record.msg, record.args = "%s", (str(error),)
    return True


class _Protocol(LanguageServerProtocol):
    """The protocol of pygls without its copy of the documents, which splits lines differently from the protocol.

    A message with wrong fields is refused in one line, and a request with an unknown method may have no parameters.
    """

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Convert a JSON object to a message of the protocol, or to a refusal."""
        if "method" in data and self.get_message_type(data["method"]) is None:
            data.setdefault("params", None)
        _pygls_log.disabled = True  # it would print a traceback
        try:
            return super().structure_message(data)
        except JsonRpcException:
            return of_parameters(data)
        finally:
            _pygls_log.disabled = False

    def handle_message(self, message: Any) -> None:
        """Handle a message, or answer that it is refused."""
        if isinstance(message, Refusal):
            self.refuse(message)
        else:
            super().handle_message(message)

    def refuse(self, refusal: Refusal) -> None:
        """Say why a message is not handled: in the log, and to the client if it waits for an answer."""
        _log.error("message refused: %s", refusal.problem)
        if refusal.is_request:
            self._send_data(refusal.answer)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Generator[Any, Any, None]:
        """Pass the change to the handler of changes."""
        handler = self.fm.features.get(types.TEXT_DOCUMENT_DID_CHANGE)
        if handler is not None:
            yield handler, (params,), None


def _path_of(uri: str) -> str:
    """Return the path of a document; its URI if it is not a file's."""
    try:
        return to_fs_path(uri) or uri
    except ValueError:
        return uri


class _Session:
    """A client with its documents and the diagnostics that were published last."""

    def __init__(self, checker: DocumentChecker) -> None:
        sync = types.TextDocumentSyncKind.Incremental
        self.server = LanguageServer(
            "kubectl-spread", __version__, text_document_sync_kind=sync, protocol_cls=_Protocol
        )
        self.checker = checker
        self.client = Client()
        self.documents: dict[str, OpenDocument] = {}
        self.review = Review({})
        self.published: dict[str, tuple[Optional[int], list[types.Diagnostic]]] = {}
        self.turn = asyncio.Lock()
        self.timer: Optional[asyncio.TimerHandle] = None
        self.tasks: set[asyncio.Task[None]] = set()
        self.has_said_goodbye = False
        self._listen_to_documents()
        self._listen_to_requests()

    def refuse(self, refusal: Refusal) -> None:
        """Refuse a message that the thread of the input has read; one write of the output is one message."""
        cast("_Protocol", self.server.protocol).refuse(refusal)

    def _listen_to_documents(self) -> None:
        feature = self.server.feature

        @feature(types.TEXT_DOCUMENT_DID_OPEN)
        def opened(params: types.DidOpenTextDocumentParams) -> None:
            item = params.text_document
            self.documents[item.uri] = OpenDocument(item.uri, _path_of(item.uri), item.version, item.text)
            self.check_in(0)

        @feature(types.TEXT_DOCUMENT_DID_CHANGE)
        def changed(params: types.DidChangeTextDocumentParams) -> None:
            document = self.documents.get(params.text_document.uri)
            if document is not None and params.content_changes:
                version = params.text_document.version
                text = changed_text(document.text, params.content_changes, self.client.encoding)
                self.documents[document.uri] = document._replace(version=version, text=text)
                self.check_in(_PAUSE_S)

        @feature(types.TEXT_DOCUMENT_DID_SAVE, types.SaveOptions(include_text=False))
        def saved(params: types.DidSaveTextDocumentParams) -> None:
            self.check_in(0)

        @feature(types.TEXT_DOCUMENT_DID_CLOSE)
        def closed(params: types.DidCloseTextDocumentParams) -> None:
            uri = params.text_document.uri
            if self.documents.pop(uri, None) is not None:
                self.published.pop(uri, None)
                self.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
                self.check_in(0)

    def _listen_to_requests(self) -> None:
        feature = self.server.feature

        @feature(types.INITIALIZE)
        def initialize(params: types.InitializeParams) -> None:
            encoding = self.server.workspace.position_encoding
            self.client = client_of(params.capabilities, str(getattr(encoding, "value", encoding)))

        @feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([QUICK_FIX, FIX_ALL]))
        async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
            desk = Desk(self.client, await self.current(), self.checker)
            return await asyncio.to_thread(actions, params, desk)

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

    def check_in(self, delay_s: float) -> None:
        """Check and publish after a delay; cancel an earlier pending check, which this one includes."""
        if self.timer is not None:
            self.timer.cancel()
        self.timer = asyncio.get_running_loop().call_later(delay_s, self._check_now)

    def _check_now(self) -> None:
        task = asyncio.ensure_future(self._publish())
        self.tasks.add(task)  # an unreferenced task may be garbage-collected
        task.add_done_callback(self.tasks.discard)

    async def current(self) -> Review:
        """Return the review of the documents as they are now."""
        async with self.turn:
            documents = tuple(self.documents.values())
            if documents != self.review.open_documents:
                self.review = await asyncio.to_thread(review_documents, documents, self.checker, before=self.review)
                self._complain(self.review.bugs)
            return self.review

    async def _publish(self) -> None:
        """Publish new diagnostics; skip a document that changed in the meantime, as its own check follows."""
        review = await self.current()
        for uri, checked in review.documents.items():
            said = (checked.opened.version, self._diagnostics(checked, review))
            if self.documents.get(uri) == checked.opened and self.published.get(uri) != said:
                self.published[uri] = said
                version, found = said
                params = types.PublishDiagnosticsParams(uri, found, version)
                self.server.text_document_publish_diagnostics(params)

    def _diagnostics(self, checked: ReviewedDocument, review: Review) -> list[types.Diagnostic]:
        return [diagnostic(finding, self.client, uri=review.uri) for finding in checked.findings]

    def _complain(self, bugs: tuple[Exception, ...]) -> None:
        """Log bugs of this program: the traceback on standard error, and one line in the editor's log."""
        for bug in bugs:
            _log.error("this is a bug in kubectl spread %s", __version__, exc_info=bug)
            line = f"this is a bug in kubectl spread {__version__}: {type(bug).__name__}: {bug}"
            self.server.window_log_message(types.LogMessageParams(types.MessageType.Error, line))
