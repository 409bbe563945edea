"""Placement of a workload's pods, its certainty, and the cluster after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.cluster.ownership import workload_of
from kubectl_spread.cluster.snapshot import Cluster, key_of
from kubectl_spread.engine.results.certainty import Certainty
from kubectl_spread.engine.workloads import with_manifests
from kubectl_spread.explain.explanation import Explanation, IgnoredFields
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.scheduler.framework.plugin import Profile

if TYPE_CHECKING:  # only loaded if there are NodePools
    from kubectl_spread.provisioners.prospect import Prospect


class PlacedPod(NamedTuple):
    """A pod and its node.

    `fitting` is the number of nodes that fit. `hosts` is the number of these with the highest score; the scheduler may
    take any of them. Both are 0 for a pod that already ran.
    """

    pod: str
    node: str
    fitting: int
    hosts: int

    @property
    def ran_already(self) -> bool:
        return self.fitting == 0


class PendingPod(NamedTuple):
    """A pod that found no node, with the explanation of that moment; pods of one class share it."""

    pod: Pod
    explanation: Explanation


class UntriedPod(NamedTuple):
    """A pod that the scheduler never tries, because of its gates or because the API server refuses to create it."""

    pod: str
    message: str


class UnpredictedPod(NamedTuple):
    """A pod whose node cannot be predicted, and the features it depends on."""

    pod: Pod
    reasons: tuple[str, ...]


class EvictedPod(NamedTuple):
    """A pod that preemption evicts to make room for another one.

    `again`: the replacement that its controller creates, with its node (empty if it is Pending) and the scheduler's
    message. None if no controller replaces it.
    """

    pod: Pod
    by: str
    again: Optional[ReplacementPod] = None


class ReplacementPod(NamedTuple):
    """Outcome for the pod that replaces an evicted one."""

    node: str
    message: str = ""


class Placement(NamedTuple):
    """Placement of the pods of one workload.

    domains: topology key -> value -> the workload's pods, for each key of its constraints.
    matching: the same for all pods that the first constraint of the key selects, of any workload.
    unpredicted: pods that are neither placed nor Pending.
    not_counted: other workloads with such pods; the placement leaves these pods out.
    not_predictable: features that the pods use and that are not evaluated.
    not_created: pods that their controller creates only after the pods before them run.
    evictions: pods of lower priority that preemption evicts for the workload's pods.
    on_missing_nodes: placed pods whose node does not exist.
    refused: pods that admission refuses.
    first_replica: the workload's first pod, as its controller creates it.
    in_any_order: the placed pods over all orders of creation, if other workloads are created as well and they differ.
    added_nodes: by the key of a Pending pod, what Karpenter does about it; empty without NodePools.
    advice: a change with which all of them find a node, if Karpenter adds none.
    """

    workload: Workload
    placed: tuple[PlacedPod, ...]
    pending: tuple[PendingPod, ...]
    gated: tuple[UntriedPod, ...]
    domains: dict[str, dict[str, int]]
    certainty: Certainty
    not_predictable: tuple[str, ...] = ()
    matching: dict[str, dict[str, int]] = {}  # noqa: RUF012 (never written to)
    first: Optional[Explanation] = None  # of the first placed pod, on request
    moment: Optional[Cluster] = None  # the cluster when the first pod stayed Pending, else when the first was placed
    unpredicted: tuple[UnpredictedPod, ...] = ()
    not_counted: tuple[str, ...] = ()
    ignored: IgnoredFields = IgnoredFields()
    not_created: tuple[str, ...] = ()
    evictions: tuple[EvictedPod, ...] = ()
    on_missing_nodes: tuple[str, ...] = ()
    refused: tuple[UntriedPod, ...] = ()
    first_replica: Optional[Pod] = None
    in_any_order: Optional[Range] = None
    added_nodes: dict[str, Prospect] = {}  # noqa: RUF012 (never written to)
    advice: str = ""

    @property
    def new(self) -> int:
        """Return the number of pods that do not run yet, and that the scheduler may place."""
        return self.replicas - len(self.refused) - len(self.gated) - sum(pod.ran_already for pod in self.placed)

    @property
    def stuck(self) -> list[PendingPod]:
        """Return the Pending pods for which it is not certain that Karpenter adds a node."""
        waiting = {key for key, found in self.added_nodes.items() if found.runs}
        return [item for item in self.pending if item.pod.key not in waiting]

    @property
    def is_stuck(self) -> bool:
        """Return whether a pod, or a pod evicted for it, stays without a node or does not exist."""
        evicted = any(item.again is not None and not item.again.node for item in self.evictions)
        return bool(self.stuck or self.on_missing_nodes or self.not_created or self.refused or evicted)

    @property
    def replicas(self) -> int:
        created = len(self.placed) + len(self.pending) + len(self.gated) + len(self.unpredicted)
        return created + len(self.not_created) + len(self.refused)


class PredictedCluster(NamedTuple):
    """A cluster after a prediction.

    placements: by workload. new: uids of the pods that they add. unpredicted: uids of pods whose nodes are not
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
    known = with_manifests([placement.workload for key, placement in placements.items() if key.kind != "Pod"], cluster)
    return PredictedCluster(
        known._replace(pods=(*kept, *added)),
        placements,
        frozenset(pod.uid for pod in added),
        frozenset(item.pod.uid for placement in placements.values() for item in placement.unpredicted),
    )


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
