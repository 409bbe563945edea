"""What Karpenter does about the pods of placements that find no node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.pod import Pod
from kubectl_spread.provisioners import prospect
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.simulate.placement import Placement


def with_prospects(placements: list[Placement], cluster: Cluster, profiles: Mapping[str, Profile]) -> list[Placement]:
    """Return placements with what one round of Karpenter does about all their Pending pods.

    Args:
        placements: made together.
        cluster: before their pods exist.
        profiles: kube-scheduler's.
    """
    waiting = [item.pod for placement in placements for item in placement.pending]
    if not waiting:
        return placements
    evicted = {eviction.pod.key for placement in placements for eviction in placement.evictions}
    kept = [pod for pod in cluster.pods if pod.key not in evicted]
    after = cluster._replace(pods=(*kept, *(pod for placement in placements for pod in _placed(placement))))
    found = prospect.added_nodes(after, waiting, profiles)
    return [
        item._replace(added_nodes={pod.key: found[pod.key] for pod, _ in item.pending if pod.key in found})
        for item in placements
    ]


def _placed(placement: Placement) -> Iterator[Pod]:
    """Yield the new pods that have found a node."""
    first = placement.first_replica
    for item in placement.placed:
        if first is not None and not item.ran_already:
            yield first._replace(name=item.pod, uid=f"{first.namespace}/{item.pod}", node_name=item.node)
