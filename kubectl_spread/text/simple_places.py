"""Places in a simple document, found in its lines: a search reads only the nodes at the end of its route.

Most documents need one or two places, or none. Building their nodes would take six times as long. Many documents have
the same keys in the same columns. They share an `Outline`, in which a route is searched once.
"""

from __future__ import annotations

import functools
from itertools import accumulate, chain
from typing import Optional, Union

from kubectl_spread.records import NamedTuple
from kubectl_spread.text import node as nodes
from kubectl_spread.text.node import Node, Route, Scalar
from kubectl_spread.text.simple_flow import BELOW
from kubectl_spread.text.simple_yaml import lines_of, LONGEST_KEPT, node_of, nodes_of_line, Token, values_of_line
from kubectl_spread.text.source import Span

OutlineToken = tuple[int, Optional[str], bool]  # the column, the key (None: a dash), whether its line has no value
_LONG = 100  # lines; in a shorter document one place is found sooner than the starts of all lines

Members = dict[Union[str, int], int]  # the number of the token of each key or item


class Way(NamedTuple):
    """The end of a route in an outline.

    Attributes:
        block: the last block on the way, by the number of its first token.
        last: the last key or dash on the way; None at the root.
        rest: the steps that are left; below `last` if its value `is_in_line`, else the block has no such member.
    """

    block: int
    last: Optional[int]
    rest: Route
    is_in_line: bool = False


class Outline:
    """The keys and dashes of a simple document, with their columns.

    A block is known by the number of its first token, as the value of that token's key or dash may be in its line.
    """

    __slots__ = ("_members", "_ways", "line_numbers", "tokens")

    def __init__(self, by_line: tuple[tuple[OutlineToken, ...], ...]) -> None:
        self.tokens = list(chain.from_iterable(by_line))
        self.line_numbers = [number for number, tokens in enumerate(by_line) for _ in tokens]  # of each token
        self._members: dict[int, Members] = {}
        self._ways: dict[Route, Way] = {}

    def way(self, route: Route) -> Way:
        """Return the way that a route leads, as far as there is one."""
        known = self._ways.get(route)
        if known is None:
            known = self._ways[route] = self._search(route)
        return known

    def _search(self, route: Route) -> Way:
        block = 0
        last: Optional[int] = None
        for count, step in enumerate(route):
            at = self._members_of(block).get(step)
            if at is None:
                return Way(block, last, route[count:])
            below, last = self._below(at), at
            if below is None:
                return Way(block, last, route[count + 1 :], is_in_line=True)
            block = below
        return Way(block, last, ())

    def end(self, block: int) -> int:
        """Return the number of the token after a block; a list may be in the column of the key above it."""
        column, name, _ = self.tokens[block]
        for at in range(block + 1, len(self.tokens)):
            here, key, _ = self.tokens[at]
            if here < column or (name is None and here == column and key is not None):
                return at
        return len(self.tokens)

    def _members_of(self, block: int) -> Members:
        """Return the tokens of a block's keys or items, without those below them."""
        if block not in self._members:
            column, first, _ = self.tokens[block]
            is_item = first is None
            own = []
            for at in range(block, len(self.tokens)):
                here, name, _ = self.tokens[at]
                if here < column or (here == column and is_item and name is not None):
                    break
                if here == column and (name is None) == is_item:
                    own.append(at)
            self._members[block] = (
                dict(enumerate(own)) if is_item else {key: at for at in own if (key := self.tokens[at][1]) is not None}
            )
        return self._members[block]

    def _below(self, at: int) -> Optional[int]:
        """Return the block that is the value of a token; None if the value is in its line, or null."""
        column, key, is_open = self.tokens[at]
        if not is_open or at + 1 == len(self.tokens):
            return None
        below, below_key, _ = self.tokens[at + 1]
        is_list = below == column and key is not None and below_key is None
        return at + 1 if below > column or is_list else None


class SimplePlaces:
    """The places of a document whose `simple_yaml.value` can be read."""

    __slots__ = ("_base", "_lines", "_outline", "_starts")

    def __init__(self, text: str, base: int) -> None:
        self._base = base
        self._lines = lines_of(text)
        self._starts: list[int] = []  # of the lines in a long document, without line breaks
        self._outline = _outline(self._lines)

    def place(self, route: Route, *, key: bool = False) -> Span:
        """Return the span to show for a route, as `node.place` has it."""
        block, last, rest, is_in_line = self._outline.way(route)
        if is_in_line and last is not None:
            return self._in_line(last, rest, key=key)
        found = None if last is None or not (rest or key) else self._key(last)
        if found is not None:
            return found
        return (self._key(block) if rest else None) or self._span(block)

    def _start(self, at: int) -> int:
        """Return the offset of a token's line."""
        number = self._outline.line_numbers[at]
        if len(self._lines) < _LONG:
            return self._base + sum(map(len, self._lines[:number])) + number
        if not self._starts:
            self._starts = list(accumulate(map(len, self._lines), initial=self._base))
        return self._starts[number] + number

    def _node_token(self, at: int) -> Token:
        """Return a token with the nodes of its line."""
        numbers = self._outline.line_numbers
        is_second = at > 0 and numbers[at - 1] == numbers[at]
        return nodes_of_line(self._lines[numbers[at]])[1 if is_second else 0]

    def _key(self, at: int) -> Optional[Span]:
        """Return the span of a token's key; None for a dash."""
        key = self._node_token(at).key
        return None if key is None else _moved(nodes.span(key), self._start(at))

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

    def _span(self, block: int) -> Span:
        """Return the span of a block, which ends where its last value does."""
        at = self._outline.end(block) - 1
        return Span(self._start(block) + self._outline.tokens[block][0], self._start(at) + self._value(at).end)


def _outline_of_line(line: str) -> tuple[OutlineToken, ...]:
    return tuple([(column, key, value is BELOW) for column, key, value, _ in values_of_line(line)])


_kept_outline_of_line = functools.lru_cache(maxsize=32768)(_outline_of_line)
_kept_outline = functools.lru_cache(maxsize=256)(Outline)


def _outline(lines: list[str]) -> Outline:
    """Return the outline of a document with these lines."""
    is_kept = max(map(len, lines)) < LONGEST_KEPT
    return _kept_outline(tuple(map(_kept_outline_of_line if is_kept else _outline_of_line, lines)))


def _moved(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by)
