"""The eviction API: whether a pod may be evicted now.

Source: pkg/registry/core/pod/storage/eviction.go (v1.36.2).
"""

from __future__ import annotations

from kubectl_spread.engine import budgets
from kubectl_spread.engine.state import Deletion, P, Stage, State
from kubectl_spread.engine.world import World

VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


def refusal(world: World, state: State, pod: P) -> str:
    """Return the API server's message if a pod may not be evicted; empty if it may."""
    if pod.stage in (Stage.WAITING, Stage.BOUND) or pod.end != Deletion.ALIVE:
        return ""
    found = budgets.matching(world, pod.cls, budgets.statuses(world, state))
    if not found:
        return ""
    if len(found) > 1:
        return SEVERAL
    (status,) = found
    if pod.stage == Stage.UNREADY:
        if status.budget.unhealthy_policy == budgets.ALWAYS_ALLOW:
            return ""
        if status.current_healthy >= status.desired_healthy > 0 and not budgets.spec_error(status.budget):
            return ""
    if status.allowed > 0:
        return ""
    error = budgets.spec_error(status.budget)
    if error:
        return f"The disruption budget {status.budget.name} is invalid: {error}"
    return (
        f"The disruption budget {status.budget.name} needs {status.desired_healthy} healthy pods "
        f"and has {status.current_healthy} currently"
    )
