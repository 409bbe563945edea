"""How much work a regular expression does on a text, counted in steps: a backtracking matcher that counts.

It does what the `re` module does, one attempt at one place after another, without the shortcuts of its C code. What it
counts grows as the work of `re` does, on any machine.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as constants  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]
else:
    import sre_constants as constants
    import sre_parse as parser

Then = Callable[[int], int]  # what is to match from a place on: where it ends, or -1
Node = tuple[Any, Any]

_MANY = 20  # repeats that may be pumped
_DEPTH = 20_000  # of calls: a repeat of groups takes some for each round
_CATEGORIES = {
    "CATEGORY_DIGIT": str.isdigit,
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_WORD": lambda char: char.isalnum() or char == "_",
}


@functools.cache
def tree(pattern: re.Pattern[str]) -> list[Node]:
    """A pattern as `re` parses it."""
    return list(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE))


class Matcher:
    """One pattern on one text; `steps` counts every character, place and alternative that is tried."""

    def __init__(self, pattern: re.Pattern[str], text: str, *, is_whole: bool = False) -> None:
        sys.setrecursionlimit(max(_DEPTH, sys.getrecursionlimit()))
        self.steps = 0
        self._text = text.lower()
        self._characters = frozenset(self._text)
        end = len(text)
        self._first = self._sequence(tree(pattern), 0, lambda at: at if not is_whole or at == end else -1)

    def match(self) -> bool:
        """Match the pattern where the text begins."""
        return self._first(0) >= 0

    def find_all(self) -> int:
        """Match wherever the pattern matches, one after another as `finditer` does; return how often."""
        at, found = 0, 0
        while at <= len(self._text):
            end = self._first(at)
            found += end >= 0
            at = end if end > at else at + 1
        return found

    def _sequence(self, nodes: list[Node], at_node: int, then: Then) -> Then:
        for node in reversed(nodes[at_node:]):
            then = self._node(node, then)
        return then

    def _node(self, node: Node, then: Then) -> Then:
        operator, value = node
        name = str(operator)
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            return self._repeat(value, then, is_greedy=name == "MAX_REPEAT")
        if name == "BRANCH":
            return self._branch([self._sequence(list(option), 0, then) for option in value[1]])
        if name == "SUBPATTERN":
            return self._sequence(list(value[3]), 0, then)
        if name in ("ASSERT", "ASSERT_NOT"):
            return self._looked(value, then, is_wanted=name == "ASSERT")
        if name == "AT":
            return self._place(str(value), then)
        fits, text = frozenset(filter(one(node), self._characters)), self._text

        def match(at: int) -> int:
            self.steps += 1
            return then(at + 1) if at < len(text) and text[at] in fits else -1

        return match

    def _branch(self, options: list[Then]) -> Then:
        def match(at: int) -> int:
            for option in options:
                self.steps += 1
                end = option(at)
                if end >= 0:
                    return end
            return -1

        return match

    def _looked(self, value: Any, then: Then, *, is_wanted: bool) -> Then:
        direction, body = value
        inner = self._sequence(list(body), 0, lambda at: at)
        width = body.getwidth()[0] if direction < 0 else 0

        def match(at: int) -> int:
            self.steps += 1
            found = at >= width and inner(at - width) >= 0
            return then(at) if found == is_wanted else -1

        return match

    def _place(self, name: str, then: Then) -> Then:
        def holds(at: int) -> bool:
            if name == "AT_BOUNDARY":
                return self._is_word(at - 1) != self._is_word(at)
            if name in ("AT_BEGINNING", "AT_BEGINNING_STRING"):
                return at == 0
            return at == len(self._text)

        def match(at: int) -> int:
            self.steps += 1
            return then(at) if holds(at) else -1

        return match

    def _is_word(self, at: int) -> bool:
        return 0 <= at < len(self._text) and (self._text[at].isalnum() or self._text[at] == "_")

    def _repeat(self, value: Any, then: Then, *, is_greedy: bool) -> Then:
        least, most, body = value
        limit = sys.maxsize if most == constants.MAXREPEAT else int(most)
        if len(body) == 1 and is_single(body[0]):
            return self._of_one(one(body[0]), int(least), limit, then, is_greedy=is_greedy)
        return self._of_many(list(body), int(least), limit, then, is_greedy=is_greedy)

    def _of_one(self, is_one: Callable[[str], bool], least: int, most: int, then: Then, *, is_greedy: bool) -> Then:
        fits, text = frozenset(filter(is_one, self._characters)), self._text

        def match(at: int) -> int:
            end, last = at, min(len(text), at + (most if is_greedy else least))
            while end < last and text[end] in fits:
                end += 1
            self.steps += end - at + 1
            if end < at + least:
                return -1
            if is_greedy:
                return self._given_back(at + least, end, then)
            return self._taken(end, min(len(text), at + most), fits, then)

        return match

    def _given_back(self, least: int, end: int, then: Then) -> int:
        for place in range(end, least - 1, -1):
            self.steps += 1
            found = then(place)
            if found >= 0:
                return found
        return -1

    def _taken(self, end: int, last: int, fits: frozenset[str], then: Then) -> int:
        while True:
            self.steps += 1
            found = then(end)
            if found >= 0 or end >= last or self._text[end] not in fits:
                return found
            end += 1

    def _of_many(self, nodes: list[Node], least: int, most: int, then: Then, *, is_greedy: bool) -> Then:
        rounds: list[tuple[int, int]] = []  # how many were made, and where the last began: of the rounds under way

        def ended(at: int) -> int:
            made = rounds.pop()
            found = loop(*made, at)
            rounds.append(made)
            return found

        body = self._sequence(nodes, 0, ended)

        def loop(count: int, before: int, at: int) -> int:
            self.steps += 1
            if not is_greedy and count >= least and (found := then(at)) >= 0:
                return found
            if count < most and (at > before or count < least):
                rounds.append((count + 1, at))
                found = body(at)
                rounds.pop()
                if found >= 0:
                    return found
            return then(at) if is_greedy and count >= least else -1

        return lambda at: loop(0, -1, at)


def is_single(node: Node) -> bool:
    """Whether a node matches one character."""
    return str(node[0]) in ("LITERAL", "NOT_LITERAL", "ANY", "IN")


def one(node: Node) -> Callable[[str], bool]:
    """The characters that a node matches; the text is in lower case."""
    operator, value = str(node[0]), node[1]
    if operator == "LITERAL":
        wanted = chr(value).lower()
        return lambda char: char == wanted
    if operator == "NOT_LITERAL":
        unwanted = chr(value).lower()
        return lambda char: char != unwanted
    if operator == "ANY":
        return lambda char: char != "\n"
    return lambda char: _is_in(value, char)


def _is_in(items: list[Node], char: str) -> bool:
    is_negated = str(items[0][0]) == "NEGATE"
    return any(_holds(item, char) for item in items[is_negated:]) != is_negated


def _holds(item: Node, char: str) -> bool:
    operator, value = str(item[0]), item[1]
    if operator == "LITERAL":
        return chr(value).lower() == char
    if operator == "RANGE":
        return value[0] <= ord(char) <= value[1] or value[0] <= ord(char.upper()[0]) <= value[1]
    name = str(value)
    is_negated = "_NOT_" in name
    return _CATEGORIES[name.replace("_NOT_", "_")](char) != is_negated


def attacks(pattern: re.Pattern[str], size: int) -> Iterator[str]:
    """Texts of about a size that make a pattern work: repeats pumped, beginnings again and again, never the whole."""
    nodes = tree(pattern)
    whole = "".join(map(sample, nodes))
    yield (whole * (size // max(1, len(whole)) + 1))[:size] + "\x01"
    for prefix, body in _pumped(nodes, ""):
        if body:
            yield prefix + (body * (size // len(body) + 1))[:size] + "\x01"
        start = prefix + body
        if start:
            yield (start * (size // len(start) + 1))[:size] + "\x01"


def _pumped(nodes: list[Node], prefix: str) -> Iterator[tuple[str, str]]:
    """A text that leads to each large repeat, and one round of it."""
    for node in nodes:
        operator, value = str(node[0]), node[1]
        if operator in ("MAX_REPEAT", "MIN_REPEAT"):
            if value[1] == constants.MAXREPEAT or int(value[1]) >= _MANY:
                yield prefix, "".join(map(sample, value[2]))
            yield from _pumped(list(value[2]), prefix)
        elif operator == "SUBPATTERN":
            yield from _pumped(list(value[3]), prefix)
        elif operator == "BRANCH":
            for option in value[1]:
                yield from _pumped(list(option), prefix)
        prefix += sample(node)


def sample(node: Node) -> str:
    """A short text that a node matches; places and looks around match nothing."""
    operator, value = str(node[0]), node[1]
    if operator in ("MAX_REPEAT", "MIN_REPEAT"):
        return "".join(map(sample, value[2])) * max(1, int(value[0])) if int(value[1]) else ""
    if operator == "SUBPATTERN":
        return "".join(map(sample, value[3]))
    if operator == "BRANCH":
        return "".join(map(sample, value[1][0]))
    if is_single(node):
        return next(char for char in "a1 .\"'{[(/=:,;-\n$" + _named(node) if one(node)(char.lower()))
    return ""


def _named(node: Node) -> str:
    """The character of a literal, or the first of a set."""
    operator, value = str(node[0]), node[1]
    if operator in ("LITERAL", "NOT_LITERAL"):
        return chr(value) if operator == "LITERAL" else "b"
    if operator == "IN":
        return "".join(chr(item[1]) for item in value if str(item[0]) == "LITERAL") + "".join(
            chr(item[1][0]) for item in value if str(item[0]) == "RANGE"
        )
    return "b"
