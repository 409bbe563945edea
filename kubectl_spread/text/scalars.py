"""Plain scalars as kubectl reads them, and plain values as YAML in block style.

kubectl turns YAML into JSON with sigs.k8s.io/yaml, which resolves scalars by go-yaml v2's rules. They are
neither YAML 1.1's (`y` is true, `1:30` is a string, `0o17` is 15) nor YAML 1.2's (`yes` is true, `017` is 15).
Strings that a parser of any version may take for something else are quoted as in JSON, which YAML contains.

Source: go.yaml.in/yaml/v2 resolve.go, resolve; sigs.k8s.io/yaml yaml.go, convertToJSONableObject.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, Optional, Union

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

# Compiled on first use.
_INTEGER = r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]([0-7]+)|0([0-7]*)|([1-9][0-9]*))\Z"
_DIGITS = frozenset("0123456789")
_NUMERIC = "0123456789abcdefABCDEFxXoO+-._"  # all characters of numbers
_BASES = (16, 2, 8, 8, 10)  # of the groups above, after the sign
_FLOAT = r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z"
_LONGEST = 100  # digits; no number of 64 bits has more, but for leading zeros


@functools.lru_cache(maxsize=8192)
def resolve(text: str) -> Value:
    """Return the value of a plain scalar in the JSON for the API server."""
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if not (first.isdigit() or first in "+-."):
        return text
    if first == ".":
        return _float(text)
    if text in _DIGITS:  # as most numbers are
        return int(text)
    if text.strip(_NUMERIC):  # as in `100m`
        return text
    plain = text.replace("_", "")
    number = _integer(plain)
    if number is not None:
        return number
    value = _float(plain)
    return text if isinstance(value, str) else value


def natural(text: str) -> Optional[int]:
    """Return the number of a text of 1 to 18 decimal digits; None for any other. Python reads no number of 5,000."""
    return int(text) if len(text) <= 18 and text.isascii() and text.isdecimal() else None


def by_number(text: str) -> tuple[bool, int, str]:
    """Return a key that sorts numbers by their value, before other texts."""
    number = natural(text)
    return number is None, number or 0, text


@functools.lru_cache(maxsize=8192)
def plain_key_text(text: str) -> str:
    """Return the text of a mapping key that is a plain scalar."""
    value = resolve(text)
    return value if isinstance(value, str) else key_text(value)


def key_text(value: Value) -> str:
    """Return the text of a mapping key, which JSON only has as a string."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, float):
        if math.isnan(value):
            return ".nan"
        if math.isinf(value):
            return ".inf" if value > 0 else "-.inf"
        return f"{value:g}"
    return str(value)


def _integer(text: str) -> Optional[int]:
    """Return an integer as Go's ParseInt(text, 0, 64) reads it, else as ParseUint does, which takes no sign."""
    match = re.match(_INTEGER, text)
    if match is None:
        return None
    sign, *groups = match.groups()
    digits, base = next((digits, base) for digits, base in zip(groups, _BASES, strict=True) if digits is not None)
    digits = digits.lstrip("0") or "0"
    if len(digits) > _LONGEST:
        return None
    number = int(digits, base)
    if sign == "-":
        return -number if number <= 2**63 else None
    return number if number < 2 ** (63 if sign else 64) else None


def _float(text: str) -> Union[float, str]:
    """Return the result of Go's ParseFloat; return the text if it is not a float or too large."""
    if re.match(_FLOAT, text) is None:
        return text
    value = float(text)
    return text if math.isinf(value) else value


# Beginning with a letter, and none of the words that YAML 1.1 knows.
_BARE = re.compile(r"(?!(?:null|true|false|yes|no|on|off|y|n)\Z)[A-Za-z/][-A-Za-z0-9_./]*\Z", re.IGNORECASE)


def emit(value: Any) -> str:
    """Return a document; it ends with a line break."""
    return "".join(f"{line}\n" for line in _lines(value, ""))


def scalar(text: str) -> str:
    """Return a string, quoted if it needs quotes."""
    if _BARE.match(text):
        return text
    import json  # 5 ms; most strings need no quotes

    quoted = json.dumps(text, ensure_ascii=False)
    if quoted.isprintable():
        return quoted
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in quoted)


def pairs(labels: Iterable[tuple[str, str]]) -> str:
    """Return the entries of a flow mapping."""
    return ", ".join(f"{scalar(key)}: {scalar(value)}" for key, value in labels)


def _lines(value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _entry(f"{indent}{scalar(str(key))}:", item, indent)
    elif isinstance(value, list) and value:
        for item in value:
            first, *rest = _lines(item, f"{indent}  ")
            yield f"{indent}- {first[len(indent) + 2 :]}"
            yield from rest
    else:
        yield f"{indent}{_leaf(value)}"


def _entry(key: str, item: Any, indent: str) -> Iterator[str]:
    if isinstance(item, dict) and item:
        yield key
        yield from _lines(item, f"{indent}  ")
    elif isinstance(item, list) and item:
        yield key
        yield from _lines(item, indent)
    else:
        yield f"{key} {_leaf(item)}"


def _leaf(value: Any) -> str:
    if isinstance(value, str):
        return scalar(value)
    import json  # 5 ms

    return json.dumps(value)
