"""The order in which suggestions are told, and which of them.

What leaves fewer pods Pending comes first; then what does less damage, what an expert would try first, and what changes
less. Of changes that come to the same, as of equal nodes, one is told. The first few are of different kinds.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence

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


def shown(ordered: Sequence[Tried], most: int) -> list[Tried]:
    """Return the suggestions that are told of all of them.

    What restarts or ends running pods, or loses data, is not among the usual few where anything else helps.
    """
    chosen = list(ordered[:most])
    if most > SHOWN:
        return chosen
    harmless = [item for item in chosen if not is_harmful(item)]
    return harmless or chosen


def is_harmful(item: Tried) -> bool:
    """Return whether a suggestion restarts or ends running pods by deleting them, or loses data."""
    return item.damage >= Damage.RESTARTS


def _order(item: Tried) -> tuple[object, ...]:
    change = item.change
    return (item.pending, item.damage, change.parts, change.rank, change.weight, change.title)


def _is_worse(item: Tried, best: Tried) -> bool:
    return (item.pending, item.damage, item.change.parts) > (best.pending, Damage.EVICTS, best.change.parts)


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
