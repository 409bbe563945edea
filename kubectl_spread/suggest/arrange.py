"""Order and selection of the suggestions to show.

Less damage comes first. Then come changes that restart no pods, and corrections of mistakes. Changes that loosen a rule
and restart pods follow. Ties are ordered by the preference of an expert (`Rank`). Of equivalent changes, such as the
same edit of equal nodes, only one is shown. The first few suggestions are of different kinds.
"""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_spread.suggest.actions.nodes import AddNodes
from kubectl_spread.suggest.change import Damage, Rank
from kubectl_spread.suggest.judging.tried import TriedChange

SHOWN = 3  # Number of suggestions to show by default.
ALL = 10  # From this number on, harmful suggestions are shown, too.


def arrange(found: Iterable[TriedChange]) -> list[TriedChange]:
    """Return the suggestions in the order to show them."""
    ordered = _distinct(sorted(found, key=_order))
    first: list[TriedChange] = []
    for item in ordered:
        is_new = not any(item.change.family == one.change.family for one in first)
        if len(first) < SHOWN and is_new and not _is_worse(item, ordered[0]):
            first.append(item)
    return [*first, *(item for item in ordered if not any(item is one for one in first))]


def is_harmful(item: TriedChange) -> bool:
    """Return whether a suggestion restarts or ends running pods by deleting them, or loses data."""
    return item.damage >= Damage.RESTARTS


def _order(item: TriedChange) -> tuple[object, ...]:
    change = item.change
    worth = (is_harmful(item), item.waiting, item.damage, change.parts, item.comes_late)
    return (*worth, change.rank, change.weight, change.title)


def _is_worse(item: TriedChange, best: TriedChange) -> bool:
    return is_harmful(item) or (item.waiting, item.change.parts) > (best.waiting, best.change.parts)


def _distinct(found: list[TriedChange]) -> list[TriedChange]:
    """Return the changes without equivalents of an earlier one.

    A new node anywhere is modelled on a node of some domain, so it can equal the proposal for that domain.
    """
    kept: list[TriedChange] = []
    folded: dict[str, list[TriedChange]] = {}
    for item in found:
        if any(item.change.actions == one.change.actions for one in kept):
            continue
        fold = item.change.fold
        alike = folded.setdefault(fold, []) if fold else []
        alike.append(item)
        if len(alike) == 1:
            kept.append(item)
    return [item._replace(equals=tuple(folded.get(item.change.fold, ())[1:])) for item in kept]


def is_redundant(item: TriedChange, chosen: Iterable[TriedChange]) -> bool:
    """Return whether a change adds a node although the pod only has to wait a little."""
    is_new_node = any(isinstance(action, AddNodes) for action in item.change.actions)
    return is_new_node and any(one.change.rank is Rank.WAIT and not one.change.notes for one in chosen)
