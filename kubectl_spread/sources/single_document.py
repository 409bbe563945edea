"""Files that have to be a single YAML document: policies and scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_spread.errors import ConfigError, SourceError
from kubectl_spread.sources import files
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.node import Node, Route
from kubectl_spread.text.source import SourceFile

if TYPE_CHECKING:
    from kubectl_spread.sources.json_schema import SchemaViolation


def read(path: str, noun: str) -> tuple[SourceFile, Node]:
    """Read the file and the root of its document; the noun, such as `a policy`, says in errors what it should be.

    Raises:
        SourceError: it cannot be read, is not YAML, or does not have exactly one document.
    """
    source = files.read_text(path)
    documents = list(compose.compose(source))
    for found in documents:
        if isinstance(found, compose.SyntaxProblem):
            line, column = source.position(found.span.start)
            raise SourceError(source.name, found.sentence, line=line, column=column)
    roots = [found.root for found in documents if isinstance(found, compose.Document)]
    if not roots:
        raise SourceError(source.name, "the file is empty")
    if len(roots) != 1:
        raise SourceError(source.name, f"{noun} must be one YAML document, this has {len(roots)}")
    return source, roots[0]


class DocumentErrors:
    """Errors of a document with their places. They are collected, and raised together."""

    def __init__(self, source: SourceFile, root: Node) -> None:
        self._source = source
        self._root = root
        self._found: list[SourceError] = []

    def place(self, route: Route, *, key: bool = False) -> tuple[int, int]:
        """Return the line and column of a value, or of its key."""
        return self._source.position(nodes.place(self._root, route, key=key).start)

    def note(self, route: Route, message: str, *, key: bool = False) -> None:
        """Add the error of a value, or of its key."""
        line, column = self.place(route, key=key)
        self._found.append(SourceError(self._source.name, message, line=line, column=column))

    def check_shape(self, schema: str) -> list[SchemaViolation]:
        """Add errors for duplicate keys and for violations of a schema; return the violations."""
        from kubectl_spread import schemas
        from kubectl_spread.sources import json_schema

        for mapping in nodes.mappings(self._root):
            for duplicate in mapping.duplicates():
                line, column = self._source.position(nodes.span(duplicate.again).start)
                what = f"`{duplicate.text}` is written twice"
                self._found.append(SourceError(self._source.name, what, line=line, column=column))
        violations = json_schema.violations(self._root, schemas.load(schema))
        for violation in violations:
            self.note(violation.route, violation.message, key=violation.is_key)
        return violations

    def throw(self) -> None:
        """Raise a ConfigError with all errors in the order of their places, if there are any."""
        if self._found:
            raise ConfigError(tuple(sorted(self._found, key=lambda item: (item.line, item.column))))
