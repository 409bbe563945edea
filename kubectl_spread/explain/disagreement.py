"""Disagreements with the scheduler: the pod fits by the cluster facts, but a newer message refuses it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple, TYPE_CHECKING

from kubectl_spread.scheduler.framework.status import Status

if TYPE_CHECKING:  # hundreds of regular expressions
    from kubectl_spread.messages.message import Part, ReasonKind


class Disagreement(NamedTuple):
    """The parts of the scheduler's message, if some nodes fit by the cluster facts.

    unexplained: parts that count more nodes than this program finds for that reason; else all parts.
    """

    parts: tuple[Part, ...]
    unexplained: tuple[Part, ...]


def disagreement(message: str, refusals: Iterable[Status]) -> Disagreement | None:
    """Return the refusals in a message; None unless it is the scheduler's refusal of every node.

    `refusals` are the results of the nodes that do not fit here, one for each node.
    """
    from kubectl_spread.messages.message import Component
    from kubectl_spread.messages.parse import parse

    found = parse(message)
    if found.component is not Component.SCHEDULER or not found.is_of_nodes or not found.parts:
        return None
    return Disagreement(found.parts, _unexplained(found.parts, refusals) or found.parts)


def _unexplained(parts: tuple[Part, ...], refusals: Iterable[Status]) -> tuple[Part, ...]:
    """Return the parts that name more nodes than the refusals; all taints are counted together."""
    known = _numbers(_parts_of(refusals))
    said = _numbers(parts)
    return tuple(part for part in parts if part.number is None or said[_key(part)] > known[_key(part)])


def _parts_of(refusals: Iterable[Status]) -> tuple[Part, ...]:
    """Return the refusals as the scheduler would list them."""
    from kubectl_spread.messages.parse import parse

    reasons = Counter(reason for refusal in refusals for reason in refusal.reasons)
    listed = ", ".join(f"{number} {reason}" for reason, number in reasons.items())
    return parse(f"0/{reasons.total()} nodes are available: {listed}.").parts if reasons else ()


def _numbers(parts: Iterable[Part]) -> Counter[tuple[ReasonKind, str]]:
    numbers: Counter[tuple[ReasonKind, str]] = Counter()
    for part in parts:
        numbers[_key(part)] += part.number or 0
    return numbers


def _key(part: Part) -> tuple[ReasonKind, str]:
    """Return the key to count a part by: its kind, and for a resource its name."""
    return part.kind, part.subject if part.kind.value == "resource" else ""
