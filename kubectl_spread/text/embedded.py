"""Documents inside a scalar of another document: `values: |` of a Helm release, the files of a ConfigMap.

Their nodes have places in the outer text. A literal block (`|`) is parsed in place, with its indentation, so
that its places are exact:

```
data:
  web.yaml: |          the chunk begins at the next line,
    kind: Deployment   and all of it is indented by four
```

A quoted scalar is parsed from its value, and each node is moved to the place of its characters. In a folded block
(`>`), and in text that cannot be mapped character by character, every node gets the begin of the scalar as its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Optional, Union

from kubectl_spread.text.compose import Chunk, compose, compose_roots, Document, SyntaxProblem
from kubectl_spread.text.node import Mapping, Node, Scalar, Sequence
from kubectl_spread.text.source import SourceFile, Span

Found = Union[Document, SyntaxProblem]

_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
_BLOCK_HEADER = re.compile(r"\|(?P<digit>[1-9])?[-+]?(?P<later>[1-9])?[ \t]*(?:#[^\r\n]*)?\r?\n")
_FOLDED_BREAKS = r"[ \t]*(?:\r?\n[ \t]*)+"
_PIECES = {
    '"': re.compile(
        rf"\\(?:x[0-9a-fA-F]{{2}}|u[0-9a-fA-F]{{4}}|U[0-9a-fA-F]{{8}}|\r?\n[ \t]*|.)|{_FOLDED_BREAKS}|.", re.DOTALL
    ),
    "'": re.compile(rf"''|{_FOLDED_BREAKS}|.", re.DOTALL),
}
_PLAIN_PIECES = re.compile(rf"{_FOLDED_BREAKS}|.", re.DOTALL)


def documents(source: SourceFile, scalar: Scalar, wanted: Callable[[str], bool]) -> Iterator[Found]:
    """Yield the documents in the text of a scalar, and the problems that end them.

    Args:
        source: the outer text.
        scalar: a node of it.
        wanted: returns whether to parse a document, by its text.
    """
    written = scalar.origin if isinstance(scalar.origin, Scalar) else scalar
    properties = _PROPERTIES.match(source.text, written.start)
    start = written.start if properties is None else properties.end()
    header = _BLOCK_HEADER.match(source.text, start)
    if header is not None and not written.plain:
        yield from _of_literal(source, _Block(source.text, header.end(), written.end), wanted)
    else:
        offsets = _offsets(source.text[start : written.end], written, start)
        for found in compose(SourceFile(source.name, written.text), wanted):
            if isinstance(found, SyntaxProblem):
                span = Span(offsets.at(found.span.start), offsets.at(found.span.end))
                yield SyntaxProblem(source, span, found.message, found.language)
            else:
                offsets.move(found.root, set())
                yield Document(source, -1, root=found.root, is_embedded=True)


def _of_literal(source: SourceFile, content: _Block, wanted: Callable[[str], bool]) -> Iterator[Found]:
    """Parse a literal block in its place; indentation that all lines share means nothing to YAML."""
    for start, stop in content.documents():
        chunk = Chunk(start, source.text[start:stop])
        if not chunk.is_blank and wanted(chunk.text):
            for item in compose_roots(source, chunk):
                yield item if isinstance(item, SyntaxProblem) else Document(source, -1, root=item, is_embedded=True)


class _Block:
    """The lines of a literal block: blank lines, and lines that are indented like its first line with text."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = text
        self.start = start
        first = re.compile(r"(?:[ \t]*\r?\n)*( *)\S").match(text, start, end)
        self.indent = "" if first is None else first[1]
        less = re.compile(rf"^(?!{self.indent}|[ \t]*\r?$)", re.MULTILINE).search(text, start, end)
        self.end = end if less is None or not self.indent else less.start()

    def documents(self) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each document of the block, without the `---` lines."""
        start = self.start
        separator = re.compile(rf"^{self.indent}---(?=[ \t\r\n]|\Z)[^\r\n]*", re.MULTILINE)
        for match in separator.finditer(self.text, self.start, self.end):
            yield start, match.start()
            start = match.start() + len(self.indent) + len("---")
        yield start, self.end


class _Offsets:
    """The offsets of a value's characters in the text: one for each, or the begin of the scalar for all."""

    def __init__(self, table: Optional[list[int]], start: int) -> None:
        self._table = table
        self._start = start

    def at(self, offset: int) -> int:
        """Return the place of a character of the value; its end is a valid offset."""
        return self._start if self._table is None else self._table[min(offset, len(self._table) - 1)]

    def move(self, node: Node, done: set[int]) -> None:
        """Give a node and its descendants their places in the outer text."""
        if id(node) in done:
            return
        done.add(id(node))
        node.start, node.end = self.at(node.start), self.at(node.end)
        if node.start == node.end:
            node.end += 1
        children: list[Node] = []
        if isinstance(node, Mapping):
            children = [child for pair in node.pairs for child in pair]
        elif isinstance(node, Sequence):
            children = node.items
        for child in [*children, *([node.origin] if node.origin is not None else [])]:
            self.move(child, done)


def _offsets(written: str, scalar: Scalar, start: int) -> _Offsets:
    """Return the offsets of a scalar's characters, found by walking through its text as its parser did."""
    quote = written[:1] if written[:1] in _PIECES else ""
    pieces = _PIECES.get(quote, _PLAIN_PIECES)
    inside = written[1:-1] if quote else written
    table: list[int] = []
    for piece in pieces.finditer(inside):
        table += [start + len(quote) + piece.start()] * _length(piece[0])
    if len(table) != len(scalar.text):
        return _Offsets(None, start)
    return _Offsets([*table, start + len(quote) + len(inside)], start)


def _length(piece: str) -> int:
    """Return how many characters of the value a piece of a flow scalar makes."""
    breaks = piece.count("\n")
    if not breaks:
        return 1
    return 0 if piece.startswith("\\") else max(1, breaks - 1)
