"""Preemption's victims and the choice of their node, or the reason why preemption does not help.

Source: pkg/scheduler/framework/preemption/preemption.go, pickOneNodeForPreemption (v1.36.2).
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Optional

import numpy as np

from kubectl_spread.cluster.ownership import owner_of
from kubectl_spread.containers import grouped
from kubectl_spread.explain.requirements.collect import constraint_name
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.framework.plugin import Code
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import (
    DomainCounts,
    hard_counts,
    passes_all_but_spread,
)
from kubectl_spread.scheduler.preemption import Candidate, dry_run, DryRun, NO_VICTIMS, preference

_MOST_CANDIDATES = 10
_MOST_NODES = 20  # nodes to examine for an obstructing pod on another node
_MOST_PODS = 50  # other_node, for each of them


class Victim(NamedTuple):
    """A pod that would be evicted.

    owner: its workload. is_sibling: the incoming pod has the same workload. counted_by: the names of the incoming
    pod's hard constraints that select it. breaks_budget: the eviction would break a disruption budget.
    """

    pod: Pod
    owner: Optional[ObjectKey]
    is_sibling: bool
    counted_by: tuple[str, ...]
    breaks_budget: bool


class Criterion(Enum):
    """Criteria by which one node is better than another, in the order of comparison."""

    VIOLATIONS = "fewer violated disruption budgets"
    HIGHEST = "lower highest priority of a victim"
    PRIORITIES = "lower sum of the victims' priorities"
    VICTIMS = "fewer victims"
    START = "victims that started later"
    NAME = "nothing: the nodes are equal, and the scheduler may take either"


class NoPreemptionReason(Enum):
    """Why evicting pods on a node does not help."""

    NO_EVICTION_CHANGES_IT = "noEvictionChangesIt"
    NO_LOWER_PRIORITY = "noLowerPriority"
    REFUSED_EVEN_SO = "refusedEvenSo"


class Unhelpful(NamedTuple):
    """Nodes on which evicting pods does not help, for one reason: the plugin's refusal after the evictions."""

    why: NoPreemptionReason
    plugin: str
    reasons: tuple[str, ...]
    nodes: tuple[str, ...]


class OtherNodeEviction(NamedTuple):
    """A pod on another node of the domain, without which a node would take the pod; the scheduler does not try that."""

    node: str
    pod: Pod
    counted_by: str  # the name of the constraint


class PreemptionReport(NamedTuple):
    """The outcome of preemption.

    not_eligible: why the pod may not evict pods, in the scheduler's words; then `node` and `victims` are those without
    its preemptionPolicy.
    node, victims: the chosen node and the evicted pods; empty if preemption does not help.
    choices: the best nodes to choose among, the best first, at most ten of `candidates`.
    criterion: the criterion by which the first is better than the second.
    equals: the other nodes that are as good as the first in every criterion.
    """

    not_eligible: str = ""
    node: str = ""
    victims: tuple[Victim, ...] = ()
    choices: tuple[Candidate, ...] = ()
    candidates: int = 0
    criterion: Optional[Criterion] = None
    equals: tuple[str, ...] = ()
    unhelpful: tuple[Unhelpful, ...] = ()
    other_node: Optional[OtherNodeEviction] = None


def preemption_report(pod: Pod, filtered: FilterResult, scheduler: Scheduler, found: DryRun) -> PreemptionReport:
    """Explain a dry run of preemption; no pod may have been bound since."""
    if found.not_eligible:
        free = dry_run(pod._replace(cls=pod.cls._replace(preemption_policy="")), filtered, scheduler)
        found = free._replace(not_eligible=found.not_eligible)
    ordered = sorted(found.candidates, key=preference)
    chosen, cluster = found.chosen, scheduler.columns.cluster
    own, victims, criterion = owner_of(pod.cls, cluster), [], None
    if len(ordered) > 1:
        # The first criterion in which the two best differ
        best, second = ordered[:2]
        criteria = zip(Criterion, preference(best), preference(second), strict=False)
        criterion = next((criterion for criterion, one, other in criteria if one != other), Criterion.NAME)
        if criterion is Criterion.PRIORITIES and len(best.victims) != len(second.victims):
            # Each priority is counted from the lowest possible one, so the number of victims dominates the sum.
            criterion = Criterion.VICTIMS
    if chosen is not None:
        for victim in chosen.victims:
            owner = owner_of(victim.cls, cluster)
            counted_by = tuple(_name(pod, item) for item in hard_counts(filtered) if _is_counted(victim, item, pod))
            is_sibling = owner is not None and owner == own
            victims.append(Victim(victim, owner, is_sibling, counted_by, victim.key in chosen.violating))
    return PreemptionReport(
        found.not_eligible,
        node="" if chosen is None else chosen.node,
        victims=tuple(victims),
        choices=tuple(ordered[:_MOST_CANDIDATES]),
        candidates=len(ordered),
        criterion=criterion,
        equals=tuple(other.node for other in ordered[1:] if preference(other) == preference(ordered[0])),
        unhelpful=tuple(_unhelpful(filtered, found)),
        other_node=_eviction_on_other_node(pod, filtered),
    )


def _name(pod: Pod, counts: DomainCounts) -> str:
    return constraint_name(counts.constraint.position, is_default=not pod.cls.constraints)


def _is_counted(other: Pod, counts: DomainCounts, pod: Pod) -> bool:
    """Return whether a constraint of a pod counts another pod."""
    selector = counts.constraint.selector
    if other.namespace != pod.namespace or other.terminating or selector.is_empty:
        return False
    return selector.matches(other.labels)


def _unhelpful(filtered: FilterResult, found: DryRun) -> list[Unhelpful]:
    """Return nodes by reason, the most frequent reason first."""
    diagnosis = filtered.diagnosis()

    def reason(name: str) -> tuple[NoPreemptionReason, str, tuple[str, ...]]:
        tried = found.refused.get(name)
        if tried is None:
            status = diagnosis.status(name)
            return NoPreemptionReason.NO_EVICTION_CHANGES_IT, status.plugin, status.reasons
        if tried.reasons == (NO_VICTIMS,) and tried.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return NoPreemptionReason.NO_LOWER_PRIORITY, "", ()
        return NoPreemptionReason.REFUSED_EVEN_SO, tried.plugin, tried.reasons

    helpful = {candidate.node for candidate in found.candidates}
    names = (node.name for node in filtered.columns.nodes if node.name not in helpful)
    ordered = sorted(grouped((reason(name), name) for name in names).items(), key=lambda item: -len(item[1]))
    return [Unhelpful(*key, tuple(nodes)) for key, nodes in ordered]


def _eviction_on_other_node(pod: Pod, filtered: FilterResult) -> Optional[OtherNodeEviction]:
    """Find a pod of lower priority on one node whose eviction would make room on another node of its domain.

    Search nodes that only a spread constraint refuses, the lowest priority first. Return None if the pod has required
    affinity to pods, because the evicted pod might be the one that it needs.
    """
    if pod.cls.pod_affinity:
        return None
    counts = hard_counts(filtered)
    refused = passes_all_but_spread(filtered) & ~filtered.feasible
    for node in np.flatnonzero(refused)[:_MOST_NODES].tolist():
        if node in filtered.nominated:
            continue
        violated = [item for item in counts if item.violates()[node]]
        if not violated:
            continue  # it lacks a label
        # Pods of lower priority that the constraint counts on other nodes of the domain
        first, lesser = violated[0], list[tuple[Pod, int]]()
        codes = first.topology.codes
        for at in np.flatnonzero((codes == codes[node]) & first.included & (first.on_nodes > 0)).tolist():
            if at != node and len(lesser) < _MOST_PODS:
                pods = (other for other in filtered.columns.pods[at] if other.cls.priority < pod.cls.priority)
                lesser += [(other, at) for other in pods if _is_counted(other, first, pod)]
        for other, at in sorted(lesser, key=lambda item: item[0].cls.priority):
            for item in counts:  # Does the node meet each constraint after the other pod has left its own node?
                code, matching = item.topology.codes[node], item.match_num.copy()
                if code < 0 or not item.domains_num:
                    break
                if item.included[at] and _is_counted(other, item, pod):
                    matching[item.topology.codes[at]] -= 1
                skew = matching[code] + item.constraint.self_match_num - item.now(matching).minimum
                if skew > item.constraint.max_skew:
                    break
            else:
                return OtherNodeEviction(filtered.columns.nodes[node].name, other, _name(pod, first))
    return None
