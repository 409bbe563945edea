"""Data, such as JSON Schemas: in the installed package, or next to it in a checkout or an editable install."""

from __future__ import annotations

import os
from typing import Any

_PACKAGE = os.path.dirname(os.path.realpath(__file__))  # without pathlib, whose import takes 5 ms


def data_directory(name: str) -> str:
    """Return where a directory of data is."""
    inside = os.path.join(_PACKAGE, name)
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(_PACKAGE), name)


def load(name: str) -> dict[str, Any]:
    """Return a schema by its file name without `.json`."""
    import json  # `demo --help` needs only a directory

    with open(os.path.join(data_directory("schemas"), f"{name}.json"), encoding="utf-8") as file:
        schema: dict[str, Any] = json.load(file)
    return schema
