"""Flow collections in one line, of simple YAML, to values or to nodes: `{app: web, ports: [80, "http"]}`."""

from __future__ import annotations

import functools
import re
from typing import Any

from kubectl_spread.text import scalars
from kubectl_spread.text.node import Mapping, Scalar, Sequence

_MOST_BRACKETS = 20

# Nothing in these can match in two ways, so that they cost no more than a line is long.
DOUBLE = r'"([^"\\\x00-\x1f\x7f]*)"'
SINGLE = r"'([^'\x00-\x1f\x7f]*)'"
KEY = r"(?:([A-Za-z0-9_./][A-Za-z0-9_./-]{0,255})|\"([A-Za-z0-9_./ -]{0,255})\"|'([A-Za-z0-9_./ -]{0,255})')"
COMMENT = r"(?:(?<![^ ])#[^\x00-\x1f\x7f]*)?"
END_OF_LINE = re.compile(rf" *{COMMENT}")

_WORD = r"[A-Za-z0-9_./+~$@%=*;()^-]"
_PLAIN = rf"((?:[A-Za-z0-9_./+~$]|-(?=[A-Za-z0-9_./-])){_WORD}*(?: +{_WORD}+)*)"
# These three are compiled on first use.
_ITEM = rf"(?:(?:{_PLAIN}|{DOUBLE}|{SINGLE}) *)?"
_PAIR = rf"{KEY}: +{_ITEM}"
# Most flow collections are mappings of words to words, alone, in a list or below a key: they are read in one step.
_NAME = r"[A-Za-z0-9_./][A-Za-z0-9_./-]{0,255}"
_WORDS = rf"{_NAME}: +[A-Za-z0-9_./][A-Za-z0-9_./-]*"
_FLAT = rf"(\[|\{{({_NAME}): +)?\{{({_WORDS}(?:, *{_WORDS})*)\}}(?(1)([\]}}]))"

BELOW = object()  # in place of a value that is not in its line


class NotSimpleError(Exception):
    """The text is more than simple YAML, or no YAML."""


def of_line(line: str, start: int, *, as_nodes: bool) -> Any:
    """Return the flow collection that the rest of a line is."""
    found, at = _flow(line, start, as_nodes=as_nodes, depth=1)
    if at < len(line) and END_OF_LINE.fullmatch(line, at) is None:
        raise NotSimpleError
    return found


def scalar(match: re.Match[str], group: int, *, as_node: bool) -> Any:
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


def key(match: re.Match[str], group: int, *, as_node: bool) -> Any:
    """Return the key in three groups of a match; None if there is none."""
    if as_node:
        node = scalar(match, group, as_node=as_node)
        return None if node is BELOW else node
    plain, double, single = match.group(group, group + 1, group + 2)
    if plain is not None:
        return scalars.plain_key_text(plain)
    return single if double is None else double


def _flow(text: str, start: int, *, as_nodes: bool, depth: int) -> tuple[Any, int]:
    """Return the flow collection at an offset, and the offset after it."""
    if depth > _MOST_BRACKETS:
        raise NotSimpleError
    flat = None if as_nodes else _flat_form().match(text, start)
    if flat is not None and _CLOSING[flat[1] and flat[1][0]] == flat[4]:
        return _flat(flat), flat.end()
    is_mapping = text[start] == "{"
    closing, part, group = ("}", _pair(), 4) if is_mapping else ("]", _item(), 1)
    at = _after_blanks(text, start + 1)
    keys: list[Any] = []
    items: list[Any] = []
    while text[at : at + 1] != closing:
        at = _after_comma(text, at) if items else at
        match = part.match(text, at)
        if match is None:
            raise NotSimpleError
        if is_mapping:
            keys.append(key(match, 1, as_node=as_nodes))
        item, at = scalar(match, group, as_node=as_nodes), match.end()
        if item is BELOW:
            item, at = _inner(text, at, as_nodes=as_nodes, depth=depth + 1)
        items.append(item)
    at += 1
    if as_nodes:
        node = Mapping(start, at, list(zip(keys, items, strict=True))) if is_mapping else Sequence(start, at, items)
        return node, at
    return _mapping(keys, items) if is_mapping else items, at


_CLOSING = {None: None, "[": "]", "{": "}"}


@functools.cache
def _pair() -> re.Pattern[str]:
    return re.compile(_PAIR)


@functools.cache
def _item() -> re.Pattern[str]:
    return re.compile(_ITEM)


@functools.cache
def _flat_form() -> re.Pattern[str]:
    return re.compile(_FLAT)


def _flat(match: re.Match[str]) -> Any:
    """Return the value of `{key: word, key: word}`, of a list of it, or of a mapping with one key to it."""
    opening, name, written, _ = match.groups()
    found: dict[str, Any] = {}
    pairs = written.split(",")
    for pair in pairs:
        field, word = pair.split(":")
        found[scalars.plain_key_text(field.strip(" "))] = scalars.resolve(word.strip(" "))
    if len(found) < len(pairs):
        raise NotSimpleError  # a key is written twice
    if opening is None:
        return found
    return [found] if name is None else {scalars.plain_key_text(name): found}


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
