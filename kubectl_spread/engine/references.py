"""Workloads, pods and nodes that a user's steps refer to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Optional

from kubectl_spread.cluster.snapshot import Cluster, key_of
from kubectl_spread.engine import nodes, steps
from kubectl_spread.engine.controllers.daemonset import verdict_of
from kubectl_spread.engine.world import node_name
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.workloads.workload import Workload


def find_references(cluster: Cluster, ops: Sequence[steps.Op]) -> tuple[frozenset[ObjectKey], frozenset[str]]:
    """Return the workloads and nodes that steps refer to, with DaemonSets that create pods because nodes change."""
    keys, nodes = direct_references(cluster, ops)
    return playable(cluster, creating(cluster, ops)) | keys, nodes


def direct_references(cluster: Cluster, ops: Iterable[steps.Op]) -> tuple[frozenset[ObjectKey], frozenset[str]]:
    """Return the workloads and nodes that steps name, or whose pods they name."""
    keys: set[ObjectKey] = set()
    nodes: set[str] = set()
    uids: set[str] = set()
    for op in ops:
        if isinstance(op, steps.Apply):
            keys.add(key_of(op.controller.workload))
        elif isinstance(op, (steps.DeleteSome, steps.PatchSome)):
            keys.add(op.match.key)
        elif isinstance(op, (steps.Drain, steps.DeleteNodes, steps.NodesDown, steps.NodesUp, steps.TaintNodes)):
            nodes.update(op.nodes)
        elif isinstance(op, steps.ON_WORKLOADS):
            keys.add(cluster.owners.get(op.key, op.key))  # A ReplicaSet, after its Deployment was deleted without it.
        elif isinstance(op, steps.ChangeNodes):
            nodes.update(node.name for node in op.nodes)
        elif isinstance(op, steps.ON_PODS):
            uids.update(op.uids)
        elif isinstance(op, steps.DeleteSelected):
            uids.update(pod.uid for pod in cluster.pods if op.selects(pod.cls))
        elif isinstance(op, steps.DeleteClaims):
            uids.update(pod.uid for pod in cluster.pods if not set(op.keys).isdisjoint(pod.cls.claims()))
    for pod in cluster.pods if uids else ():
        if pod.uid in uids:  # its workload, or the node of a pod without one
            owner = cluster.top_owner(pod)
            keys.update(() if owner is None else (owner,))
            nodes.update((pod.node_name,) if owner is None and pod.node_name else ())
    return frozenset(keys), frozenset(nodes)


def pinning(cluster: Cluster, ops: Iterable[steps.Op]) -> frozenset[str]:
    """Return the nodes that pod templates and new pods name, which are not interchangeable with others."""
    applied = (op.controller for op in ops if isinstance(op, steps.Apply))
    found = {node_name(item.workload) for item in (*cluster.controllers.values(), *applied)}
    return frozenset(found.union(op.cls.node_name for op in ops if isinstance(op, steps.CreatePod))) - {""}


def named_nodes(ops: Iterable[steps.Op]) -> frozenset[str]:
    """Return the nodes that steps name."""
    found: set[str] = set()
    for op in ops:
        for name in getattr(op, "nodes", ()):
            found.add(name if isinstance(name, str) else name.name)
        match = getattr(op, "match", None)
        if match is not None and match.node:
            found.add(match.node)
    return frozenset(found)


_MOST_PODS = 20_000  # of DaemonSets, to be played


def playable(cluster: Cluster, found: frozenset[ObjectKey]) -> frozenset[ObjectKey]:
    """Return the DaemonSets if their pods are few enough to be played; else none."""
    return found if len(found) * len(cluster.nodes) <= _MOST_PODS else frozenset()


def creating(cluster: Cluster, ops: Iterable[steps.Op]) -> frozenset[ObjectKey]:
    """Return the DaemonSets whose pods some node should have after the steps and not before."""
    daemons = {key: item.workload for key, item in cluster.controllers.items() if key.kind == "DaemonSet"}
    if not daemons:
        return frozenset()
    known = {node.name: node for node in cluster.nodes}
    changed: list[tuple[Optional[Node], Node]] = []  # before and after; None before a node joins
    for op in ops:
        if isinstance(op, steps.ChangeNodes):
            changed += [(known.get(node.name), node) for node in op.nodes]
        elif isinstance(op, steps.Untaint):
            untainted = (known[name] for name in op.nodes if name in known)
            changed += [(node, nodes.remove_taints(node, op.key, op.effect)) for node in untainted]
    return frozenset(
        key
        for key, workload in daemons.items()
        if any(_runs(workload, after) and not _runs(workload, before) for before, after in changed)
    )


def _runs(workload: Workload, node: Optional[Node]) -> bool:
    return node is not None and verdict_of(workload)(node).runs
