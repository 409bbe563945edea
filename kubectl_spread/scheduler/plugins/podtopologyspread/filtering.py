"""PodTopologySpread (PreFilter, Filter).

A node passes a constraint when `match_num + self_match_num - min_match_num <= max_skew`.

Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, calPreFilterState, Filter (v1.36.2).
Difference: upstream keeps the two smallest domains of each constraint (criticalPaths) and updates them. Here the
minimum is recomputed once no domain has it. The number is the same if one node changes at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Optional

import numpy as np

from kubectl_spread.caching import cached_method
from kubectl_spread.cluster.columns import Bools, Columns, Int64s, MatchCounter, Topology
from kubectl_spread.objects.constraints.constraint import ConstraintCounts
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.releases.behaviours import (
    DRY_RUN_COUNTS_INCLUDED,
    ONLY_INCLUDED_NODES_COUNT,
    SPREAD_LABEL_REASON,
)
from kubectl_spread.objects.releases.version import LATEST, Release
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.framework.plugin import bit, Bits, Code, FilterState, no_bits, NodeIndices, Reason
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.common import (
    Constraint,
    match_node_inclusion_policies,
    with_all_keys,
)

REASONS = (
    Reason("node(s) didn't match pod topology spread constraints", Code.UNSCHEDULABLE),
    Reason(
        "node(s) didn't match pod topology spread constraints (missing required label)",
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
    ),
)
MAX_INT32 = 2**31 - 1
_FEW = 8  # up to this number of domains, a loop is faster than an array operation


class DomainCounts:
    """Matching-pod counts of one constraint, per domain. Call `sync` after each binding.

    included: bool (N,), nodes that are counted. match_num: int64 (D,), matching pods of each domain of the key.
    eligible: bool (D,), domains that have an included node.
    """

    def __init__(
        self,
        constraint: Constraint,
        pod_class: PodClass,
        columns: Columns,
        included: Bools,
        eligible_nodes: Optional[Bools] = None,
    ) -> None:
        """Count matching pods. `eligible_nodes`: the nodes whose domains are eligible, if not all counted nodes."""
        self.constraint = constraint
        self.topology: Topology = columns.topology(constraint.topology_key)
        self.included = included
        size = len(self.topology.values)
        self.eligible: Bools = np.zeros(size, np.bool_)
        self.eligible[self.topology.codes[included if eligible_nodes is None else included & eligible_nodes]] = True
        self.domains_num = int(self.eligible.sum())
        self._columns, self._namespace = columns, pod_class.namespace
        self._counter = MatchCounter(pod_class.namespace, constraint.selector, columns)
        # match_num, with the largest integer for ineligible domains, so that its minimum is the global minimum.
        self._match_num: Int64s = np.where(self.eligible, 0, MAX_INT32).astype(np.int64)
        self._too_full: Bools = np.zeros(size, np.bool_)
        self._fits: Bools = self.topology.codes >= 0
        # The minimum for which `_too_full` and `_fits` were computed; valid while `_at_min` is not 0.
        self._min = 0
        self._at_min = 0  # domains that have no more than that
        self.sync()

    @property
    def on_nodes(self) -> Int64s:
        """Return the matching pods on each node, counted or not, int64 (N,)."""
        return self._counter.counts

    @property
    def match_num(self) -> Int64s:
        return np.where(self.eligible, self._match_num, 0)

    @property
    def is_below_min_domains(self) -> bool:
        return self.domains_num < self.constraint.min_domains

    @property
    def smallest_match_num(self) -> int:
        """Return the least matching pods of an eligible domain, minDomains aside."""
        return int(self._match_num.min()) if self.domains_num else MAX_INT32

    @property
    def min_match_num(self) -> int:
        """Return the number that a node's domain is compared with: 0 if there are fewer domains than minDomains."""
        return 0 if self.is_below_min_domains else self.smallest_match_num

    def sync(self) -> None:
        """Count the pods that came or went since the last call.

        The empty selector counts none, although it matches all.
        """
        if self.constraint.selector.is_empty:
            return
        nodes = self._counter.sync()
        amounts = self._counter.amounts
        if len(nodes) == 1 and isinstance(amounts, int) and amounts == 1:
            if self.included[nodes[0]]:
                self._count_one(self.topology.codes.item(nodes[0]))
        elif len(nodes):
            counted = self.included[nodes]
            added = amounts if isinstance(amounts, int) else amounts[counted]
            np.add.at(self._match_num, self.topology.codes[nodes[counted]], added)
            self._at_min = 0

    def _count_one(self, domain: int) -> None:
        """Count one more pod in a domain. Unless it alone was the minimum, no other domain's result changes."""
        match_num = self._match_num.item(domain)
        self._match_num[domain] = match_num + 1
        if self._at_min:
            self._at_min -= match_num == self._min
            if match_num + 1 > self._most() and self.eligible[domain] and not self._too_full[domain]:
                self._too_full[domain] = True
                self._fits[self._nodes(domain)] = False

    def skew(self) -> Int64s:
        """Return the left side of the inequality for a pod placed in each domain, int64 (D,)."""
        return self.match_num + self.constraint.self_match_num - self.min_match_num

    def pods(self) -> list[Pod]:
        """Return the matching pods on counted nodes, terminating ones included."""
        columns = self._columns
        seen = columns.positions(columns.all_matches(self._namespace, self.constraint.selector))
        return [columns.bound_pods[at] for at in seen[self.included[columns.bound_nodes[seen]]].tolist()]

    def now(self, match_num: Optional[Int64s] = None) -> ConstraintCounts:
        """Return the counts of the eligible domains; `match_num`, int64 (D,), replaces the present counts."""
        numbers = self.match_num if match_num is None else match_num
        order = self.topology.order
        shown = order[self.eligible[order]]
        values = self.topology.values
        domains = dict(zip([values[at] for at in shown.tolist()], numbers[shown].tolist(), strict=True))
        return ConstraintCounts(domains, self.is_below_min_domains)

    def fits(self) -> Bools:
        """Return the nodes that pass the constraint, bool (N,), kept up to date domain by domain."""
        self.sync()
        if not self._at_min:
            self._update_fits()
        return self._fits

    def _most(self) -> int:
        """Return the most matching pods that a domain may have for `_min`."""
        # the criterion 'existing matching num' + 'if self-match' - 'global minimum' <= 'maxSkew', solved
        global_minimum = 0 if self.is_below_min_domains else self._min
        return self.constraint.max_skew - self.constraint.self_match_num + global_minimum

    def _update_fits(self) -> None:
        self._min = self.smallest_match_num
        self._at_min = int(np.count_nonzero(self._match_num == self._min))
        most = self._most()
        too_full: Bools = self._match_num > most
        if self.domains_num < len(self.eligible):
            too_full = np.where(self.eligible, too_full, most < 0)  # a domain that does not count has 0 matching pods
        changed = np.flatnonzero(too_full != self._too_full)
        if len(changed) > _FEW:
            has_key = self.topology.codes >= 0
            self._fits = has_key & ~too_full[self.topology.codes]
        else:
            for domain in changed.tolist():
                self._fits[self._nodes(domain)] = not too_full[domain]
        self._too_full = too_full

    def violates(self) -> Bools:
        """Return bool (N,): nodes whose domain would be too full; False for nodes without the key."""
        return (self.topology.codes >= 0) & ~self.fits()

    @cached_method
    def _nodes(self, domain: int) -> NodeIndices:
        return np.flatnonzero(self.topology.codes == domain)

    def violates_after(self, node: int, change: int, changing: Optional[Bools] = None) -> bool:
        """Return whether a node violates the constraint once its domain counts `change` more pods.

        `changing`: bool (N,), nodes whose pods change the counts, if these are not the counted nodes.
        """
        code = self.topology.codes[node]
        counted = bool((self.included if changing is None else changing)[node])
        self._match_num[code] += change if counted else 0
        least = self.min_match_num
        match_num = int(self._match_num[code]) if self.eligible[code] else 0
        self._match_num[code] -= change if counted else 0
        # the criterion: 'existing matching num' + 'if self-match' - 'global minimum' <= 'maxSkew'
        return match_num + self.constraint.self_match_num - least > self.constraint.max_skew


def soft_counts(
    constraints: tuple[Constraint, ...],
    pod_class: PodClass,
    columns: Columns,
    feasible: Optional[Bools] = None,
    *,
    require_all: bool = True,
) -> Iterator[DomainCounts]:
    """Count the pods for soft constraints, on the nodes that scoring counts.

    Scoring looks only at the domains of feasible nodes. Without a feasible node there is no scoring; then yield the
    domains of all counted nodes.

    Args:
        constraints: the pod's soft constraints.
        pod_class: of the pod.
        columns: of the cluster.
        feasible: bool (N,); None for all nodes.
        require_all: whether a node must have the keys of all constraints to be counted; False for the built-in
            defaults.
    """
    for constraint in constraints:
        keyed = with_all_keys(constraints if require_all else (constraint,), columns)
        included = keyed & match_node_inclusion_policies(constraint, pod_class, columns)
        has_feasible = feasible is not None and (feasible & included).any()
        yield DomainCounts(constraint, pod_class, columns, included, feasible if has_feasible else None)


class PreFilterState(FilterState):
    """Matching-pod counts of every hard constraint, per domain."""

    def __init__(
        self, constraints: tuple[Constraint, ...], pod_class: PodClass, columns: Columns, release: Release = LATEST
    ) -> None:
        self.reasons = REASONS if SPREAD_LABEL_REASON.of(release) else (REASONS[0], REASONS[0])
        self._columns = columns
        self._namespace = pod_class.namespace
        self._bits: Optional[Bits] = None
        self._bits_after = 0  # so many bound pods
        keyed = with_all_keys(constraints, columns)
        self._changing = None if DRY_RUN_COUNTS_INCLUDED.of(release) else keyed
        counts = []
        for constraint in constraints:
            included, eligible = keyed & match_node_inclusion_policies(constraint, pod_class, columns), None
            if not ONLY_INCLUDED_NODES_COUNT.of(release):  # every node of an eligible domain counts
                included, eligible = columns.topology(constraint.topology_key).codes >= 0, included
            counts.append(DomainCounts(constraint, pod_class, columns, included, eligible))
        self.counts = tuple(counts)

    def fits(self) -> Bools:
        first, *others = self.counts
        if not others:
            return first.fits()
        fits = first.fits() & others[0].fits()
        for counts in others[1:]:
            fits &= counts.fits()
        return fits

    def filter(self) -> Bits:
        bound = len(self._columns.bound_pods)
        if self._bits is None or self._bits_after != bound:
            self._bits, self._bits_after = self._compute(), bound
        return self._bits

    def _compute(self) -> Bits:
        bits = no_bits(self._columns)
        undecided = np.ones(self._columns.n, np.bool_)
        for counts in self.counts:
            missing = counts.topology.codes < 0
            violating = counts.violates()
            # The first constraint a node fails decides the reason.
            bits[undecided & missing] = bit(1)
            bits[undecided & violating] = bit(0)
            undecided &= ~(missing | violating)
        return bits

    def filter_with(self, node: int, removed: Sequence[Pod], added: Sequence[Pod]) -> int:
        """Filter a node after removing and adding pods.

        Like upstream, ignore deletionTimestamp and empty selectors: removing a terminating pod subtracts an
        uncounted pod.

        Source: filtering.go, updateWithPod, Filter.
        """
        for at, counts in enumerate(self.counts):
            counts.sync()
            if counts.topology.codes[node] < 0:
                return int(bit(1))
            change = self._matching(at, added) - self._matching(at, removed)
            if counts.violates_after(node, change, self._changing):
                return int(bit(0))
        return 0

    def _matching(self, at: int, pods: Sequence[Pod]) -> int:
        """Count the pods that a constraint's selector matches."""
        return sum(self._matches(at, self._columns.class_index(pod.cls)) for pod in pods)

    @cached_method
    def _matches(self, at: int, class_at: int) -> bool:
        found, selector = self._columns.classes[class_at], self.counts[at].constraint.selector
        return found.namespace == self._namespace and selector.matches(dict(found.labels))


def hard_counts(filtered: FilterResult) -> tuple[DomainCounts, ...]:
    """Return the counts of the pod's hard constraints."""
    return next((item.state.counts for item in filtered.plugin_results if isinstance(item.state, PreFilterState)), ())


def passes_all_but_spread(filtered: FilterResult) -> Bools:
    """Return the nodes that would take the pod if it had no spread constraints: bool (N,)."""
    return filtered.passes(lambda plugin: plugin != names.POD_TOPOLOGY_SPREAD)
