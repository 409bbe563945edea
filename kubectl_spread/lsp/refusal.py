"""Messages of a client that are not messages of the protocol: each is refused by itself, and the connection goes on."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, Optional, Union

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602  # codes of JSON-RPC

MessageId = Union[int, str, None]
_SHOWN = 40  # characters of a message


class Refusal(NamedTuple):
    """The reason why a message is not handled. A request has an id, and waits for an answer."""

    code: int
    problem: str
    id: MessageId = None
    is_request: bool = True

    @property
    def answer(self) -> dict[str, Any]:
        """Return the JSON-RPC response to a refused message."""
        return {"jsonrpc": "2.0", "id": self.id, "error": {"code": self.code, "message": self.problem}}


def refusal_of(body: bytes) -> Optional[Refusal]:
    """Return why a message is not JSON, or not one of JSON-RPC; None if it is."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):  # not UTF-8, and too many digits, too
        return Refusal(PARSE_ERROR, f"not JSON: {escape_for_display(body)}")
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return Refusal(INVALID_REQUEST, f"not a message of JSON-RPC 2.0: {escape_for_display(body)}", id_of(message))
    is_response = "id" in message and ("result" in message or "error" in message)
    if not is_response and not isinstance(message.get("method"), str):
        return Refusal(INVALID_REQUEST, f"a message without a method: {escape_for_display(body)}", id_of(message))
    return None


def of_parameters(message: dict[str, Any]) -> Refusal:
    """Return the refusal of a message whose fields are not those of its method."""
    method = message.get("method")
    problem = (
        f"not the fields of {escape_for_display(method.encode())}"
        if isinstance(method, str)
        else "not the fields of a response"
    )
    return Refusal(INVALID_PARAMS, problem, id_of(message), is_request="id" in message and "method" in message)


def id_of(message: Any) -> MessageId:
    """Return the id to answer to; None if the message has none."""
    found = message.get("id") if isinstance(message, dict) else None
    return found if isinstance(found, (int, str)) and not isinstance(found, bool) else None


def escape_for_display(text: bytes) -> str:
    """Return text for people: escaped, and no more than a few characters."""
    escaped = text[: 4 * _SHOWN].rstrip(b"\r\n").decode("utf-8", "replace").encode("unicode_escape").decode()
    return escaped if len(escaped) <= _SHOWN else f"{escaped[:_SHOWN]}..."
