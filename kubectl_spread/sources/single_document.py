"""Files that have to be one YAML document of a schema of ours: configurations, policies, scenarios, topologies.

The schema comes first: a reader interprets only the part of a document that fits it.

The jsonschema package takes longer to import (150 ms) than a manifest takes to check, and its messages name no place.
This validator supports the keywords of the files that users write; a test compares the two on generated documents. A
`$comment` replaces the description in messages: what to add for a missing field, or what a value is to look like.

Difference: 2.0 is not an integer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from kubectl_spread.errors import ConfigError, SourceError
from kubectl_spread.objects.reading.decode import short_path
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.node import Mapping, Node, Route, Scalar, Sequence
from kubectl_spread.text.source import SourceFile, Span
from kubectl_spread.text.wording import did_you_mean, short


def documents(source: SourceFile) -> Iterator[compose.Document]:
    """Yield the documents of a text.

    Raises:
        SourceError: the text is not YAML.
    """
    for found in compose.compose(source):
        if isinstance(found, compose.SyntaxProblem):
            raise source.error(found.span.start, found.sentence)
        yield found


def root_of(source: SourceFile, noun: str) -> Optional[Node]:
    """Return the root of the only document; None if the file contains only comments.

    Args:
        source: the file.
        noun: such as `a policy`: what the file should be, for errors.

    Raises:
        SourceError: the text is not YAML, or has several documents.
    """
    roots = [document.root for document in documents(source)]
    if len(roots) > 1:
        raise source.error(roots[1].start, f"{noun} must be one YAML document, this has {len(roots)}")
    return roots[0] if roots else None


class Document:
    """A document, its valid part, and its errors, which are collected and raised together. Readers inherit from it.

    Attributes:
        source: the file.
        root: the part of the document that fits the schema; None if the document as a whole does not. A wrong item of
            a list is null there, so that the others keep their places; every other wrong value is missing.
        fits: whether the whole document fits the schema.
    """

    def __init__(self, source: SourceFile, schema: str, root: Optional[Node] = None) -> None:
        """Compare the root of a file, which is read if it is not given, with the schema of that name.

        Raises:
            SourceError: the file is empty, is not YAML, or has several documents.
        """
        root = root or root_of(source, f"a {schema}")
        if root is None:
            raise SourceError(source.name, "the file is empty")
        self.source = source
        self._whole = root
        self._errors: set[tuple[int, int, str]] = set()
        from kubectl_spread import schemas  # loads json

        loaded = schemas.load(schema)
        found = violations(root, loaded)
        self.fits = not found
        self.root = root if self.fits else valid_part(root, loaded)
        for mapping in nodes.mappings(root):
            for duplicate in mapping.duplicates():
                self._note_at(duplicate.again.start, f"`{short(duplicate.text)}` is written twice")
        for violation in found:
            self.note(violation.route, violation.message, key=violation.is_key)

    def span(self, route: Route, *, key: bool = False) -> Span:
        """Return the span of a value, or of its key."""
        return nodes.place(self._whole, route, key=key)

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

    def refuse(self, route: Route, message: str, *, key: bool = False) -> None:
        """Add the error of a value, or of its key, with the path of its field."""
        self.note(route, f"{short_path(route)}: {message}", key=key)

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
        node = nodes.follow(self._whole, route) if self.has(route) else None
        return [(key, (*route, key)) for key in node.fields] if isinstance(node, nodes.Mapping) else []

    def fields(self, route: Route) -> list[tuple[str, Route]]:
        """Return the keys of a mapping that have valid values, with the routes of these."""
        return [(key, place) for key, place in self.keys(route) if self.has(place)]

    def _follow(self, route: Route) -> Optional[Node]:
        return None if self.root is None else nodes.follow(self.root, route)


Schema = dict[str, Any]

KEYWORDS = frozenset(
    """
    $ref additionalProperties anyOf const enum items maximum minItems minLength minProperties minimum pattern
    properties required type uniqueItems
    """.split()  # noqa: SIM905 (a list that is read as words)
)

_NAMES = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
}


class SchemaViolation(NamedTuple):
    """A violation at a route; the message begins with the route. `is_key`: the key is wrong, not its value."""

    route: Route
    message: str
    is_key: bool = False


def violations(root: Node, schema: Schema) -> list[SchemaViolation]:
    """Return all violations of a schema in a document."""
    return list(_violations(root, schema, route=(), root=schema))


_REMOVED = Scalar(0, 0, "null", plain=True)  # stands for a wrong item of a list, so that the others keep their places


def valid_part(root: Node, schema: Schema) -> Optional[Node]:
    """Return the part of a document that fits a schema; None if the document as a whole does not.

    An object without a valid value for a required field is left out, too. A wrong item of a list becomes null.
    """
    part: Optional[Node] = root
    while part is not None:
        wrong: dict[Any, Any] = {}
        for route in {item.route for item in violations(part, schema)}:
            if nodes.follow(part, route) is not _REMOVED:
                _add(wrong, route)
        if not wrong:
            return part
        part = _without(part, wrong)
    return None


def _add(tree: dict[Any, Any], route: Route) -> None:
    """Add a route to a tree of routes; a leaf has the key None."""
    for step in route:
        tree = tree.setdefault(step, {})
    tree[None] = None


def _without(node: Node, wrong: dict[Any, Any]) -> Optional[Node]:
    """Return a node without the routes of a tree."""
    if not wrong or None in wrong:
        return None if wrong else node
    if isinstance(node, Mapping):
        kept = [(field.key, _without(field.value, wrong.get(name, {}))) for name, field in node.fields.items()]
        return Mapping(node.start, node.end, [(key, value) for key, value in kept if value is not None])
    if isinstance(node, Sequence):
        items = [_without(item, wrong.get(at, {})) for at, item in enumerate(node.items)]
        return Sequence(node.start, node.end, [_REMOVED if item is None else item for item in items])
    return node


def _violations(node: Node, schema: Schema, *, route: Route, root: Schema) -> Iterator[SchemaViolation]:
    schema = _resolved(schema, root)
    known = [schema["const"]] if "const" in schema else schema.get("enum")
    if "anyOf" in schema:
        if all(any(_violations(node, each, route=route, root=root)) for each in schema["anyOf"]):
            yield _at(route, f"must be {schema['$comment']}")
    elif "type" in schema and not (
        _type(node) in _types(schema) or ("integer" in _types(schema) and type(nodes.to_plain(node)) is int)
    ):
        wanted = " or ".join(_NAMES[name] for name in _types(schema))
        is_empty = _type(node) == "null"
        shown = "but is empty" if is_empty else f"not {_shown(node)}"
        if "integer" in _types(schema):  # 1.5 is a number
            shown = shown.replace("a number: ", "")
        yield _at(route, f"must be {wanted}, {shown}")
    elif known is not None and nodes.to_plain(node) not in known:
        yield _at(route, _not_among(node, known))
    elif isinstance(node, Mapping):
        yield from _of_mapping(node, schema, route=route, root=root)
    elif isinstance(node, Sequence):
        yield from _of_list(node, schema, route=route, root=root)
    else:
        yield from _of_scalar(node, schema, route=route)


def _of_list(node: Sequence, schema: Schema, *, route: Route, root: Schema) -> Iterator[SchemaViolation]:
    if len(node.items) < schema.get("minItems", 0):
        yield _at(route, "the list is empty")
    for index, item in enumerate(node.items):
        yield from _violations(item, schema.get("items", {}), route=(*route, index), root=root)
    if schema.get("uniqueItems"):
        texts = list(map(nodes.scalar_text, node.items))
        twice = next((text for at, text in enumerate(texts) if text in texts[:at]), None)
        if twice:
            yield _at(route, f"`{short(twice)}` is in the list twice")


def _at(route: Route, message: str) -> SchemaViolation:
    return SchemaViolation(route, f"{short_path(route)}: {message}" if route else message)


def _resolved(schema: Schema, root: Schema) -> Schema:
    if "$ref" not in schema:
        return schema
    found: Schema = {**schema, **root["$defs"][schema["$ref"].rpartition("/")[2]]}
    return found


def _of_mapping(node: Mapping, schema: Schema, *, route: Route, root: Schema) -> Iterator[SchemaViolation]:
    properties = schema.get("properties", {})
    further = schema.get("additionalProperties", {})
    for name, field in node.fields.items():
        if name in properties:
            yield from _violations(field.value, properties[name], route=(*route, name), root=root)
        elif further is False:
            near = did_you_mean(name, properties) or f"the keys are {', '.join(properties)}"
            message = f"unknown key `{short(name)}`: {near}"
            yield SchemaViolation((*route, name), _at(route, message).message, is_key=True)
        else:
            yield from _violations(field.value, further, route=(*route, name), root=root)
    missing = [name for name in schema.get("required", ()) if name not in node.fields]
    for name in missing:
        missed = {**_resolved(properties[name], root), **properties[name]}
        described = missed.get("$comment") or missed["description"]
        yield _at(route, f"`{name}` is missing: {described}")
    if len(node.fields) < schema.get("minProperties", 0) and not missing:
        yield _at(route, "it is empty")


def _of_scalar(node: Node, schema: Schema, *, route: Route) -> Iterator[SchemaViolation]:
    value = nodes.to_plain(node)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if value < schema.get("minimum", value):
            yield _at(route, f"must be at least {schema['minimum']:,}, not {short(nodes.scalar_text(node))}")
        elif value > schema.get("maximum", value):
            yield _at(route, f"must be at most {schema['maximum']:,}, not {short(nodes.scalar_text(node))}")
    elif not isinstance(value, str):
        return
    elif len(value) < schema.get("minLength", 0):
        yield _at(route, "the text is empty")
    elif "pattern" in schema and not re.search(schema["pattern"], value):
        if value and "$comment" in schema:
            yield _at(route, f"`{short(value)}` is not {schema['$comment']}")
        else:
            yield _at(route, f"not {schema['description']}: {short(value) or 'empty'}")


def _types(schema: Schema) -> list[str]:
    wanted = schema["type"]
    return [wanted] if isinstance(wanted, str) else wanted


def _type(node: Node) -> str:
    if isinstance(node, Mapping):
        return "object"
    if isinstance(node, Sequence):
        return "array"
    value = nodes.to_plain(node)
    if isinstance(value, bool):
        return "boolean"
    return "string" if isinstance(value, str) else "null" if value is None else "number"


def _shown(node: Node) -> str:
    """Return a value for messages: a scalar as it is written, or its type."""
    name = _type(node)
    return _NAMES[name] if name in ("object", "array") else f"{_NAMES[name]}: {short(nodes.scalar_text(node))}"


def _not_among(node: Node, known: list[str]) -> str:
    value = nodes.to_plain(node)
    near = did_you_mean(value, known)
    shown = short(nodes.scalar_text(node)) if _type(node) not in ("object", "array") else _shown(node)
    if len(known) == 1:
        return f"must be {known[0]}, not {shown or 'empty'}"
    return f"must be one of {', '.join(known)}: {shown or 'empty'}" + (f"; {near}" if near else "")
