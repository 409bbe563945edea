"""Simple YAML to values, and to nodes with places.

Manifests are mostly blocks of `key: value` and `- value`, with scalars and flow collections that fit in one line. This
module reads them line by line, and equal lines once. That is several times as fast as a complete parser, whose import
takes 20 ms. `compose` gives a text with anything else to libyaml: a scalar of several lines, an anchor, a tag, an
escape, a tab, a repeated key, or an error. `tests/text/test_simple_yaml.py` compares values and places with libyaml's.

A line becomes one or two tokens, and their columns define the nesting:

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

from kubectl_spread.records import NamedTuple
from kubectl_spread.text import scalars
from kubectl_spread.text.node import Mapping, Node, Scalar, Sequence

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
    rf"( *)(-(?: +|\Z))?(?:{_KEY}(:)(?: +|\Z))?"
    rf"(?:(?:{_PLAIN}|{_DOUBLE} *|{_SINGLE} *)?{_COMMENT}|([\[{{][^\x00-\x1f\x7f]*))"
)
_END_OF_LINE = re.compile(rf" *{_COMMENT}")
_ODD = r"[^\x00-\x7e\xa1-\u1fff\u3001-\ud7ff]"  # white space, line breaks, or nothing that YAML allows

_WORD = r"[A-Za-z0-9_./+~$@%=*;()^-]"
_FLOW_PLAIN = rf"((?:[A-Za-z0-9_./+~$]|-(?=[A-Za-z0-9_./-])){_WORD}*(?: +{_WORD}+)*)"
_FLOW_ITEM = re.compile(rf"(?:(?:{_FLOW_PLAIN}|{_DOUBLE}|{_SINGLE}) *)?")
# Most flow collections are mappings of words to words, without quotes: they need not be read step by step.
_WORDS = r"[A-Za-z0-9_./][A-Za-z0-9_./-]{0,255}: +[A-Za-z0-9_./][A-Za-z0-9_./-]*"
_FLAT_MAPPING = re.compile(rf"\{{({_WORDS}(?:, *{_WORDS})*)\}}")
_FLOW_PAIR = re.compile(rf"{_KEY}: +{_FLOW_ITEM.pattern}")


class NotSimpleError(Exception):
    """The text is more than simple YAML, or no YAML."""


class Token(NamedTuple):
    """A key of a mapping; or, if the key is None, the dash of an item. Both are values, or nodes of their line."""

    column: int
    key: Any
    value: Any  # BELOW if the line has none
    end: int = 0  # the column after the colon or the dash


class Flow(NamedTuple):
    """A flow collection, to the end of a line, without nodes yet."""

    line: str
    start: int


BELOW = object()
_COLLECTIONS = (dict, list)
_END = Token(-1, None, None)
PlacedToken = tuple[int, Token]


def value(text: str) -> Any:
    """Return the JSON value of one document, with or without its `---`.

    Raises:
        NotSimpleError: the text is more than simple.
    """
    if "|\n" in text or ">\n" in text or "|-\n" in text or ">-\n" in text:
        raise NotSimpleError  # before any line is read for nothing
    if not text.isascii() and re.search(_ODD, text):
        raise NotSimpleError
    return _Values([token for tokens in values_of_lines(lines_of(text)) for token in tokens]).root()


def root(text: str, base: int) -> Node:
    """Return the nodes of a document whose `value` can be read; `base` is the offset of the text in its source."""
    return _Nodes(placed_tokens(text, base)).root()


def placed_tokens(text: str, base: int) -> list[PlacedToken]:
    """Return the tokens of a simple document as nodes of their lines, each with the offset of its line."""
    tokens = []
    for line in lines_of(text):
        tokens += [(base, token) for token in nodes_of_line(line)]
        base += len(line) + 1
    return tokens


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, with blanks in place of a leading `---`."""
    lines = text.split("\n")
    if lines[0].startswith("---") and (lines[0] == "---" or _END_OF_LINE.fullmatch(lines[0], 3)):
        lines[0] = " " * len(lines[0])
    return lines


def _tokens(line: str, *, as_nodes: bool) -> tuple[Token, ...]:
    """Return the tokens of a line; none of a comment."""
    match = _LINE.fullmatch(line)
    if match is None:
        raise NotSimpleError
    if match.start(10) < 0:
        found = _scalar(match, 7, as_node=as_nodes)
    else:
        found = Flow(line, match.start(10)) if as_nodes else _flow_line(line, match.start(10), as_nodes=False)
    column = match.end(1)
    key_column = column if match.start(2) < 0 else match.end(2)
    if key_column > _LARGEST_COLUMN:
        raise NotSimpleError
    key = _key(match, 3, as_node=as_nodes)
    if key is not None:
        named = Token(key_column, key, found, match.end(6))
        return (named,) if column == key_column else (Token(column, None, BELOW, column + 1), named)
    if column < key_column:
        return (Token(column, None, found, column + 1),)
    if found is not BELOW:
        raise NotSimpleError  # a scalar goes on, or it is the whole document
    return ()


@functools.lru_cache(maxsize=32768)  # for the places, which are found after all documents are read
def _kept_values(line: str) -> tuple[Token, ...]:
    return _tokens(line, as_nodes=False)


@functools.lru_cache(maxsize=4096)
def _kept_nodes(line: str) -> tuple[Token, ...]:
    return _tokens(line, as_nodes=True)


def _copied(item: Any) -> Any:
    """Return a copy of a value, so that equal lines share no collection."""
    if isinstance(item, dict):
        return {key: _copied(part) if part.__class__ in _COLLECTIONS else part for key, part in item.items()}
    return [_copied(part) for part in item] if isinstance(item, list) else item


def values_of_lines(lines: list[str]) -> list[tuple[Token, ...]]:
    """Return the tokens of each line as values."""
    if max(map(len, lines)) < _LONGEST_KEPT:
        return list(map(_kept_values, lines))
    return [_kept_values(line) if len(line) < _LONGEST_KEPT else _tokens(line, as_nodes=False) for line in lines]


def nodes_of_line(line: str) -> tuple[Token, ...]:
    return _kept_nodes(line) if len(line) < _LONGEST_KEPT else _tokens(line, as_nodes=True)


@functools.lru_cache(maxsize=4096)
def _kept_flow(flow: Flow) -> Any:
    return _flow_line(*flow, as_nodes=True)


def node_of(value: Any) -> Node:
    """Return the node of a token's value that is in its line."""
    node: Node = value
    if value.__class__ is Flow:
        node = _kept_flow(value) if len(value.line) < _LONGEST_KEPT else _flow_line(*value, as_nodes=True)
    return node


def _scalar(match: re.Match[str], group: int, *, as_node: bool) -> Any:
    """Return the scalar in three groups of a match: plain, in double quotes, in single quotes."""
    plain, double, single = match.group(group, group + 1, group + 2)
    if plain is not None:
        text = plain.rstrip(" ")
        start = match.start(group)
        return Scalar(start, start + len(text), text, plain=True) if as_node else scalars.resolve(text)
    text = single if double is None else double
    if text is None:
        return BELOW
    start = match.start(group + 1 if single is None else group + 2) - 1
    return Scalar(start, start + len(text) + 2, text, plain=False) if as_node else text


def _key(match: re.Match[str], group: int, *, as_node: bool) -> Any:
    """Return the key in three groups of a match; None if there is none."""
    if as_node:
        node = _scalar(match, group, as_node=as_node)
        return None if node is BELOW else node
    plain, double, single = match.group(group, group + 1, group + 2)
    if plain is not None:
        return scalars.plain_key_text(plain)
    return single if double is None else double


def _flow_line(line: str, start: int, *, as_nodes: bool) -> Any:
    """Return the flow collection that the rest of a line is."""
    found, at = _flow(line, start, as_nodes=as_nodes, depth=1)
    if _END_OF_LINE.fullmatch(line, at) is None:
        raise NotSimpleError
    return found


def _flow(text: str, start: int, *, as_nodes: bool, depth: int) -> tuple[Any, int]:
    """Return the flow collection at an offset, and the offset after it."""
    if depth > _MOST_BRACKETS:
        raise NotSimpleError
    is_mapping = text[start] == "{"
    flat = _FLAT_MAPPING.match(text, start) if is_mapping and not as_nodes else None
    if flat is not None:
        return _flat_mapping(flat[1]), flat.end()
    closing, part, group = ("}", _FLOW_PAIR, 4) if is_mapping else ("]", _FLOW_ITEM, 1)
    at = _after_blanks(text, start + 1)
    keys: list[Any] = []
    items: list[Any] = []
    while text[at : at + 1] != closing:
        at = _after_comma(text, at) if items else at
        match = part.match(text, at)
        if match is None:
            raise NotSimpleError
        if is_mapping:
            keys.append(_key(match, 1, as_node=as_nodes))
        item, at = _scalar(match, group, as_node=as_nodes), match.end()
        if item is BELOW:
            item, at = _inner(text, at, as_nodes=as_nodes, depth=depth + 1)
        items.append(item)
    at += 1
    if as_nodes:
        node = Mapping(start, at, list(zip(keys, items, strict=True))) if is_mapping else Sequence(start, at, items)
        return node, at
    return _mapping(keys, items) if is_mapping else items, at


def _flat_mapping(written: str) -> dict[str, Any]:
    """Return the value of `key: word, key: word`."""
    pairs = [pair.split(":") for pair in written.split(",")]
    keys = [scalars.plain_key_text(key.strip(" ")) for key, _ in pairs]
    return _mapping(keys, [scalars.resolve(word.strip(" ")) for _, word in pairs])


def _mapping(keys: list[str], items: list[Any]) -> dict[str, Any]:
    found = dict(zip(keys, items, strict=True))
    if len(found) < len(keys):
        raise NotSimpleError  # a key is written twice
    return found


def _inner(text: str, at: int, *, as_nodes: bool, depth: int) -> tuple[Any, int]:
    """Return the nested collection at an offset, and the offset after it and the blanks that follow."""
    if text[at : at + 1] not in ("{", "["):
        raise NotSimpleError
    found, at = _flow(text, at, as_nodes=as_nodes, depth=depth)
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
    """A builder of a document's value from its tokens. It refuses YAML that is not simple."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = [*tokens, _END]
        self.at = 0

    def root(self) -> Any:
        """Return the value of all tokens."""
        found = self._block(self.tokens[0])
        if self.tokens[self.at] is not _END:
            raise NotSimpleError
        return found

    def _block(self, first: Token) -> Any:
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
            if item is BELOW:
                below = tokens[self.at]
                is_list = below.column == column and below.key is None
                item = self._block(below) if below.column > column or is_list else None
            elif item.__class__ in _COLLECTIONS:
                item = _copied(item)
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
            if item is BELOW:
                below = tokens[self.at]
                item = self._block(below) if below.column > column else None
            elif item.__class__ in _COLLECTIONS:
                item = _copied(item)
            found.append(item)
        if token[0] > column:
            raise NotSimpleError
        return found


class _Nodes:
    """Builds the nodes of tokens whose value is known, each with the offset of its line."""

    def __init__(self, tokens: list[PlacedToken]) -> None:
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
            if is_mapping:
                pairs.append((_moved(here[1].key, here[0]), item))
            else:
                items.append(item)
        if is_mapping:
            return Mapping(line + column, pairs[-1][1].end, pairs)
        return Sequence(line + column, items[-1].end, items)

    def _value(self, line: int, token: Token) -> Node:
        """Return the value of a key or a dash: in its line, or below, or null."""
        if token.value is not BELOW:
            return _moved(node_of(token.value), line)
        below = self.tokens[self.at][1]
        is_list = below.column == token.column and token.key is not None and below.key is None
        if below.column > token.column or is_list:
            return self._block()
        return Scalar(line + token.end, line + token.end, "", plain=True)


def _moved(node: Node, by: int) -> Node:
    """Return a node, with its descendants, at other offsets."""
    if isinstance(node, Scalar):
        return Scalar(node.start + by, node.end + by, node.text, plain=node.plain)
    if isinstance(node, Sequence):
        return Sequence(node.start + by, node.end + by, [_moved(item, by) for item in node.items])
    pairs = [(_moved(key, by), _moved(item, by)) for key, item in node.pairs]
    return Mapping(node.start + by, node.end + by, pairs)
