"""Files that have to be one YAML document of a schema of ours: configurations, policies, scenarios, topologies.

The schema comes first: a reader interprets only the part of a document that fits it.

The jsonschema package takes longer to import (150 ms) than a manifest takes to check, and its messages name no place.
This validator supports the keywords of the files that users write; a test compares the two on generated documents. A
`$comment` replaces the description in messages: what to add for a missing field, or what a value is to look like.

Difference: 2.0 is not an integer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional, Union

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

        found, part = validate(root, schemas.load(schema))
        self.fits = not found
        self.root = root if self.fits else part
        for mapping in nodes.mappings(root):
            for duplicate in mapping.duplicates():
                self._note_at(duplicate.again.start, f"`{short(duplicate.text)}` is written twice")
        for violation in found:
            self.note(violation.route, violation.message, key=violation.is_key)

    def span(self, *route: Union[str, int], key: bool = False) -> Span:
        """Return the span of a value, or of its key."""
        return nodes.place(self._whole, route, key=key)

    def place(self, *route: Union[str, int], key: bool = False) -> tuple[int, int]:
        """Return the line and column of a value, or of its key."""
        return self.source.position(self.span(*route, key=key).start)

    def note(self, route: Route, message: str, *, key: bool = False) -> None:
        """Add the error of a value, or of its key."""
        self._note_at(self.span(*route, key=key).start, message)

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

    def number(self, *route: Union[str, int], least: int = 0) -> Optional[int]:
        """Return a whole number; None if there is none, or if it is too small, which is an error."""
        value = self.value(*route)
        if type(value) is int and value >= least:
            return value
        if value is not None:
            wanted = "a whole number that is not negative" if not least else f"a whole number of at least {least}"
            self.refuse(route, f"must be {wanted}, not {short(self.text(*route))}")
        return None

    @property
    def name(self) -> str:
        """Return the name in the document, or the name of the file if the document has none."""
        return self.text("name") or os.path.splitext(os.path.basename(self.source.name))[0]

    def throw(self) -> None:
        """Raise a ConfigError with all errors, if there are any."""
        if self._errors:
            raise ConfigError(self.errors)

    def has(self, *route: Union[str, int]) -> bool:
        """Return whether there is a valid value."""
        return self._follow(*route) is not None

    def value(self, *route: Union[str, int]) -> Any:
        """Return a valid value as JSON; None if there is none."""
        return nodes.to_plain(self._follow(*route))

    def text(self, *route: Union[str, int]) -> str:
        """Return the text of a scalar as it is written: `1.30` stays `1.30`; empty if there is none."""
        node = self._follow(*route)
        return "" if node is None else nodes.scalar_text(node)

    def items(self, *route: Union[str, int]) -> list[Route]:
        """Return the routes of the valid items of a list."""
        node = self._follow(*route)
        items = node.items if isinstance(node, nodes.Sequence) else []
        return [(*route, at) for at, item in enumerate(items) if nodes.to_plain(item) is not None]

    def keys(self, *route: Union[str, int]) -> list[tuple[str, Route]]:
        """Return the keys of a mapping, with the routes of their values, of wrong ones, too."""
        node = nodes.follow(self._whole, route) if self.has(*route) else None
        return [(key, (*route, key)) for key in node.fields] if isinstance(node, nodes.Mapping) else []

    def fields(self, *route: Union[str, int]) -> list[tuple[str, Route]]:
        """Return the keys of a mapping that have valid values, with the routes of these."""
        return [(key, place) for key, place in self.keys(*route) if self.has(*place)]

    def _follow(self, *route: Union[str, int]) -> Optional[Node]:
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


_REMOVED = Scalar(0, 0, "null", plain=True)  # stands for a wrong item of a list, so that the others keep their places


def validate(root: Node, schema: Schema) -> tuple[list[SchemaViolation], Optional[Node]]:
    """Return all violations of a schema in a document, and the part that fits; None if the whole does not.

    An object without a valid value for a required field is left out, too. A wrong item of a list becomes null.
    """
    validator = _Validator(schema)
    return validator.found, validator.valid_part(root, schema, ())


class _Validator:
    def __init__(self, root: Schema) -> None:
        self.definitions = root.get("$defs", {})
        self.found: list[SchemaViolation] = []

    def valid_part(self, node: Node, schema: Schema, route: Route) -> Optional[Node]:
        """Return the part of a node that fits a schema, and note the violations."""
        before = len(self.found)
        schema = self._resolved(schema)
        known = [schema["const"]] if "const" in schema else schema.get("enum")
        types = schema.get("type", ())
        types = [types] if isinstance(types, str) else types
        if "anyOf" in schema:
            if not any(_Validator({**each, "$defs": self.definitions}).fits(node, each) for each in schema["anyOf"]):
                self._note(route, f"must be {schema['$comment']}")
        elif types and not (_type(node) in types or ("integer" in types and type(nodes.to_plain(node)) is int)):
            shown = "but is empty" if _type(node) == "null" else f"not {_shown(node)}"
            if "integer" in types:  # 1.5 is a number
                shown = shown.replace("a number: ", "")
            self._note(route, f"must be {' or '.join(_NAMES[name] for name in types)}, {shown}")
        elif known is not None and nodes.to_plain(node) not in known:
            self._note(route, _not_among(node, known))
        elif isinstance(node, Mapping):
            return self._of_mapping(node, schema, route)
        elif isinstance(node, Sequence):
            return self._of_list(node, schema, route)
        else:
            self._of_scalar(node, schema, route)
        return node if len(self.found) == before else None

    def fits(self, node: Node, schema: Schema) -> bool:
        """Return whether a node has no violation."""
        self.valid_part(node, schema, ())
        return not self.found

    def _note(self, route: Route, message: str, *, key: Route = ()) -> None:
        text = f"{short_path(route)}: {message}" if route else message
        self.found.append(SchemaViolation((*route, *key), text, is_key=bool(key)))

    def _resolved(self, schema: Schema) -> Schema:
        if "$ref" not in schema:
            return schema
        return {**schema, **self.definitions[schema["$ref"].rpartition("/")[2]]}

    def _of_list(self, node: Sequence, schema: Schema, route: Route) -> Optional[Node]:
        before = len(self.found)
        if len(node.items) < schema.get("minItems", 0):
            self._note(route, "the list is empty")
        if schema.get("uniqueItems"):
            texts = list(map(nodes.scalar_text, node.items))
            twice = next((text for at, text in enumerate(texts) if text in texts[:at]), None)
            if twice:
                self._note(route, f"`{short(twice)}` is in the list twice")
        is_whole = len(self.found) == before
        of_item = schema.get("items", {})
        items = [self.valid_part(item, of_item, (*route, at)) or _REMOVED for at, item in enumerate(node.items)]
        return Sequence(node.start, node.end, items) if is_whole else None

    def _of_mapping(self, node: Mapping, schema: Schema, route: Route) -> Optional[Node]:
        properties, further = schema.get("properties", {}), schema.get("additionalProperties", {})
        kept: list[tuple[Node, Node]] = []
        for name, field in node.fields.items():
            if name in properties or further is not False:
                value = self.valid_part(field.value, properties.get(name, further), (*route, name))
                kept += [] if value is None else [(field.key, value)]
            else:
                near = did_you_mean(name, properties) or f"the keys are {', '.join(properties)}"
                self._note(route, f"unknown key `{short(name)}`: {near}", key=(name,))
        found, required = Mapping(node.start, node.end, kept), schema.get("required", ())
        missing = [name for name in required if name not in node.fields]
        for name in missing:
            missed = {**self._resolved(properties[name]), **properties[name]}
            self._note(route, f"`{name}` is missing: {missed.get('$comment') or missed['description']}")
        least = schema.get("minProperties", 0)
        if len(node.fields) < least and not missing:
            self._note(route, "it is empty")
        return found if len(found.fields) >= least and all(name in found.fields for name in required) else None

    def _of_scalar(self, node: Node, schema: Schema, route: Route) -> None:
        value, written = nodes.to_plain(node), short(nodes.scalar_text(node))
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if value < schema.get("minimum", value):
                self._note(route, f"must be at least {schema['minimum']:,}, not {written}")
            elif value > schema.get("maximum", value):
                self._note(route, f"must be at most {schema['maximum']:,}, not {written}")
        elif not isinstance(value, str):
            return
        elif len(value) < schema.get("minLength", 0):
            self._note(route, "the text is empty")
        elif "pattern" in schema and not re.search(schema["pattern"], value):
            if value and "$comment" in schema:
                self._note(route, f"`{short(value)}` is not {schema['$comment']}")
            else:
                self._note(route, f"not {schema.get('description') or schema['$comment']}: {short(value) or 'empty'}")


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
    shown = short(nodes.scalar_text(node)) if _type(node) not in ("object", "array") else _shown(node)
    if len(known) == 1:
        return f"must be {known[0]}, not {shown or 'empty'}"
    near = did_you_mean(nodes.to_plain(node), known)
    return f"must be one of {', '.join(known)}: {shown or 'empty'}" + (f"; {near}" if near else "")
