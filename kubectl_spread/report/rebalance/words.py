"""Words that the forms of a plan share."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_spread.text.wording import safe


def series(names: Sequence[str], last: str = "and") -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    shown = [safe(name) for name in names]
    return f"{', '.join(shown[:-1])} {last} {shown[-1]}" if len(shown) > 1 else "".join(shown)
