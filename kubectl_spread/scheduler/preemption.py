"""DefaultPreemption, dry run: whom a pod that fits nowhere would evict, and what PostFilter adds to its message.

Source: pkg/scheduler/framework/preemption/preemption.go; plugins/defaultpreemption/default_preemption.go;
plugins/dynamicresources/dynamicresources.go, PostFilter (v1.36.2).
Difference: every candidate node is tried, where upstream stops early in clusters with more than 100 candidates; and
of nodes that are equal in everything the first by name is taken, where upstream takes any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from typing import Optional
from typing import Union

from kubectl_spread.cluster.snapshot import Budget
from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.cycle import Filtered
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.diagnosis import Diagnosis
from kubectl_spread.scheduler.framework.status import Code
from kubectl_spread.scheduler.framework.status import Status
from kubectl_spread.scheduler.plugins import names

NO_CLAIMS = "no new claims to deallocate"
NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"

# DynamicResources finds its own PreFilter state missing where an earlier plugin's PreFilter rejected the pod.
_STATE_NOT_FOUND = "not found"
_UNRESOLVABLE = Code.UNSCHEDULABLE_AND_UNRESOLVABLE


class PostFilterResult(NamedTuple):
    """What came of preemption: a node and its victims, or the words that explain why not."""

    message: str
    node: str = ""
    victims: tuple[Pod, ...] = ()


class _Candidate(NamedTuple):
    node: str
    victims: tuple[Pod, ...]  # the most important first
    violations: int  # of disruption budgets


def post_filter(pod: Pod, filtered: Filtered, scheduler: Scheduler) -> PostFilterResult:
    """Run the PostFilter plugins for a pod that fits nowhere."""
    prefixes: list[str] = []
    if not scheduler.columns.n:
        return PostFilterResult("")
    profile = scheduler.profile_of(pod.cls)
    for plugin in profile.post_filter:
        if plugin == names.DYNAMIC_RESOURCES:
            if filtered.rejection is not None:
                return PostFilterResult(_STATE_NOT_FOUND)  # an error, which silences what was said before
            prefixes.append(NO_CLAIMS)
        elif plugin == names.DEFAULT_PREEMPTION:
            found = _preempt(pod, filtered, scheduler)
            if isinstance(found, _Candidate):
                return PostFilterResult("", found.node, found.victims)
            prefixes.append(f"preemption: {found}")
    return PostFilterResult(", ".join(prefixes) if profile.preemption_is_told else "")


def _preempt(pod: Pod, filtered: Filtered, scheduler: Scheduler) -> Union[_Candidate, str]:
    """The best candidate, or the message (Evaluator.Preempt)."""
    if pod.cls.preemption_policy == "Never":
        return "not eligible due to preemptionPolicy=Never."
    diagnosis = filtered.diagnosis()
    if _waits_for_victims(pod, diagnosis, scheduler):
        return "not eligible due to a terminating pod on the nominated node."
    helpful = [name for name, status in diagnosis.statuses.items() if status.code is Code.UNSCHEDULABLE]
    tried: dict[str, Status] = {}
    candidates: list[_Candidate] = []
    for name in helpful:
        found = _select_victims(pod, name, filtered, scheduler)
        if isinstance(found, _Candidate):
            candidates.append(found)
        else:
            tried[name] = found
    if candidates:
        return min(candidates, key=_preference)
    others = tuple(node.name for node in scheduler.columns.nodes if node.name not in tried)
    status = Status(_UNRESOLVABLE, names.DEFAULT_PREEMPTION, (NOT_HELPFUL,))
    return Diagnosis(diagnosis.node_count, (), tried, others, status).message()


def _waits_for_victims(pod: Pod, diagnosis: Diagnosis, scheduler: Scheduler) -> bool:
    """Source: default_preemption.go, PodEligibleToPreemptOthers."""
    at = scheduler.columns.index.get(pod.nominated_node)
    if at is None or diagnosis.status(pod.nominated_node).code is _UNRESOLVABLE:
        return False
    return any(
        other.terminating and other.is_preempted and other.cls.priority < pod.cls.priority
        for other in scheduler.columns.pods[at]
    )


def _select_victims(pod: Pod, node: str, filtered: Filtered, scheduler: Scheduler) -> Union[_Candidate, Status]:
    """Remove every pod of lower priority, then let as many as possible stay (SelectVictimsOnNode)."""
    at = scheduler.columns.index[node]
    removable = [other for other in scheduler.columns.pods[at] if other.cls.priority < pod.cls.priority]
    if not removable:
        return Status(_UNRESOLVABLE, names.DEFAULT_PREEMPTION, (NO_VICTIMS,))
    nominated = scheduler.nominated_to(at, pod)

    def refusal(removed: Sequence[Pod]) -> Optional[Status]:
        if nominated:
            status = filtered.what_if(at, removed, nominated)
            if status is not None:
                return status
        return filtered.what_if(at, removed, ())

    status = refusal(removable)
    if status is not None:
        return status
    violating, others = _by_budget(_by_importance(removable), scheduler.columns.cluster.budgets)
    removed = {id(other): other for other in removable}
    violations = 0
    for group, is_violating in ((violating, True), (others, False)):
        for other in group:
            del removed[id(other)]
            if refusal(tuple(removed.values())) is not None:
                removed[id(other)] = other
                violations += is_violating
    victims = sorted(removed.values(), key=_importance)
    return _Candidate(node, tuple(victims), violations)


def _by_importance(pods: list[Pod]) -> list[Pod]:
    """The more important first; of equal ones the first listed, but of those without a start the last listed.

    For upstream such a pod starts when it is looked at, and of two it looks at the later one of the list first, which
    so comes before the other. (That is how it sorts up to 12 pods; the order of more is not known.)
    """
    listed = enumerate(pods)
    ordered = sorted(listed, key=lambda item: (_importance(item[1]), item[0] if item[1].start_time else -item[0]))
    return [pod for _, pod in ordered]


def _importance(pod: Pod) -> tuple[int, str]:
    """The more important first: higher priority, then started earlier; a pod without a start counts as now."""
    return (-pod.cls.priority, pod.start_time or "~")


def _by_budget(pods: list[Pod], budgets: tuple[Budget, ...]) -> tuple[list[Pod], list[Pod]]:
    """Pods whose eviction would break a disruption budget, and the others (filterPodsWithPDBViolation)."""
    allowed = [budget.disruptions_allowed for budget in budgets]
    violating: list[Pod] = []
    others: list[Pod] = []
    for pod in pods:
        breaks = False
        for at, budget in enumerate(budgets):
            labels = dict(pod.cls.labels)
            if budget.namespace != pod.namespace or not labels or budget.selector.is_empty:
                continue
            if not budget.selector.matches(labels) or pod.name in budget.disrupted_pods:
                continue
            allowed[at] -= 1
            breaks |= allowed[at] < 0
        (violating if breaks else others).append(pod)
    return violating, others


def _preference(candidate: _Candidate) -> tuple[int, int, int, int, tuple[int, ...]]:
    """The smaller the better (pickOneNodeForPreemption); the latest of the earliest starts last."""
    priorities = [victim.cls.priority for victim in candidate.victims]
    highest = max(priorities, default=-(2**31))
    starts = [victim.start_time or "~" for victim in candidate.victims if victim.cls.priority == highest]
    earliest = min(starts, default="~")
    return (
        candidate.violations,
        highest,
        sum(priority + 2**31 for priority in priorities),
        len(priorities),
        tuple(-ord(char) for char in earliest),
    )
