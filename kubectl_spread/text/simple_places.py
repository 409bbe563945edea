"""Places in a simple document, found in its lines: a search reads only the nodes on its route.

Most documents need one or two places, or none. Building their nodes would take six times as long.
"""

from __future__ import annotations

from typing import Optional, Union

from kubectl_spread.text import node as nodes
from kubectl_spread.text.node import Node, Route, Scalar
from kubectl_spread.text.simple_yaml import BELOW, node_of, placed_tokens
from kubectl_spread.text.source import Span

Members = dict[Union[str, int], int]  # the number of the token of each key or item


class SimplePlaces:
    """The places of a document whose `simple_yaml.value` can be read.

    A block is known by the number of its first token, as the value of that token's key or dash may be in its line.
    """

    __slots__ = ("_members", "_tokens")

    def __init__(self, text: str, base: int) -> None:
        self._tokens = placed_tokens(text, base)
        self._members: dict[int, Members] = {}

    def place(self, route: Route, *, key: bool = False) -> Span:
        """Return the span to show for a route, as `node.place` has it."""
        block = 0
        last: Optional[Span] = None  # of the key of the step before
        for count, step in enumerate(route, 1):
            at = self._members_of(block).get(step)
            if at is None:
                return last or self._first_line(block)
            last = self._key(at)
            below = self._below(at)
            if below is None:
                return self._in_line(at, route[count:], last, key=key)
            block = below
        return last if key and last is not None else self._span(block)

    def _members_of(self, block: int) -> Members:
        """Return the tokens of a block's keys or items."""
        if block not in self._members:
            numbers = self._own(block)
            if self._tokens[block][1].key is None:
                self._members[block] = dict(enumerate(numbers))
            else:
                self._members[block] = {nodes.key_text(self._tokens[at][1].key): at for at in numbers}
        return self._members[block]

    def _own(self, block: int) -> list[int]:
        """Return the numbers of a block's own tokens, without those below them."""
        column, is_item = self._tokens[block][1].column, self._tokens[block][1].key is None
        return [
            at
            for at in range(block, self._end(block))
            if self._tokens[at][1].column == column and (self._tokens[at][1].key is None) == is_item
        ]

    def _end(self, block: int) -> int:
        """Return the number of the token after a block; a list may be in the column of the key above it."""
        column, is_item = self._tokens[block][1].column, self._tokens[block][1].key is None
        for at in range(block + 1, len(self._tokens)):
            token = self._tokens[at][1]
            if token.column < column or (is_item and token.column == column and token.key is not None):
                return at
        return len(self._tokens)

    def _key(self, at: int) -> Optional[Span]:
        """Return the span of a token's key; None for a dash."""
        line, token = self._tokens[at]
        return None if token.key is None else _moved(nodes.span(token.key), line)

    def _below(self, at: int) -> Optional[int]:
        """Return the block that is the value of a token; None if the value is in its line, or null."""
        token = self._tokens[at][1]
        if token.value is not BELOW or at + 1 == len(self._tokens):
            return None
        below = self._tokens[at + 1][1]
        is_list = below.column == token.column and token.key is not None and below.key is None
        return at + 1 if below.column > token.column or is_list else None

    def _value(self, at: int) -> Node:
        """Return the value that a token has in its line, as a node of this line."""
        token = self._tokens[at][1]
        if token.value is BELOW:
            return Scalar(token.end, token.end, "", plain=True)
        return node_of(token.value)

    def _in_line(self, at: int, route: Route, last: Optional[Span], *, key: bool) -> Span:
        """Return the place of a route below a value in one line; `last` is the span of the value's key."""
        line, value = self._tokens[at][0], self._value(at)
        is_here = not route or nodes.follow(value, route[:1]) is None
        if is_here and last is not None and (key or route):
            return last
        return _moved(nodes.place(value, route, key=key), line)

    def _first_line(self, block: int) -> Span:
        """Return the first key of a block; the whole of a list."""
        return self._key(block) or self._span(block)

    def _span(self, block: int) -> Span:
        """Return the span of a block, which ends where its last value does."""
        line, first = self._tokens[block]
        at = self._end(block) - 1
        return Span(line + first.column, self._tokens[at][0] + self._value(at).end)


def _moved(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by)
