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
from typing import Any, Optional

from kubectl_spread.records import NamedTuple
from kubectl_spread.text import simple_flow
from kubectl_spread.text.node import Mapping, Node, Scalar, Sequence
from kubectl_spread.text.simple_flow import BELOW, NotSimpleError

# Recursion takes two calls for a level, and each has a column of its own, or shares it with the sequence in it.
_LARGEST_COLUMN = 60
LONGEST_KEPT = 200  # characters of a line that is kept for the next one like it

_NOT_FIRST = frozenset("?:,[]{}#&*!|>'\"%@`<=\\")  # no plain scalar begins with these
# The column, the dash, and a plain key, for `simple_flow.is_key`. Patterns with more in them cost a short run 2 ms.
_HEAD = re.compile(r"( *)(-(?: +|\Z))?(?:([A-Za-z0-9_./-]+):(?: +|\Z))?")
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
    if lines[0].startswith("---") and lines[0].isprintable() and simple_flow.is_end_of_line(lines[0][3:]):
        lines[0] = " " * len(lines[0])
    return lines


def _tokens(line: str, *, as_nodes: bool) -> tuple[Token, ...]:
    """Return the tokens of a line; none of a comment."""
    if not line.isprintable():
        raise NotSimpleError
    head = _HEAD.match(line)
    assert head is not None  # noqa: S101 (it matches nothing, too)
    blanks, dash, key = head.groups()
    column = len(blanks)
    start = column if dash is None else head.end(2)
    at = head.end()
    if key is None and line[at : at + 1] in ('"', "'"):
        key, at = _quoted_key(line, at)
    if start > _LARGEST_COLUMN or (key is not None and not simple_flow.is_key(key)):
        raise NotSimpleError
    found = _value(line, at, as_node=as_nodes)
    if key is None:
        return _keyless(column, found, has_dash=dash is not None)
    end = start + len(key) + 1
    named = Token(start, simple_flow.key(key, start, as_node=as_nodes), found, end)
    return (named,) if dash is None else (Token(column, None, BELOW, column + 1), named)


def _quoted_key(line: str, start: int) -> tuple[Optional[str], int]:
    """Return the key in quotes at an offset, as it is written, and the offset of what follows; None for a value."""
    end = line.find(line[start], start + 1) + 1
    if not end or line[end : end + 1] != ":" or line[end + 1 : end + 2] not in ("", " "):
        return None, start
    return line[start:end], len(line) - len(line[end + 1 :].lstrip(" "))


def _value(line: str, at: int, *, as_node: bool) -> Any:
    """Return the value that the rest of a line is, or BELOW; a collection without its nodes."""
    first = line[at : at + 1]
    if first in ("", "#"):
        return BELOW
    if first in ("{", "["):
        return Flow(line, at) if as_node else simple_flow.of_line(line, at, as_nodes=False)
    if first in ("'", '"'):
        found, end = simple_flow.read_quoted(line, at, as_node=as_node)
        if not simple_flow.is_end_of_line(line[end:]):
            raise NotSimpleError
        return found
    text = line[at:].partition(" #")[0].rstrip(" ")
    if first in _NOT_FIRST or text == "-" or text.startswith("- ") or text.endswith(":") or ": " in text:
        raise NotSimpleError
    return simple_flow.plain(text, at, as_node=as_node)


def _keyless(column: int, found: Any, *, has_dash: bool) -> tuple[Token, ...]:
    """Return the tokens of a line without a key: an item, or nothing."""
    if has_dash:
        return (Token(column, None, found, column + 1),)
    if found is not BELOW:
        raise NotSimpleError  # a scalar goes on, or it is the whole document
    return ()


_value_tokens = functools.partial(_tokens, as_nodes=False)
_node_tokens = functools.partial(_tokens, as_nodes=True)
_kept_values = functools.lru_cache(maxsize=32768)(_value_tokens)  # most lines of manifests repeat
_kept_nodes = functools.lru_cache(maxsize=4096)(_node_tokens)


def _copied(item: Any) -> Any:
    """Return a copy of a value, so that equal lines share no collection."""
    if isinstance(item, dict):
        copy = item.copy()
        for key, part in item.items():
            if part.__class__ in _COLLECTIONS:
                copy[key] = _copied(part)
        return copy
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
