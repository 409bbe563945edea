"""Places in a simple document, found in its lines: a search reads only the nodes on its route.

Most documents need one or two places, or none. Building their nodes would take six times as long.
"""

from __future__ import annotations

import itertools
from typing import Optional, Union

from kubectl_spread.text import node as nodes
from kubectl_spread.text.node import Node, Route, Scalar
from kubectl_spread.text.simple_yaml import BELOW, lines_of, node_of, nodes_of_line, Token, values_of_lines
from kubectl_spread.text.source import Span

Members = dict[Union[str, int], int]  # the number of the token of each key or item


class SimplePlaces:
    """The places of a document whose `simple_yaml.value` can be read.

    A block is known by the number of its first token, as the value of that token's key or dash may be in its line.
    Values are enough to find the way; only the lines at its end are read as nodes.
    """

    __slots__ = ("_line_numbers", "_lines", "_members", "_starts", "_tokens")

    def __init__(self, text: str, base: int) -> None:
        self._lines = lines_of(text)
        self._starts = list(itertools.accumulate(map(len, self._lines), initial=base))  # without the line breaks
        by_line = values_of_lines(self._lines)
        self._tokens: list[Token] = list(itertools.chain.from_iterable(by_line))
        self._line_numbers = [number for number, tokens in enumerate(by_line) for _ in tokens]  # of each token
        self._members: dict[int, Members] = {}

    def place(self, route: Route, *, key: bool = False) -> Span:
        """Return the span to show for a route, as `node.place` has it."""
        block = 0
        last: Optional[int] = None  # the token of the step before
        for count, step in enumerate(route, 1):
            at = self._members_of(block).get(step)
            if at is None:
                return self._first_line(block) if last is None else self._key(last) or self._first_line(block)
            last = at
            below = self._below(at)
            if below is None:
                return self._in_line(at, route[count:], key=key)
            block = below
        return (self._key(last) if key and last is not None else None) or self._span(block)

    def _members_of(self, block: int) -> Members:
        """Return the tokens of a block's keys or items, without those below them."""
        if block not in self._members:
            column, is_item = self._tokens[block].column, self._tokens[block].key is None
            own = []
            for at in range(block, len(self._tokens)):
                here, name, _, _ = self._tokens[at]
                if here < column or (here == column and is_item and name is not None):
                    break
                if here == column and (name is None) == is_item:
                    own.append(at)
            self._members[block] = dict(enumerate(own)) if is_item else {self._tokens[at].key: at for at in own}
        return self._members[block]

    def _end(self, block: int) -> int:
        """Return the number of the token after a block; a list may be in the column of the key above it."""
        column, is_item = self._tokens[block].column, self._tokens[block].key is None
        for at in range(block + 1, len(self._tokens)):
            token = self._tokens[at]
            if token.column < column or (is_item and token.column == column and token.key is not None):
                return at
        return len(self._tokens)

    def _start(self, at: int) -> int:
        """Return the offset of a token's line."""
        number = self._line_numbers[at]
        return self._starts[number] + number

    def _node_token(self, at: int) -> Token:
        """Return a token with the nodes of its line in place of values."""
        number = self._line_numbers[at]
        is_second = at > 0 and self._line_numbers[at - 1] == number
        return nodes_of_line(self._lines[number])[1 if is_second else 0]

    def _key(self, at: int) -> Optional[Span]:
        """Return the span of a token's key; None for a dash."""
        key = self._node_token(at).key
        return None if key is None else _moved(nodes.span(key), self._start(at))

    def _below(self, at: int) -> Optional[int]:
        """Return the block that is the value of a token; None if the value is in its line, or null."""
        token = self._tokens[at]
        if token.value is not BELOW or at + 1 == len(self._tokens):
            return None
        below = self._tokens[at + 1]
        is_list = below.column == token.column and token.key is not None and below.key is None
        return at + 1 if below.column > token.column or is_list else None

    def _value(self, at: int) -> Node:
        """Return the value that a token has in its line, as a node of this line."""
        token = self._node_token(at)
        if token.value is BELOW:
            return Scalar(token.end, token.end, "", plain=True)
        return node_of(token.value)

    def _in_line(self, at: int, route: Route, *, key: bool) -> Span:
        """Return the place of a route below a token whose value is in its line."""
        value = self._value(at)
        is_here = not route or nodes.follow(value, route[:1]) is None
        if is_here and (key or route):
            last = self._key(at)
            if last is not None:
                return last
        return _moved(nodes.place(value, route, key=key), self._start(at))

    def _first_line(self, block: int) -> Span:
        """Return the first key of a block; the whole of a list."""
        return self._key(block) or self._span(block)

    def _span(self, block: int) -> Span:
        """Return the span of a block, which ends where its last value does."""
        at = self._end(block) - 1
        return Span(self._start(block) + self._tokens[block].column, self._start(at) + self._value(at).end)


def _moved(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by)
