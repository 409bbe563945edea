"""Flow collections in one line, of simple YAML, to values or to nodes: `{app: web, ports: [80, "http"]}`.

Lines are taken apart by methods of strings, as compiling regular expressions for them took a twentieth of a short run.
"""

from __future__ import annotations

import functools
import re
from typing import Any, Optional

from kubectl_spread.text import scalars
from kubectl_spread.text.node import Mapping, Scalar, Sequence

_MOST_BRACKETS = 20
_LONGEST_KEY = 256
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./"
_KEY = f"{_LETTERS}-"
_QUOTED_KEY = f"{_KEY} "
_FLAT = f"{_KEY} :,"
_FIRST = f"{_LETTERS}+~$"  # what a plain scalar in a flow collection begins with; or a dash before `_KEY`

BELOW = object()  # in place of a value that is not in its line


class NotSimpleError(Exception):
    """The text is more than simple YAML, or no YAML."""


def of_line(line: str, start: int, *, as_nodes: bool) -> Any:
    """Return the flow collection that the rest of a printable line is."""
    known = None if as_nodes else _words_of(line, start)
    found, at = _flow(line, start, as_nodes=as_nodes, depth=1) if known is None else known
    if at < len(line) and not is_end_of_line(line[at:]):
        raise NotSimpleError
    return found


def is_end_of_line(text: str) -> bool:
    """Return whether the rest of a line, after a value, is blank or a comment."""
    comment = text.lstrip(" ")
    return not comment or (comment[0] == "#" and len(comment) < len(text))


def is_key(text: str) -> bool:
    """Return whether a text is a key of simple YAML, plain or in quotes."""
    if not text or len(text) > _LONGEST_KEY:
        return False
    first = text[0]
    if first in "\"'":
        return len(text) > 1 and text[-1] == first and not text[1:-1].strip(_QUOTED_KEY)
    return first != "-" and not text.strip(_KEY)  # a text of these characters alone becomes empty


def key(text: str, start: int, *, as_node: bool) -> Any:
    """Return a text that `is_key`, as a node or as the key of its value."""
    if text[0] in "\"'":
        return Scalar(start, start + len(text), text[1:-1], plain=False) if as_node else text[1:-1]
    return plain(text, start, as_node=True) if as_node else scalars.plain_key_text(text)


def plain(text: str, start: int, *, as_node: bool) -> Any:
    """Return a plain scalar."""
    return Scalar(start, start + len(text), text, plain=True) if as_node else scalars.resolve(text)


def read_quoted(line: str, start: int, *, as_node: bool) -> tuple[Any, int]:
    """Return the scalar in quotes at an offset, and the offset after it."""
    end = line.find(line[start], start + 1) + 1
    text = line[start + 1 : end - 1]
    if not end or (line[start] == '"' and "\\" in text):
        raise NotSimpleError  # it goes on, or has escapes
    return Scalar(start, end, text, plain=False) if as_node else text, end


def _flow(text: str, start: int, *, as_nodes: bool, depth: int) -> tuple[Any, int]:
    """Return the flow collection at an offset, and the offset after it."""
    if depth > _MOST_BRACKETS:
        raise NotSimpleError
    is_mapping = text[start] == "{"
    closing = "}" if is_mapping else "]"
    at = _after_blanks(text, start + 1)
    keys: list[Any] = []
    items: list[Any] = []
    while text[at : at + 1] != closing:
        at = _after_comma(text, at) if items else at
        if is_mapping:
            colon = text.find(": ", at)
            if not is_key(text[at : max(at, colon)]):
                raise NotSimpleError
            keys.append(key(text[at:colon], at, as_node=as_nodes))
            at = _after_blanks(text, colon + 2)
        item, at = _item(text, at, as_nodes=as_nodes, depth=depth)
        items.append(item)
        at = _after_blanks(text, at)
    at += 1
    if as_nodes:
        node = Mapping(start, at, list(zip(keys, items, strict=True))) if is_mapping else Sequence(start, at, items)
        return node, at
    return _mapping(keys, items) if is_mapping else items, at


def _words_of(text: str, start: int) -> Optional[tuple[Any, int]]:
    """Return a mapping of words to words, alone, in a list or below a key, and the offset after it.

    Most flow collections are like that. Returns None if there is anything else.
    """
    opening, end = text.rfind("{"), text.find("}", start) + 1
    found = _flat(text[opening + 1 : end - 1]) if end else None
    if found is None or opening == start:
        return None if found is None else (found, end)
    before, closing = text[start:opening], text[end : end + 1]
    if before == "[" and closing == "]":
        return [found], end + 1
    name = before[1:].rstrip(" ")[:-1]
    if closing == "}" and before[0] == "{" and before.endswith(": ") and name[0] not in "-\"'" and is_key(name):
        return {scalars.plain_key_text(name): found}, end + 1
    return None


def _flat(text: str) -> Optional[dict[str, Any]]:
    """Return the content of a mapping of words to words; None if it has anything else."""
    if not text or text.strip(_FLAT) or len(text) > _LONGEST_KEY or " -" in text or ",-" in text or text[0] == "-":
        return None
    pairs = text.split(",")
    found: dict[str, Any] = {}
    for pair in pairs:
        words = pair.split()
        if len(words) != 2:
            return None
        name = words[0][:-1]
        found[scalars.plain_key_text(name)] = scalars.resolve(words[1])
        if not name or words[0][-1] != ":" or ":" in name or ":" in words[1]:
            return None
    return found if len(found) == len(pairs) else None


def _item(text: str, at: int, *, as_nodes: bool, depth: int) -> tuple[Any, int]:
    """Return the item or the value at an offset, and the offset after it."""
    first = text[at : at + 1]
    if first in ("{", "["):
        return _flow(text, at, as_nodes=as_nodes, depth=depth + 1)
    if first in ("'", '"'):
        return read_quoted(text, at, as_node=as_nodes)
    match = _words().match(text, at)
    word = match[0].rstrip(" ") if match is not None else ""
    if not word or (first not in _FIRST and not (first == "-" and word[1:2] and word[1] in _KEY)):
        raise NotSimpleError
    return plain(word, at, as_node=as_nodes), at + len(word)


@functools.cache
def _words() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z0-9_./+~$@%=*;()^ -]+")


def _mapping(keys: list[str], items: list[Any]) -> dict[str, Any]:
    found = dict(zip(keys, items, strict=True))
    if len(found) < len(keys):
        raise NotSimpleError  # a key is written twice
    return found


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
