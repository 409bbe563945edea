r"""JSON text to nodes with places.

kubectl reads a text that begins with `{` as JSON, not as YAML. Objects may follow one another without `---`, a key may
be of any length, and an escaped character may be a pair of surrogates. Values nest as deep as the caller allows.

`\ud83d\ude00` is one character, and a lone half of it is none: Go puts U+FFFD there. `without_lone` and `as_yaml`
keep the length of the text, so that offsets stay true.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from json import decoder
from json.decoder import JSONDecodeError, JSONDecoder
from typing import Any, Optional

from kubectl_spread.text.node import collection, Node, Scalar

_scanstring = decoder.scanstring  # type: ignore[attr-defined]  # typeshed leaves it out

_SPACE = re.compile(r"[ \t\r\n]*")
_LITERAL = re.compile(r"(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)(?![0-9A-Za-z_.+-])")


class NotJSONError(Exception):
    """The text is not JSON, or nests deeper than it may; it may be YAML."""


def roots(text: str, base: int, *, max_depth: int) -> list[Node]:
    """Return the values of a text that holds nothing but JSON.

    Args:
        text: JSON values, one after another.
        base: the offset of the text in its source.
        max_depth: the largest number of levels.

    Raises:
        NotJSONError: a part of the text is not JSON.
    """
    return _Reader(without_lone(text), base, max_depth).roots()


def values(text: str, replace: Optional[Callable[[dict[str, Any]], Any]] = None) -> list[Any]:
    """Return concatenated JSON values as plain values.

    Args:
        text: may hold escaped lone surrogates, which Go replaces.
        replace: gets each object as soon as it is parsed and returns what takes its place, so that the objects of a
            large List never exist all at once.

    Raises:
        ValueError: it is not JSON, or holds an integer too long to be one.
        RecursionError: it nests too deep.
    """
    text, decoder = without_lone(text), JSONDecoder(object_hook=replace)
    found = []
    at = _after_space(text, 0)
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        found.append(value)
        at = _after_space(text, at)
    return found


def error(text: str) -> Optional[tuple[str, int]]:
    """Return the error in concatenated JSON values, and its character offset; None if there is no error."""
    try:
        values(text)
    except JSONDecodeError as wrong:
        return wrong.msg[:1].lower() + wrong.msg[1:], wrong.pos
    except (ValueError, RecursionError):  # an integer too long to be one; too deep
        pass
    return None


def _after_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return at if space is None else space.end()  # never None: no space is a match too


class _Reader:
    def __init__(self, text: str, base: int, max_depth: int) -> None:
        self.text = text
        self.base = base
        self.max_depth = max_depth
        self.at = 0

    def roots(self) -> list[Node]:
        found = []
        while self._peek():
            found.append(self._value(0))
        return found

    def _value(self, depth: int) -> Node:
        """Read a value below so many collections."""
        first, start = self._peek(), self.at
        if first == '"':
            return self._string()
        if first not in ("{", "["):
            match = _LITERAL.match(self.text, start)
            if match is None:
                raise NotJSONError
            self.at = match.end()
            return Scalar(self.base + start, self.base + self.at, match[0], plain=True)
        if depth == self.max_depth:
            raise NotJSONError
        closing, children = "}" if first == "{" else "]", list[Node]()
        self.at += 1
        while self._peek() != closing:
            if children:
                self._take(",")
                self._peek()
            if closing == "}":
                children.append(self._string())
                self._take(":")
            children.append(self._value(depth + 1))
        self.at += 1
        return collection(self.base + start, self.base + self.at, children, is_mapping=closing == "}")

    def _string(self) -> Node:
        self._take('"')
        start = self.at - 1
        try:
            text, self.at = _scanstring(self.text, self.at)
        except ValueError:
            raise NotJSONError from None
        return Scalar(self.base + start, self.base + self.at, text, plain=False)

    def _take(self, char: str) -> None:
        if self._peek() != char:
            raise NotJSONError
        self.at += 1

    def _peek(self) -> str:
        """Return the next character that is not white space; empty at the end."""
        self.at = _after_space(self.text, self.at)
        return self.text[self.at : self.at + 1]


# Compiled on first use.
_HINT = r"\\u[dD][89a-fA-F]"
_ESCAPE = r"(?s)\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"


def without_lone(text: str) -> str:
    """Return JSON text with its lone surrogates replaced."""
    if re.search(_HINT, text) is None:
        return text
    return re.sub(_ESCAPE, lambda match: r"\ufffd" if match[3] else match[0], text)


def as_yaml(text: str) -> str:
    r"""Return JSON text that YAML reads alike: YAML escapes whole characters only (`\U0001f600`)."""
    if re.search(_HINT, text) is None:
        return text
    return re.sub(_ESCAPE, _yaml_escape, text)


def _yaml_escape(match: re.Match[str]) -> str:
    if match[3]:
        return r"\ufffd"
    if match[1] is None:
        return match[0]
    high, low = int(match[1], 16) - 0xD800, int(match[2], 16) - 0xDC00
    # An escaped line break, which YAML drops, fills the two missing characters. (Not in a key,
    # which must be on one line; no Kubernetes object has a key like this.)
    return f"\\\n\\U{0x10000 + (high << 10) + low:08x}"
