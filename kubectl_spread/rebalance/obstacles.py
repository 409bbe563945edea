"""Reasons why no list of evictions repairs a group of workloads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_spread.cluster.ownership import workload_of
from kubectl_spread.cluster.snapshot import Cluster, OwnerKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.storage import ObjectKey
from kubectl_spread.rebalance.board import UnsafeEviction
from kubectl_spread.rebalance.feasible import conflict
from kubectl_spread.rebalance.goals import Goal, NEVER
from kubectl_spread.rebalance.plan import Obstacle, ObstacleKind
from kubectl_spread.rebalance.planner import GroupSearchResult, MOVABLE, Workloads
from kubectl_spread.scheduler.plugins.volumes.zone import topologies_of
from kubectl_spread.simulate.running.status import ConstraintState

_KINDS = {
    "refused": ObstacleKind.REFUSED,
    "pending": ObstacleKind.PENDING,
    "uncreated": ObstacleKind.UNCREATED,
    "displaces": ObstacleKind.DISPLACES,
    "unready": ObstacleKind.UNREADY,
    "endless": ObstacleKind.ENDLESS,
}


def beforehand(known: Workloads, keys: Iterable[OwnerKey]) -> Iterator[Obstacle]:
    """Yield the reasons that are clear without a search."""
    of = {item.status.key: item.status for item in known.items}
    for key in keys:
        if key.kind not in MOVABLE:
            yield Obstacle(ObstacleKind.CONTROLLER, key)
        elif key not in known.cluster.controllers:
            yield Obstacle(ObstacleKind.ABSENT, key)
        lost = _with_unknown_claims(known.cluster, key)
        if lost:
            yield Obstacle(ObstacleKind.UNKNOWN_CLAIMS, key, lost)
        for item in of[key].constraints:
            if item.state is ConstraintState.VIOLATED and not item.counts.domains:
                yield Obstacle(ObstacleKind.NO_DOMAIN, key, topology_keys=(item.topology_key,))
            elif item.state is ConstraintState.PARTLY_COUNTED and item.uncounted is not None:
                yield Obstacle(ObstacleKind.UNCOUNTED, key, item.uncounted.pods, topology_keys=(item.topology_key,))


def _with_unknown_claims(cluster: Cluster, key: OwnerKey) -> tuple[str, ...]:
    """Return the running pods of a workload whose claims are not in the facts. Ephemeral claims end with their pods."""
    found = [
        pod.name
        for pod in cluster.bound_pods()
        if pod.cls.volumes and cluster.top_owner(pod) == key
        if any(
            item.claim and not item.is_ephemeral and ObjectKey(pod.namespace, item.claim) not in cluster.storage.claims
            for item in pod.cls.volumes
        )
    ]
    return tuple(sorted(found))


def of_search(known: Workloads, keys: Iterable[OwnerKey], proposal: GroupSearchResult) -> Iterator[Obstacle]:
    """Yield the reasons that a search found."""
    result, tally, board = proposal.result, proposal.tally, proposal.board
    unsettled = [key for key in board.unsettled_workloads if key in keys]
    if unsettled:
        yield from (Obstacle(ObstacleKind.UNSETTLED, key) for key in unsettled)
        return
    yield from _unreachable(known.cluster, keys, proposal)
    yield from pinned_pods(known.cluster, keys, {goal.status.topology_key for goal in tally.goals if goal.key in keys})
    yield from _unsafe_evictions(result.troubles)
    if proposal.most < min(result.at_least, proposal.movable + 1) < NEVER and proposal.most < proposal.movable:
        yield Obstacle(ObstacleKind.TOO_MANY, number=result.at_least)
    elif not result.is_over:
        yield Obstacle(ObstacleKind.GAVE_UP, number=result.evictions)
    elif result.evictions and not result.troubles:
        yield Obstacle(ObstacleKind.RETURNS, number=result.evictions)


def _unsafe_evictions(troubles: Iterable[UnsafeEviction]) -> Iterator[Obstacle]:
    """Yield one obstacle for all pods whose eviction fails with the same message."""
    evictions = tuple(troubles)
    for kind, meaning in _KINDS.items():
        same = [item for item in evictions if item.kind == kind]
        for message in dict.fromkeys(item.message for item in same):
            pods = tuple(dict.fromkeys(item.pod for item in same if item.message == message))
            yield Obstacle(meaning, None, pods, message)


def _unreachable(cluster: Cluster, keys: Iterable[OwnerKey], proposal: GroupSearchResult) -> Iterator[Obstacle]:
    """Yield the constraints that no distribution of the movable pods satisfies."""
    tally, states = proposal.tally, proposal.board.beginning.states
    for at, goal in enumerate(tally.goals):
        if any(tally.needs(state)[at].evictions > proposal.movable for state in states):
            others = sorted({_text(workload_of(pod, cluster)) for pod in _others(goal, keys, cluster)})
            yield Obstacle(ObstacleKind.UNREACHABLE, goal.key, tuple(others), topology_keys=(goal.status.topology_key,))
    together = conflict(tally.goals, tally.counts(min(states)))
    if together:
        topology_keys = tuple(goal.status.topology_key for goal in together)
        yield Obstacle(ObstacleKind.CONFLICT, together[0].key, topology_keys=topology_keys)


def _others(goal: Goal, keys: Iterable[OwnerKey], cluster: Cluster) -> list[Pod]:
    """Return the pods that a constraint counts and that do not belong to the workloads to repair."""
    return [pod for pod in cluster.bound_pods() if goal.is_counted(pod.cls) and workload_of(pod, cluster) not in keys]


def _text(key: OwnerKey) -> str:
    return f"{key.kind} {key.namespace}/{key.name}"


def pinned_pods(cluster: Cluster, keys: Iterable[OwnerKey], topology_keys: Iterable[str]) -> Iterator[Obstacle]:
    """Yield the pods that volumes keep in their domain of a key."""
    wanted = frozenset(keys)
    nodes = {node.name: node for node in cluster.nodes}
    for topology_key in sorted(topology_keys):
        found: dict[OwnerKey, list[str]] = {}
        for pod in cluster.bound_pods():
            owner = cluster.top_owner(pod)
            node = nodes.get(pod.node_name)
            if owner not in wanted or owner is None or node is None or not pod.cls.volumes:
                continue
            if _reachable(pod, cluster, topology_key) == {node.labels.get(topology_key)}:
                found.setdefault(owner, []).append(pod.name)
        for owner, names in found.items():
            yield Obstacle(ObstacleKind.PINNED, owner, tuple(sorted(names)), topology_keys=(topology_key,))


def _reachable(pod: Pod, cluster: Cluster, topology_key: str) -> set[str | None]:
    """Return the domains whose nodes all volumes of a pod allow."""
    return {node.labels.get(topology_key) for node in cluster.nodes if _allows(pod, node, cluster)}


def _allows(pod: Pod, node: Node, cluster: Cluster) -> bool:
    storage = cluster.storage
    for item in pod.cls.volumes:
        claim = storage.claims.get(ObjectKey(pod.namespace, item.claim)) if item.claim else None
        volume = storage.volumes.get(claim.volume_name) if claim is not None else None
        if volume is None:
            continue
        zones = topologies_of(volume.labels)
        if not volume.matches_node(node.labels) or not all(
            zone.allows(node.labels, labels_are_one=True) for zone in zones
        ):
            return False
    return True
