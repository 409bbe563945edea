"""Order and selection of the suggestions to show.

Less damage comes first. Then come changes that restart no pods, and corrections of mistakes. Changes that loosen a rule
and restart pods follow. Ties are ordered by the preference of an expert (`Rank`). Of equivalent changes, such as the
same edit of equal nodes, only one is shown. The first few suggestions are of different kinds.
"""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_spread.suggest.actions.nodes import AddNodes
from kubectl_spread.suggest.change import Change, Damage, Rank
from kubectl_spread.suggest.judging.tried import TriedChange
from kubectl_spread.suggest.suggestion import Setback, Why

SHOWN = 3  # Number of suggestions to show by default.
_IDLE = (Rank.IDLE_NODES, Rank.TAINTS_POLICY)
ALL = 10  # From this number on, harmful suggestions are shown, too.


def arrange(found: Iterable[TriedChange]) -> list[TriedChange]:
    """Return the suggestions in the order to show them."""
    found = list(found)
    uses_idle = any(item.change.rank in _IDLE and item.scene.problem.idle_taints for item in found)
    ordered = _distinct(sorted(found, key=lambda item: _order(item, buys_late=uses_idle)))
    first: list[TriedChange] = []
    for item in ordered:
        is_new = not any(item.change.family == one.change.family for one in first)
        if len(first) < SHOWN and is_new and not _is_worse(item, ordered[0]):
            first.append(item)
    return [*first, *(item for item in ordered if not any(item is one for one in first))]


def is_harmful(item: TriedChange) -> bool:
    """Return whether a suggestion restarts or ends running pods by deleting them, or loses data."""
    return item.damage >= Damage.RESTARTS


def with_partial(chosen: list[TriedChange], found: Iterable[TriedChange], most: int) -> list[TriedChange]:
    """Return the suggestions, and where there is room changes after which pods of the workload still wait.

    Each corrects a mistake or changes existing nodes, and restarts nothing. There is always room to correct a mistake.
    """
    partial = [
        item
        for item in _distinct(sorted(found, key=_order))
        if item.change.is_gentle and not is_harmful(item) and not _adds_nodes(item.change) and item.change.parts == 1
    ]
    if partial and partial[0].change.rank == Rank.MISTAKE and len(chosen) >= most > 1:
        return [*chosen[: most - 1], partial[0], *chosen[most - 1 : -1]]
    return [*chosen, *partial[: max(0, most - len(chosen))]]


def most_obvious(failed: Iterable[tuple[Change, Setback]]) -> list[tuple[Change, Setback]]:
    """Return the first changes that an expert would try, each of another kind, of those that do not help."""
    by_family: dict[str, tuple[Change, Setback]] = {}
    for change, setback in sorted(failed, key=lambda item: (item[0].parts, item[0].rank, item[0].weight)):
        if setback.why is not Why.NOT_APPLICABLE and change.parts == 1:
            by_family.setdefault(change.family, (change, setback))
    return list(by_family.values())[:SHOWN]


def _adds_nodes(change: Change) -> bool:
    return any(isinstance(action, AddNodes) for action in change.actions)


def _order(item: TriedChange, *, buys_late: bool = False) -> tuple[object, ...]:
    """Return the position of a change; new nodes come after the use of idle ones, even if that restarts pods."""
    change = item.change
    comes_late = item.comes_late or (buys_late and _adds_nodes(change))
    worth = (is_harmful(item), item.waiting, item.damage, change.parts, comes_late)
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
    return _adds_nodes(item.change) and any(one.change.rank is Rank.WAIT and not one.change.notes for one in chosen)
