"""DefaultPreemption: which pods of lower priority could make way, and on which node.

Source: pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go,
pkg/scheduler/framework/preemption/preemption.go, pkg/scheduler/util/utils.go (v1.36.2). Every candidate node is tried;
of equal ones the smallest name is taken, where the scheduler may take any. Nothing is deleted.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any, NamedTuple, Optional

from tests.naive import objects, selectors
from tests.naive.framework import (
    Code,
    CycleState,
    error,
    fit_error,
    Framework,
    Handle,
    NodeToStatus,
    Status,
    SUCCESS,
    unresolvable,
    unschedulable,
)
from tests.naive.nodeinfo import NodeInfo, PodInfo

Plain = dict[str, Any]

# A pod that has not started yet: later than any that has.
_NOW = datetime.max.replace(tzinfo=timezone.utc)
_MAX_INT32 = 2**31 - 1


class Candidate(NamedTuple):
    """A node with the pods that would be evicted, most important first."""

    name: str
    victims: list[PodInfo]
    num_pdb_violations: int


class DefaultPreemption:
    """Make room by evicting pods of lower priority."""

    name = "DefaultPreemption"

    def __init__(self, args: Plain, handle: Handle) -> None:
        self.handle = handle
        self.framework: Optional[Framework] = None  # set once the profile is complete

    def pre_enqueue(self, pod: Plain) -> Status:
        return SUCCESS

    def post_filter(self, state: CycleState, pod: Plain, statuses: NodeToStatus) -> tuple[Optional[str], Status]:
        nominated, status = self.preempt(state, pod, statuses)
        if not status.reasons:
            return nominated, status
        return nominated, Status(status.code, (f"preemption: {status.message()}",))

    def preempt(self, state: CycleState, pod: Plain, statuses: NodeToStatus) -> tuple[Optional[str], Status]:
        eligible, message = self.pod_eligible_to_preempt_others(pod, statuses)
        if not eligible:
            return None, unschedulable(message)
        candidates, node_statuses = self.find_candidates(state, pod, statuses)
        if not candidates:
            node_statuses.absent = unresolvable("Preemption is not helpful for scheduling")
            return None, unschedulable(fit_error(len(self.handle.node_infos), node_statuses))
        return select_candidate(candidates), SUCCESS

    def pod_eligible_to_preempt_others(self, pod: Plain, statuses: NodeToStatus) -> tuple[bool, str]:
        if pod["spec"].get("preemptionPolicy") == "Never":
            return False, "not eligible due to preemptionPolicy=Never."
        nominated = objects.nominated_node_name(pod)
        if not nominated or statuses.get(nominated).code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return True, ""
        node = self.handle.node_info(nominated)
        for other in node.pods if node else []:
            if is_preemption_allowed(other, pod) and pod_terminating_by_preemption(other.pod):
                return False, "not eligible due to a terminating pod on the nominated node."
        return True, ""

    def find_candidates(
        self, state: CycleState, pod: Plain, statuses: NodeToStatus
    ) -> tuple[list[Candidate], NodeToStatus]:
        found: list[Candidate] = []
        failed = NodeToStatus()
        for node in statuses.nodes_for_status_code(self.handle.node_infos, Code.UNSCHEDULABLE):
            victims, violations, status = self.select_victims_on_node(state.clone(), pod, node.clone())
            if status.is_success() and not victims:
                status = error(f'expected at least one victim pod on node "{node.name}"')
            if status.is_success():
                found.append(Candidate(node.name, victims, violations))
            else:
                failed.statuses[node.name] = status
        return found, failed

    def select_victims_on_node(
        self, state: CycleState, pod: Plain, node: NodeInfo
    ) -> tuple[list[PodInfo], int, Status]:
        """Take every pod of lower priority off, then give back as many as possible, most important first.

        Args:
            state: a copy, changed here.
            pod: the pod that needs room.
            node: a copy, changed here.
        """
        potential = [other for other in node.pods if is_preemption_allowed(other, pod)]
        for victim in potential:
            self._remove_pod(state, pod, victim, node=node)
        if not potential:
            return [], 0, unresolvable("No preemption victims found for incoming pod")
        status = self._filter(state, pod, node)
        if not status.is_success():
            return [], 0, status
        potential = sort_by_importance(potential)
        violating, others = filter_pods_with_pdb_violation(potential, self.handle.list("PodDisruptionBudget"))
        evicted = [victim for victim in violating if not self._reprieve_pod(state, pod, victim, node=node)]
        violations = len(evicted)
        evicted += [victim for victim in others if not self._reprieve_pod(state, pod, victim, node=node)]
        return sort_by_importance(evicted), violations, SUCCESS

    def _filter(self, state: CycleState, pod: Plain, node: NodeInfo) -> Status:
        assert self.framework is not None
        return self.framework.run_filter_plugins_with_nominated_pods(state, pod, node)

    def _reprieve_pod(self, state: CycleState, pod: Plain, victim: PodInfo, *, node: NodeInfo) -> bool:
        """Give a pod back to the node if the incoming pod still fits."""
        self._add_pod(state, pod, victim, node=node)
        fits = self._filter(state, pod, node).is_success()
        if not fits:
            self._remove_pod(state, pod, victim, node=node)
        return fits

    def _add_pod(self, state: CycleState, pod: Plain, added: PodInfo, *, node: NodeInfo) -> None:
        assert self.framework is not None
        node.add_pod(added)
        self.framework.run_pre_filter_extension_add_pod(state, pod, added, node=node)

    def _remove_pod(self, state: CycleState, pod: Plain, removed: PodInfo, *, node: NodeInfo) -> None:
        assert self.framework is not None
        node.remove_pod(removed)
        self.framework.run_pre_filter_extension_remove_pod(state, pod, removed, node=node)


def is_preemption_allowed(victim: PodInfo, preemptor: Plain) -> bool:
    return objects.pod_priority(victim.pod) < objects.pod_priority(preemptor)


def pod_terminating_by_preemption(pod: Plain) -> bool:
    if not objects.is_terminating(pod):
        return False
    for condition in (pod.get("status") or {}).get("conditions") or []:
        if condition.get("type") == "DisruptionTarget":
            return (condition.get("status"), condition.get("reason")) == ("True", "PreemptionByScheduler")
    return False


def get_pod_start_time(pod: Plain) -> datetime:
    text = (pod.get("status") or {}).get("startTime")
    return datetime.fromisoformat(text.replace("Z", "+00:00")) if text else _NOW


def sort_by_importance(pods: list[PodInfo]) -> list[PodInfo]:
    """Insertion sort, which is what `sort.Slice` does with up to 12; the order of more is not predictable."""
    ordered: list[PodInfo] = []
    for info in pods:
        at = len(ordered)
        while at > 0 and more_important_pod(info.pod, ordered[at - 1].pod):
            at -= 1
        ordered.insert(at, info)
    return ordered


def more_important_pod(pod1: Plain, pod2: Plain) -> bool:
    """Higher priority, or started earlier; the time is read for the first pod before it is read for the second."""
    if objects.pod_priority(pod1) != objects.pod_priority(pod2):
        return objects.pod_priority(pod1) > objects.pod_priority(pod2)
    started1, started2 = get_pod_start_time(pod1), get_pod_start_time(pod2)
    return started1 < started2 or started1 == started2 == _NOW


def filter_pods_with_pdb_violation(pods: list[PodInfo], budgets: list[Plain]) -> tuple[list[PodInfo], list[PodInfo]]:
    """Split pods into those whose eviction would break a budget, and the others, in their order."""
    allowed = [(budget.get("status") or {}).get("disruptionsAllowed") or 0 for budget in budgets]
    violating: list[PodInfo] = []
    others: list[PodInfo] = []
    for info in pods:
        violated = False
        for index, budget in enumerate(budgets):
            if not _budget_covers(budget, info.pod):
                continue
            allowed[index] -= 1
            violated = violated or allowed[index] < 0
        (violating if violated else others).append(info)
    return violating, others


def _budget_covers(budget: Plain, pod: Plain) -> bool:
    """Whether evicting a pod now would be charged to a budget."""
    labels = objects.labels_of(pod)
    if not labels or objects.namespace_of(budget) != objects.namespace_of(pod):
        return False
    try:
        selector = selectors.label_selector_as_selector((budget.get("spec") or {}).get("selector"))
    except selectors.ParseError:
        return False
    if selector.empty() or not selector.matches(labels):
        return False
    # A pod listed there was counted when its eviction was granted.
    return objects.name_of(pod) not in ((budget.get("status") or {}).get("disruptedPods") or {})


def select_candidate(candidates: list[Candidate]) -> str:
    """`pickOneNodeForPreemption`: criteria one after another, each keeping only the best."""
    criteria: list[Callable[[Candidate], Any]] = [
        lambda candidate: candidate.num_pdb_violations,
        lambda candidate: objects.pod_priority(candidate.victims[0].pod),
        lambda candidate: sum(objects.pod_priority(info.pod) + _MAX_INT32 + 1 for info in candidate.victims),
        lambda candidate: len(candidate.victims),
    ]
    left = sorted(candidates, key=lambda candidate: candidate.name)
    for criterion in criteria:
        best = min(map(criterion, left))
        left = [candidate for candidate in left if criterion(candidate) == best]
    latest = max(map(get_earliest_pod_start_time, left))
    return next(candidate.name for candidate in left if get_earliest_pod_start_time(candidate) == latest)


def get_earliest_pod_start_time(candidate: Candidate) -> datetime:
    """When the first of the victims with the highest priority started."""
    highest = objects.pod_priority(candidate.victims[0].pod)
    return min(get_pod_start_time(info.pod) for info in candidate.victims if objects.pod_priority(info.pod) == highest)
