"""A report of each spread constraint: domains, counts, the counted pods, and the inequality with its numbers."""

from __future__ import annotations

import itertools
import operator
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple, Optional

import numpy as np

from kubectl_spread.cluster.ownership import owner_of
from kubectl_spread.cluster.tables.columns import Bools, Columns, Int32s, unique
from kubectl_spread.explain.constraints.notes import (
    missing_labels,
    NodeReasons,
    Note,
    notes,
    Origin,
    origin_of,
    pod_nodes,
    PodNodes,
    reasons_for_not_counting,
    reasons_for_not_running,
)
from kubectl_spread.explain.requirements.capacity import Indices
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
from kubectl_spread.objects.releases.version import LATEST
from kubectl_spread.objects.selectors import Selector
from kubectl_spread.objects.workloads.workload import REVISION_LABELS
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.common import Constraint
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts, PreFilterState, soft_counts
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
    revisions: tuple[tuple[str, int], ...] = ()


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


class _MatchingPods(NamedTuple):
    """The pods that the selector of one constraint matches, by the domain's code.

    `other_namespaces`: matching pods by namespace, which no constraint counts. `terminating`: of counted domains.
    """

    counted: dict[int, tuple[CountedPods, ...]]
    terminating: dict[int, tuple[TerminatingPod, ...]]
    ignored: tuple[IgnoredPods, ...]
    other_namespaces: tuple[tuple[str, int], ...]


_NO_PODS = _MatchingPods({}, {}, (), ())


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
    def global_minimum(self) -> int:
        return self.counts.minimum

    @property
    def minimum_in(self) -> tuple[str, ...]:
        """Return the eligible domains with the fewest matching pods, minDomains aside."""
        return self.counts.smallest_in

    @property
    def eligible_domains(self) -> int:
        return len(self.counts.domains)

    @property
    def is_below_min_domains(self) -> bool:
        return self.counts.is_below_min_domains


_VALUE = operator.attrgetter("value")


# The domains of a constraint, and the counts of the eligible ones.
_Domains = tuple[tuple[DomainReport, ...], ConstraintCounts]
# Domains of one cluster by their numbers: workloads with equal numbers share one tuple.
SharedDomains = dict[Hashable, _Domains]


class _Group(NamedTuple):
    """The context that constraints of one action share.

    usable: bool (N,), nodes that meet all requirements but the spread constraints.
    missing: nodes that lack the key of a constraint of the action; no constraint counts them.
    """

    cls: PodClass
    filtered: FilterResult
    usable: Bools
    missing: Mapping[str, Bools]
    nodes: PodNodes
    unusable: NodeReasons
    is_detailed: bool
    is_hard: bool
    is_built_in: bool  # they are the scheduler's own defaults
    shared: Optional[SharedDomains]


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
    hard = hard_counts(filtered)
    scoring = profile.score if profile is not None and filtered.feasible.any() else ()
    plugin = next((item.plugin for item in scoring if isinstance(item.plugin, PodTopologySpread)), None)
    is_built_in = plugin is not None and plugin.configured_defaults is None
    soft = soft_counts(
        cls,
        filtered.columns,
        filtered.feasible,
        defaults=() if plugin is None else plugin.constraints(cls, filtered.columns, hard=False),
        require_all=not is_built_in,
        release=LATEST if profile is None else profile.release,
    )
    if not hard and not soft:
        return ()
    nodes = pod_nodes(cls, filtered.columns)
    unusable = reasons_for_not_running(filtered, nodes, refusing=refusing)
    usable = passes_all_but_spread(filtered)
    group = _Group(cls, filtered, usable, {}, nodes, unusable, is_detailed, True, is_built_in, shared)
    reports = [*_of_action(hard, group), *_of_action(soft, group._replace(is_hard=False))]
    return tuple(sorted(reports, key=lambda report: report.constraint.position))


def _of_action(constraints: Sequence[DomainCounts], group: _Group) -> list[ConstraintReport]:
    """Return the reports of all hard, or of all soft constraints."""
    keys = [counts.constraint.topology_key for counts in constraints]
    group = group._replace(missing=missing_labels(keys, group.filtered.columns))
    return [_constraint(counts, group) for counts in constraints]


def hard_counts(filtered: FilterResult) -> tuple[DomainCounts, ...]:
    """Return the counts of the pod's hard constraints."""
    return next((item.state.counts for item in filtered.plugin_results if isinstance(item.state, PreFilterState)), ())


def passes_all_but_spread(filtered: FilterResult) -> Bools:
    """Return the nodes that would take the pod if it had no spread constraints: bool (N,)."""
    passes: Bools = filtered.considered.copy()
    for verdict in filtered.plugin_results:
        if verdict.plugin != names.POD_TOPOLOGY_SPREAD:
            passes &= verdict.bits == 0
    return passes


def _constraint(counts: DomainCounts, group: _Group) -> ConstraintReport:
    cls, columns, constraint = group.cls, group.filtered.columns, counts.constraint
    why_not = reasons_for_not_counting(constraint, group.missing, group.nodes, columns)
    found = _matching_pods(counts, cls, columns, why_not) if group.is_detailed else _NO_PODS
    domains, now = _shared_domains(counts, group, why_not, found)
    report = ConstraintReport(
        constraint=_written(constraint, cls, is_hard=group.is_hard),
        is_default=not cls.constraints,
        selector=constraint.selector,
        self_match=bool(constraint.self_match_num),
        min_domains=constraint.min_domains,
        counts=now,
        without_key=tuple(columns.nodes[at].name for at in np.flatnonzero(counts.topology.codes < 0)),
        ignored_pods=int(counts.on_nodes[~counts.included].sum()),
        domains=domains,
    )
    if not group.is_detailed:
        return report
    return report._replace(
        held_by=_holders(report),
        origin=origin_of(report.constraint, cls, columns, is_built_in=group.is_built_in),
        ignored=found.ignored,
        other_namespaces=found.other_namespaces,
        revision=revision_of(cls),
        namespace=cls.namespace,
        notes=tuple(notes(counts, cls, group.filtered, usable=group.usable, why_not=why_not, is_hard=group.is_hard)),
    )


def _holders(report: ConstraintReport) -> tuple[Holder, ...]:
    """Return the domains at the minimum by the reason that excludes the pod, unusable ones first."""
    lowest = frozenset(report.minimum_in)
    groups: dict[tuple[NodeReason, ...], list[DomainReport]] = {}
    for domain in report.domains:
        if domain.eligible and domain.value in lowest:
            groups.setdefault(() if domain.usable else domain.unusable_because, []).append(domain)
    return tuple(
        Holder(
            why,
            tuple(domain.value for domain in domains),
            tuple(name for domain in domains[:_NAMED_NODES] for name in domain.node_names)[:_NAMED_NODES],
            sum(domain.nodes for domain in domains),
        )
        for why, domains in sorted(groups.items(), key=lambda item: (not item[0], -len(item[1])))
    )


def _written(constraint: Constraint, cls: PodClass, *, is_hard: bool) -> TopologySpreadConstraint:
    """Return the pod's constraint, or the scheduler's default in the same form, with the effective policies."""
    if cls.constraints:
        written = cls.constraints[constraint.position]
    else:
        written = TopologySpreadConstraint(
            position=constraint.position,
            max_skew=constraint.max_skew,
            topology_key=constraint.topology_key,
            when_unsatisfiable=DO_NOT_SCHEDULE if is_hard else SCHEDULE_ANYWAY,
            min_domains=constraint.min_domains,
        )
    return written._replace(
        node_affinity_policy=HONOR if constraint.honors_affinity else IGNORE,
        node_taints_policy=HONOR if constraint.honors_taints else IGNORE,
    )


def _shared_domains(counts: DomainCounts, group: _Group, why_not: NodeReasons, found: _MatchingPods) -> _Domains:
    """Look up the domains of equal numbers; always create the domains of detailed reports."""
    if group.shared is None or group.is_detailed:
        return _domains(counts, group, why_not, found)
    constraint = counts.constraint
    numbers = (
        *(constraint.topology_key, constraint.max_skew, constraint.self_match_num, counts.min_match_num),
        *(counts.included.tobytes(), counts.eligible.tobytes(), counts.match_num.tobytes(), group.usable.tobytes()),
        *(why_not.identity, group.unusable.identity),
    )
    if numbers not in group.shared:
        group.shared[numbers] = _domains(counts, group, why_not, found)
    return group.shared[numbers]


def _domains(counts: DomainCounts, group: _Group, why_not: NodeReasons, found: _MatchingPods) -> _Domains:
    topology = counts.topology
    size = len(topology.values)
    with_key = topology.codes >= 0
    in_domain = np.bincount(topology.codes[with_key], minlength=size).tolist()
    counted = np.bincount(topology.codes[counts.included], minlength=size).tolist()
    usable_in = np.bincount(topology.codes[with_key & group.usable], minlength=size).tolist()
    skew, matching, eligible = counts.skew().tolist(), counts.match_num.tolist(), counts.eligible.tolist()
    not_counted = why_not.by_domain(np.where(counts.included, np.int32(-1), topology.codes))
    not_usable = group.unusable.by_domain(np.where(group.usable, np.int32(-1), topology.codes))
    domains = list(
        map(  # perf: as many as there are nodes, for every workload
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
    )
    if group.is_detailed:
        names_of = _node_names(topology.codes, size, group.filtered.columns)
        domains = [
            domain._replace(
                node_names=names_of[at], pods=found.counted.get(at, ()), terminating=found.terminating.get(at, ())
            )
            for at, domain in enumerate(domains)
        ]
    domains.sort(key=_VALUE)  # no two have the same
    return tuple(domains), counts.now()


def _node_names(codes: Int32s, size: int, columns: Columns) -> list[tuple[str, ...]]:
    """Return the names of the first nodes of each domain."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(size + 1)).tolist()
    return [
        tuple(columns.nodes[at].name for at in order[start : min(end, start + _NAMED_NODES)].tolist())
        for start, end in itertools.pairwise(starts)
    ]


def _matching_pods(counts: DomainCounts, cls: PodClass, columns: Columns, why_not: NodeReasons) -> _MatchingPods:
    """Return every bound pod that the selector matches; the empty selector counts none."""
    selector = counts.constraint.selector
    groups = columns.groups
    if selector.is_empty or not groups:
        return _NO_PODS
    matches = np.array([selector.matches(dict(group.labels)) for group in groups], np.bool_)
    here = np.array([group.namespace == cls.namespace for group in groups], np.bool_)
    ending = np.array([group.terminating for group in groups], np.bool_)
    pods: Indices = np.flatnonzero(matches[columns.bound_groups])
    of, on = columns.bound_groups[pods], columns.bound_nodes[pods]
    is_counted, is_here, is_ending = counts.included[on], here[of], ending[of]
    return _MatchingPods(
        _counted(pods[is_here & ~is_ending & is_counted], counts, cls, columns),
        _terminating(pods[is_here & is_ending & is_counted], counts, columns),
        _ignored(pods[is_here & ~is_ending & ~is_counted], columns, why_not),
        _by_namespace(pods[~is_here & ~is_ending], columns),
    )


def _counted(
    pods: Indices, counts: DomainCounts, cls: PodClass, columns: Columns
) -> dict[int, tuple[CountedPods, ...]]:
    """Return the pods of each domain by workload: the pod's own first, then the one with the most pods."""
    own = owner_of(cls, columns.cluster)
    owners: dict[int, Optional[ObjectKey]] = {}
    runs: dict[int, dict[Optional[ObjectKey], list[tuple[int, Indices]]]] = {}
    for domain, class_at, run in _runs(pods, counts, columns):
        if class_at not in owners:
            owners[class_at] = owner_of(columns.classes[class_at], columns.cluster)
        runs.setdefault(domain, {}).setdefault(owners[class_at], []).append((class_at, run))
    found: dict[int, tuple[CountedPods, ...]] = {}
    for domain, by_owner in runs.items():
        groups = []
        for owner, of_owner in by_owner.items():
            revisions: Counter[str] = Counter()
            for class_at, run in of_owner:
                revisions[revision_of(columns.classes[class_at])] += len(run)
            first = itertools.islice((at for _, run in of_owner for at in run.tolist()), MOST_NAMES)
            names = tuple(columns.bound_pods[at].name for at in first)
            known = tuple(sorted((revision, number) for revision, number in revisions.items() if revision))
            groups.append(CountedPods(owner, owner == own, revisions.total(), names, known))
        found[domain] = tuple(
            sorted(groups, key=lambda item: (not item.is_own, -item.number, item.owner or ("", "", "")))
        )
    return found


def _runs(pods: Indices, counts: DomainCounts, columns: Columns) -> Iterator[tuple[int, int, Indices]]:
    """Yield the pods of each domain and class, in the order they were bound."""
    domains, classes = counts.topology.codes[columns.bound_nodes[pods]], columns.bound_classes[pods]
    order = np.lexsort((pods, classes, domains))
    pods, domains, classes = pods[order], domains[order], classes[order]
    starts = np.flatnonzero(np.diff(domains, prepend=-1) | np.diff(classes, prepend=-1))
    for start, end in itertools.pairwise([*starts.tolist(), len(pods)]):
        yield int(domains[start]), int(classes[start]), pods[start:end]


def revision_of(cls: PodClass) -> str:
    """Return the revision of a pod's workload; empty if no label has it."""
    labels = dict(cls.labels)
    return next((labels[key] for key in REVISION_LABELS if key in labels), "")


def _terminating(pods: Indices, counts: DomainCounts, columns: Columns) -> dict[int, tuple[TerminatingPod, ...]]:
    found: dict[int, list[TerminatingPod]] = {}
    for at in pods.tolist():
        pod, node = columns.bound_pods[at], int(columns.bound_nodes[at])
        terminating = TerminatingPod(pod.name, columns.nodes[node].name, pod.deleted, pod.finalizers)
        found.setdefault(int(counts.topology.codes[node]), []).append(terminating)
    return {domain: tuple(of_domain) for domain, of_domain in found.items()}


def _ignored(pods: Indices, columns: Columns, why_not: NodeReasons) -> tuple[IgnoredPods, ...]:
    on = columns.bound_nodes[pods]
    codes = why_not.codes[on]
    found = []
    for code, number in zip(*(part.tolist() for part in np.unique(codes, return_counts=True)), strict=True):
        of_reason = codes == code
        first = pods[of_reason][:MOST_NAMES].tolist()
        nodes = unique(on[of_reason])
        found.append(
            IgnoredPods(
                why_not.reasons[code] if code >= 0 else None,
                number,
                tuple(columns.bound_pods[at].name for at in first),
                tuple(columns.nodes[at].name for at in nodes[:MOST_NAMES].tolist()),
                len(nodes),
            )
        )
    return tuple(sorted(found, key=lambda item: -item.number))


def _by_namespace(pods: Indices, columns: Columns) -> tuple[tuple[str, int], ...]:
    numbers: dict[str, int] = {}
    groups = columns.groups
    for group, number in zip(
        *(part.tolist() for part in np.unique(columns.bound_groups[pods], return_counts=True)), strict=True
    ):
        namespace = groups[group].namespace
        numbers[namespace] = numbers.get(namespace, 0) + number
    return tuple(sorted(numbers.items(), key=lambda item: (-item[1], item[0])))
