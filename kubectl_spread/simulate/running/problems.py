"""Problems of running workloads: waiting pods, pods on nodes that do not exist, and pods that are not created."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.explain.explanation import Explanation
from kubectl_spread.explain.workload_state import state_of
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.simulate.running.prospects import Prospects


class WaitingGroup(NamedTuple):
    """Equal Pending pods of a workload, with the explanation of the first one."""

    key: ObjectKey
    explanation: Explanation


class LostPods(NamedTuple):
    """Pods of a workload that are bound to a node that does not exist."""

    key: ObjectKey
    node: str
    pods: tuple[str, ...]


class UncreatedPods(NamedTuple):
    """Pods that a workload lacks, with the reason: the API server refuses them, or an earlier pod is not Ready."""

    key: ObjectKey
    number: int
    wanted: int
    message: str


def find_lost_pods(pods: Iterable[tuple[ObjectKey, Pod]], cluster: Cluster) -> list[LostPods]:
    """Find pods on nodes that were deleted.

    Args:
        pods: bound pods, each with its workload.
        cluster: the cluster of the pods.
    """
    nodes = {node.name for node in cluster.nodes}
    found: dict[tuple[ObjectKey, str], list[str]] = {}
    for key, pod in pods:
        if pod.node_name not in nodes and not pod.terminating:
            found.setdefault((key, pod.node_name), []).append(pod.name)
    return [LostPods(key, node, tuple(names)) for (key, node), names in found.items()]


def find_uncreated_pods(keys: Iterable[ObjectKey], owned: OwnedPods) -> Iterator[UncreatedPods]:
    """Find workloads that lack pods, because a quota forbids them or an ordered pod before them is not Ready."""
    for key in keys:
        state = state_of(key, owned)
        if state is None or not state.missing:
            continue
        if state.failures:
            yield UncreatedPods(key, state.missing, state.wanted or 0, state.failures[0].message)
        elif state.waiting is not None and state.waiting.node_name:  # One without a node is reported as Pending.
            text = f"podManagementPolicy OrderedReady creates them only once {state.waiting.name} is Ready"
            yield UncreatedPods(key, state.missing, state.wanted or 0, text)


def waiting(
    pods: Iterable[tuple[ObjectKey, Pod]], cluster: Cluster, profiles: Mapping[str, Profile]
) -> Iterator[WaitingGroup]:
    """Explain Pending pods, equal ones together.

    Args:
        pods: each with its workload.
        cluster: the cluster of the pods.
        profiles: of the scheduler.
    """
    alike: dict[tuple[ObjectKey, Any], list[Pod]] = {}
    every = list(pods)
    for key, pod in every:
        alike.setdefault((key, pod.cls), []).append(pod)
    prospects = Prospects([pod for _, pod in every], cluster, profiles)
    for (key, _), group in alike.items():
        for first, *rest in prospects.group_by_fate(group):
            explanation = prospects.of(first).examined.explanation
            yield WaitingGroup(key, explanation._replace(others=tuple(pod.name for pod in rest)))
