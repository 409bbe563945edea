"""Entries of plain lists. Go decodes a null entry to the zero value of its type, so these do too."""

from __future__ import annotations

from typing import Any


def mappings(value: Any) -> list[dict[str, Any]]:
    """Return the entries of a list of structs."""
    return [entry or {} for entry in value] if value else []


def fields(value: Any) -> dict[str, Any]:
    """Return a mapping; an empty one for other types, for values that were not validated."""
    return value if isinstance(value, dict) else {}


def strings(value: Any) -> tuple[str, ...]:
    """Return the entries of a list of strings."""
    return tuple([entry or "" for entry in value]) if value else ()
