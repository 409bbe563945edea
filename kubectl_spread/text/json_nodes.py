r"""JSON text to nodes with places.

kubectl reads a text that begins with `{` as JSON, not as YAML. Objects may follow one another without `---`, a key may
be of any length, and an escaped character may be a pair of surrogates. The parser uses a stack instead of recursion,
with the depth that the caller allows.

`\ud83d\ude00` is one character, and a lone half of it is none: Go puts U+FFFD there. `without_lone` and `as_yaml`
keep the length of the text, so that offsets stay true.
"""

from __future__ import annotations

import re
from json import decoder
from json.decoder import JSONDecodeError, JSONDecoder
from typing import Optional

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


def error(text: str) -> Optional[tuple[str, int]]:
    """Return the error in concatenated JSON values, and its character offset; None if there is no error."""
    text = without_lone(text)
    decoder = JSONDecoder()
    at = 0
    try:
        while True:
            space = _SPACE.match(text, at)
            at = at if space is None else space.end()
            if at == len(text):
                return None
            _, at = decoder.raw_decode(text, at)
    except JSONDecodeError as wrong:
        return wrong.msg[:1].lower() + wrong.msg[1:], wrong.pos
    except (ValueError, RecursionError):  # an integer too long to be one; too deep
        return None


class _Open:
    """A collection whose end is not parsed yet."""

    __slots__ = ("children", "closing", "is_mapping", "start")

    def __init__(self, start: int, closing: str) -> None:
        self.start = start
        self.closing = closing
        self.is_mapping = closing == "}"
        self.children: list[Node] = []


class _Reader:
    def __init__(self, text: str, base: int, max_depth: int) -> None:
        self.text = text
        self.base = base
        self.max_depth = max_depth
        self.at = 0

    def roots(self) -> list[Node]:
        found = []
        while self._peek():
            found.append(self._root())
        return found

    def _root(self) -> Node:
        stack: list[_Open] = []
        while True:
            done = self._begin(stack)
            while done is not None:
                if not stack:
                    return done
                stack[-1].children.append(done)
                done = self._go_on(stack)

    def _begin(self, stack: list[_Open]) -> Optional[Node]:
        """Read a value. Push a collection onto the stack and return None, because its first child follows."""
        first = self._peek()
        if first == '"':
            return self._string()
        if first not in ("{", "["):
            match = _LITERAL.match(self.text, self.at)
            if match is None:
                raise NotJSONError
            self.at = match.end()
            return Scalar(self.base + match.start(), self.base + match.end(), match[0], plain=True)
        if len(stack) == self.max_depth:
            raise NotJSONError
        opened = _Open(self.base + self.at, "}" if first == "{" else "]")
        self.at += 1
        if self._peek() == opened.closing:
            return self._close(opened)
        stack.append(opened)
        if opened.is_mapping:
            opened.children.append(self._key())
        return None

    def _go_on(self, stack: list[_Open]) -> Optional[Node]:
        """Read the text after a child. Return its collection if it ends here, None if another child follows."""
        opened = stack[-1]
        following = self._peek()
        if following == opened.closing:
            return self._close(stack.pop())
        self._take(",")
        if opened.is_mapping:
            opened.children.append(self._key())
        return None

    def _close(self, opened: _Open) -> Node:
        self.at += 1
        return collection(opened.start, self.base + self.at, opened.children, is_mapping=opened.is_mapping)

    def _key(self) -> Node:
        key = self._string()
        self._take(":")
        return key

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
        space = _SPACE.match(self.text, self.at)
        self.at = self.at if space is None else space.end()  # never None: no space is a match too
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
