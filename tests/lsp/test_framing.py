"""What is not a message is skipped."""

from __future__ import annotations

import pytest

from tests.lsp.client import editing

HOVER = b'{"jsonrpc": "2.0", "id": 7, "method": "textDocument/hover", "params": %s}'
WRONG_FIELDS = (
    HOVER % b"{}",
    HOVER % b"[1]",
    HOVER % b'{"textDocument": {"uri": "a"}, "position": {"line": -1, "character": 0}}',
)
NO_MESSAGES = (
    b"{bad",
    b" ",
    b'"\xff"',
    b"[" * 100_000,
    b"1" * 5_000,
    b"[1]",
    b"null",
    b'{"jsonrpc": "1.0", "id": "a"}',
)


@pytest.mark.slow
def test_what_is_no_message_is_skipped_and_the_connection_goes_on() -> None:
    """A request with wrong fields is answered; a notification has no answer. Each has lines without a traceback."""
    with editing() as editor:
        editor.initialize()
        for sent in NO_MESSAGES:
            editor.send_bytes(sent)
        for sent in WRONG_FIELDS:
            editor.send_bytes(sent)
            answer = editor.wait_for(lambda found: "error" in found)
            assert (7, -32602) == (answer["id"], answer["error"]["code"])
        editor.notify("textDocument/didSave", {})
        assert "SPR101" in [item["code"] for item in editor.open(BROKEN)]
        assert 0 == editor.leave()

    assert all("error" not in message for message in editor.seen)
    assert b"Traceback" not in editor.errors[0]


@pytest.mark.slow
def test_an_unknown_method_needs_no_parameters() -> None:
    with editing() as editor:
        editor.initialize()
        answer = editor.answer("shop/open")
        editor.leave()

    assert (-32601, "Method Not Found: shop/open") == (answer["error"]["code"], answer["error"]["message"])


BROKEN = "apiVersion: v1\nkind: Pod\nmetadata: {name: \U0001f600}\nspec: {topologySpreadConstraints: [{maxSkew: 0}]}\n"
