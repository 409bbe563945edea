"""Groups of nodes that are equal for the scheduler. A change of one of them is proposed only once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kubectl_spread.objects.node import Node
from kubectl_spread.objects.selectors.labels import HOSTNAME
from kubectl_spread.suggest.change import Change, Ladder

_NAMED = 4  # nodes that a title names
_MOST = 32  # nodes of one group that are changed at once


def groups(nodes: Iterable[Node]) -> list[list[Node]]:
    """Return nodes in groups that the scheduler only distinguishes by name, in the given order."""
    found: dict[object, list[Node]] = {}
    for node in nodes:
        labels = frozenset((key, value) for key, value in node.labels.items() if key != HOSTNAME and value != node.name)
        room = frozenset(node.allocatable.items())
        found.setdefault((labels, node.taints, node.unschedulable, room), []).append(node)
    return list(found.values())


def names_of(nodes: Sequence[Node], equal: int) -> str:
    """Return `node a`, `nodes a, b` or `nodes a, b (2 of 100 equal nodes)`."""
    names = ", ".join(node.name for node in nodes[:_NAMED])
    more = f" and {len(nodes) - _NAMED} more" if len(nodes) > _NAMED else ""
    what = "node" if len(nodes) == 1 else "nodes"
    of = f" ({len(nodes)} of {equal} equal nodes)" if equal > len(nodes) else ""
    return f"{what} {names}{more}{of}"


def ladder(nodes: Sequence[Node], change: Callable[[Sequence[Node], str], Change]) -> Ladder:
    """Return changes of one node of a group, of two, and so on.

    Args:
        nodes: of one group.
        change: makes the change of some nodes; the text names them.
    """
    size = min(len(nodes), _MOST)
    return Ladder(size, lambda at: change(nodes[: at + 1], names_of(nodes[: at + 1], len(nodes))))
