"""Tables written as text, and entries of plain lists.

Go decodes a null entry of a list to the zero value of its type, so these do too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubectl_spread.objects.keys import NamespacedName
from kubectl_spread.text.node import Route

Plain = dict[str, Any]  # an object as JSON has it


def rows(table: str) -> Iterator[tuple[str, str]]:
    """Yield the head and the body of each `head: body` in a table; an indented line continues the one before it."""
    for line in table.replace("\n  ", " ").splitlines():
        head, _, body = line.partition(":")
        yield head, body


def mappings(value: Any) -> list[dict[str, Any]]:
    """Return the entries of a list of structs."""
    return [entry or {} for entry in value] if value else []


def fields(value: Any, *steps: str) -> dict[str, Any]:
    """Return the mapping that some steps lead to; an empty one for other types, and where the steps lead nowhere."""
    for step in steps:
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def as_text(value: Any) -> str:
    """Return a text; an empty one for other types, for values that were not validated."""
    return value if isinstance(value, str) else ""


def numbered_mappings(value: Any) -> list[tuple[int, dict[str, Any]]]:
    """Return the mappings in a list with their positions, for values that were not validated."""
    return [(at, item) for at, item in enumerate(value if isinstance(value, list) else ()) if isinstance(item, dict)]


def strings(value: Any) -> tuple[str, ...]:
    """Return the entries of a list of strings."""
    return tuple([entry or "" for entry in value]) if value else ()


def value_at(value: Any, route: Route) -> Any:
    """Return the value at a route; None if the route leads nowhere."""
    for step in route:
        if isinstance(value, dict):
            value = value.get(str(step))
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def name_of(plain: Plain) -> NamespacedName:
    """Return the name of an object; without a namespace it is in `default`."""
    metadata = fields(plain, "metadata")
    return NamespacedName(metadata.get("namespace") or "default", metadata.get("name") or "")


def condition(status: Plain, kind: str) -> Plain:
    """Return the condition of a type in a status; {} if there is none."""
    return next((item for item in mappings(status.get("conditions")) if item.get("type") == kind), {})
