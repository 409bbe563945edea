"""A pod that fits by what is known here, and that the scheduler refuses all the same: its word is the newer one."""

from __future__ import annotations

from typing import NamedTuple
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # hundreds of regular expressions
    from kubectl_spread.explain.messages import Part


class Disagreement(NamedTuple):
    """What the scheduler says of the nodes, part by part, where by what is known here some of them fit."""

    parts: tuple[Part, ...]


def disagreement(message: str) -> Disagreement | None:
    """Return what a message says of the nodes; None for one that is not the scheduler's refusal of every node."""
    from kubectl_spread.explain.messages import parse

    found = parse(message)
    return Disagreement(found.parts) if found.is_of_nodes and found.parts else None
