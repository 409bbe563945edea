"""Changes to a document: their meaning, and the text edits that implement them.

An edit replaces, adds or removes only the characters of the changed field. So quotes, comments, indentation and line
ends stay as they are. `edits` finds the characters. `apply_changes` returns the plain value that the document must
then have; callers that apply the edits compare the results.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any, NamedTuple, Union

from kubectl_spread.text import node as nodes
from kubectl_spread.text import scalars
from kubectl_spread.text.compose import Document
from kubectl_spread.text.node import Mapping, Node, Route, Scalar, Sequence

_STEP = 2  # default indentation, if the document shows none
_IN_PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-"
_LIST_BELOW_KEY = r"(?m)^( *)(?:- )*[^#\s][^#\n]*:[ \t]*\r?\n(\1 *)- "


class Put(NamedTuple):
    """Set a field of a mapping, or add it at the end of the mapping; replace an item of a list."""

    route: Route
    value: Any


class Drop(NamedTuple):
    """Remove a field of a mapping or an item of a list."""

    route: Route


class Rename(NamedTuple):
    """Give the key of a field another name."""

    route: Route
    key: str


class Append(NamedTuple):
    """Add an item at the end of a list."""

    route: Route
    value: Any


Change = Union[Put, Drop, Rename, Append]


class Edit(NamedTuple):
    """A text that replaces a range of the source."""

    start: int
    end: int
    text: str


class NoEditError(Exception):
    """A change that cannot be written at its place in the text, with the reason."""


def edits(document: Document, changes: Iterable[Change]) -> list[Edit]:
    """Return the edits that make the changes.

    Raises:
        NoEditError: a change would reach through an alias, swallow a comment, or leave an empty list or mapping.
    """
    found: list[Edit] = []
    for change in changes:
        found += _Editor(document).edits(change)
    return found


def with_edits(text: str, found: Iterable[Edit]) -> str:
    """Return a text once the edits are made; none may overlap another.

    Of the lines that are added at one place, those of an inner list or mapping come first, else the earlier edits.
    """
    pieces, at = [], 0
    for edit in sorted(found, key=lambda edit: (edit.start, edit.end, *_outwards(edit.text))):
        pieces += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join((*pieces, text[at:]))


def _outwards(added: str) -> tuple[float, bool]:
    """Return what sorts added text: text on the same line, then lines from the innermost list or mapping outwards.

    ```
    spec:
      list:
      - a: 1
        b: 2      # a field of the item: the deepest lines
      - a: 2      # an item: it may have the column of the list's key
      other: 3
    ```
    """
    line = added.lstrip("\r\n")
    content = line.lstrip(" ")
    return (len(content) - len(line), not content.startswith("- ")) if line != added else (-math.inf, False)


def apply_changes(plain: Any, changes: Iterable[Change]) -> Any:
    """Return a document's plain value after the changes."""
    import copy  # 1 ms

    result = copy.deepcopy(plain)
    for change in changes:
        if isinstance(change, Append):
            _parent(result, (*change.route, 0)).append(change.value)
            continue
        holder, last = _parent(result, change.route), change.route[-1]
        if isinstance(change, Put):
            holder[last] = change.value
        elif isinstance(change, Drop):
            del holder[last]
        else:
            holder[change.key] = holder.pop(last)
    return result


def _parent(plain: Any, route: Route) -> Any:
    for step in route[:-1]:
        plain = plain[step]
    return plain


class _Editor:
    """A finder of the characters that changes to one document replace."""

    def __init__(self, document: Document) -> None:
        self.text = document.source.text
        self.root = document.root
        self.is_json = self._is_flow(self.root) and self.text[self.root.start + 1 :].lstrip()[:1] in ('"', "}")

    def edits(self, change: Change) -> list[Edit]:
        if isinstance(change, Append):
            return self._append(self._owned(change.route), change.value)
        parent, last = self._owned(change.route[:-1]), change.route[-1]
        is_there = isinstance(parent, Mapping)
        if not isinstance(last, str):
            is_there = isinstance(parent, Sequence) and last < len(parent.items)
        if not is_there:
            raise NoEditError("the field does not exist")
        if isinstance(change, Rename):
            return [self._replace_scalar(self._pair(parent, str(last))[0], change.key)]
        if isinstance(change, Drop):
            return [self._drop(parent, last)]
        if isinstance(parent, Mapping) and last not in parent.fields:
            return [self._add(parent, str(last), change.value)]
        return self._replace(parent, last, change.value)

    def _owned(self, route: Route) -> Node:
        """Return the node at a route that is written at this route alone."""
        node = self.root
        for length in range(len(route) + 1):
            found = nodes.follow(self.root, route[:length])
            if found is None:
                raise NoEditError("the field does not exist")
            if found.origin is not None or (length and self._is_merged(node, route[length - 1])):
                raise NoEditError("an alias refers to it")
            if isinstance(found, Mapping) and self._is_flow(node) and not self._is_flow(found):
                raise NoEditError("it is a mapping without braces, in a list")
            node = found
        return node

    @staticmethod
    def _is_merged(parent: Node, step: Union[str, int]) -> bool:
        return isinstance(parent, Mapping) and all(parent.fields[str(step)].key is not key for key, _ in parent.pairs)

    def _pair(self, parent: Node, name: str) -> tuple[Scalar, Node]:
        assert isinstance(parent, Mapping)  # noqa: S101 (a step of a route that is a name)
        field = parent.fields.get(name)
        if field is None or self._is_merged(parent, name):
            raise NoEditError("an alias refers to it")
        assert isinstance(field.key, Scalar)  # noqa: S101 (the composer refuses other keys)
        return field.key, field.value

    # Places

    def _is_flow(self, node: Node) -> bool:
        return self.text[node.start : node.start + 1] in ("{", "[")

    def _column(self, at: int) -> int:
        return at - (self.text.rfind("\n", 0, at) + 1)

    def _content_end(self, node: Node) -> int:
        """Return the end of a node's text; a block scalar's ends before its last line break."""
        return node.start + len(self.text[node.start : node.end].rstrip("\r\n"))

    def _line_end(self, at: int) -> int:
        """Return the end of a line, before its break."""
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end
        return end - 1 if self.text[end - 1 : end] == "\r" and end > at else end

    @property
    def _break(self) -> str:
        """Return the line break of the document: its first."""
        return "\r\n" if self.text.startswith("\r\n", self._line_end(self.root.start)) else "\n"

    # Changes

    def _replace_scalar(self, node: Scalar, value: Any) -> Edit:
        written = self.text[node.start : node.end]
        if written[:1] in ("&", "!", "|", ">"):
            raise NoEditError("it has an anchor, a tag or several lines")
        return Edit(node.start, node.end, self._scalar(value, quote=written[:1]))

    def _replace(self, parent: Node, last: Union[str, int], value: Any) -> list[Edit]:
        old = self._pair(parent, str(last))[1] if isinstance(parent, Mapping) else _items(parent)[int(last)]
        space = " " if old.start == old.end else ""
        if old.origin is None and isinstance(old, Scalar):
            if not isinstance(value, (dict, list)) and not space:
                return [self._replace_scalar(old, value)]
            if isinstance(value, (dict, list)) and isinstance(parent, Mapping) and not self._is_flow(parent):
                return self._fill(parent, old, value)
        elif old.origin is None and self.text[old.start : old.start + 1] in ("&", "!"):
            raise NoEditError("it has an anchor or a tag")
        if old.origin is not None or isinstance(old, Scalar) or self._is_flow(old):
            return [Edit(old.start, old.end, space + self._flow(value))]
        if not value or not isinstance(value, dict if isinstance(old, Mapping) else list):
            raise NoEditError("the value there has another type")
        lines = self._block(value, self._column(old.start))
        return [Edit(old.start, self._content_end(old), lines.lstrip(" "))]

    def _fill(self, parent: Mapping, old: Scalar, value: Any) -> list[Edit]:
        """Write a collection below a key that has no value, or null."""
        if old.text and old.value is not None:
            raise NoEditError("the value there is different")
        if not value or (isinstance(value, list) and all(not isinstance(item, (dict, list)) for item in value)):
            return [Edit(old.start, old.end, ("" if old.text else " ") + self._flow(value))]
        start = len(self.text[: old.start].rstrip(" "))
        end = self._line_end(old.end)
        lines = self._break + self._block(value, self._column(parent.pairs[0][0].start) + self._step)
        return [Edit(start, old.end, ""), Edit(end, end, lines)] if old.end < end else [Edit(start, end, lines)]

    def _add(self, parent: Mapping, name: str, value: Any) -> Edit:
        if self._is_flow(parent):
            return self._add_to_flow(
                parent, f"{self._scalar(name)}: {self._flow(value)}", [key for key, _ in parent.pairs]
            )
        if self.text[parent.start : parent.start + 1] in ("&", "!") or not parent.pairs:
            raise NoEditError("it has an anchor or a tag")
        end = self._line_end(self._content_end(parent))
        column = self._column(parent.pairs[0][0].start)
        return Edit(end, end, self._break + self._field(name, value, column))

    def _append(self, parent: Node, value: Any) -> list[Edit]:
        if not isinstance(parent, Sequence):
            raise NoEditError("it is not a list")
        if self._is_flow(parent):
            return [self._add_to_flow(parent, self._flow(value), parent.items)]
        end = self._line_end(self._content_end(parent))
        dash, last = self._dash(parent.items[0]), parent.items[-1]
        gap = max(_STEP, last.start - self._dash(last)) if self._column(last.start) > self._column(dash) else _STEP
        return [Edit(end, end, self._break + self._block([value], self._column(dash), gap=gap))]

    def _add_to_flow(self, parent: Node, written: str, before: list[Node]) -> Edit:
        """Add an entry after the last one, on a separate line if the last entry has one."""
        if not before:
            return Edit(parent.start + 1, parent.start + 1, written)
        children = [pair[1] for pair in parent.pairs] if isinstance(parent, Mapping) else before
        last, end = before[-1], self._content_end(children[-1])
        if "\n" in self.text[parent.start : last.start]:
            between = "," + self._break + " " * self._column(last.start)
        else:
            between = ", "
        return Edit(end, end, between + written)

    def _drop(self, parent: Node, last: Union[str, int]) -> Edit:
        if isinstance(parent, Mapping):
            key, value = self._pair(parent, str(last))
            starts: list[Node] = [pair[0] for pair in parent.pairs]
            ends: list[Node] = [pair[1] for pair in parent.pairs]
            index = next(at for at, start in enumerate(starts) if start is key)
        else:
            starts, index = _items(parent), int(last)
            value, ends = starts[index], starts
        if len(starts) == 1:
            raise NoEditError("its list or mapping would be empty")
        following = starts[index + 1] if index + 1 < len(starts) else None
        if self._is_flow(parent):
            if following is not None:
                edit = Edit(starts[index].start, following.start, "")
            else:
                edit = Edit(self._content_end(ends[index - 1]), self._content_end(ends[index]), "")
            if "#" in self.text[edit.start : edit.end]:
                raise NoEditError("there is a comment")
            return edit
        first = starts[index].start if isinstance(parent, Mapping) else self._dash(starts[index])
        line = first - self._column(first)
        end = (self.text.find("\n", self._content_end(value)) + 1) or len(self.text)
        if not self.text[line:first].strip():
            return Edit(line, end, "")
        if following is None or self.text[end : following.start].strip():
            raise NoEditError("there is a comment")
        return Edit(first, following.start, "")  # Of the first field of an item the `- ` stays.

    def _dash(self, item: Node) -> int:
        """Return the offset of the dash of an item of a block list."""
        at = len(self.text[: item.start].rstrip()) - 1
        line = at - self._column(at)
        if self.text[at] != "-" or self.text[line:at].strip():
            raise NoEditError("there is a comment or another list")
        return at

    # Writing

    def _scalar(self, value: Any, *, quote: str = "") -> str:
        if isinstance(value, str):
            if quote == "'" and _is_plain(value):
                return f"'{value}'"
            is_plain = _is_plain(value) and scalars.resolve(value) == value
            if is_plain and quote != '"' and not self.is_json:
                return value
        elif value.__class__ is int:
            return str(value)
        import json  # 5 ms

        return json.dumps(value, ensure_ascii=False)

    def _flow(self, value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self._scalar(key)}: {self._flow(item)}" for key, item in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(self._flow, value)) + "]"
        return self._scalar(value)

    def _field(self, name: str, value: Any, column: int) -> str:
        head = " " * column + self._scalar(name) + ":"
        if isinstance(value, dict) and value:
            return head + self._break + self._block(value, column + self._step)
        if isinstance(value, list) and any(isinstance(item, dict) for item in value):
            below = re.compile(_LIST_BELOW_KEY).search(self.text, self.root.start, self.root.end)
            list_step = self._step if below is not None and len(below[2]) > len(below[1]) else 0
            return head + self._break + self._block(value, column + list_step)
        return f"{head} {self._flow(value)}"

    def _block(self, value: Any, column: int, *, gap: int = _STEP) -> str:
        """Return the lines of a collection, the last without its break.

        `gap` is the distance from the dash of an item to its content.
        """
        if isinstance(value, dict):
            return self._break.join(self._field(key, item, column) for key, item in value.items())
        items = []
        for item in value:
            written = self._block(item, column + gap) if isinstance(item, dict) and item else self._flow(item)
            items.append(" " * column + "-" + " " * (gap - 1) + written.lstrip(" "))
        return self._break.join(items)

    @property
    def _step(self) -> int:
        """Return how far this text indents the fields of a mapping below its key, judged by its first levels."""
        pairs = self.root.pairs if isinstance(self.root, Mapping) else []
        for key, value in pairs:
            if isinstance(value, Mapping) and value.pairs and value.origin is None and not self._is_flow(value):
                return max(1, self._column(value.pairs[0][0].start) - self._column(key.start))
        return _STEP


def _is_plain(value: str) -> bool:
    """Return whether a text has only letters, digits and `_./-`, and no `-` at its start."""
    return value != "" and value[0] != "-" and not value.strip(_IN_PLAIN)


def _items(parent: Node) -> list[Node]:
    assert isinstance(parent, Sequence)  # noqa: S101 (a step of a route that is a number)
    return parent.items
