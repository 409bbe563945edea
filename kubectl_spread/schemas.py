"""JSON Schemas: in the installed package, or next to it in a checkout or an editable install."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parent


def directory() -> Path:
    """Where the schemas are."""
    inside = _PACKAGE / "schemas"
    return inside if inside.is_dir() else _PACKAGE.parent / "schemas"


def load(name: str) -> dict[str, Any]:
    """A schema by its file name without `.json`."""
    schema: dict[str, Any] = json.loads((directory() / f"{name}.json").read_text(encoding="utf-8"))
    return schema
