"""Plain scalars as kubectl reads them.

kubectl turns YAML into JSON with sigs.k8s.io/yaml, which resolves scalars by go-yaml v2's rules. They are
neither YAML 1.1's (`y` is true, `1:30` is a string, `0o17` is 15) nor YAML 1.2's (`yes` is true, `017` is 15).

Source: go.yaml.in/yaml/v2 resolve.go, resolve; sigs.k8s.io/yaml yaml.go, convertToJSONableObject.
"""

from __future__ import annotations

import re
from typing import Union

Value = Union[None, bool, int, float, str]

_WORDS: dict[str, Value] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    ".nan": float("nan"), ".NaN": float("nan"), ".NAN": float("nan"),
    ".inf": float("inf"), ".Inf": float("inf"), ".INF": float("inf"),
    "+.inf": float("inf"), "+.Inf": float("inf"), "+.INF": float("inf"),
    "-.inf": float("-inf"), "-.Inf": float("-inf"), "-.INF": float("-inf"),
}  # fmt: skip
for _word in ("y", "yes", "true", "on"):
    _WORDS.update(dict.fromkeys((_word, _word.capitalize(), _word.upper()), True))
for _word in ("n", "no", "false", "off"):
    _WORDS.update(dict.fromkeys((_word, _word.capitalize(), _word.upper()), False))

_INTEGER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]*|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_INT64 = range(-(2**63), 2**64)


def resolve(text: str) -> Value:
    """The value of a plain scalar: what the JSON sent to the API server holds."""
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if not (first.isdigit() or first in "+-."):
        return text
    if first == ".":
        return float(text) if _FLOAT.match(text) else text
    plain = text.replace("_", "")
    if _INTEGER.match(plain):
        number = _integer(plain)
        if number in _INT64:
            return number
    if _FLOAT.match(plain):
        return float(plain)
    return text


def key_text(value: Value) -> str:
    """The text of a mapping key, which JSON only has as a string."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    return str(value)


def _integer(text: str) -> int:
    sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text.lstrip("+"))
    base = {"0x": 16, "0b": 2, "0o": 8}.get(digits[:2].lower())
    if base is not None:
        return sign * int(digits[2:] or "0", base)
    if digits[0] == "0":
        return sign * int(digits, 8)
    return sign * int(digits)
