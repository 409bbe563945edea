"""What is not a message ends the connection, with a line that says why."""

from __future__ import annotations

import io
import subprocess

import pytest

from kubectl_spread.lsp.refusal import Refusal
from kubectl_spread.lsp.server import FramedInput
from tests.lsp.client import edited, editing, SERVER

NOT_A_LENGTH = "not a length of a message: Content-Length: "
WRONG = {
    b"Content-Length: 99999999999999999999\r\n\r\n": NOT_A_LENGTH + "99999999999999999999",
    b"Content-Length: abc\r\n\r\n{}": NOT_A_LENGTH + "abc",
    b"Content-Length: -5\r\n\r\n{}": NOT_A_LENGTH + "-5",
    b"Content-Length: \r\n\r\n{}": NOT_A_LENGTH,
    b"content-length: 2000000000\r\n\r\n{}": NOT_A_LENGTH + "2000000000",
    b"Content-Length: 1\x1b[31m\r\n\r\n{}": NOT_A_LENGTH + "1\\x1b[31m",
    b'{"jsonrpc": "2.0"}\r\n': 'not a header of a message: {"jsonrpc": "2.0"}',
    b"x" * 20_000: f"not a header of a message: {'x' * 40}...",
    b"Content-Length: 100\r\n\r\n{}": "the client ended in the middle of a message, after 2 of 100 bytes",
}


@pytest.mark.slow
@pytest.mark.parametrize(("sent", "problem"), WRONG.items())
def test_what_is_no_message_ends_the_connection(sent: bytes, problem: str) -> None:
    """Exit 3, one line, and no traceback."""
    done = subprocess.run(SERVER, input=sent, capture_output=True, check=False, timeout=60)

    assert (3, b"", f"error: <stdin>: {problem}\n") == (done.returncode, done.stdout, done.stderr.decode())


def test_headers_are_read_as_the_protocol_has_them() -> None:
    """Their case does not matter, and others are passed on."""
    refused: list[Refusal] = []
    framed = FramedInput(io.BytesIO(b"content-length:  2\r\nContent-Type: x\r\n\r\n"), refused.append)

    assert [b"Content-Length: 2\r\n", b"Content-Type: x\r\n", b"\r\n"] == [framed.readline() for _ in range(3)]
    assert (b"", []) == (framed.readline(), refused)


HOVER = b'{"jsonrpc": "2.0", "id": 7, "method": "textDocument/hover", "params": %s}'
REFUSED: dict[bytes, tuple[object, int, str]] = {
    b"{bad": (None, -32700, "not JSON: {bad"),
    b" ": (None, -32700, "not JSON:  "),
    b'"\xff"': (None, -32700, 'not JSON: "\\ufffd"'),
    b"[" * 100_000: (None, -32700, f"not JSON: {'[' * 40}..."),
    b"1" * 5_000: (None, -32700, f"not JSON: {'1' * 40}..."),
    b'{"\x1b[31m': (None, -32700, 'not JSON: {"\\x1b[31m'),
    b"[1]": (None, -32600, "not a message of JSON-RPC 2.0: [1]"),
    b"null": (None, -32600, "not a message of JSON-RPC 2.0: null"),
    b'{"jsonrpc": "1.0", "id": "a"}': ("a", -32600, 'not a message of JSON-RPC 2.0: {"jsonrpc": "1.0", "id": "a"}'),
    b'{"jsonrpc": "2.0", "id": 7}': (7, -32600, 'a message without a method: {"jsonrpc": "2.0", "id": 7}'),
    b'{"jsonrpc": "2.0", "method": 5}': (None, -32600, 'a message without a method: {"jsonrpc": "2.0", "method": 5}'),
    HOVER % b"{}": (7, -32602, "not the fields of textDocument/hover"),
    HOVER % b"[1]": (7, -32602, "not the fields of textDocument/hover"),
    HOVER % b'{"textDocument": {"uri": "a"}, "position": {"line": -1, "character": 0}}': (
        7,
        -32602,
        "not the fields of textDocument/hover",
    ),
}


@pytest.mark.slow
def test_refused_messages_are_answered_and_the_connection_goes_on() -> None:
    """Each has one line on standard error without a traceback, and one response; then findings are published."""
    with editing() as editor:
        editor.initialize()
        for sent, (identity, code, problem) in REFUSED.items():
            editor.send_bytes(sent)
            answer = editor.wait_for(lambda found: "error" in found)
            assert {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": problem}} == answer
        editor.notify("textDocument/didSave", {})
        editor.open(BROKEN)
        editor.leave()

    problems = [*(problem for _, _, problem in REFUSED.values()), "not the fields of textDocument/didSave"]
    assert [f"ERROR: message refused: {problem}" for problem in problems] == editor.errors[0].decode().splitlines()
    assert all("error" not in message for message in editor.seen)  # a notification has no answer


@pytest.mark.slow
def test_an_unknown_method_needs_no_parameters() -> None:
    with editing() as editor:
        editor.initialize()
        answer = editor.answer("shop/open")
        editor.leave()

    assert (-32601, "Method Not Found: shop/open") == (answer["error"]["code"], answer["error"]["message"])


BROKEN = "apiVersion: v1\nkind: Pod\nmetadata: {name: \U0001f600}\nspec: {topologySpreadConstraints: [{maxSkew: 0}]}\n"


def test_a_document_is_changed_in_parts() -> None:
    """The findings are those of the text as it is after all changes."""
    start, end = {"line": 3, "character": 45}, {"line": 3, "character": 46}
    changes = [
        {"range": {"start": start, "end": end}, "text": "1, topologyKey: a/b, whenUnsatisfiable: ScheduleAnyway"},
        {"range": {"start": {"line": 2, "character": 17}, "end": {"line": 2, "character": 19}}, "text": "web"},
    ]
    with editing("--ignore", "SPR2") as editor:
        editor.initialize()
        before = [item["code"] for item in editor.open(BROKEN)]
        document = {"uri": "file:///shop/web.yaml", "version": 2}
        editor.notify("textDocument/didChange", {"textDocument": document, "contentChanges": changes})
        after = [item["code"] for item in editor.diagnostics(version=2)]
        editor.leave()

    assert (["SPR102", "SPR103", "SPR101"], []) == (before, after)
    assert "ScheduleAnyway" in edited(BROKEN, [{"range": changes[0]["range"], "newText": changes[0]["text"]}])
