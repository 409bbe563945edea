"""Go's formatting of values in the API server's messages."""

from __future__ import annotations

from typing import Any

_ESCAPES = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
    '"': '\\"', "\\": "\\\\",
}  # fmt: skip


def quote(text: str) -> str:
    """Return a string in double quotes, as `%q` prints it (Go strconv.Quote)."""
    return '"' + "".join(_quoted(char) for char in text) + '"'


def value(item: Any) -> str:
    """Return the bad value of a field error: strings quoted, numbers and booleans bare, the rest as JSON.

    Source: staging/src/k8s.io/apimachinery/pkg/util/validation/field/errors.go, ErrorBody (v1.36.2).
    """
    if isinstance(item, str):
        return quote(item)
    if item is None:
        return '"null"'
    import json  # 5 ms

    return json.dumps(item, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def _quoted(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char == " " or char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
