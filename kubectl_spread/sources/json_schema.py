"""Validation of a document against one of our JSON Schemas.

The jsonschema package takes longer to import than a manifest takes to check, and its messages name no place. This
validator supports the keywords of the files that users write; a test compares the two on generated documents. All
problems are reported, with routes, so that each can be shown at its place. A `$comment` replaces the description in
messages: what to add for a missing field, or what a value is to look like.

Difference: 2.0 is not an integer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from kubectl_spread.objects.reading.decode import short_path
from kubectl_spread.text import node as nodes
from kubectl_spread.text.node import Mapping, Node, Route, Scalar, Sequence
from kubectl_spread.text.wording import did_you_mean, short

Schema = dict[str, Any]

KEYWORDS = frozenset(
    (
        "$ref",
        "additionalProperties",
        "anyOf",
        "const",
        "enum",
        "items",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "pattern",
        "properties",
        "required",
        "type",
        "uniqueItems",
    )
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
    elif "type" in schema and not _is_of(node, _types(schema)):
        wanted = " or ".join(_NAMES[name] for name in _types(schema))
        is_empty = _type(node) == "null"
        yield _at(route, f"must be {wanted}, " + ("but is empty" if is_empty else f"not {_shown(node)}"))
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


def _is_of(node: Node, wanted: list[str]) -> bool:
    return _type(node) in wanted or ("integer" in wanted and type(nodes.to_plain(node)) is int)


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


def _unknown(name: str, known: dict[str, Any]) -> str:
    near = did_you_mean(name, known)
    return f"unknown key `{short(name)}`: " + (near or f"the keys are {', '.join(known)}")
