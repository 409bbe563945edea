"""Evidence about the workloads of a cluster: the plugins' verdicts on the first replica of each, and its domains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import NamedTuple, Optional

import numpy as np

from kubectl_spread.cluster.columns import Bools, Topology
from kubectl_spread.cluster.facts import ConstraintFacts, DomainFacts
from kubectl_spread.containers import grouped
from kubectl_spread.explain.constraint_report import ConstraintReport
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.selectors import HOSTNAME
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts, hard_counts


class Evidence(NamedTuple):
    """Plugins' verdicts on a workload's first replica.

    pod: the first replica.
    pod_class: its class without requirements that other pods or later claims decide.
    chosen: bool (N,), nodes that its node affinity allows.
    candidates: bool (N,), nodes that it may use, full ones included.
    usable: bool (N,), nodes that accept it if none of the workload's own pods runs there.
    own: the workload's running pods.
    positions: positions of the constraints in the manifest.
    reports: by the position of the constraint among those that are known.
    accounts: cache of constraint facts, filled on demand.
    """

    owner: Workload
    pod: Pod
    pod_class: PodClass
    filtered: FilterResult
    chosen: Bools
    candidates: Bools
    usable: Bools
    own: tuple[Pod, ...]
    reports: dict[int, ConstraintReport]
    positions: tuple[int, ...]
    accounts: dict[int, ConstraintFacts]

    def counted(self, report: ConstraintReport) -> Optional[CountedConstraint]:
        """Return a constraint with the plugin's counts; None for a soft one."""
        position = report.constraint.position
        counts = next((item for item in hard_counts(self.filtered) if item.constraint.position == position), None)
        return None if counts is None else CountedConstraint(self, report, counts)


class CountedConstraint(NamedTuple):
    """A hard constraint of a workload, with the plugin's counts."""

    evidence: Evidence
    report: ConstraintReport
    counts: DomainCounts

    def domain_of(self, pod: Pod) -> Optional[str]:
        """Return the domain in which the constraint counts a pod, if its node is counted."""
        at = self.evidence.filtered.columns.index.get(pod.node_name)
        if at is None or not self.counts.included[at]:
            return None
        value: str = self.counts.topology.values[self.counts.topology.codes[at]]
        return value

    def selects(self, pod: Pod) -> bool:
        """Return whether the selector matches a pod."""
        return self.report.selector.matches(pod.labels)

    def own_matching(self) -> dict[str, int]:
        """Count the workload's own pods in each domain."""
        own = [] if self.report.selector.is_empty else filter(self.selects, self.evidence.own)
        return Counter(value for pod in own if (value := self.domain_of(pod)) is not None)


def without_own(usable: Bools, filtered: FilterResult, own: tuple[Pod, ...]) -> Bools:
    """Add the nodes that can take a pod once the workload's own pods there are gone."""
    index = filtered.columns.index
    by_node = grouped((index[pod.node_name], pod) for pod in own if pod.node_name in index)
    for at, pods in by_node.items():
        usable[at] = usable[at] or (
            filtered.considered[at]
            and not any(
                verdict.bits[at] and verdict.state.filter_with(at, pods, ())
                for verdict in filtered.plugin_results
                if verdict.plugin != names.POD_TOPOLOGY_SPREAD
            )
        )
    return usable


Shared = dict[Hashable, tuple[DomainFacts, ...]]


def account_of(report: ConstraintReport, found: Evidence, shared: Shared) -> ConstraintFacts:
    """Return the facts about a constraint on the cluster without the workload's own pods.

    Args:
        report: of the constraint; `domains` stays alive as long as `shared`.
        found: the plugins' verdicts on the workload.
        shared: cache of domains by their inputs.
    """
    columns = found.filtered.columns
    topology = columns.topology(report.constraint.topology_key)
    has_key = topology.codes >= 0
    counted = found.counted(report)
    own = {} if counted is None else counted.own_matching()
    nodes = (found.chosen, found.usable, found.candidates)
    key = (id(report.domains), *(mask.tobytes() for mask in nodes), tuple(own.items()))
    domains = shared.get(key)
    if domains is None:
        domains = shared[key] = _domains(report, nodes, own, topology)
    sharing: dict[str, list[str]] = {}  # nodes by their hostname
    if counted is not None and report.constraint.topology_key == HOSTNAME:
        nodes_of = np.flatnonzero(found.candidates & counted.counts.included).tolist()
        sharing = grouped((topology.values[topology.codes[at]], columns.nodes[at].name) for at in nodes_of)
    return ConstraintFacts(
        max_skew=report.constraint.max_skew,
        min_domains=report.min_domains,
        counts_own=report.self_match and not report.selector.is_empty,
        nodes=columns.n,
        nodes_with_key=int(has_key.sum()),
        candidates=int(found.candidates.sum()),
        without_key=tuple(columns.nodes[node].name for node in np.flatnonzero(found.candidates & ~has_key)),
        domains=domains,
        sharing=tuple((value, tuple(names)) for value, names in sorted(sharing.items()) if len(names) > 1),
    )


def _domains(
    report: ConstraintReport, nodes: tuple[Bools, Bools, Bools], own: dict[str, int], topology: Topology
) -> tuple[DomainFacts, ...]:
    """Return the domains of a report; `nodes` are the masks of chosen, usable and candidate nodes."""
    size, has_key = len(topology.values), topology.codes >= 0
    by_code = (np.bincount(topology.codes[has_key & mask], minlength=size) for mask in nodes)
    numbers = (of_nodes[topology.order].tolist() for of_nodes in by_code)  # the report's domains are sorted
    return tuple(
        DomainFacts(  # perf: by position, as there are as many as nodes
            domain.value,
            domain.nodes,
            chosen,
            usable,
            domain.matching - own.get(domain.value, 0) if own else domain.matching,
            domain.eligible,
            () if usable else domain.unusable_because,
            candidates,
        )
        for domain, chosen, usable, candidates in zip(report.domains, *numbers, strict=True)
    )


CONSTRAINTS = "topologySpreadConstraints"
