"""Interchangeable domains of an outcome, over all steps so far.

An outcome stands for all outcomes in which interchangeable domains are exchanged. Domains that a step made different
can still be exchanged if they were interchangeable before it: the other outcome is then possible, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Optional

from kubectl_spread.engine.search.symmetry import Symmetry


class Interchange:
    """Interchangeable domains after a step, which began in one state."""

    def __init__(self, symmetry: Optional[Symmetry] = None, earlier: Optional[Interchange] = None) -> None:
        """Store the symmetry of the state in which the step began, and the domains of the steps before, if any."""
        self._symmetry = symmetry
        self._earlier = earlier
        self._known: dict[str, Mapping[str, object]] = {}

    def alike(self, topology_key: str) -> Mapping[str, object]:
        """Return a value for each domain of a key; domains with equal values are interchangeable."""
        found = self._known.get(topology_key)
        if found is None:
            own = {} if self._symmetry is None else self._symmetry.alike(topology_key)
            earlier = {} if self._earlier is None else self._earlier.alike(topology_key)
            found = self._known[topology_key] = _joined(own, earlier) if own and earlier else own or earlier
        return found


def _joined(one: Mapping[str, object], other: Mapping[str, object]) -> dict[str, object]:
    """Return the finest distinction in which domains are alike if they are so in one of two distinctions."""
    above: dict[object, object] = {}

    def top(item: object) -> object:
        while above.get(item, item) != item:
            item = above[item]
        return item

    values = {**one, **other}
    for value in values:
        first, second = top((0, one.get(value, value))), top((1, other.get(value, value)))
        if first != second:
            above[second] = first
    return {value: top((0, one.get(value, value))) for value in values}
