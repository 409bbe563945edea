"""JSON text to plain values, one document after another, with a hook for the items of Lists.

The items of a large List take several times the memory of the objects that are read from them. The hook replaces each
item as soon as it is parsed, so that the items never exist all at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed leaves it out
from typing import Any

from kubectl_spread.text.json_nodes import without_lone

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()

# Gets an item that is a mapping, and the document so far; returns the replacement of the item.
Replace = Callable[[dict[str, Any], dict[str, Any]], Any]


def values(text: str, replace: Replace) -> list[Any]:
    """Return the values of concatenated JSON documents.

    Args:
        text: may hold escaped lone surrogates, which Go replaces.
        replace: for the mappings in the `items` of a document.

    Raises:
        ValueError: it is not JSON, or holds an integer too long to be one.
        RecursionError: it nests too deep.
    """
    return list(_Stream(without_lone(text), replace).documents())


class _Stream:
    """A text and the position of the reader; white space at the position is skipped."""

    def __init__(self, text: str, replace: Replace) -> None:
        self._text = text
        self._replace = replace
        self._at = 0
        self._skip()

    def documents(self) -> Iterator[Any]:
        while self._at < len(self._text):
            yield self._mapping() if self._text[self._at] == "{" else self._value()

    def _mapping(self) -> dict[str, Any]:
        """Return a document, by hand for the sake of its `items`; of two values of a key the later counts."""
        found: dict[str, Any] = {}
        for _ in self._entries("}"):
            if not self._takes('"'):
                raise ValueError("not a key")
            key, self._at = scanstring(self._text, self._at, True)
            self._skip()
            if not self._takes(":"):
                raise ValueError("no value")
            self._skip()
            is_items = key == "items" and self._text.startswith("[", self._at)
            found[key] = self._items(found) if is_items else self._value()
        return found

    def _items(self, document: dict[str, Any]) -> list[Any]:
        items = []
        for _ in self._entries("]"):
            item = self._value()
            items.append(self._replace(item, document) if isinstance(item, dict) else item)
        return items

    def _entries(self, closing: str) -> Iterator[None]:
        """Stop at each entry of a collection, which the caller reads; passes over the brackets and commas."""
        self._at += 1
        self._skip()
        if self._takes(closing):
            self._skip()
            return
        while True:
            yield
            if self._takes(closing):
                self._skip()
                return
            if not self._takes(","):
                raise ValueError("no comma")
            self._skip()

    def _value(self) -> Any:
        value, self._at = _DECODER.raw_decode(self._text, self._at)
        self._skip()
        return value

    def _takes(self, char: str) -> bool:
        found = self._text.startswith(char, self._at)
        self._at += found
        return found

    def _skip(self) -> None:
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at
