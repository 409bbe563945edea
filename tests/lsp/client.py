"""An editor for tests: speaks the protocol to a server process, and waits for messages, never for time to pass."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Optional

TIMEOUT_S = 60  # a failure, not a measure

Message = dict[str, Any]

CAPABILITIES: Message = {
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "versionSupport": True},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "codeAction": {"isPreferredSupport": True},
    },
    "workspace": {"workspaceEdit": {"documentChanges": True}},
}
SERVER = (sys.executable, "-m", "kubectl_spread", "lsp")


class Editor:
    """A client of a server that it starts; see `editing`."""

    def __init__(self, *args: str, command: tuple[str, ...] = SERVER) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([*command, *args], stdin=pipe, stdout=pipe, stderr=pipe)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.inbox: queue.Queue[Optional[Message]] = queue.Queue()
        self.seen: list[Message] = []
        self.errors: list[bytes] = []
        self.last_id = 0
        self.opened: set[str] = set()
        self.readers = [
            threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True),
            threading.Thread(target=lambda err: self.errors.append(err.read()), args=(self.process.stderr,)),
        ]
        for reader in self.readers:
            reader.start()

    def end(self) -> None:
        """See that nothing is left of the server."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(TIMEOUT_S)
        for reader in self.readers:
            reader.join(TIMEOUT_S)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()

    # Messages

    def send_bytes(self, body: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def notify(self, method: str, params: Any = None) -> None:
        message = {"jsonrpc": "2.0", "method": method}
        self.send_bytes(json.dumps(message if params is None else {**message, "params": params}).encode())

    def ask(self, method: str, params: Any = None) -> Any:
        """The result of a request."""
        answer = self.answer(method, params)
        assert "error" not in answer, answer
        return answer["result"]

    def answer(self, method: str, params: Any = None) -> Message:
        asked = self.send_request(method, params)
        return self.wait_for(lambda found: found.get("id") == asked and "method" not in found)

    def send_request(self, method: str, params: Any = None) -> int:
        """Ask without waiting for the answer; the number it will have."""
        self.last_id += 1
        message = {"jsonrpc": "2.0", "id": self.last_id, "method": method}
        self.send_bytes(json.dumps(message if params is None else {**message, "params": params}).encode())
        return self.last_id

    def wait_for(self, wanted: Any) -> Message:
        """The next message that is wanted; those before it are in `seen`."""
        while True:
            message = self.inbox.get(timeout=TIMEOUT_S)
            assert message is not None, "the server has gone"
            if wanted(message):
                return message
            self.seen.append(message)

    def _read(self, stream: BinaryIO) -> None:
        while True:
            length = 0
            while line := stream.readline().strip():
                name, _, value = line.partition(b":")
                length = int(value) if name == b"Content-Length" else length
            if not length:
                self.inbox.put(None)
                return
            self.inbox.put(json.loads(stream.read(length)))

    # What editors do

    def initialize(self, capabilities: Optional[Message] = None) -> Message:
        params = {"processId": None, "rootUri": None, "capabilities": capabilities or CAPABILITIES}
        result: Message = self.ask("initialize", params)
        self.notify("initialized", {})
        return result

    def open(self, text: str, uri: str = "file:///shop/web.yaml", *, version: int = 1) -> list[Message]:
        """Open a document; its diagnostics."""
        self.send_open(text, uri, version=version)
        return self.diagnostics(uri, version=version)

    def send_open(self, text: str, uri: str, *, version: int = 1) -> None:
        self.opened.add(uri)
        item = {"uri": uri, "languageId": "yaml", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, text: str, uri: str = "file:///shop/web.yaml", *, version: int = 2) -> None:
        document = {"uri": uri, "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def close(self, uri: str = "file:///shop/web.yaml") -> None:
        self.opened.discard(uri)
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def close_all(self) -> None:
        """As if nothing had been opened."""
        for uri in sorted(self.opened):
            self.close(uri)
            self.wait_for(lambda found, uri=uri: found["params"] == {"uri": uri, "diagnostics": []})
        self.seen.clear()

    def diagnostics(self, uri: str = "file:///shop/web.yaml", *, version: Optional[int] = None) -> list[Message]:
        """The next diagnostics of a document; of a version where one is named."""

        def is_it(message: Message) -> bool:
            params = message.get("params") or {}
            is_ours = message.get("method") == "textDocument/publishDiagnostics" and params["uri"] == uri
            return is_ours and version in (None, params.get("version"))

        found: list[Message] = self.wait_for(is_it)["params"]["diagnostics"]
        return found

    def actions(
        self, where: Message, uri: str = "file:///shop/web.yaml", *, only: Optional[list[str]] = None, trigger: int = 1
    ) -> list[Message]:
        context: Message = {"diagnostics": [], "triggerKind": trigger}
        if only is not None:
            context["only"] = only
        params = {"textDocument": {"uri": uri}, "range": where, "context": context}
        found: list[Message] = self.ask("textDocument/codeAction", params)
        return found

    def hover(self, line: int, character: int, uri: str = "file:///shop/web.yaml") -> Any:
        position = {"line": line, "character": character}
        return self.ask("textDocument/hover", {"textDocument": {"uri": uri}, "position": position})

    def leave(self) -> int:
        """Take leave as the protocol has it; the exit code."""
        assert self.ask("shutdown") is None
        self.notify("exit")
        return self.process.wait(TIMEOUT_S)


@contextmanager
def editing(*args: str, command: tuple[str, ...] = SERVER) -> Iterator[Editor]:
    """An editor with a server of its own, which ends with it."""
    editor = Editor(*args, command=command)
    try:
        yield editor
    finally:
        editor.end()


def edited(text: str, edits: list[Message]) -> str:
    """A text with edits made as an editor makes them, counting in UTF-16."""
    units = text.encode("utf-16-le")
    for edit in sorted(edits, key=lambda edit: _key(edit["range"]["start"]), reverse=True):
        start, end = (_offset(text, edit["range"][end]) for end in ("start", "end"))
        units = units[: 2 * start] + edit["newText"].encode("utf-16-le") + units[2 * end :]
    return units.decode("utf-16-le")


def _key(position: Message) -> tuple[int, int]:
    return position["line"], position["character"]


def _offset(text: str, position: Message) -> int:
    lines = text.split("\n")
    before = sum(len(line.encode("utf-16-le")) // 2 + 1 for line in lines[: position["line"]])
    return before + int(position["character"])
