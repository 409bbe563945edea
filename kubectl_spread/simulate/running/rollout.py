"""Status of running workloads: waiting pods, and the first step of each workload's next rollout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Optional

from kubectl_spread.cluster.building.stored import admitted, as_stored
from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Cluster, OwnerKey
from kubectl_spread.cluster.tables.columns import Columns
from kubectl_spread.explain.explanation import examine, Explanation, PodVerdict
from kubectl_spread.explain.workload_state import state_of
from kubectl_spread.objects.amounts.int_or_percent import scaled
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.storage import ObjectKey
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.objects.workloads.workload import replica_name, Workload
from kubectl_spread.records import NamedTuple
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.unsupported import not_evaluated
from kubectl_spread.simulate.running.controllers import running_pods
from kubectl_spread.simulate.running.prospects import Prospects

Plain = dict[str, Any]

_MOST_TRIED = 8  # Most pods whose removal is tried one by one.
_QUARTER = "25%"


class WaitingGroup(NamedTuple):
    """Equal Pending pods of a workload, with the explanation of the first one."""

    key: OwnerKey
    explanation: Explanation


class Stuck(NamedTuple):
    """A rollout whose first pod finds no node; `gone` is the old pod that was deleted before it, if any."""

    workload: Workload
    explanation: Explanation
    gone: str = ""


class Lost(NamedTuple):
    """Pods of a workload that are bound to a node that does not exist."""

    key: OwnerKey
    node: str
    pods: tuple[str, ...]


class Uncreated(NamedTuple):
    """Pods that a workload lacks because the API server refuses them, with its message."""

    key: OwnerKey
    number: int
    wanted: int
    message: str


def lost(pods: Iterable[tuple[OwnerKey, Pod]], cluster: Cluster) -> list[Lost]:
    """Find pods on nodes that were deleted.

    Args:
        pods: bound pods, each with its workload.
        cluster: the cluster of the pods.
    """
    nodes = {node.name for node in cluster.nodes}
    found: dict[tuple[OwnerKey, str], list[str]] = {}
    for key, pod in pods:
        if pod.node_name not in nodes and not pod.terminating:
            found.setdefault((key, pod.node_name), []).append(pod.name)
    return [Lost(key, node, tuple(names)) for (key, node), names in found.items()]


def uncreated(keys: Iterable[OwnerKey], owned: OwnedPods) -> Iterator[Uncreated]:
    """Find workloads that lack pods because creating them failed, for example because of a quota."""
    for key in keys:
        state = state_of(key, owned)
        if state is not None and state.missing and state.failures:
            yield Uncreated(key, state.missing, state.wanted or 0, state.failures[0].message)


def waiting(
    pods: Iterable[tuple[OwnerKey, Pod]], cluster: Cluster, profiles: Mapping[str, Profile]
) -> Iterator[WaitingGroup]:
    """Explain Pending pods, equal ones together.

    Args:
        pods: each with its workload.
        cluster: the cluster of the pods.
        profiles: of the scheduler.
    """
    alike: dict[tuple[OwnerKey, Any], list[Pod]] = {}
    every = list(pods)
    for key, pod in every:
        alike.setdefault((key, pod.cls), []).append(pod)
    prospects = Prospects([pod for _, pod in every], cluster, profiles)
    for (key, _), group in alike.items():
        for first, *rest in prospects.grouped(group):
            explanation = prospects.of(first).examined.explanation
            yield WaitingGroup(key, explanation._replace(others=tuple(pod.name for pod in rest)))


class Rollouts:
    """Trial rollouts of workloads on one cluster, which is not changed."""

    def __init__(self, cluster: Cluster, profiles: Mapping[str, Profile]) -> None:
        self._cluster = cluster
        self._owned = OwnedPods(cluster)
        self._profiles = profiles
        self._scheduler: Optional[Scheduler] = None

    def stuck(self, owner: Workload, spec: Plain) -> Optional[Stuck]:
        """Return a rollout whose first pod stays Pending; None if the pod finds a node, or cannot be predicted.

        A Deployment adds a pod if maxSurge allows it, and removes one if maxUnavailable does. A StatefulSet removes its
        last pod. Old pods count, unless a constraint has the revision in matchLabelKeys.

        Args:
            owner: the workload after the change.
            spec: its `spec`, for the strategy.
        """
        own = running_pods(owner, self._owned)
        if not _rolls(owner) or not own:
            return None
        minor = next(iter(self._profiles.values())).minor
        new = as_stored(admitted(owner, self._cluster), minor)._replace(known_hash="")
        steps = _steps(new, spec, own)
        if steps is None:
            return None
        surge, goes = steps
        pod = _first_of(new)
        if not self._is_known(pod):
            return None
        filtered = self._filter(pod)
        if (surge and filtered.feasible.any()) or self._fits_without(pod, goes, filtered):
            return None
        gone = () if surge else goes[:1]
        found = examine(pod, self._without(gone), self._profiles).explanation
        is_stuck = found.verdict is PodVerdict.PENDING and not found.nominated_node
        return Stuck(owner, found, "".join(old.name for old in gone)) if is_stuck else None

    def _is_known(self, pod: Pod) -> bool:
        """Return whether a pod's node can be predicted: its claims are known, and a scheduler handles the pod."""
        pod_class, claims = pod.cls, self._cluster.storage.claims
        has_claims = all(
            not item.claim or ObjectKey(pod_class.namespace, item.claim) in claims for item in pod_class.volumes
        )
        profile = self._profiles.get(pod_class.scheduler_name)
        return has_claims and not pod_class.gates and not not_evaluated(pod_class, profile, self._cluster)

    def _filter(self, pod: Pod) -> FilterResult:
        if self._scheduler is None:
            self._scheduler = Scheduler(Columns(self._cluster), self._profiles)
        return self._scheduler.filter(pod)

    def _fits_without(self, pod: Pod, goes: list[Pod], filtered: FilterResult) -> bool:
        """Return whether the pod finds a node after the removal of any one of the other pods."""
        index = filtered.columns.index
        for old in goes:
            at = index.get(old.node_name)
            if at is not None and filtered.considered[at] and filtered.filter_with(at, [old], ()) is None:
                return True
        for old in goes[:_MOST_TRIED]:
            without = Scheduler(Columns(self._without([old])), self._profiles)
            if without.filter(pod).feasible.any():
                return True
        return False

    def _without(self, gone: Iterable[Pod]) -> Cluster:
        keys = {old.key for old in gone}
        return self._cluster._replace(pods=tuple(pod for pod in self._cluster.pods if pod.key not in keys))


def _rolls(owner: Workload) -> bool:
    is_known = owner.kind in ("Deployment", "StatefulSet") and not owner.is_foreign
    return is_known and bool(owner.replicas)


def _first_of(new: Workload) -> Pod:
    """Return the first pod of a rollout; for a StatefulSet the last ordinal."""
    if new.kind == "Deployment":
        return replica(new, 0)._replace(name=f"{new.name}-new", uid="")
    return replica(new, (new.replicas or 1) - 1)


def _steps(owner: Workload, spec: Plain, own: list[Pod]) -> Optional[tuple[bool, list[Pod]]]:
    """Return whether a new pod is created before an old one is deleted, and the pods that may be deleted.

    Returns None if all pods are deleted at once, or none.
    """
    if owner.kind == "StatefulSet":
        last = replica_name(owner, (owner.replicas or 1) - 1)
        if (spec.get("updateStrategy") or {}).get("type") == "OnDelete":
            return None
        return False, [pod for pod in own if pod.name == last]
    strategy = spec.get("strategy") or {}
    if strategy.get("type") == "Recreate":
        return None
    rolling = strategy.get("rollingUpdate") or {}
    replicas = owner.replicas or 0
    surge = scaled(_given(rolling, "maxSurge"), replicas, round_up=True)
    unavailable = scaled(_given(rolling, "maxUnavailable"), replicas, round_up=False)
    return bool(surge), own if unavailable or not surge else []


def _given(rolling: Plain, field: str) -> Any:
    value = rolling.get(field)
    return _QUARTER if value is None else value
