"""Changes to a document: what is meant, and the text edits that make it so."""

from __future__ import annotations

from typing import Any
from typing import NamedTuple
from typing import Union

from kubectl_spread.text.node import Route


class Put(NamedTuple):
    """Set a field of a mapping, or add it at the end of the mapping; replace an item of a list."""

    route: Route
    value: Any


class Drop(NamedTuple):
    """Remove a field of a mapping or an item of a list."""

    route: Route


class Rename(NamedTuple):
    """Give the key of a field another name."""

    route: Route
    key: str


class Append(NamedTuple):
    """Add an item at the end of a list."""

    route: Route
    value: Any


Change = Union[Put, Drop, Rename, Append]
