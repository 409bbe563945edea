"""PodDisruptionBudgets: their status in a state, and the eviction API that asks them.

Source: pkg/controller/disruption/disruption.go, getExpectedPodCount, countHealthyPods, updatePdbStatus;
pkg/registry/core/pod/storage/eviction.go (v1.36.2).
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple, Optional

from kubectl_spread.cluster.snapshot import DisruptionBudget
from kubectl_spread.engine.controllers import scale
from kubectl_spread.engine.state import Deletion, P, Stage, State
from kubectl_spread.engine.world import World
from kubectl_spread.objects.amounts.quantity import percentage, scaled_value
from kubectl_spread.objects.pod import Pod

ALWAYS_ALLOW = "AlwaysAllow"
_WHOLE = 100  # percent


class BudgetStatus(NamedTuple):
    """Status of a budget: pods that are healthy, pods that must be healthy, and evictions allowed."""

    budget: DisruptionBudget
    current_healthy: int
    desired_healthy: int
    allowed: int


def statuses(world: World, state: State) -> tuple[BudgetStatus, ...]:
    """Return the status of every budget."""
    return tuple(_status(budget, world, state) for budget in world.facts[state.facts].cluster.budgets)


def matching(world: World, cls: int, found: tuple[BudgetStatus, ...]) -> list[BudgetStatus]:
    """Return the budgets that select the pods of a class."""
    pod_class = world.classes[cls]
    labels = dict(pod_class.labels)
    return [
        status
        for status in found
        if status.budget.namespace == pod_class.namespace and status.budget.selector.matches(labels)
    ]


def current_budgets(world: World, state: State) -> tuple[DisruptionBudget, ...]:
    """Return the budgets with their current status."""
    return tuple(
        status.budget._replace(disruptions_allowed=status.allowed, disrupted_pods=frozenset())
        for status in statuses(world, state)
    )


def _status(budget: DisruptionBudget, world: World, state: State) -> BudgetStatus:
    selected = [
        pod
        for pod in state.pods
        if world.classes[pod.cls].namespace == budget.namespace
        and budget.selector.matches(dict(world.classes[pod.cls].labels))
    ]
    others = [
        pod for pod in world.background if pod.namespace == budget.namespace and budget.selector.matches(pod.labels)
    ]
    healthy = sum(pod.stage == Stage.READY and pod.end == Deletion.ALIVE for pod in selected)
    healthy += sum(bool(pod.node_name) and not pod.terminating and pod.is_ready is not False for pod in others)
    expected, desired = _wanted(budget, selected, others, world=world, state=state)
    if expected <= 0 or desired is None or spec_error(budget):
        return BudgetStatus(budget, healthy, desired or 0, 0)
    return BudgetStatus(budget, healthy, desired, max(0, healthy - desired))


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


def _wanted(
    budget: DisruptionBudget, selected: list[P], others: list[Pod], *, world: World, state: State
) -> tuple[int, Optional[int]]:
    """Return the expected and the healthy pods that a budget wants; None instead of the latter if it sets no limit.

    The first is 0 if a controller of a pod has no scale: the budget then allows no eviction.
    """
    least, most = budget.min_available, budget.max_unavailable
    if most is None and isinstance(least, int):
        return len(selected) + len(others), least
    # Controllers of pods that take no part count with their scales, too; pods without one are ignored.
    counted = {world.keys[pod.owner] for pod in selected if pod.owner >= 0}
    unchanged = Counter(key for pod in others if (key := world.cluster.top_owner(pod)) is not None)
    expected = scale.expected_replicas(world, state, selected)
    expected += sum(
        scale.of(world.cluster.controllers.get(key), pods) for key, pods in unchanged.items() if key not in counted
    )
    number = scaled_value(least if most is None else most, expected, round_up=True)
    wanted = max(0, expected - number) if most is not None and number is not None else number
    owners = {cls.owner for cls in (*(world.classes[pod.cls] for pod in selected), *(pod.cls for pod in others))}
    has_scale = all(owner is None or owner.kind not in scale.WITHOUT_SCALE for owner in owners)
    return expected if has_scale else 0, wanted


SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


def refusal(world: World, state: State, pod: P) -> str:
    """Return the API server's message if a pod may not be evicted now; empty if it may."""
    if pod.stage in (Stage.WAITING, Stage.BOUND) or pod.end != Deletion.ALIVE:
        return ""
    found = matching(world, pod.cls, statuses(world, state))
    if not found:
        return ""
    if len(found) > 1:
        return SEVERAL
    (status,) = found
    if pod.stage == Stage.UNREADY:
        if status.budget.unhealthy_policy == ALWAYS_ALLOW:
            return ""
        if status.current_healthy >= status.desired_healthy > 0 and not spec_error(status.budget):
            return ""
    if status.allowed > 0:
        return ""
    error = spec_error(status.budget)
    if error:
        return f"The disruption budget {status.budget.name} is invalid: {error}"
    return (
        f"The disruption budget {status.budget.name} needs {status.desired_healthy} healthy pods "
        f"and has {status.current_healthy} currently"
    )
