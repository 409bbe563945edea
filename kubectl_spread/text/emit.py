"""Plain values as YAML in block style.

Strings that a parser of any version may take for something else are quoted as in JSON, which YAML contains.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

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
