"""One account of each spread constraint: domains, counts and the inequality, with numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple
from typing import Optional

import numpy as np

from kubectl_spread.cluster.columns import Bools
from kubectl_spread.objects.constraint import DO_NOT_SCHEDULE
from kubectl_spread.objects.constraint import HONOR
from kubectl_spread.objects.constraint import IGNORE
from kubectl_spread.objects.constraint import TopologySpreadConstraint
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.selector import Selector
from kubectl_spread.objects.taints import first_untolerated
from kubectl_spread.scheduler.cycle import Filtered
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.common import Constraint
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import PreFilterState
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import soft_counts


class DomainReport(NamedTuple):
    """One domain of a constraint.

    `nodes` counts the nodes with this value, `counted` those of them that the constraint counts, `usable` those
    that pass everything else the pod asks for. `skew_if_placed` is None where the domain is not eligible.
    """

    value: str
    nodes: int
    counted: int
    usable: int
    matching: int
    eligible: bool
    why_not: str
    skew_if_placed: Optional[int]
    fits: bool
    unusable_because: str


class ConstraintReport(NamedTuple):
    """One constraint's arithmetic; `domains` sorted by value.

    For a ScheduleAnyway constraint the numbers are told, but nothing is refused. `is_default`: the pod has none, and
    this is one of the scheduler's configuration.
    """

    constraint: TopologySpreadConstraint
    is_default: bool
    selector: Selector
    self_match: bool
    min_domains: int
    global_minimum: int
    minimum_in: tuple[str, ...]
    eligible_domains: int
    without_key: tuple[str, ...]
    ignored_pods: int  # matching pods on nodes that the constraint does not count
    domains: tuple[DomainReport, ...]

    @property
    def is_below_min_domains(self) -> bool:
        return self.eligible_domains < self.min_domains


class _Group(NamedTuple):
    """What constraints of one action are reported with.

    usable: bool (N,), nodes that pass everything but the spread constraints. keys: of all constraints of the action;
    a node that lacks one of them is counted by none.
    """

    cls: PodClass
    filtered: Filtered
    usable: Bools
    keys: tuple[str, ...]


def constraint_reports(cls: PodClass, filtered: Filtered) -> tuple[ConstraintReport, ...]:
    """Hard constraints as the plugin counted them; soft ones of the pod counted the same way, among themselves."""
    if filtered.rejection is not None:
        return ()
    hard = next((v.state.counts for v in filtered.verdicts if isinstance(v.state, PreFilterState)), ())
    soft = soft_counts(cls, filtered.columns, filtered.feasible)
    usable = passes_all_but_spread(filtered)
    reports: list[ConstraintReport] = []
    for accounts in (hard, soft):
        group = _Group(cls, filtered, usable, tuple(counts.constraint.topology_key for counts in accounts))
        reports += [_constraint(counts, group) for counts in accounts]
    return tuple(sorted(reports, key=lambda report: report.constraint.position))


def passes_all_but_spread(filtered: Filtered) -> Bools:
    """Bool (N,): nodes that would take the pod if it had no spread constraints."""
    passes: Bools = filtered.considered.copy()
    for verdict in filtered.verdicts:
        if verdict.plugin != names.POD_TOPOLOGY_SPREAD:
            passes &= verdict.bits == 0
    return passes


def _constraint(counts: DomainCounts, group: _Group) -> ConstraintReport:
    columns, topology = group.filtered.columns, counts.topology
    lowest = counts.match_num == counts.min_match_num
    minimum_in = [value for at, value in enumerate(topology.values) if counts.eligible[at] and lowest[at]]
    return ConstraintReport(
        constraint=_written(counts.constraint, group.cls),
        is_default=not group.cls.constraints,
        selector=counts.constraint.selector,
        self_match=bool(counts.constraint.self_match_num),
        min_domains=counts.constraint.min_domains,
        global_minimum=counts.global_min,
        minimum_in=tuple(sorted(minimum_in)),
        eligible_domains=counts.domains_num,
        without_key=tuple(columns.nodes[at].name for at in np.flatnonzero(topology.codes < 0)),
        ignored_pods=int(counts.on_nodes[~counts.included].sum()),
        domains=_domains(counts, group),
    )


def _written(constraint: Constraint, cls: PodClass) -> TopologySpreadConstraint:
    """The constraint in the pod, or the scheduler's default one in the same form, with the policies that count.

    Only hard defaults come here.
    """
    if cls.constraints:
        return cls.constraints[constraint.position]._replace(
            node_affinity_policy=HONOR if constraint.honors_affinity else IGNORE,
            node_taints_policy=HONOR if constraint.honors_taints else IGNORE,
        )
    return TopologySpreadConstraint(
        position=constraint.position,
        max_skew=constraint.max_skew,
        topology_key=constraint.topology_key,
        when_unsatisfiable=DO_NOT_SCHEDULE,
        min_domains=constraint.min_domains,
        node_affinity_policy=HONOR if constraint.honors_affinity else IGNORE,
        node_taints_policy=HONOR if constraint.honors_taints else IGNORE,
    )


def _domains(counts: DomainCounts, group: _Group) -> tuple[DomainReport, ...]:
    topology = counts.topology
    size = len(topology.values)
    with_key = topology.codes >= 0
    in_domain = np.bincount(topology.codes[with_key], minlength=size)
    counted = np.bincount(topology.codes[counts.included], minlength=size)
    usable_in = np.bincount(topology.codes[with_key & group.usable], minlength=size)
    skew = counts.skew()
    why = _WhyNot(counts, group)
    order = sorted(range(size), key=lambda at: topology.values[at])
    return tuple(
        DomainReport(
            value=topology.values[at],
            nodes=int(in_domain[at]),
            counted=int(counted[at]),
            usable=int(usable_in[at]),
            matching=int(counts.match_num[at]),
            eligible=bool(counts.eligible[at]),
            why_not="" if counts.eligible[at] else why.not_counted(at),
            skew_if_placed=int(skew[at]) if counts.eligible[at] else None,
            fits=bool(skew[at] <= counts.constraint.max_skew),
            unusable_because="" if usable_in[at] else why.not_usable(at),
        )
        for at in order
    )


class _WhyNot:
    """Sentences about the nodes of a domain."""

    def __init__(self, counts: DomainCounts, group: _Group) -> None:
        self._counts = counts
        self._group = group
        self._nodes = group.filtered.columns.nodes

    def not_counted(self, domain: int) -> str:
        """Why no node of a domain is counted: the most frequent reason first."""
        return _most_common(self._not_counted(node) for node in self._members(domain))

    def not_usable(self, domain: int) -> str:
        """Why no node of a domain can run the pod, whatever the spread."""
        return _most_common(self._not_usable(node) for node in self._members(domain))

    def _members(self, domain: int) -> list[int]:
        return [int(at) for at in np.flatnonzero(self._counts.topology.codes == domain)]

    def _not_counted(self, at: int) -> str:
        node, constraint, cls = self._nodes[at], self._counts.constraint, self._group.cls
        if constraint.honors_affinity and not cls.node_requirement.matches(node.labels, node.name):
            return "nodeAffinityPolicy Honor: outside the pod's node affinity/selector"
        taint = first_untolerated(node.taints, cls.tolerations)
        if constraint.honors_taints and taint is not None:
            return f"nodeTaintsPolicy Honor: untolerated taint {taint}"
        missing = [key for key in self._group.keys if key not in node.labels]
        return f"lacks the label {missing[0]}" if missing else "no node of it fits"

    def _not_usable(self, at: int) -> str:
        taint = first_untolerated(self._nodes[at].taints, self._group.cls.tolerations)
        for status in self._group.filtered.failures(at):
            if status.plugin == names.TAINT_TOLERATION and taint is not None:
                return f"untolerated taint {taint}"
            if status.plugin == names.NODE_UNSCHEDULABLE:
                return "cordoned"
            if status.plugin != names.POD_TOPOLOGY_SPREAD:
                return ", ".join(status.reasons).replace("node(s) ", "")
        return ""


def _most_common(sentences: Iterable[str]) -> str:
    counted = Counter(sentence for sentence in sentences if sentence)
    return "; ".join(sentence for sentence, _ in counted.most_common(3))
