"""Small bars for terminals: one character for each domain, as high as its number of pods."""

from __future__ import annotations

from collections.abc import Collection

_BLOCKS = "▁▂▃▄▅▆▇█"  # the first is for 0
_MOST = 40  # domains


def bars(counts: Collection[int]) -> str:
    """Return `█▅▁` for 2, 1 and 0; empty for a single domain, for many, and if all are empty."""
    if not 1 < len(counts) <= _MOST:
        return ""
    most = max(counts)
    if not most:
        return ""
    highest = len(_BLOCKS) - 1
    return "".join(_BLOCKS[max(1, round(highest * count / most)) if count else 0] for count in counts)


def with_bars(text: str, counts: Collection[int]) -> str:
    """Return a text after the bars of its counts."""
    return f"{bars(counts)} {text}".lstrip()
