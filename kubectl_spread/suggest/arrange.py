"""The order in which suggestions are told, and which of them.

What does less damage comes first, then what an expert would try first, then what changes less. Of changes that come to
the same, as of equal nodes, one is told. The first few are of different kinds.
"""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_spread.suggest.change import Damage
from kubectl_spread.suggest.tried import Tried

SHOWN = 3  # suggestions that are told where nobody asks for more
ALL = 10  # asking for so many tells harmful ones, too


def arranged(found: Iterable[Tried]) -> list[Tried]:
    """Return the suggestions in the order they are told."""
    ordered = _distinct(sorted(found, key=_order))
    first: list[Tried] = []
    for item in ordered:
        is_new = not any(item.change.family == one.change.family for one in first)
        if len(first) < SHOWN and is_new and not _is_worse(item, ordered[0]):
            first.append(item)
    return [*first, *(item for item in ordered if not any(item is one for one in first))]


def is_harmful(item: Tried) -> bool:
    """Return whether a suggestion restarts or ends running pods by deleting them, or loses data."""
    return item.damage >= Damage.RESTARTS


def _order(item: Tried) -> tuple[object, ...]:
    change = item.change
    return (is_harmful(item), item.waiting, item.damage, change.parts, change.rank, change.weight, change.title)


def _is_worse(item: Tried, best: Tried) -> bool:
    return is_harmful(item) or (item.waiting, item.change.parts) > (best.waiting, best.change.parts)


def _distinct(found: list[Tried]) -> list[Tried]:
    """Without changes that come to the same as one before: a node anywhere is made like one in some domain."""
    kept: list[Tried] = []
    folds: set[str] = set()
    for item in found:
        fold = item.change.fold
        if fold in folds or any(item.change.actions == one.change.actions for one in kept):
            continue
        folds |= {fold} if fold else set()
        kept.append(item)
    return kept
