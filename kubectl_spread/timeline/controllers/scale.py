"""The scale subresource: the wanted number of pods of some controllers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional

from kubectl_spread.cluster.snapshot import Controller
from kubectl_spread.timeline.state import P, State
from kubectl_spread.timeline.world import World

_SCALED = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"})
WITHOUT_SCALE = frozenset({"DaemonSet", "Job", "Node"})  # a Node owns mirror pods


def expected_replicas(world: World, state: State, pods: Iterable[P]) -> int:
    """Return the sum of `spec.replicas` of the distinct controllers of some pods; pods without one are ignored."""
    total = 0
    for owner in {pod.owner for pod in pods if pod.owner >= 0}:
        own = state.sets[owner]
        if own is not None and world.keys[owner].kind in _SCALED:
            total += world.specs[own.spec].replicas
    return total


def of(controller: Optional[Controller], pods: int) -> int:
    """Return `spec.replicas` of a controller at rest; the number of its pods if it is not known."""
    if controller is None or controller.workload.kind not in _SCALED or controller.workload.replicas is None:
        return pods
    return controller.workload.replicas
