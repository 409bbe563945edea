"""Differences between the drawings of one run: a domain that looks as one frame before is not drawn again.

The script of the page copies such a domain from the frame before. Without the script, and on paper, it says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Optional

from kubectl_spread.report.pages.drawing import DomainBox, Drawing


class DrawnFrame(NamedTuple):
    """A drawing in a run, with the number of each domain. same: numbers of domains that look as one frame before."""

    drawing: Drawing
    numbers: tuple[int, ...]
    same: frozenset[int] = frozenset()


def frames(drawings: Iterable[Drawing]) -> Iterator[DrawnFrame]:
    """Yield drawings of one run; a domain has one number in all of them."""
    numbers: dict[tuple[Optional[str], ...], int] = {}
    last: dict[int, DomainBox] = {}
    for drawing in drawings:
        own = tuple(numbers.setdefault(box.names, len(numbers)) for box in drawing.domains)
        now = dict(zip(own, map(_unmarked, drawing.domains), strict=True))
        marked = {number for number, box in zip(own, drawing.domains, strict=True) if box is not now[number]}
        yield DrawnFrame(drawing, own, frozenset(at for at in own if at not in marked and last.get(at) == now[at]))
        last = now


def frames_of(moments: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the moments of a run, each with the frame of its `drawing`."""
    found = list(moments)
    made = frames(moment["drawing"] for moment in found)
    return [{**moment, "frame": frame} for moment, frame in zip(found, made, strict=True)]


def _unmarked(box: DomainBox) -> DomainBox:
    """Return a domain without marked nodes; the same object if there are none."""
    if not any(node.is_marked for node in box.boxes):
        return box
    return box._replace(boxes=tuple(node._replace(is_marked=False) for node in box.boxes))
