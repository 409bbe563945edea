"""Validation of a document against one of our JSON Schemas.

The jsonschema package takes longer to import than a manifest takes to check, so it only validates rare documents.
This validator supports the keywords of `schemas/config.json`; a test compares the two on generated documents. All
problems are reported, with routes, so that each can be shown at its place. A `$comment` replaces the description in
messages: what to add for a missing field, or what a text is to look like.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from kubectl_spread.objects.reading.decode import path_text
from kubectl_spread.text import node as nodes
from kubectl_spread.text.node import Mapping, Node, Route, Sequence
from kubectl_spread.text.wording import did_you_mean

Schema = dict[str, Any]

KEYWORDS = frozenset(
    (
        "$ref",
        "additionalProperties",
        "enum",
        "items",
        "minItems",
        "minLength",
        "minProperties",
        "pattern",
        "properties",
        "required",
        "type",
    )
)

_NAMES = {"object": "a mapping", "array": "a list", "string": "text", "number": "a number", "boolean": "true or false"}


class SchemaViolation(NamedTuple):
    """A violation at a route; the message begins with the route. `is_key`: the key is wrong, not its value."""

    route: Route
    message: str
    is_key: bool = False


def violations(root: Node, schema: Schema) -> list[SchemaViolation]:
    """Return all violations of a schema in a document."""
    return list(_violations(root, schema, route=(), root=schema))


def _violations(node: Node, schema: Schema, *, route: Route, root: Schema) -> Iterator[SchemaViolation]:
    schema = _resolved(schema, root)
    if "type" in schema and _type(node) not in _types(schema):
        wanted = " or ".join(_NAMES[name] for name in _types(schema))
        is_empty = _type(node) == "null"
        yield _at(route, f"must be {wanted}, " + ("but is empty" if is_empty else f"not {_shown(node)}"))
        return
    if "enum" in schema and nodes.to_plain(node) not in schema["enum"]:
        yield _at(route, _not_among(node, schema["enum"]))
    elif isinstance(node, Mapping):
        yield from _of_mapping(node, schema, route=route, root=root)
    elif isinstance(node, Sequence):
        if len(node.items) < schema.get("minItems", 0):
            yield _at(route, "the list is empty")
        for index, item in enumerate(node.items):
            yield from _violations(item, schema.get("items", {}), route=(*route, index), root=root)
    else:
        yield from _of_text(node, schema, route=route)


def _at(route: Route, message: str) -> SchemaViolation:
    return SchemaViolation(route, f"{path_text(route)}: {message}" if route else message)


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
            yield SchemaViolation((*route, name), _at(route, _unknown(name, properties)).message, is_key=True)
        else:
            yield from _violations(field.value, further, route=(*route, name), root=root)
    missing = [name for name in schema.get("required", ()) if name not in node.fields]
    for name in missing:
        missed = {**_resolved(properties[name], root), **properties[name]}
        described = missed.get("$comment") or missed["description"]
        yield _at(route, f"`{name}` is missing: {described}")
    if len(node.fields) < schema.get("minProperties", 0) and not missing:
        yield _at(route, "it is empty")


def _of_text(node: Node, schema: Schema, *, route: Route) -> Iterator[SchemaViolation]:
    value = nodes.to_plain(node)
    if not isinstance(value, str):
        return
    if len(value) < schema.get("minLength", 0):
        yield _at(route, "the text is empty")
    elif "pattern" in schema and not re.search(schema["pattern"], value):
        wanted = schema.get("$comment")
        is_not = f"not {schema['description']}: {value or 'empty'}"
        yield _at(route, f"`{value}` is not {wanted}" if wanted and value else is_not)


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
    return _NAMES[name] if name in ("object", "array") else f"{_NAMES[name]}: {nodes.scalar_text(node)}"


def _not_among(node: Node, known: list[str]) -> str:
    value = nodes.to_plain(node)
    near = did_you_mean(value, known)
    shown = nodes.scalar_text(node) if _type(node) not in ("object", "array") else _shown(node)
    if len(known) == 1:
        return f"must be {known[0]}, not {shown or 'empty'}"
    return f"must be one of {', '.join(known)}: {shown or 'empty'}" + (f"; {near}" if near else "")


def _unknown(name: str, known: dict[str, Any]) -> str:
    near = did_you_mean(name, known)
    return f"unknown key `{name}`: " + (near or f"the keys are {', '.join(known)}")
