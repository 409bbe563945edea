"""JSON documents as text: what all of them share. Their schemas are in `schemas/`."""

from __future__ import annotations

import json
from typing import Any

API_VERSION = "kubectl-spread/v1"


def dumps(document: dict[str, Any]) -> str:
    """Return a document as indented JSON, without characters that a terminal would obey."""
    return escape_json(json.dumps(document, indent=2, ensure_ascii=False))


def escape_json(text: str) -> str:
    """Return JSON with the same meaning, without characters that a terminal would obey, except line breaks."""
    if text.replace("\n", "").isprintable():
        return text
    return "".join(char if char == "\n" or char.isprintable() else json.dumps(char)[1:-1] for char in text)
