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
import sys
from collections.abc import Iterable
from typing import Any, Optional

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from kubectl_spread import __version__
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lsp.actions import actions, Editor, FIX_ALL, QUICK_FIX
from kubectl_spread.lsp.protocol import Client, client_of, diagnostic, offset, span_range
from kubectl_spread.lsp.review import OpenDocument, Review, review_documents
from kubectl_spread.operations.rule_choice import DocumentChecker
from kubectl_spread.report.rules import markdown, page, title


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
    where = span_range(place.source, place.span, client.encoding)
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
            self.client = client_of(params.capabilities, str(getattr(encoding, "value", encoding)))

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
