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
from typing import Union

from kubectl_spread.text.compose import Chunk, compose, compose_roots, Document, SyntaxProblem
from kubectl_spread.text.node import children_of, Node, Scalar
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
        # A literal block is parsed in its place; indentation that all lines share means nothing to YAML.
        for begin, end in _literal_documents(source.text, header.end(), written.end):
            chunk = Chunk(begin, source.text[begin:end])
            for item in () if chunk.is_blank or not wanted(chunk.text) else compose_roots(source, chunk):
                yield item if isinstance(item, SyntaxProblem) else Document(source, item)
        return
    offsets = _offsets(source.text[start : written.end], written, start)
    for found in compose(SourceFile(source.name, written.text), wanted):
        if isinstance(found, SyntaxProblem):
            span = Span(_at(offsets, found.span.start), _at(offsets, found.span.end))
            yield SyntaxProblem(source, span, found.message, found.language)
        else:
            _move(found.root, offsets, set())
            yield Document(source, found.root)


def _literal_documents(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each document of a literal block, without the `---` lines.

    The block has blank lines, and lines that are indented like its first line with text.
    """
    first = re.compile(r"(?:[ \t]*\r?\n)*( *)\S").match(text, start, end)
    indent = "" if first is None else first[1]
    less = re.compile(rf"^(?!{indent}|[ \t]*\r?$)", re.MULTILINE).search(text, start, end)
    end = end if less is None or not indent else less.start()
    separator = re.compile(rf"^{indent}---(?=[ \t\r\n]|\Z)[^\r\n]*", re.MULTILINE)
    for match in separator.finditer(text, start, end):
        yield start, match.start()
        start = match.start() + len(indent) + len("---")
    yield start, end


def _at(offsets: list[int], offset: int) -> int:
    """Return the place of a character of a value; its end is a valid offset."""
    return offsets[min(offset, len(offsets) - 1)]


def _move(node: Node, offsets: list[int], done: set[int]) -> None:
    """Give a node and its descendants their places in the outer text."""
    if id(node) in done:
        return
    done.add(id(node))
    node.start, node.end = _at(offsets, node.start), _at(offsets, node.end)
    if node.start == node.end:
        node.end += 1
    for child in () if isinstance(node, Scalar) else children_of(node):
        _move(child, offsets, done)
    if node.origin is not None:
        _move(node.origin, offsets, done)


def _offsets(written: str, scalar: Scalar, start: int) -> list[int]:
    """Return the offsets of a scalar's characters and of its end, found by walking its text as its parser did.

    If they cannot be mapped, only the begin of the scalar is returned, which stands for all of them.
    """
    quote = written[:1] if written[:1] in _PIECES else ""
    pieces = _PIECES.get(quote, _PLAIN_PIECES)
    inside = written[1:-1] if quote else written
    table: list[int] = []
    for piece in pieces.finditer(inside):
        # How many characters of the value the piece makes: of folded line breaks, all but one count.
        breaks = piece[0].count("\n")
        length = max(1, breaks - 1) if not breaks or piece[0][0] != "\\" else 0
        table += [start + len(quote) + piece.start()] * length
    return [*table, start + len(quote) + len(inside)] if len(table) == len(scalar.text) else [start]
