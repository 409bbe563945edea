"""Fewer nodes for a search: of many interchangeable nodes without pods, more than the pods can use are never needed.

With one node of a kind more than there are pods, one of them is always empty, as with thousands. The same holds for
interchangeable domains.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.guarantee.layout import leaves, Tree
from kubectl_spread.guarantee.states.space import Space

_FEW = 64  # nodes: fewer are searched as they are


def fewer_nodes(space: Space, cluster: Cluster, pods: int) -> Optional[Cluster]:
    """Return a cluster in which the group has the same states up to names; None if no node can be left out.

    Args:
        space: the states on all nodes.
        cluster: all nodes.
        pods: most pods of the group at a time.
    """
    if len(cluster.nodes) <= _FEW:
        return None
    used = {pod.node_name for pod in cluster.pods if pod.node_name}
    taken = frozenset(at for at, node in enumerate(cluster.nodes) if node.name in used)
    least = max((spread.min_domains for item in space.filters(0).of_kind for spread in item.spreads), default=1)
    lost = max((len(item.domains) for item in space.disruptions), default=0)
    kept = frozenset(_kept(space.arrangement(0).tree, max(pods, least) + lost + 1, taken))
    if len(kept) == len(cluster.nodes):
        return None
    return cluster._replace(nodes=tuple(node for at, node in enumerate(cluster.nodes) if at in kept))


def _kept(tree: Tree, most: int, taken: frozenset[int]) -> Iterator[int]:
    """Yield the nodes to keep: those with pods, and up to `most` other children of each kind."""
    if isinstance(tree, int):
        yield tree
        return
    for children in tree:
        free = 0
        for child in children:
            is_free = taken.isdisjoint(leaves(child))
            free += is_free
            if not is_free or free <= most:
                yield from _kept(child, most, taken)
