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
from itertools import chain
from typing import Any

from kubectl_spread.records import NamedTuple
from kubectl_spread.text import scalars, simple_flow
from kubectl_spread.text.node import Mapping, Node, Scalar, Sequence
from kubectl_spread.text.simple_flow import BELOW, NotSimpleError

# Recursion takes two calls for a level, and each has a column of its own, or shares it with the sequence in it.
_LARGEST_COLUMN = 60
LONGEST_KEPT = 200  # characters of a line that is kept for the next one like it

_REST = r"[^:#\x00-\x1f\x7f]*"
_FIRST = r"[^-?:,\[\]{}#&*!|>'\"%@`<=\\\x00-\x20\x7f]"
_PLAIN = rf"((?:{_FIRST}|-(?=[^ ])){_REST}(?:(?::(?=[^ ])|(?<! )#){_REST})*)"
_LINE = re.compile(
    rf"( *)(-(?: +|\Z))?(?:{simple_flow.KEY}(:)(?: +|\Z))?"
    rf"(?:(?:{_PLAIN}|{simple_flow.DOUBLE} *|{simple_flow.SINGLE} *)?{simple_flow.COMMENT}|([\[{{][^\x00-\x1f\x7f]*))"
)
_ODD = r"[^\x00-\x7e\xa1-\u1fff\u3001-\ud7ff]"  # white space, line breaks, or nothing that YAML allows


class Token(NamedTuple):
    """A key of a mapping; or, if the key is None, the dash of an item. Both are values, or nodes of their line."""

    column: int
    key: Any
    value: Any  # BELOW if the line has none
    end: int = 0  # the column after the colon or the dash, in a token of nodes


class Flow(NamedTuple):
    """A flow collection, to the end of a line, without nodes yet."""

    line: str
    start: int


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
    tokens = [*chain.from_iterable(values_of_lines(lines_of(text))), _END]
    first = tokens[0]
    if first is _END:
        raise NotSimpleError
    found, at = (_sequence if first.key is None else _mapping)(tokens, 0, first.column)
    if tokens[at] is not _END:
        raise NotSimpleError
    return found


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
    if lines[0].startswith("---") and (lines[0] == "---" or simple_flow.END_OF_LINE.fullmatch(lines[0], 3)):
        lines[0] = " " * len(lines[0])
    return lines


def _value_tokens(line: str) -> tuple[Token, ...]:
    """Return the tokens of a line as values; none of a comment."""
    match = _LINE.fullmatch(line)
    if match is None:
        raise NotSimpleError
    blanks, dash, plain_key, double_key, single_key, colon, plain, double, single, flow = match.groups()
    found: Any = None
    if plain is not None:
        found = scalars.resolve(plain.rstrip(" "))
    elif flow is not None:
        found = simple_flow.of_line(line, match.start(10), as_nodes=False)
    else:
        found = single if double is None else double
        found = BELOW if found is None else found
    column = len(blanks)
    key_column = column if dash is None else match.end(2)
    if key_column > _LARGEST_COLUMN:
        raise NotSimpleError
    if colon is None:
        return _keyless(column, found, has_dash=dash is not None)
    key = single_key if double_key is None else double_key
    named = Token(key_column, scalars.plain_key_text(plain_key) if key is None else key, found)
    return (named,) if dash is None else (Token(column, None, BELOW), named)


def _node_tokens(line: str) -> tuple[Token, ...]:
    """Return the tokens of a line, whose values can be read, as nodes."""
    match = _LINE.fullmatch(line)
    assert match is not None  # noqa: S101 (else its values could not be read)
    is_flow = match.start(10) >= 0
    found = Flow(line, match.start(10)) if is_flow else simple_flow.scalar(match, 7, as_node=True)
    column = match.end(1)
    has_dash = match.start(2) >= 0
    key = simple_flow.key(match, 3, as_node=True)
    if key is None:
        return _keyless(column, found, has_dash=has_dash)
    named = Token(match.end(2) if has_dash else column, key, found, match.end(6))
    return (Token(column, None, BELOW, column + 1), named) if has_dash else (named,)


def _keyless(column: int, found: Any, *, has_dash: bool) -> tuple[Token, ...]:
    """Return the tokens of a line without a key: an item, or nothing."""
    if has_dash:
        return (Token(column, None, found, column + 1),)
    if found is not BELOW:
        raise NotSimpleError  # a scalar goes on, or it is the whole document
    return ()


_kept_values = functools.lru_cache(maxsize=32768)(_value_tokens)  # most lines of manifests repeat
_kept_nodes = functools.lru_cache(maxsize=4096)(_node_tokens)


def _copied(item: Any) -> Any:
    """Return a copy of a value, so that equal lines share no collection."""
    if isinstance(item, dict):
        return {key: _copied(part) if part.__class__ in _COLLECTIONS else part for key, part in item.items()}
    return [_copied(part) for part in item] if isinstance(item, list) else item


def values_of_lines(lines: list[str]) -> list[tuple[Token, ...]]:
    """Return the tokens of each line as values."""
    if max(map(len, lines)) < LONGEST_KEPT:
        return list(map(_kept_values, lines))
    return list(map(values_of_line, lines))


def values_of_line(line: str) -> tuple[Token, ...]:
    """Return the tokens of a line as values."""
    return _kept_values(line) if len(line) < LONGEST_KEPT else _value_tokens(line)


def nodes_of_line(line: str) -> tuple[Token, ...]:
    """Return the tokens of a line as nodes."""
    return _kept_nodes(line) if len(line) < LONGEST_KEPT else _node_tokens(line)


@functools.lru_cache(maxsize=4096)
def _kept_flow(flow: Flow) -> Any:
    return simple_flow.of_line(*flow, as_nodes=True)


def node_of(value: Any) -> Node:
    """Return the node of a token's value that is in its line."""
    node: Node = value
    if value.__class__ is Flow:
        is_kept = len(value.line) < LONGEST_KEPT
        node = _kept_flow(value) if is_kept else simple_flow.of_line(*value, as_nodes=True)
    return node


def _mapping(tokens: list[Token], at: int, column: int) -> tuple[dict[str, Any], int]:
    """Return the mapping that begins with a token, and the number of the token after it."""
    found: dict[str, Any] = {}
    while True:
        here, key, item, _ = tokens[at]
        if here != column or key is None:
            break
        at += 1
        if item is BELOW:
            below, below_key, _, _ = tokens[at]
            item = None
            if below_key is None and below >= column:
                item, at = _sequence(tokens, at, below)
            elif below > column:
                item, at = _mapping(tokens, at, below)
        elif item.__class__ in _COLLECTIONS:
            item = _copied(item)
        if key in found:
            raise NotSimpleError
        found[key] = item
    if here >= column:
        raise NotSimpleError
    return found, at


def _sequence(tokens: list[Token], at: int, column: int) -> tuple[list[Any], int]:
    """Return the sequence that begins with a token, and the number of the token after it."""
    found: list[Any] = []
    while True:
        here, key, item, _ = tokens[at]
        if here != column or key is not None:
            break
        at += 1
        if item is BELOW:
            below, below_key, _, _ = tokens[at]
            item = None
            if below > column:
                item, at = (_sequence if below_key is None else _mapping)(tokens, at, below)
        elif item.__class__ in _COLLECTIONS:
            item = _copied(item)
        found.append(item)
    if here > column:
        raise NotSimpleError
    return found, at


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
