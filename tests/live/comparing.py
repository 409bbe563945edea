"""Documents side by side."""

from __future__ import annotations

from typing import Any


def differences(one: Any, other: Any, at: str = "") -> list[str]:
    """Where two documents differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted({*one, *other})
        return [found for key in keys for found in differences(one.get(key), other.get(key), f"{at}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [found for number, pair in pairs for found in differences(*pair, f"{at}[{number}]")]
    return [] if one == other else [f"{at}: {one!r} and {other!r}"]
