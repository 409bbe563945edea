"""PodDisruptionBudgets: their status in a state, and the eviction API that asks them.

Source: pkg/controller/disruption/disruption.go, getExpectedPodCount, countHealthyPods, updatePdbStatus;
pkg/registry/core/pod/storage/eviction.go (v1.36.2).
"""

from __future__ import annotations

from collections import Counter

from kubectl_spread.cluster.snapshot import DisruptionBudget
from kubectl_spread.engine.state import P, Stage, State
from kubectl_spread.engine.world import World
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.resources import percentage, scaled_value
from kubectl_spread.objects.workloads.workload import REPLICATED_KINDS

ALWAYS_ALLOW = "AlwaysAllow"
_WHOLE = 100  # percent
_WITHOUT_SCALE = frozenset({"DaemonSet", "Job", "Node"})  # a Node owns mirror pods


def current_budgets(world: World, state: State) -> tuple[DisruptionBudget, ...]:
    """Return the budgets with their current status."""
    return tuple(
        budget._replace(disruptions_allowed=_status(budget, world, state)[2], disrupted_pods=frozenset())
        for budget in world.facts[state.facts].cluster.budgets
    )


def _status(budget: DisruptionBudget, world: World, state: State) -> tuple[int, int, int]:
    """Return how many pods of a budget are healthy, how many must be, and how many evictions it allows."""
    selected = [pod for pod in state.pods if _selects(budget, world.classes[pod.cls])]
    others = [pod for pod in world.background if _selects(budget, pod.cls)]
    healthy = sum(pod.stage == Stage.READY and not pod.end for pod in selected)
    healthy += sum(bool(pod.node_name) and not pod.terminating and pod.is_ready is not False for pod in others)
    least, most = budget.min_available, budget.max_unavailable
    if most is None and isinstance(least, int):
        expected, desired = len(selected) + len(others), least
    else:
        # Controllers of pods that take no part count with their scales, too; pods without one are ignored.
        scales = {world.keys[pod.owner]: _replicas(world, state, pod.owner) for pod in selected if pod.owner >= 0}
        unchanged = Counter(key for pod in others if (key := world.cluster.top_owner(pod)) is not None)
        for key, pods in unchanged.items():
            controller = world.cluster.controllers.get(key) if key.kind in REPLICATED_KINDS else None
            replicas = None if controller is None else controller.workload.replicas
            scales.setdefault(key, pods if replicas is None else replicas)
        expected = sum(scales.values())
        number = scaled_value(least if most is None else most, expected, round_up=True)
        desired = max(0, expected - number) if most is not None and number is not None else number or 0
        owners = {cls.owner for cls in (*(world.classes[pod.cls] for pod in selected), *(pod.cls for pod in others))}
        if number is None or any(owner is not None and owner.kind in _WITHOUT_SCALE for owner in owners):
            expected = 0  # The budget sets no limit, or a controller of a pod has no scale: it allows no eviction.
    is_strict = expected <= 0 or spec_error(budget)
    return healthy, desired, 0 if is_strict else max(0, healthy - desired)


def _replicas(world: World, state: State, owner: int) -> int:
    """Return `spec.replicas` of a controller in a state; 0 if it is gone or has none."""
    own = state.sets[owner]
    return world.specs[own.spec].replicas if own is not None and world.keys[owner].kind in REPLICATED_KINDS else 0


def _selects(budget: DisruptionBudget, cls: PodClass) -> bool:
    return cls.namespace == budget.namespace and budget.selector.matches(dict(cls.labels))


def spec_error(budget: DisruptionBudget) -> str:
    """Return why the API server refuses the amounts of a budget; empty if it does not.

    Source: pkg/apis/policy/validation/validation.go, ValidatePodDisruptionBudgetSpec (v1.36.2).
    """
    field, value = ("minAvailable", budget.min_available)
    if budget.max_unavailable is not None:
        if value is not None:
            return "minAvailable and maxUnavailable are both set"
        field, value = ("maxUnavailable", budget.max_unavailable)
    if value is None or isinstance(value, int):
        return f"{field} {value} is negative" if value is not None and value < 0 else ""
    percent = percentage(value)
    if percent is None:
        return f'{field} "{value}" is neither a number nor a percentage'
    return f'{field} "{value}" is more than 100%' if percent > _WHOLE else ""


SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


def refusal(world: World, state: State, pod: P) -> str:
    """Return the API server's message if a pod may not be evicted now; empty if it may."""
    if pod.stage in (Stage.WAITING, Stage.BOUND) or pod.end:
        return ""
    found = [item for item in world.facts[state.facts].cluster.budgets if _selects(item, world.classes[pod.cls])]
    if len(found) != 1:
        return SEVERAL if found else ""
    budget, error = found[0], spec_error(found[0])
    healthy, desired, allowed = _status(budget, world, state)
    is_unready = pod.stage == Stage.UNREADY
    if is_unready and (budget.unhealthy_policy == ALWAYS_ALLOW or (healthy >= desired > 0 and not error)):
        return ""
    if allowed > 0:
        return ""
    if error:
        return f"The disruption budget {budget.name} is invalid: {error}"
    return f"The disruption budget {budget.name} needs {desired} healthy pods and has {healthy} currently"
