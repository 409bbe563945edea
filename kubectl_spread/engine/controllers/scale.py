"""The scale subresource: the wanted number of pods of some controllers, and autoscalers that write it.

Source: pkg/controller/podautoscaler/horizontal.go, reconcileAutoscaler (v1.36.2). Replicas outside the range of an
autoscaler go back to its nearer end at once; 0 replicas turn it off.
Difference: autoscalers know no metrics, so they keep each number in their range.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Optional, Union

from kubectl_spread.cluster.snapshot import Controller
from kubectl_spread.engine.draft import Draft
from kubectl_spread.engine.state import EventKind, Move, P, State
from kubectl_spread.engine.world import World
from kubectl_spread.objects.workloads.workload import REPLICATED_KINDS

WITHOUT_SCALE = frozenset({"DaemonSet", "Job", "Node"})  # a Node owns mirror pods


def expected_replicas(world: World, state: State, pods: Iterable[P]) -> int:
    """Return the sum of `spec.replicas` of the distinct controllers of some pods; pods without one are ignored."""
    total = 0
    for owner in {pod.owner for pod in pods if pod.owner >= 0}:
        own = state.sets[owner]
        if own is not None and world.keys[owner].kind in REPLICATED_KINDS:
            total += world.specs[own.spec].replicas
    return total


def of(controller: Optional[Controller], pods: int) -> int:
    """Return `spec.replicas` of a controller at rest; the number of its pods if it is not known."""
    if controller is None or controller.workload.kind not in REPLICATED_KINDS or controller.workload.replicas is None:
        return pods
    return controller.workload.replicas


def out_of_range(world: World, state: Union[State, Draft]) -> Iterator[tuple[int, int]]:
    """Yield the workloads whose replicas are outside the range of their autoscaler, with the replicas it sets."""
    for key, scaler in world.facts[state.facts].cluster.autoscalers.items():
        own = world.own(state.sets, key)
        if own is None or key.kind not in REPLICATED_KINDS:
            continue
        replicas = world.specs[own.spec].replicas
        wanted = scaler.nearest(replicas)
        if wanted != replicas:
            yield world.owner_at[key], wanted


def put(draft: Draft, owner: int, replicas: int) -> None:
    """Change the replicas of a workload, as an autoscaler does."""
    own = draft.sets[owner]
    spec = draft.world.specs[own.spec]
    draft.sets[owner] = own._replace(spec=draft.world.spec_at[spec._replace(replicas=replicas)])
    scaler = draft.world.facts[draft.facts].cluster.autoscalers[draft.world.keys[owner]]
    draft.moves.append(Move(EventKind.SCALED, owner=owner, number=replicas, text=scaler.name))
