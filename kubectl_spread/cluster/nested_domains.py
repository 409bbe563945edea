"""Nested divisions of nodes into domains, as hosts in zones and zones in regions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable


def refines(fine: Iterable[Hashable], coarse: Iterable[Hashable]) -> bool:
    """Return whether each fine domain lies in one coarse domain; both are the domains of the same nodes in order."""
    outer: dict[Hashable, Hashable] = {}
    return all(outer.setdefault(one, other) == other for one, other in zip(fine, coarse, strict=True))
