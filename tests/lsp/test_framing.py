"""What is not a message ends the connection, with a line that says why."""

from __future__ import annotations

import io
import subprocess

import pytest

from kubectl_spread.lsp.framing import FramedInput
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


@pytest.mark.parametrize(("sent", "problem"), WRONG.items())
def test_what_is_no_message_ends_the_connection(sent: bytes, problem: str) -> None:
    """Exit 3, one line, and no traceback."""
    done = subprocess.run(SERVER, input=sent, capture_output=True, check=False, timeout=60)

    assert (3, b"", f"error: <stdin>: {problem}\n") == (done.returncode, done.stdout, done.stderr.decode())


def test_headers_are_read_as_the_protocol_has_them() -> None:
    """Their case does not matter, and others are passed on."""
    framed = FramedInput(io.BytesIO(b"content-length:  2\r\nContent-Type: x\r\n\r\n{}"))

    assert [b"Content-Length: 2\r\n", b"Content-Type: x\r\n", b"\r\n"] == [framed.readline() for _ in range(3)]
    assert (b"{}", b"", "") == (framed.read(2), framed.readline(), framed.problem)


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
