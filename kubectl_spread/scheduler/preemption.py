"""DefaultPreemption, dry run: the victims of a pod that fits nowhere, and the message that PostFilter adds.

Source: pkg/scheduler/framework/preemption/preemption.go; plugins/defaultpreemption/default_preemption.go;
plugins/dynamicresources/dynamicresources.go, PostFilter (v1.36.2).
Differences: every candidate node is tried; upstream stops early in clusters with more than 100 candidates. Among
equal nodes the first by name is taken; upstream takes any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Optional, Union

from kubectl_spread.cluster.snapshot import DisruptionBudget
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.releases.behaviours import (
    EMPTY_BUDGET_PROTECTS,
    ONLY_PREEMPTED_VICTIMS,
    PREEMPTION_IN_MESSAGE,
    PREEMPTION_SUCCESS_IN_MESSAGE,
    PREEMPTION_TRIES_LEFT_OUT,
    PREEMPTION_TRIES_REFUSED,
    VICTIMS_SORTED,
)
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.filter_result import Diagnosis, FilterResult
from kubectl_spread.scheduler.framework.plugin import Code, CycleFailure, FixedState, Status
from kubectl_spread.scheduler.plugins import names

NO_CLAIMS = "no new claims to deallocate"
NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"

# DynamicResources lacks its PreFilter state if an earlier plugin's PreFilter rejected the pod.
_STATE_NOT_FOUND = "not found"
_UNRESOLVABLE = Code.UNSCHEDULABLE_AND_UNRESOLVABLE


class Candidate(NamedTuple):
    """A node that would take the pod without some pods: `victims`, the most important first.

    `violating`: the names of those whose eviction would break a disruption budget.
    """

    node: str
    victims: tuple[Pod, ...]
    violating: tuple[str, ...] = ()
    first_decides: bool = False  # the first victim counts as the one with the highest priority

    @property
    def violations(self) -> int:
        return len(self.violating)

    @property
    def highest(self) -> int:
        """Return the highest priority among the victims, as the release finds it."""
        if self.first_decides and self.victims:
            return self.victims[0].cls.priority
        return max((victim.cls.priority for victim in self.victims), default=-(2**31))

    @property
    def priorities(self) -> int:
        """Return the sum of the victims' priorities, each counted from the lowest possible one."""
        return sum(victim.cls.priority + 2**31 for victim in self.victims)

    @property
    def earliest(self) -> str:
        """Return the earliest start of the victims with the highest priority; a pod without a start counts as now."""
        highest = max((victim.cls.priority for victim in self.victims), default=0)
        starts = (victim.start_time or NOW for victim in self.victims if victim.cls.priority == highest)
        return min(starts, default=NOW)


class DryRun(NamedTuple):
    """The outcome of DefaultPreemption.

    not_eligible: why the pod may evict none.
    candidates: nodes that would fit the pod after evictions, in the cluster's order, and the chosen node.
    refused: the reasons of the other nodes that were tried, by name. An eviction cannot help on the remaining nodes.
    """

    not_eligible: str = ""
    candidates: tuple[Candidate, ...] = ()
    chosen: Optional[Candidate] = None
    refused: dict[str, Status] = {}  # noqa: RUF012 (never written to)


class PostFilterResult(NamedTuple):
    """The result of preemption: a node and its victims, or the reason why there are none.

    `dry_run` is None if DefaultPreemption does not run.
    """

    message: str
    node: str = ""
    victims: tuple[Pod, ...] = ()
    dry_run: Optional[DryRun] = None


NOW = "~"  # later than any time that is written


def post_filter(
    pod: Pod, filtered: FilterResult, scheduler: Scheduler, *, sizes: Mapping[str, int] = {}
) -> PostFilterResult:
    """Run the PostFilter plugins for a pod that fits nowhere; `sizes` is for the message, as of `Diagnosis`."""
    prefixes: list[str] = []
    if not scheduler.columns.n or isinstance(filtered.rejection, CycleFailure):
        return PostFilterResult("")
    profile = scheduler.profile_of(pod.cls)
    found: Optional[DryRun] = None
    for plugin in profile.post_filter:
        if plugin == names.DYNAMIC_RESOURCES:
            if filtered.rejection is not None:
                return PostFilterResult(_STATE_NOT_FOUND)  # an error, which replaces the earlier message
            prefixes.append(NO_CLAIMS)
        elif plugin == names.DEFAULT_PREEMPTION:
            found = dry_run(pod, filtered, scheduler)
            if found.chosen is not None:
                # The result of the plugin that helps replaces the words of those before it.
                node, victims, *_ = found.chosen
                says = PREEMPTION_SUCCESS_IN_MESSAGE.of(profile.release)
                words = f"found a potential placement for pod on node {node}, preempting {len(victims)} victims"
                return PostFilterResult(f"preemption: {words}" if says else "", node, victims, found)
            message = found.not_eligible
            if not message:
                others = tuple(node.name for node in scheduler.columns.nodes if node.name not in found.refused)
                status = Status(_UNRESOLVABLE, names.DEFAULT_PREEMPTION, (NOT_HELPFUL,))
                tried = Diagnosis(scheduler.columns.n, (), found.refused, others, status, sizes=sizes)
                message = tried.message()
            prefixes.append(f"preemption: {message}")
    is_in_message = PREEMPTION_IN_MESSAGE.of(profile.release)
    return PostFilterResult(", ".join(prefixes) if is_in_message else "", dry_run=found)


def dry_run(pod: Pod, filtered: FilterResult, scheduler: Scheduler) -> DryRun:
    """Try every node that refuses the pod only because of its pods (Evaluator.Preempt)."""
    if pod.cls.preemption_policy == "Never":
        return DryRun("not eligible due to preemptionPolicy=Never.")
    diagnosis = filtered.diagnosis()
    if _waits_for_victims(pod, diagnosis, scheduler):
        return DryRun("not eligible due to a terminating pod on the nominated node.")
    refused: dict[str, Status] = {}
    candidates: list[Candidate] = []
    for name in _to_try(filtered, diagnosis):
        found = _select_victims(name, pod, filtered, scheduler)
        if isinstance(found, Candidate):
            candidates.append(found)
        else:
            refused[name] = found
    return DryRun("", tuple(candidates), min(candidates, key=preference, default=None), refused)


def _to_try(filtered: FilterResult, diagnosis: Diagnosis) -> Iterator[str]:
    """Yield the nodes that preemption might make feasible (nodesWherePreemptionMightHelp)."""
    if filtered.rejection is not None:
        # These releases did not pass on the statuses of a pod that PreFilter rejected.
        if PREEMPTION_TRIES_REFUSED.of(filtered.release):
            yield from diagnosis.statuses
        return
    for name, status in diagnosis.statuses.items():
        if status.code is Code.UNSCHEDULABLE:
            yield name
    if filtered.narrowed_by and PREEMPTION_TRIES_LEFT_OUT.of(filtered.release):
        yield from diagnosis.absent


def _waits_for_victims(pod: Pod, diagnosis: Diagnosis, scheduler: Scheduler) -> bool:
    """Return whether pods of lower priority still terminate on the nominated node.

    Source: default_preemption.go, PodEligibleToPreemptOthers.
    """
    at = scheduler.columns.index.get(pod.nominated_node)
    if at is None or diagnosis.status(pod.nominated_node).code is _UNRESOLVABLE:
        return False
    only_preempted = ONLY_PREEMPTED_VICTIMS.of(scheduler.profile_of(pod.cls).release)
    return any(
        other.terminating and (other.is_preempted or not only_preempted) and other.cls.priority < pod.cls.priority
        for other in scheduler.columns.pods[at]
    )


def _select_victims(node: str, pod: Pod, filtered: FilterResult, scheduler: Scheduler) -> Union[Candidate, Status]:
    """Remove every pod of lower priority, then let as many as possible stay; or why that does not help.

    Source: default_preemption.go, SelectVictimsOnNode.
    """
    columns = scheduler.columns
    at = columns.index[node]
    removable = [other for other in columns.pods[at] if other.cls.priority < pod.cls.priority]
    if not removable:
        return Status(_UNRESOLVABLE, names.DEFAULT_PREEMPTION, (NO_VICTIMS,))
    nominated = scheduler.nominated_pods(at, pod)
    status = filtered.filter_with(at, removable, nominated) if nominated else None
    status = status or filtered.filter_with(at, removable, ())
    if status is not None:
        return status
    budgets = columns.cluster.budgets
    if not EMPTY_BUDGET_PROTECTS.of(filtered.release):
        budgets = tuple(budget for budget in budgets if not budget.selector.is_empty)
    # Upstream takes the current time for a pod without a start time. Its sort visits the later pod of the list first,
    # so that pod gets the earlier time. This holds for up to 12 pods; the order of more is not known.
    listed = sorted(
        enumerate(removable), key=lambda item: (_importance(item[1]), item[0] if item[1].start_time else -item[0])
    )
    violating, others = _by_budget([other for _, other in listed], budgets)
    removed = {id(other): other for other in removable}
    broken: list[str] = []
    # perf: only the plugins whose result depends on pods are asked, for each pod on a few thousand nodes
    states = [result.state for result in filtered.plugin_results if not isinstance(result.state, FixedState)]
    additions = (nominated, ()) if nominated else ((),)
    for group, is_violating in ((violating, True), (others, False)):
        for other in group:
            del removed[id(other)]
            gone = tuple(removed.values())
            if any(state.filter_with(at, gone, added) for added in additions for state in states):
                removed[id(other)] = other
                if is_violating:
                    broken.append(other.key)
    if VICTIMS_SORTED.of(filtered.release):
        return Candidate(node, tuple(sorted(removed.values(), key=_importance)), tuple(broken))
    tried = (other for other in (*violating, *others) if id(other) in removed)
    return Candidate(node, tuple(tried), tuple(broken), first_decides=True)


def _importance(pod: Pod) -> tuple[int, str]:
    """Return the sort key: higher priority first, then the earlier start; no start time counts as now."""
    return (-pod.cls.priority, pod.start_time or NOW)


def _by_budget(pods: list[Pod], budgets: tuple[DisruptionBudget, ...]) -> tuple[list[Pod], list[Pod]]:
    """Return the pods whose eviction would break a disruption budget, and the others (filterPodsWithPDBViolation)."""
    allowed = [budget.disruptions_allowed for budget in budgets]
    violating: list[Pod] = []
    others: list[Pod] = []
    for pod in pods:
        breaks = False
        for at, budget in enumerate(budgets):
            labels = pod.labels
            if budget.namespace != pod.namespace or not labels:
                continue
            if not budget.selector.matches(labels) or pod.name in budget.disrupted_pods:
                continue
            allowed[at] -= 1
            breaks |= allowed[at] < 0
        (violating if breaks else others).append(pod)
    return violating, others


def preference(candidate: Candidate) -> tuple[int, int, int, int, tuple[int, ...]]:
    """Return the sort key of a candidate, the smallest is best (pickOneNodeForPreemption)."""
    return (
        candidate.violations,
        candidate.highest,
        candidate.priorities,
        len(candidate.victims),
        tuple(-ord(char) for char in candidate.earliest),
    )
