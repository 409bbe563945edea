"""Simple YAML to values, and to nodes with places.

Manifests are mostly blocks of `key: value` and `- value`, with scalars and flow collections that fit in one line. That
part is read here line by line, and equal lines once: several times as fast as from the events of a complete parser,
which takes 20 ms to import. A text with anything else is refused as a whole, and `compose` gives it to libyaml: a
scalar of several lines, an anchor, a tag, an escape, a tab, a key written twice, and every error.
`tests/text/test_simple_yaml.py` compares values and places with those that libyaml gives.

A line becomes one or two tokens, and their columns say what is inside what:

```
ports:            (0, "ports", BELOW)
- name: http      (0, None, BELOW)     (2, "name", "http")
  port: 80                             (2, "port", 80)
```
"""

from __future__ import annotations

import functools
import re
from typing import Any
from typing import NamedTuple
from typing import Optional

from kubectl_spread.text.node import key_text
from kubectl_spread.text.node import Mapping
from kubectl_spread.text.node import Node
from kubectl_spread.text.node import Scalar
from kubectl_spread.text.node import Sequence
from kubectl_spread.text.node import to_plain

# Recursion takes two calls for a level, and each has a column of its own, or shares it with the sequence in it.
_LARGEST_COLUMN = 60
_MOST_BRACKETS = 20
_LONGEST_KEPT = 200  # characters of a line that is kept for the next one like it

# Nothing in these can match in two ways, so that they cost no more than a line is long.
_DOUBLE = r'"([^"\\\x00-\x1f\x7f]*)"'
_SINGLE = r"'([^'\x00-\x1f\x7f]*)'"
_KEY = r"(?:([A-Za-z0-9_./][A-Za-z0-9_./-]{0,255})|\"([A-Za-z0-9_./ -]{0,255})\"|'([A-Za-z0-9_./ -]{0,255})')"
_REST = r"[^:#\x00-\x1f\x7f]*"
_FIRST = r"[^-?:,\[\]{}#&*!|>'\"%@`<=\\\x00-\x20\x7f]"
_PLAIN = rf"((?:{_FIRST}|-(?=[^ ])){_REST}(?:(?::(?=[^ ])|(?<! )#){_REST})*)"
_COMMENT = r"(?:(?<![^ ])#[^\x00-\x1f\x7f]*)?"
_LINE = re.compile(
    rf"( *)(-(?: +|\Z))?(?:{_KEY}:(?: +|\Z))?"
    rf"(?:(?:{_PLAIN}|{_DOUBLE} *|{_SINGLE} *)?{_COMMENT}|([\[{{][^\x00-\x1f\x7f]*))"
)
_END_OF_LINE = re.compile(rf" *{_COMMENT}")
_ODD = r"[^\x00-\x7e\xa1-\u1fff\u3001-\ud7ff]"  # white space, line breaks, or nothing that YAML allows

_WORD = r"[A-Za-z0-9_./+~$@%=*;()^-]"
_FLOW_PLAIN = rf"((?:[A-Za-z0-9_./+~$]|-(?=[A-Za-z0-9_./-])){_WORD}*(?: +{_WORD}+)*)"
_FLOW_KEY = re.compile(rf"{_KEY}: +")
_FLOW_SCALAR = re.compile(rf"(?:{_FLOW_PLAIN}|{_DOUBLE}|{_SINGLE}) *")


class NotSimpleError(Exception):
    """The text is more than simple YAML, or no YAML."""


class _Token(NamedTuple):
    """A key of a mapping or, where the key is None, the dash of an item; the nodes begin in column 0 of their line."""

    column: int
    key: Optional[str]
    value: Any  # _BELOW if the line has none
    end: int = 0  # the column after the colon or the dash
    key_node: Optional[Scalar] = None
    value_node: Optional[Node] = None


_BELOW = object()
_END = _Token(-1, None, None)


def value(text: str) -> Any:
    """Return the JSON value of one document, with or without its `---`; parts of equal lines are one object.

    Raises:
        NotSimpleError: the text is more than simple.
    """
    if "|\n" in text or ">\n" in text or "|-\n" in text or ">-\n" in text:
        raise NotSimpleError  # before lines are read in vain
    if not text.isascii() and re.search(_ODD, text):
        raise NotSimpleError
    return _Values([token for line in _lines(text) for token in _of_line(line)]).root()


def root(text: str, base: int) -> Node:
    """Return the nodes of a document whose `value` can be read; `base` is the offset of the text in its source."""
    tokens = []
    for line in _lines(text):
        tokens += [(base, token) for token in _of_line(line)]
        base += len(line) + 1
    return _Nodes(tokens).root()


def _lines(text: str) -> list[str]:
    """Return the lines, that of a `---` empty."""
    lines = text.split("\n")
    if lines[0].startswith("---") and (lines[0] == "---" or _END_OF_LINE.fullmatch(lines[0], 3)):
        lines[0] = " " * len(lines[0])
    return lines


def _of_line(line: str) -> tuple[_Token, ...]:
    return _kept_tokens(line) if len(line) < _LONGEST_KEPT else _tokens(line)


def _tokens(line: str) -> tuple[_Token, ...]:
    """Return the tokens of a line; none of a comment."""
    match = _LINE.fullmatch(line)
    if match is None:
        raise NotSimpleError
    indent, dash = match.group(1, 2)
    node = _scalar(match, 6) if match.start(9) < 0 else _flow_line(line, match.start(9))
    found = _BELOW if node is None else to_plain(node)
    column = len(indent)
    key = _scalar(match, 3)
    key_column = column + len(dash or "")
    if key_column > _LARGEST_COLUMN:
        raise NotSimpleError
    if key is not None:
        named = _Token(key_column, key_text(key), found, key.end + 1, key, node)
        return (named,) if dash is None else (_Token(column, None, _BELOW, column + 1), named)
    if dash is not None:
        return (_Token(column, None, found, column + 1, None, node),)
    if node is not None:
        raise NotSimpleError  # a scalar goes on, or it is the whole document
    return ()


_kept_tokens = functools.lru_cache(maxsize=4096)(_tokens)


def _scalar(match: re.Match[str], group: int) -> Optional[Scalar]:
    """Return the scalar in three groups of a match: plain, in double quotes, in single quotes."""
    plain, double, single = match.group(group, group + 1, group + 2)
    if plain is not None:
        start, text = match.start(group), plain.rstrip(" ")
        return Scalar(start, start + len(text), text, plain=True)
    if double is not None:
        return Scalar(match.start(group + 1) - 1, match.end(group + 1) + 1, double, plain=False)
    if single is not None:
        return Scalar(match.start(group + 2) - 1, match.end(group + 2) + 1, single, plain=False)
    return None


def _flow_line(line: str, start: int) -> Node:
    """Return the flow collection that the rest of a line is."""
    found, at = _flow(line, start, depth=1)
    if _END_OF_LINE.fullmatch(line, at) is None:
        raise NotSimpleError
    return found


def _flow(text: str, start: int, *, depth: int) -> tuple[Node, int]:
    """Return the flow collection at an offset, and the offset after it."""
    if depth > _MOST_BRACKETS:
        raise NotSimpleError
    closing = "}" if text[start] == "{" else "]"
    at = _after_blanks(text, start + 1)
    parts: list[Node] = []
    while text[at : at + 1] != closing:
        if parts:
            at = _after_comma(text, at)
        if closing == "}":
            key, at = _flow_key(text, at)
            parts.append(key)
        item, at = _flow_value(text, at, depth=depth)
        parts.append(item)
    at += 1
    if closing == "]":
        return Sequence(start, at, parts), at
    keys, items = parts[::2], parts[1::2]
    if len(set(map(key_text, keys))) < len(keys):
        raise NotSimpleError
    return Mapping(start, at, list(zip(keys, items, strict=True))), at


def _flow_key(text: str, at: int) -> tuple[Scalar, int]:
    """Return the key at an offset, and the offset of its value."""
    match = _FLOW_KEY.match(text, at)
    key = None if match is None else _scalar(match, 1)
    if match is None or key is None:
        raise NotSimpleError
    return key, match.end()


def _flow_value(text: str, at: int, *, depth: int) -> tuple[Node, int]:
    """Return the value at an offset, and the offset after it and the blanks that follow."""
    match = _FLOW_SCALAR.match(text, at)
    found: Optional[Node] = None if match is None else _scalar(match, 1)
    if match is not None and found is not None:
        return found, match.end()
    if text[at : at + 1] not in ("{", "["):
        raise NotSimpleError
    found, at = _flow(text, at, depth=depth + 1)
    return found, _after_blanks(text, at)


def _after_comma(text: str, at: int) -> int:
    """Return the offset of what follows a comma: not the end of the collection."""
    if text[at : at + 1] != ",":
        raise NotSimpleError
    at = _after_blanks(text, at + 1)
    if text[at : at + 1] in ("}", "]"):
        raise NotSimpleError
    return at


def _after_blanks(text: str, at: int) -> int:
    while text[at : at + 1] == " ":
        at += 1
    return at


class _Values:
    """Builds the value of the tokens of a document, and refuses what is not simple."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens = [*tokens, _END]
        self.at = 0

    def root(self) -> Any:
        """Return the value of all tokens."""
        found = self._block(self.tokens[0])
        if self.tokens[self.at] is not _END:
            raise NotSimpleError
        return found

    def _block(self, first: _Token) -> Any:
        """Return the mapping or sequence that begins with a token."""
        if first is _END:
            raise NotSimpleError
        return self._sequence(first.column) if first.key is None else self._mapping(first.column)

    def _mapping(self, column: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        tokens = self.tokens
        while (token := tokens[self.at])[0] == column and token[1] is not None:
            self.at += 1
            if token[1] in found:
                raise NotSimpleError
            item = token[2]
            if item is _BELOW:
                below = tokens[self.at]
                is_list = below.column == column and below.key is None
                item = self._block(below) if below.column > column or is_list else None
            found[token[1]] = item
        if token[0] >= column:
            raise NotSimpleError
        return found

    def _sequence(self, column: int) -> list[Any]:
        found: list[Any] = []
        tokens = self.tokens
        while (token := tokens[self.at])[0] == column and token[1] is None:
            self.at += 1
            item = token[2]
            if item is _BELOW:
                below = tokens[self.at]
                item = self._block(below) if below.column > column else None
            found.append(item)
        if token[0] > column:
            raise NotSimpleError
        return found


class _Nodes:
    """Builds the nodes of tokens whose value is known, each with the offset of its line."""

    def __init__(self, tokens: list[tuple[int, _Token]]) -> None:
        self.tokens = [*tokens, (0, _END)]
        self.at = 0

    def root(self) -> Node:
        """Return the node of the whole document."""
        return self._block()

    def _block(self) -> Node:
        """Return the mapping or sequence that begins here; a block ends where its last value does."""
        line, first = self.tokens[self.at]
        column, is_mapping = first.column, first.key is not None
        pairs: list[tuple[Node, Node]] = []
        items: list[Node] = []
        while (here := self.tokens[self.at])[1].column == column and (here[1].key is not None) == is_mapping:
            self.at += 1
            item = self._value(*here)
            if here[1].key_node is None:
                items.append(item)
            else:
                pairs.append((_moved(here[1].key_node, here[0]), item))
        if is_mapping:
            return Mapping(line + column, pairs[-1][1].end, pairs)
        return Sequence(line + column, items[-1].end, items)

    def _value(self, line: int, token: _Token) -> Node:
        """Return the value of a key or a dash: in its line, or below, or null."""
        if token.value_node is not None:
            return _moved(token.value_node, line)
        below = self.tokens[self.at][1]
        is_list = below.column == token.column and token.key is not None and below.key is None
        if below.column > token.column or is_list:
            return self._block()
        return Scalar(line + token.end, line + token.end, "", plain=True)


def _moved(node: Node, by: int) -> Node:
    """Return a node and what is in it with other offsets."""
    if isinstance(node, Scalar):
        return Scalar(node.start + by, node.end + by, node.text, plain=node.plain)
    if isinstance(node, Sequence):
        return Sequence(node.start + by, node.end + by, [_moved(item, by) for item in node.items])
    pairs = [(_moved(key, by), _moved(item, by)) for key, item in node.pairs]
    return Mapping(node.start + by, node.end + by, pairs)
