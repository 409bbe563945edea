"""DaemonSets that create pods because nodes join or change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine import nodes, steps
from kubectl_spread.engine.controllers.daemonset import verdict_on
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.workloads.workload import Workload

_MOST_PODS = 20_000  # of DaemonSets, to be played


def playable(cluster: Cluster, found: frozenset[ObjectKey]) -> frozenset[ObjectKey]:
    """Return the DaemonSets if their pods are few enough to be played; else none."""
    return found if len(found) * len(cluster.nodes) <= _MOST_PODS else frozenset()


def creating(cluster: Cluster, ops: Iterable[steps.Op]) -> frozenset[ObjectKey]:
    """Return the DaemonSets whose pods some node should have after the steps and not before."""
    daemons = {key: item.workload for key, item in cluster.controllers.items() if key.kind == "DaemonSet"}
    if not daemons:
        return frozenset()
    changed = list(_changed(cluster, ops))
    return frozenset(
        key
        for key, workload in daemons.items()
        if any(_runs(workload, after) and not _runs(workload, before) for before, after in changed)
    )


def _changed(cluster: Cluster, ops: Iterable[steps.Op]) -> Iterator[tuple[Optional[Node], Node]]:
    """Yield nodes before and after the steps; None before a node joins."""
    known = {node.name: node for node in cluster.nodes}
    for op in ops:
        if isinstance(op, steps.ChangeNodes):
            yield from ((known.get(node.name), node) for node in op.nodes)
        elif isinstance(op, steps.Untaint):
            for name in op.nodes:
                if name in known:
                    yield known[name], nodes.remove_taints(known[name], op.key, op.effect)


def _runs(workload: Workload, node: Optional[Node]) -> bool:
    return node is not None and verdict_on(workload, node).runs
