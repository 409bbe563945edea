"""A composed document: scalars, sequences and mappings with their places.

Offsets are code points of the whole source. An alias is a node of its own, at the alias's place, with the
anchored node as `origin`. Nodes below it keep the places of the anchor.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Optional, Union

from kubectl_spread.text import scalars
from kubectl_spread.text.source import Span

Route = tuple[Union[str, int], ...]  # ("spec", "containers", 0, "name")


class Scalar:
    """A scalar; `plain` if only its own text decides its type."""

    __slots__ = ("end", "origin", "plain", "start", "text")

    def __init__(self, start: int, end: int, text: str, *, plain: bool) -> None:
        self.start = start
        self.end = end
        self.text = text
        self.plain = plain
        self.origin: Optional[Node] = None

    @property
    def value(self) -> scalars.Value:
        return scalars.resolve(self.text) if self.plain else self.text


class Sequence:
    """A sequence."""

    __slots__ = ("end", "items", "origin", "start")

    def __init__(self, start: int, end: int, items: list[Node]) -> None:
        self.start = start
        self.end = end
        self.items = items
        self.origin: Optional[Node] = None


class Field(NamedTuple):
    """A key and its value."""

    key: Node
    value: Node


class Duplicate(NamedTuple):
    """A repeated key of a mapping; the later one wins."""

    text: str
    first: Node
    again: Node


class Mapping:
    """A mapping of scalars to nodes.

    `pairs` has keys and values as written, and `fields` the last of each key's text, with merges resolved.
    """

    __slots__ = ("_fields", "end", "origin", "pairs", "start")

    def __init__(self, start: int, end: int, pairs: list[tuple[Node, Node]]) -> None:
        self.start = start
        self.end = end
        self.pairs = pairs
        self.origin: Optional[Node] = None
        self._fields: Optional[dict[str, Field]] = None

    @property
    def fields(self) -> dict[str, Field]:
        """The last of equal keys; a `<<` overrides the keys before it, as kubectl has it (YAML says: no key).

        Source: go.yaml.in/yaml/v2 decode.go, mapping.
        """
        if self._fields is None:
            self._fields = {}
            for key, value in self.pairs:
                if is_merge(key):
                    self._fields.update(_merged(value))
                else:
                    self._fields[key_text(key)] = Field(key, value)
        return self._fields

    def duplicates(self) -> list[Duplicate]:
        """Return the keys that are written more than once in this mapping; merged keys do not count."""
        seen: dict[str, Node] = {}
        found = []
        for key, _ in self.pairs:
            if is_merge(key):
                continue  # two of them bring in both
            text = key_text(key)
            if text in seen:
                found.append(Duplicate(text, seen[text], key))
            else:
                seen[text] = key
        return found


Node = Union[Scalar, Sequence, Mapping]


def collection(start: int, end: int, children: list[Node], *, is_mapping: bool) -> Node:
    """Return a mapping of keys and values in turns, or a sequence."""
    if is_mapping:
        return Mapping(start, end, list(zip(children[::2], children[1::2], strict=True)))
    return Sequence(start, end, children)


def children_of(node: Union[Sequence, Mapping]) -> list[Node]:
    """Return the items, or the keys and values in turns."""
    return node.items if isinstance(node, Sequence) else [child for pair in node.pairs for child in pair]


def span(node: Node) -> Span:
    """Return the span of a node."""
    return Span(node.start, node.end)


def to_plain(node: Optional[Node]) -> Any:
    """Return the JSON value of a node; NaN and infinities stay floats."""
    if isinstance(node, Scalar):
        return scalars.resolve(node.text) if node.plain else node.text
    if isinstance(node, Mapping):
        if any(is_merge(key) for key, _ in node.pairs):
            return {text: to_plain(field.value) for text, field in node.fields.items()}
        return {key_text(key): to_plain(value) for key, value in node.pairs}  # perf: most mappings need no fields
    if isinstance(node, Sequence):
        return [to_plain(item) for item in node.items]
    return None


def scalar_text(node: Node) -> str:
    """Return the text of a scalar of any type: `1.30` stays `1.30`; empty for a collection."""
    return node.text if isinstance(node, Scalar) else ""


def follow(node: Node, route: Route) -> Optional[Node]:
    """Return the node at a route, or None if the route leaves the document."""
    for step in route:
        if isinstance(node, Mapping) and isinstance(step, str) and step in node.fields:
            node = node.fields[step].value
        elif isinstance(node, Sequence) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
        else:
            return None
    return node


def place(node: Node, route: Route, *, key: bool = False) -> Span:
    """Return the span to show for a route: its value (or key), else the span of the nearest existing parent.

    For a missing field, the place is the key of the mapping that lacks it, or its first line.
    """
    steps, own = 0, None  # the key of the last node on the route that exists; None for an item and for the root
    for step in route:
        found = follow(node, (step,))
        if found is None:
            break
        own = span(node.fields[str(step)].key) if isinstance(node, Mapping) else None
        node, steps = found, steps + 1
    is_missing = steps < len(route)
    if own is not None and (key or is_missing):
        return own
    if is_missing and isinstance(node, Mapping) and node.origin is None and node.pairs:
        return span(node.pairs[0][0])
    return span(node)


def mappings(root: Node) -> Iterator[Mapping]:
    """Yield every mapping of a document, once, in document order; skip the repetitions of aliases."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.origin is not None:
            continue
        if isinstance(node, Mapping):
            yield node
            stack += [value for _, value in reversed(node.pairs) if not isinstance(value, Scalar)]
        elif isinstance(node, Sequence):
            stack += reversed(node.items)


def is_merge(key: Node) -> bool:
    """Return whether a key is a `<<`, which brings in the fields of its value."""
    return isinstance(key, Scalar) and key.plain and key.text == "<<"


def key_text(key: Node) -> str:
    assert isinstance(key, Scalar)  # noqa: S101 (the composer refuses other keys)
    return scalars.plain_key_text(key.text) if key.plain else key.text


def _merged(value: Node) -> dict[str, Field]:
    """Return the fields that a `<<` merges in; of several mappings the first with a key wins."""
    if isinstance(value, Mapping):
        return value.fields
    brought: dict[str, Field] = {}
    if isinstance(value, Sequence):
        for item in value.items:
            if isinstance(item, Mapping):
                for text, field in item.fields.items():
                    brought.setdefault(text, field)
    return brought
