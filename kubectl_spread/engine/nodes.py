"""Changes of nodes: labels, taints, cordons, nodes that come and go, and kubelets that stop answering.

Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go, processTaintBaseEviction, handleDisruption,
ComputeZoneState, doNoScheduleTaintingPass; pkg/controller/tainteviction/taint_eviction.go (v1.36.2).
Difference: no time passes; a rate is either 0 or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.containers import grouped
from kubectl_spread.engine.claims import storage_of
from kubectl_spread.engine.draft import Draft
from kubectl_spread.engine.state import Deletion, EventKind, Move, P, PENDING, State
from kubectl_spread.engine.world import World, WorldFacts
from kubectl_spread.objects.node import NO_EXECUTE, NO_SCHEDULE, Node, Taint, UNREACHABLE, UNSCHEDULABLE
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.selectors import REGION, ZONE

_FEW_NODES = 50  # large-cluster-size-threshold
_UNHEALTHY_SHARE = 0.55
_FEW_DOWN = 2


def with_nodes(facts: WorldFacts, nodes: Iterable[tuple[int, Optional[Node]]]) -> WorldFacts:
    """Return the facts with some nodes changed, by index."""
    changed = list(facts.nodes)
    for at, node in nodes:
        changed[at] = None if node is None else tainted_as_cordoned(node)
    return facts._replace(nodes=tuple(changed))


def cluster_at(world: World, state: State, names: Sequence[str] = ()) -> Cluster:
    """Return the cluster in a state; pods that took part have synthetic uids, and names if none are given."""
    facts = world.facts[state.facts].cluster
    pods = [
        Pod(
            names[at] if names else f"pod-{at}",
            f"timeline/{at}",
            world.classes[pod.cls],
            "" if pod.node == PENDING else world.node_names[pod.node],
            "Pending" if pod.node == PENDING else "Running",
            terminating=pod.end != Deletion.ALIVE,
        )
        for at, pod in enumerate(state.pods)
    ]
    return facts._replace(pods=(*world.background, *pods), storage=storage_of(world, state))


def additions(world: World, state: State) -> tuple[tuple[Node, ...], ...]:
    """Return the nodes that the provisioner adds for the Pending pods of a state, for each way to choose them."""
    if world.provisioner is None or not any(pod.node == PENDING and not pod.end for pod in state.pods):
        return ()
    if state not in world.additions:
        world.additions[state] = tuple(world.provisioner(cluster_at(world, state)))
    return world.additions[state]


def join(draft: Draft, new: tuple[Node, ...]) -> None:
    """Add nodes that a provisioner has made."""
    world = draft.world
    changed = [(world.node_at[node.name], node) for node in new]
    draft.facts = world.changed_facts(draft.facts, repr(new), lambda facts: with_nodes(facts, changed))
    draft.moves += [Move(EventKind.JOINED, node=at) for at, _ in changed]


def set_cordon(node: Node, *, is_cordoned: bool) -> Node:
    """Return a node with or without its cordon, and the taint that follows from it."""
    taints = tuple(taint for taint in node.taints if taint != UNSCHEDULABLE)
    return node._replace(unschedulable=is_cordoned, taints=(*taints, UNSCHEDULABLE) if is_cordoned else taints)


def tainted_as_cordoned(node: Node) -> Node:
    """Return a node with the taint of a cordon if, and only if, it is cordoned: the node controller sees to it."""
    is_alike = (UNSCHEDULABLE in node.taints) == node.unschedulable
    return node if is_alike else set_cordon(node, is_cordoned=node.unschedulable)


def keeps(node: Node, taint: Taint) -> bool:
    """Return whether a taint that a user sets stays; the taint of a node condition must be present already."""
    is_condition = taint.repels and taint.key in _OF_CONDITIONS
    return not is_condition or any(item.key == taint.key for item in node.taints)


_OF_CONDITIONS = frozenset(
    f"node.kubernetes.io/{name}"
    for name in ("not-ready", "unreachable", "memory-pressure", "disk-pressure", "pid-pressure", "unschedulable")
)


def add_taint(node: Node, taint: Taint) -> Node:
    """Return a node with a taint; one of the same key and effect is replaced."""
    kept = tuple(item for item in node.taints if (item.key, item.effect) != (taint.key, taint.effect))
    return node._replace(taints=(*kept, taint))


def remove_taints(node: Node, key: str, effect: str) -> Node:
    """Return a node without the taints of a key."""
    return node._replace(
        taints=tuple(item for item in node.taints if item.key != key or (effect and item.effect != effect))
    )


def with_down(facts: WorldFacts, down: frozenset[int]) -> WorldFacts:
    """Return the facts with other unreachable nodes, and the resulting taints of all nodes."""
    nodes = [(at, node) for at, node in enumerate(facts.nodes) if node is not None]
    alive = {at for at, _ in nodes}
    down &= alive
    zones = grouped(((node.labels.get(REGION, ""), node.labels.get(ZONE, "")), at) for at, node in nodes)
    evicting: set[int] = set()  # the dead nodes whose pods are evicted: not during a partial disruption
    for members in zones.values():
        dead = down.intersection(members)
        is_full = len(dead) == len(members)  # while another zone is healthy
        is_partial = len(dead) > _FEW_DOWN and len(dead) / len(members) >= _UNHEALTHY_SHARE
        if down != alive and (is_full or not is_partial or len(members) > _FEW_NODES):
            evicting |= dead
    changed = []
    for at, node in nodes:
        now = remove_taints(node, UNREACHABLE, "")
        if at in down:
            now = add_taint(now, Taint(UNREACHABLE, "", NO_SCHEDULE))
        if at in evicting:
            now = add_taint(now, Taint(UNREACHABLE, "", NO_EXECUTE))
        changed.append((at, now))
    return with_nodes(facts, changed)._replace(down=down)


def takes_away(world: World, facts: int, pod: P, *, patience_s: float = float("inf")) -> bool:
    """Return whether the garbage collector removes a pod with its missing node, or a taint evicts it within a time."""
    node = world.node(facts, pod.node)
    if node is None:
        return pod.node != PENDING
    return not pod.end and is_evicted(node, world.classes[pod.cls], patience_s)


def is_evicted(node: Node, cls: PodClass, patience_s: float) -> bool:
    """Return whether a NoExecute taint removes a pod from its node, within a time."""
    taints = [taint for taint in node.taints if taint.effect == NO_EXECUTE]
    used = []
    for taint in taints:
        found = [item for item in cls.tolerations if item.tolerates(taint)]
        if not found:
            return True
        used += found
    return any(item.seconds is not None and item.seconds <= patience_s for item in used)
