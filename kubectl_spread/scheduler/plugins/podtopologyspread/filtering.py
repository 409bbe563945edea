"""PodTopologySpread (PreFilter, Filter).

A node passes a constraint when `match_num + self_match_num - global_min <= max_skew`.

Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, calPreFilterState, Filter (v1.36.2).
Difference: upstream keeps the two smallest domains of each constraint (criticalPaths) and updates them; here the
minimum is taken anew, which gives the same number as long as one node changes at a time.
"""

from __future__ import annotations

from typing import NamedTuple
from typing import Union

import numpy as np

from kubectl_spread.cluster.columns import Bools
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.columns import Int64s
from kubectl_spread.cluster.columns import Topology
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.framework.plugin import bit
from kubectl_spread.scheduler.framework.plugin import Bits
from kubectl_spread.scheduler.framework.plugin import FilterState
from kubectl_spread.scheduler.framework.plugin import no_bits
from kubectl_spread.scheduler.framework.plugin import Skip
from kubectl_spread.scheduler.framework.status import Code
from kubectl_spread.scheduler.framework.status import Reason
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.common import Constraint
from kubectl_spread.scheduler.plugins.podtopologyspread.common import count_pods_match_selector
from kubectl_spread.scheduler.plugins.podtopologyspread.common import filter_topology_spread_constraints
from kubectl_spread.scheduler.plugins.podtopologyspread.common import match_node_inclusion_policies
from kubectl_spread.scheduler.plugins.podtopologyspread.common import with_all_keys

REASONS = (
    Reason("node(s) didn't match pod topology spread constraints", Code.UNSCHEDULABLE),
    Reason(
        "node(s) didn't match pod topology spread constraints (missing required label)",
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
    ),
)
MAX_INT32 = 2**31 - 1


class PodTopologySpread:
    name = names.POD_TOPOLOGY_SPREAD

    def pre_filter(self, cls: PodClass, columns: Columns) -> Union[FilterState, Skip]:
        constraints = filter_topology_spread_constraints(cls, hard=True)
        return PreFilterState(constraints, cls, columns) if constraints else Skip()


def soft_counts(cls: PodClass, columns: Columns) -> tuple[DomainCounts, ...]:
    """The pod's soft constraints counted as if they were hard; they refuse no node."""
    return PreFilterState(filter_topology_spread_constraints(cls, hard=False), cls, columns).counts


class DomainCounts(NamedTuple):
    """One constraint's account.

    included: bool (N,), nodes that are counted. match_num: int64 (D,), matching pods of each domain of the key.
    eligible: bool (D,), domains that have an included node.
    """

    constraint: Constraint
    topology: Topology
    included: Bools
    match_num: Int64s
    eligible: Bools

    @property
    def domains_num(self) -> int:
        return int(self.eligible.sum())

    @property
    def is_below_min_domains(self) -> bool:
        return self.domains_num < self.constraint.min_domains

    @property
    def min_match_num(self) -> int:
        """The least matching pods of an eligible domain, minDomains aside."""
        return int(self.match_num[self.eligible].min()) if self.domains_num else MAX_INT32

    @property
    def global_min(self) -> int:
        """What a node's domain is compared with: 0 when there are fewer domains than minDomains."""
        return 0 if self.is_below_min_domains else self.min_match_num

    def skew(self) -> Int64s:
        """int64 (D,): the left side of the inequality for a pod placed in each domain."""
        return self.match_num + self.constraint.self_match_num - self.global_min


class PreFilterState:
    """Counts per domain of every hard constraint."""

    reasons = REASONS
    narrowed = None

    def __init__(self, constraints: tuple[Constraint, ...], cls: PodClass, columns: Columns) -> None:
        self._columns = columns
        self._namespace = cls.namespace
        keyed = with_all_keys(constraints, columns)
        self.counts = tuple(_domain_counts(constraint, cls, columns, keyed) for constraint in constraints)

    def filter(self) -> Bits:
        bits = no_bits(self._columns)
        undecided = np.ones(self._columns.n, np.bool_)
        for counts in self.counts:
            codes = counts.topology.codes
            missing = codes < 0
            violating = np.zeros(len(codes), np.bool_)
            if len(counts.topology.values):
                violating = (counts.skew() > counts.constraint.max_skew)[codes]  # code -1 is masked below
            # The first constraint a node fails decides the reason.
            bits[undecided & missing] = bit(1)
            bits[undecided & ~missing & violating] = bit(0)
            undecided &= ~missing & ~violating
        return bits

    def pod_added(self, pod: Pod, node: int) -> None:
        """Count a bound pod as a fresh PreFilter would."""
        if pod.cls.namespace != self._namespace or pod.terminating:
            return
        labels = dict(pod.cls.labels)
        for counts in self.counts:
            selector = counts.constraint.selector
            if counts.included[node] and not selector.is_empty and selector.matches(labels):
                counts.match_num[counts.topology.codes[node]] += 1


def _domain_counts(constraint: Constraint, cls: PodClass, columns: Columns, keyed: Bools) -> DomainCounts:
    topology = columns.topology(constraint.topology_key)
    included = keyed & match_node_inclusion_policies(constraint, cls, columns)
    size = len(topology.values)
    codes = topology.codes[included]
    on_nodes = count_pods_match_selector(constraint, cls, columns)[included]
    match_num = np.zeros(size, np.int64)
    np.add.at(match_num, codes, on_nodes)
    eligible = np.bincount(codes, minlength=size) > 0 if size else np.zeros(0, np.bool_)
    return DomainCounts(constraint, topology, included, match_num, eligible)
