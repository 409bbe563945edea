"""A report of each spread constraint: domains, counts, the counted pods, and the inequality with its numbers."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple, Optional

import numpy as np

from kubectl_spread.cluster.columns import unique
from kubectl_spread.cluster.ownership import owner_of
from kubectl_spread.containers import grouped
from kubectl_spread.explain.constraint_notes import (
    first_reasons,
    missing_labels,
    NodeReasons,
    Note,
    notes,
    Origin,
    origin_of,
    reasons_for_not_counting,
    reasons_for_not_running,
)
from kubectl_spread.explain.requirements.node import Indices
from kubectl_spread.explain.requirements.requirement import Requirement
from kubectl_spread.objects.constraints.constraint import (
    ConstraintCounts,
    DO_NOT_SCHEDULE,
    HONOR,
    IGNORE,
    SCHEDULE_ANYWAY,
    TopologySpreadConstraint,
)
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import NodeReason, NodeReasonKind
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.selectors import Selector
from kubectl_spread.objects.workloads.workload import REVISION_LABELS
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.framework.plugin import Profile
from kubectl_spread.scheduler.plugins.podtopologyspread.common import filter_topology_spread_constraints
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import (
    DomainCounts,
    hard_counts,
    passes_all_but_spread,
    soft_counts,
)
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread

_NAMED_NODES = 3
_NO_NODE_FITS = (NodeReason(NodeReasonKind.NO_NODE_FITS),)
_NOT_SCORED = (NodeReason(NodeReasonKind.REFUSED_BY_HARD_CONSTRAINT),)
MOST_NAMES = 5


class CountedPods(NamedTuple):
    """Pods of one workload that a domain counts.

    owner: None for pods without a controller. is_own: whether the explained pod has the same owner. names: of some of
    the pods. revisions: the number of pods for each value of the revision label.
    """

    owner: Optional[ObjectKey]
    is_own: bool
    number: int
    names: tuple[str, ...]
    revisions: tuple[tuple[str, int], ...]


class TerminatingPod(NamedTuple):
    """A matching pod that does not count because it was deleted, with the time and the reason it still exists."""

    name: str
    node: str
    since: str
    finalizers: tuple[str, ...]


class IgnoredPods(NamedTuple):
    """Matching pods that do not count, because their nodes are not counted; names of some of both."""

    why: Optional[NodeReason]
    number: int
    names: tuple[str, ...]
    node_names: tuple[str, ...]
    nodes: int


class DomainReport(NamedTuple):
    """One domain of a constraint.

    nodes: the number of nodes with this value.
    counted: the number of these nodes that the constraint counts.
    usable: the number of these nodes that meet all other requirements of the pod.
    skew_if_placed: None if the domain is not eligible.
    node_names, pods, terminating: some nodes, the pods in `matching`, and terminating pods; only in a detailed report.
    """

    value: str
    nodes: int
    counted: int
    usable: int
    matching: int
    eligible: bool
    why_not: tuple[NodeReason, ...]
    skew_if_placed: Optional[int]
    fits: bool
    unusable_because: tuple[NodeReason, ...]
    node_names: tuple[str, ...] = ()
    pods: tuple[CountedPods, ...] = ()
    terminating: tuple[TerminatingPod, ...] = ()


class Holder(NamedTuple):
    """Domains that hold the global minimum, and the reason why they cannot take the pod; empty if they can.

    node_names: of some of their nodes.
    """

    why: tuple[NodeReason, ...]
    domains: tuple[str, ...]
    node_names: tuple[str, ...]
    nodes: int


class ConstraintReport(NamedTuple):
    """The arithmetic of one constraint; `domains` are sorted by value, `counts` are of eligible domains.

    A ScheduleAnyway constraint has numbers but refuses no node. `is_default`: the pod has no constraints, and this
    one is from the scheduler's configuration. `revision` is the revision of the pod in its workload. Fields after
    `domains` are set only in a detailed report.
    """

    constraint: TopologySpreadConstraint
    is_default: bool
    selector: Selector
    self_match: bool
    min_domains: int
    counts: ConstraintCounts
    without_key: tuple[str, ...]
    ignored_pods: int  # matching pods on nodes that the constraint does not count
    domains: tuple[DomainReport, ...]
    held_by: tuple[Holder, ...] = ()
    origin: Origin = Origin()
    ignored: tuple[IgnoredPods, ...] = ()
    other_namespaces: tuple[tuple[str, int], ...] = ()
    revision: str = ""
    namespace: str = ""
    notes: tuple[Note, ...] = ()

    @property
    def excess(self) -> int:
        """Return by how much the skew exceeds maxSkew; not positive if the constraint holds."""
        return (self.counts.skew or 0) - self.constraint.max_skew

    @property
    def eligible_domains(self) -> int:
        return len(self.counts.domains)


# The domains of a constraint, and the counts of the eligible ones.
_Domains = tuple[tuple[DomainReport, ...], ConstraintCounts]
# Domains of one cluster by their numbers: workloads with equal numbers share one tuple.
SharedDomains = dict[Hashable, _Domains]


def constraint_reports(
    cls: PodClass,
    filtered: FilterResult,
    *,
    is_detailed: bool = False,
    refusing: Sequence[Requirement] = (),
    profile: Optional[Profile] = None,
    shared: Optional[SharedDomains] = None,
) -> tuple[ConstraintReport, ...]:
    """Return hard constraints as the plugin counted them, and soft constraints, counted the same way.

    Args:
        cls: of the pod.
        filtered: the plugins' results for the pod.
        is_detailed: include the counted pods; this takes time in proportion to the running pods.
        refusing: the pod's requirements, which are named if they keep it out of a domain.
        profile: its soft default constraints are included if a node fits; none without a profile.
        shared: a cache of reports of equal domains, used unless they are detailed.
    """
    if filtered.rejection is not None:
        return ()
    columns = filtered.columns
    scoring = profile.score if profile is not None and filtered.feasible.any() else ()
    plugin = next((item.plugin for item in scoring if isinstance(item.plugin, PodTopologySpread)), None)
    is_built_in = plugin is not None and plugin.configured_defaults is None
    constraints = (
        filter_topology_spread_constraints(cls, hard=False, release=filtered.release)
        if plugin is None
        else plugin.constraints(cls, columns, hard=False)
    )
    soft = tuple(
        soft_counts(
            constraints, cls, columns, filtered.feasible, require_all=plugin is None or plugin.requires_all_keys(cls)
        )
    )
    of_actions = [(hard_counts(filtered), True), (soft, False)]
    if not any(counts for counts, _ in of_actions):
        return ()
    reports = _Reports(cls, filtered, refusing, shared=None if is_detailed else shared)
    found = []
    for action, is_hard in of_actions:
        missing = missing_labels((counts.constraint.topology_key for counts in action), columns)
        for counts in action:
            why_not = first_reasons(reasons_for_not_counting(counts.constraint, cls, missing, columns), columns)
            report = reports.of(counts, why_not, is_hard=is_hard)
            if is_detailed:
                report = reports.detailed(report, counts, why_not, is_hard=is_hard, is_built_in=is_built_in)
            found.append(report)
    return tuple(sorted(found, key=lambda report: report.constraint.position))


class _Reports:
    """Reports of the constraints of one pod, and what they share.

    usable: bool (N,), nodes that meet all requirements but the spread constraints. unusable: why the others do not.
    """

    def __init__(
        self,
        cls: PodClass,
        filtered: FilterResult,
        refusing: Sequence[Requirement],
        shared: Optional[SharedDomains],
    ) -> None:
        self._cls, self._filtered, self._columns, self._shared = cls, filtered, filtered.columns, shared
        self._usable = passes_all_but_spread(filtered)
        reasons = reasons_for_not_running(filtered, cls, refusing=refusing)
        self._unusable = first_reasons(reasons, filtered.columns)

    def of(self, counts: DomainCounts, why_not: NodeReasons, *, is_hard: bool) -> ConstraintReport:
        """Return the report of a constraint, without details; the domains of equal numbers are looked up."""
        constraint, columns = counts.constraint, self._columns
        if self._shared is None:
            domains, now = self._domains(counts, why_not)
        else:
            numbers = (
                *(constraint.topology_key, constraint.max_skew, constraint.self_match_num, counts.min_match_num),
                *(counts.included.tobytes(), counts.eligible.tobytes(), counts.match_num.tobytes()),
                *(self._usable.tobytes(), why_not.identity, self._unusable.identity),
            )
            if numbers not in self._shared:
                self._shared[numbers] = self._domains(counts, why_not)
            domains, now = self._shared[numbers]
        # The pod's constraint, or the scheduler's default in the same form, with the effective policies
        if self._cls.constraints:
            written = self._cls.constraints[constraint.position]
        else:
            written = TopologySpreadConstraint(
                position=constraint.position,
                max_skew=constraint.max_skew,
                topology_key=constraint.topology_key,
                when_unsatisfiable=DO_NOT_SCHEDULE if is_hard else SCHEDULE_ANYWAY,
                min_domains=constraint.min_domains,
            )
        return ConstraintReport(
            constraint=written._replace(
                node_affinity_policy=HONOR if constraint.honors_affinity else IGNORE,
                node_taints_policy=HONOR if constraint.honors_taints else IGNORE,
            ),
            is_default=not self._cls.constraints,
            selector=constraint.selector,
            self_match=bool(constraint.self_match_num),
            min_domains=constraint.min_domains,
            counts=now,
            without_key=tuple(columns.nodes[at].name for at in np.flatnonzero(counts.topology.codes < 0)),
            ignored_pods=int(counts.on_nodes[~counts.included].sum()),
            domains=domains,
        )

    def _domains(self, counts: DomainCounts, why_not: NodeReasons) -> _Domains:
        topology, usable = counts.topology, self._usable
        size = len(topology.values)
        with_key = topology.codes >= 0
        in_domain = np.bincount(topology.codes[with_key], minlength=size).tolist()
        counted = np.bincount(topology.codes[counts.included], minlength=size).tolist()
        usable_in = np.bincount(topology.codes[with_key & usable], minlength=size).tolist()
        skew, matching, eligible = counts.skew().tolist(), counts.match_num.tolist(), counts.eligible.tolist()
        not_counted = why_not.by_domain(np.where(counts.included, np.int32(-1), topology.codes))
        not_usable = self._unusable.by_domain(np.where(usable, np.int32(-1), topology.codes))
        domains = map(  # perf: as many as there are nodes, for every workload
            DomainReport,
            topology.values,
            in_domain,
            counted,
            usable_in,
            matching,
            eligible,
            [
                () if eligible[at] else not_counted.get(at, _NOT_SCORED if usable_in[at] else _NO_NODE_FITS)
                for at in range(size)
            ],
            [one if is_eligible else None for one, is_eligible in zip(skew, eligible, strict=True)],
            [one <= counts.constraint.max_skew for one in skew],
            [() if usable_in[at] else not_usable.get(at, ()) for at in range(size)],
        )
        return tuple(sorted(domains, key=operator.attrgetter("value"))), counts.now()  # no two have the same value

    # Details.

    def detailed(
        self, report: ConstraintReport, counts: DomainCounts, why_not: NodeReasons, *, is_hard: bool, is_built_in: bool
    ) -> ConstraintReport:
        """Return a report with the bound pods that the selector matches; the empty selector matches none."""
        cls, columns, selector = self._cls, self._columns, counts.constraint.selector
        topology, groups = counts.topology, columns.groups
        names_of: dict[str, list[str]] = {value: [] for value in topology.values}
        for node, code in zip(columns.nodes, topology.codes.tolist(), strict=True):
            if code >= 0 and len(names_of[topology.values[code]]) < _NAMED_NODES:
                names_of[topology.values[code]].append(node.name)
        counted: dict[str, tuple[CountedPods, ...]] = {}
        terminating: dict[str, list[TerminatingPod]] = {}
        if not selector.is_empty and groups:
            matches = np.array([selector.matches(dict(group.labels)) for group in groups], np.bool_)
            here = np.array([group.namespace == cls.namespace for group in groups], np.bool_)
            ending = np.array([group.terminating for group in groups], np.bool_)
            pods: Indices = np.flatnonzero(matches[columns.bound_groups])
            of, on = columns.bound_groups[pods], columns.bound_nodes[pods]
            is_counted, is_here, is_ending = counts.included[on], here[of], ending[of]
            counted = self._counted(pods[is_here & ~is_ending & is_counted], counts)
            for at in pods[is_here & is_ending & is_counted].tolist():
                pod, on_node = columns.bound_pods[at], int(columns.bound_nodes[at])
                ended = TerminatingPod(pod.name, columns.nodes[on_node].name, pod.deleted, pod.finalizers)
                terminating.setdefault(topology.values[topology.codes[on_node]], []).append(ended)
            numbers = Counter(groups[at].namespace for at in of[~is_here & ~is_ending].tolist())
            report = report._replace(
                ignored=self._ignored(pods[is_here & ~is_ending & ~is_counted], why_not),
                other_namespaces=tuple(sorted(numbers.items(), key=lambda item: (-item[1], item[0]))),
            )
        report = report._replace(
            domains=tuple(
                domain._replace(
                    node_names=tuple(names_of[domain.value]),
                    pods=counted.get(domain.value, ()),
                    terminating=tuple(terminating.get(domain.value, ())),
                )
                for domain in report.domains
            )
        )
        return report._replace(
            held_by=_holders(report),
            origin=origin_of(report.constraint, cls, columns, is_built_in=is_built_in),
            revision=revision_of(cls),
            namespace=cls.namespace,
            notes=tuple(notes(counts, cls, self._filtered, usable=self._usable, why_not=why_not, is_hard=is_hard)),
        )

    def _counted(self, pods: Indices, counts: DomainCounts) -> dict[str, tuple[CountedPods, ...]]:
        """Return the pods of each domain by workload: the pod's own first, then the one with the most pods."""
        columns, cluster = self._columns, self._columns.cluster
        own, classes = owner_of(self._cls, cluster), columns.bound_classes[pods]
        of_class = {
            at: (owner_of(columns.classes[at], cluster), revision_of(columns.classes[at]))
            for at in unique(classes).tolist()
        }
        # The pods of one class together, in the order they were bound; each with its revision.
        order = np.argsort(classes, kind="stable")
        domains = counts.topology.codes[columns.bound_nodes[pods]]
        rows = zip(*(part[order].tolist() for part in (pods, classes, domains)), strict=True)
        by_domain = grouped((counts.topology.values[code], (at, *of_class[class_at])) for at, class_at, code in rows)
        found: dict[str, tuple[CountedPods, ...]] = {}
        for domain, of_domain in by_domain.items():
            groups = []
            for owner, of_owner in grouped((owner, (at, revision)) for at, owner, revision in of_domain).items():
                names = tuple(columns.bound_pods[at].name for at, _ in of_owner[:MOST_NAMES])
                revisions = Counter(revision for _, revision in of_owner if revision)
                groups.append(CountedPods(owner, owner == own, len(of_owner), names, tuple(sorted(revisions.items()))))
            groups.sort(key=lambda item: (not item.is_own, -item.number, item.owner or ("", "", "")))
            found[domain] = tuple(groups)
        return found

    def _ignored(self, pods: Indices, why_not: NodeReasons) -> tuple[IgnoredPods, ...]:
        """Return pods on nodes that are not counted, by reason."""
        columns = self._columns
        on = columns.bound_nodes[pods]
        codes = why_not.codes[on]
        found = []
        for code in unique(codes).tolist():
            of_reason = codes == code
            nodes = unique(on[of_reason])
            found.append(
                IgnoredPods(
                    why_not.reasons[code] if code >= 0 else None,
                    int(of_reason.sum()),
                    tuple(columns.bound_pods[at].name for at in pods[of_reason][:MOST_NAMES].tolist()),
                    tuple(columns.nodes[at].name for at in nodes[:MOST_NAMES].tolist()),
                    len(nodes),
                )
            )
        return tuple(sorted(found, key=lambda item: -item.number))


def _holders(report: ConstraintReport) -> tuple[Holder, ...]:
    """Return the domains at the minimum by the reason that excludes the pod, unusable ones first."""
    lowest = frozenset(report.counts.smallest_in)
    groups = grouped(
        (() if domain.usable else domain.unusable_because, domain)
        for domain in report.domains
        if domain.eligible and domain.value in lowest
    )
    return tuple(
        Holder(
            why,
            tuple(domain.value for domain in domains),
            tuple(name for domain in domains[:_NAMED_NODES] for name in domain.node_names)[:_NAMED_NODES],
            sum(domain.nodes for domain in domains),
        )
        for why, domains in sorted(groups.items(), key=lambda item: (not item[0], -len(item[1])))
    )


def revision_of(cls: PodClass) -> str:
    """Return the revision of a pod's workload; empty if no label has it."""
    labels = dict(cls.labels)
    return next((labels[key] for key in REVISION_LABELS if key in labels), "")
