"""Files that have to be one YAML document of a schema of ours: configurations, policies, scenarios.

The schema comes first: a reader interprets only the part of a document that fits it.
"""

from __future__ import annotations

from typing import Any, Optional

from kubectl_spread.errors import ConfigError, SourceError
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.node import Node, Route
from kubectl_spread.text.source import SourceFile, Span
from kubectl_spread.text.wording import short


def root_of(source: SourceFile, noun: str) -> Optional[Node]:
    """Return the root of the only document; None if the file contains only comments.

    Args:
        source: the file.
        noun: such as `a policy`: what the file should be, for errors.

    Raises:
        SourceError: the text is not YAML, or has several documents.
    """
    roots = []
    for found in compose.compose(source):
        if isinstance(found, compose.SyntaxProblem):
            line, column = source.position(found.span.start)
            raise SourceError(source.name, found.sentence, line=line, column=column)
        roots.append(found.root)
    if len(roots) > 1:
        line, column = source.position(roots[1].start)
        message = f"{noun} must be one YAML document, this has {len(roots)}"
        raise SourceError(source.name, message, line=line, column=column)
    return roots[0] if roots else None


class Document:
    """A document, its valid part, and its errors, which are collected and raised together.

    Attributes:
        source: the file.
        root: the part of the document that fits the schema; None if the document as a whole does not. A wrong item of
            a list is null there, so that the others keep their places; every other wrong value is missing.
        fits: whether the whole document fits the schema.
    """

    def __init__(self, source: SourceFile, root: Node, schema: str) -> None:
        """Compare a document with the schema of that name."""
        from kubectl_spread import schemas
        from kubectl_spread.sources import json_schema

        self.source = source
        self._written = root
        self._errors: set[tuple[int, int, str]] = set()
        loaded = schemas.load(schema)
        violations = json_schema.violations(root, loaded)
        self.fits = not violations
        self.root = root if self.fits else json_schema.valid_part(root, loaded)
        for mapping in nodes.mappings(root):
            for duplicate in mapping.duplicates():
                self._note_at(duplicate.again.start, f"`{short(duplicate.text)}` is written twice")
        for violation in violations:
            self.note(violation.route, violation.message, key=violation.is_key)

    def span(self, route: Route, *, key: bool = False) -> Span:
        """Return the span of a value, or of its key."""
        return nodes.place(self._written, route, key=key)

    def place(self, route: Route, *, key: bool = False) -> tuple[int, int]:
        """Return the line and column of a value, or of its key."""
        return self.source.position(self.span(route, key=key).start)

    def note(self, route: Route, message: str, *, key: bool = False) -> None:
        """Add the error of a value, or of its key."""
        self._note_at(self.span(route, key=key).start, message)

    def _note_at(self, start: int, message: str) -> None:
        self._errors.add((*self.source.position(start), message))

    @property
    def errors(self) -> tuple[SourceError, ...]:
        """Return all errors in the order of their places."""
        return tuple(
            SourceError(self.source.name, message, line=line, column=column)
            for line, column, message in sorted(self._errors)
        )

    def throw(self) -> None:
        """Raise a ConfigError with all errors, if there are any."""
        if self._errors:
            raise ConfigError(self.errors)

    def has(self, route: Route) -> bool:
        """Return whether there is a valid value."""
        return self._follow(route) is not None

    def value(self, route: Route) -> Any:
        """Return a valid value as JSON; None if there is none."""
        return nodes.to_plain(self._follow(route))

    def text(self, route: Route) -> str:
        """Return the text of a scalar as it is written: `1.30` stays `1.30`; empty if there is none."""
        node = self._follow(route)
        return "" if node is None else nodes.scalar_text(node)

    def items(self, route: Route) -> list[Route]:
        """Return the routes of the valid items of a list."""
        node = self._follow(route)
        items = node.items if isinstance(node, nodes.Sequence) else []
        return [(*route, at) for at, item in enumerate(items) if nodes.to_plain(item) is not None]

    def keys(self, route: Route) -> list[tuple[str, Route]]:
        """Return the keys of a mapping, with the routes of their values, of wrong ones, too."""
        node = nodes.follow(self._written, route) if self.has(route) else None
        return [(key, (*route, key)) for key in node.fields] if isinstance(node, nodes.Mapping) else []

    def fields(self, route: Route) -> list[tuple[str, Route]]:
        """Return the keys of a mapping that have valid values, with the routes of these."""
        return [(key, place) for key, place in self.keys(route) if self.has(place)]

    def _follow(self, route: Route) -> Optional[Node]:
        return None if self.root is None else nodes.follow(self.root, route)
