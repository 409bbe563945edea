"""Choices among interchangeable nodes: each different choice is tried once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kubectl_spread.engine.state import P

Twins = Sequence[tuple[list[int], list[int]]]  # Pairs of nodes or domains; nodes at one position correspond.


def first_twins(nodes: Sequence[int], twins: Twins) -> Sequence[int]:
    """Return one node for each set of nodes that correspond to each other, the first."""
    if not twins:
        return nodes
    later = {node for _, second in twins for node in second}
    found = list(nodes)
    kept = [node for node in found if node not in later]
    return kept or found


def distinct(choices: Sequence[tuple[P, ...]], twins: Twins) -> Sequence[tuple[P, ...]]:
    """Return the choices of pods; keep one of the choices that differ only in interchangeable nodes.

    It is the choice that takes most pods from the first of each pair.
    """
    if not twins:
        return choices
    return [choice for choice in choices if _is_first(choice, twins)]


def _is_first(choice: tuple[P, ...], twins: Twins) -> bool:
    taken: dict[int, list[tuple[int, ...]]] = {}
    for pod, count in sorted(Counter(choice).items()):
        taken.setdefault(pod.node, []).append((*pod[:4], *pod[5:], count))
    for first, second in twins:
        if taken.keys().isdisjoint(second):
            continue  # The first has as much or more.
        one = [taken.get(node, []) for node in first]
        other = [taken.get(node, []) for node in second]
        if one < other:
            return False
    return True
