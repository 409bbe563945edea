"""Budgets, and evictions under them.

Source: pkg/controller/disruption/disruption.go, pkg/registry/core/pod/storage/eviction.go (v1.36.2). The status of a
budget is worked out when somebody asks for it.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from tests.naive import objects, selectors
from tests.naive.controllers.controller_utils import scaled
from tests.naive.controllers.replicaset import replicas_of
from tests.naive.controllers.world import delete_pod, is_ready, with_condition, World

Plain = dict[str, Any]


class Budget(NamedTuple):
    """The status of a PodDisruptionBudget."""

    expected: int
    desired_healthy: int
    current_healthy: int

    @property
    def allowed(self) -> int:
        return max(0, self.current_healthy - self.desired_healthy) if self.expected > 0 else 0


def budget_of(world: World, item: Plain) -> Budget:
    pods = [pod for pod in world.pods(objects.namespace_of(item)) if covers(item, pod)]
    healthy = sum(is_ready(pod) and not objects.is_terminating(pod) for pod in pods)
    spec = item["spec"]
    if _has_pods_without_scale(pods) and not isinstance(spec.get("minAvailable"), int):
        return Budget(0, 0, healthy)
    if spec.get("maxUnavailable") is not None:
        expected = _expected(world, pods)
        desired = max(0, expected - scaled(spec["maxUnavailable"], expected, up=True))
    elif isinstance(spec.get("minAvailable"), int):
        expected, desired = len(pods), spec["minAvailable"]
    else:
        expected = _expected(world, pods)
        desired = scaled(spec.get("minAvailable") or 1, expected, up=True)
    return Budget(expected, desired, healthy)


def covers(item: Plain, pod: Plain) -> bool:
    selector = item["spec"].get("selector")
    if selector is None or objects.namespace_of(item) != objects.namespace_of(pod):
        return False
    return selectors.label_selector_as_selector(selector).matches(objects.labels_of(pod))


def _has_pods_without_scale(pods: list[Plain]) -> bool:
    """Whether the controller of a pod has no scale subresource: the status then allows nothing (`failSafe`)."""
    return any(objects.controller_of(pod).get("kind") in ("DaemonSet", "Job", "Node") for pod in pods)


def _expected(world: World, pods: list[Plain]) -> int:
    """The replicas of all controllers of the pods, each counted once."""
    found = {}
    for pod in pods:
        owner = _scaled_by(world, pod)
        if owner is not None:
            found[owner["metadata"]["uid"]] = replicas_of(owner)
    return sum(found.values())


def _scaled_by(world: World, pod: Plain) -> Optional[Plain]:
    reference = objects.controller_of(pod)
    if not reference:
        return None
    owner = world.get(reference["kind"], reference["name"], objects.namespace_of(pod))
    above = objects.controller_of(owner) if owner is not None else {}
    if above.get("kind") == "Deployment":
        return world.get("Deployment", above["name"], objects.namespace_of(pod)) or owner
    return owner


def status_of(world: World, item: Plain) -> Plain:
    """The budget with its status, for the scheduler."""
    return {**item, "status": {"disruptionsAllowed": budget_of(world, item).allowed}}


def may_evict(world: World, pod: Plain) -> bool:
    """Whether the API server deletes the pod when it is to be evicted."""
    if objects.is_terminating(pod) or (pod.get("status") or {}).get("phase") in ("Pending", "Succeeded", "Failed"):
        return True
    budgets = _covering(world, pod)
    if len(budgets) != 1:
        return not budgets
    status = budget_of(world, budgets[0])
    if not is_ready(pod):
        if budgets[0]["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
            return True
        if status.current_healthy >= status.desired_healthy > 0:
            return True
    return status.allowed > 0


def _covering(world: World, pod: Plain) -> list[Plain]:
    return [item for item in world.list("PodDisruptionBudget") if covers(item, pod)]


def fails(world: World, pod: Plain) -> bool:
    """Whether the answer to an eviction is an error that kubectl does not retry."""
    return not may_evict(world, pod) and len(_covering(world, pod)) > 1


def evict(world: World, pod: Plain) -> Optional[World]:
    if not may_evict(world, pod):
        return None
    after = world.copy()
    marked = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}
    delete_pod(after, with_condition(pod, **marked))
    return after
