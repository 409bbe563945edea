"""The cluster after a prediction: with the placed and the Pending pods, and without the evicted ones.

What Karpenter does about the Pending pods is asked on that cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kubectl_spread.cluster.ownership import workload_of
from kubectl_spread.cluster.snapshot import Cluster, key_of
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.simulate.placement import Placement
from kubectl_spread.simulate.running.controllers import with_controllers


class PredictedCluster(NamedTuple):
    """A cluster after a prediction.

    placements: by workload. new: uids of the pods that they placed. unpredicted: uids of pods whose nodes are not
    predictable.
    """

    cluster: Cluster
    placements: dict[ObjectKey, Placement]
    new: frozenset[str]
    unpredicted: frozenset[str]


def predictions(cluster: Cluster, placements: Iterable[Placement]) -> list[PredictedCluster]:
    """Return the cluster after the placements; copies of a workload are for different clusters.

    Args:
        cluster: before the placements.
        placements: of all workloads.
    """
    rounds: list[dict[ObjectKey, Placement]] = []
    for placement in placements:
        owner = placement.workload
        key = key_of(owner)
        free = next((found for found in rounds if key not in found), None)
        if free is None:
            rounds.append({key: placement})
        else:
            free[key] = placement
    return [_predicted(cluster, found) for found in rounds]


def _predicted(cluster: Cluster, placements: dict[ObjectKey, Placement]) -> PredictedCluster:
    evicted = {item.pod.uid for placement in placements.values() for item in placement.evictions}
    added = [pod for placement in placements.values() for pod in _pods(placement)]
    kept = (  # The placement of a workload has a pod in the place of each one that waits.
        pod
        for pod in cluster.pods
        if pod.uid not in evicted and (pod.node_name or pod.terminating or workload_of(pod, cluster) not in placements)
    )
    return PredictedCluster(
        _with_workloads(cluster, placements)._replace(pods=(*kept, *added)),
        placements,
        frozenset(pod.uid for pod in added if pod.node_name),
        frozenset(item.pod.uid for placement in placements.values() for item in placement.unpredicted),
    )


def _with_workloads(cluster: Cluster, placements: dict[ObjectKey, Placement]) -> Cluster:
    """Return the cluster with the workloads as they are in the manifests."""
    owners = {key: placement.workload for key, placement in placements.items() if key.kind != "Pod"}
    known = with_controllers(list(owners.values()), cluster)
    written = {key: known.controllers[key]._replace(workload=owner) for key, owner in owners.items()}
    return known._replace(controllers={**known.controllers, **written})


def _pods(placement: Placement) -> Iterator[Pod]:
    """Yield the pods of a placement that do not run yet, and the replacements of evicted pods."""
    key = placement.workload.key
    if placement.first_replica is not None:
        cls = placement.first_replica.cls
        for item in placement.placed:
            if not item.ran_already:
                yield _pod(f"{key}/{item.pod}", item.pod, cls, node=item.node)
        for gated in placement.gated:
            yield _pod(f"{key}/{gated.pod}", gated.pod, cls)._replace(message=gated.message)
    for pending in placement.pending:
        yield pending.pod._replace(message=pending.explanation.message)
    for waiting in placement.unpredicted:
        yield waiting.pod
    for number, eviction in enumerate(placement.evictions):
        if eviction.again is not None:
            again = eviction.again
            uid = f"{key}/again/{number}"
            yield _pod(uid, eviction.pod.name, eviction.pod.cls, node=again.node)._replace(message=again.message)


def _pod(uid: str, name: str, cls: PodClass, *, node: str = "") -> Pod:
    return Pod(name, uid, cls, node, "Running" if node else "Pending")


def with_prospects(placements: list[Placement], cluster: Cluster, profiles: Mapping[str, Profile]) -> list[Placement]:
    """Return placements with what one round of Karpenter does about all their Pending pods.

    Args:
        placements: made together.
        cluster: before their pods exist.
        profiles: kube-scheduler's.
    """
    from kubectl_spread.provisioners import prospect  # 30 ms

    waiting = [item.pod for placement in placements for item in placement.pending]
    if not waiting:
        return placements
    evicted = {eviction.pod.uid for placement in placements for eviction in placement.evictions}
    kept = [pod for pod in cluster.pods if pod.uid not in evicted]
    new = [pod for placement in placements for pod in _pods(placement) if pod.node_name]
    found = prospect.added_nodes(cluster._replace(pods=(*kept, *new)), waiting, profiles)
    return [
        item._replace(added_nodes={pod.key: found[pod.key] for pod, _ in item.pending if pod.key in found})
        for item in placements
    ]
