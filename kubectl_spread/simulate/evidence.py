"""Evidence about the workloads of a cluster: the plugins' verdicts on the first replica of each, and its domains."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cached_property
from typing import Any, Generic, NamedTuple, Optional, TypeVar

import numpy as np

from kubectl_spread.cluster.building.build import admitted_workload, stored_workload
from kubectl_spread.cluster.facts import ConstraintFacts, DomainFacts
from kubectl_spread.cluster.ownership import OwnedPods, workload_of
from kubectl_spread.cluster.snapshot import Cluster, key_of
from kubectl_spread.cluster.tables.columns import Bools, Columns, Topology
from kubectl_spread.explain.constraints.report import (
    constraint_reports,
    ConstraintReport,
    passes_all_but_spread,
    SharedDomains,
)
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.reading.plain import mappings
from kubectl_spread.objects.selectors.labels import HOSTNAME
from kubectl_spread.objects.storage import NamespacedName
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.objects.workloads.workload import claim_names, replica_name, Workload
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts, PreFilterState
from kubectl_spread.scheduler.unsupported import unsupported_features
from kubectl_spread.simulate.placement import Placement
from kubectl_spread.simulate.running.controllers import running_workload


class Evidence(NamedTuple):
    """Plugins' verdicts on a workload's first replica.

    pod: the first replica.
    pod_class: its class without requirements that other pods or later claims decide.
    chosen: bool (N,), nodes that its node affinity allows.
    candidates: bool (N,), nodes that it may use, full ones included.
    usable: bool (N,), nodes that accept it if none of the workload's own pods runs there.
    own: the workload's running pods.
    positions: positions of the constraints in the manifest.
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
        return self.report.selector.matches(dict(pod.cls.labels))

    def own_matching(self) -> dict[str, int]:
        """Count the workload's own pods in each domain."""
        numbers: dict[str, int] = {}
        for pod in () if self.report.selector.is_empty else self.evidence.own:
            value = self.domain_of(pod)
            if value is not None and self.selects(pod):
                numbers[value] = numbers.get(value, 0) + 1
        return numbers


def counted_constraint(report: ConstraintReport, found: Evidence) -> Optional[CountedConstraint]:
    """Return a constraint with the plugin's counts; None for a soft one."""
    position = report.constraint.position
    states = [verdict.state for verdict in found.filtered.plugin_results if isinstance(verdict.state, PreFilterState)]
    counts = next((item for state in states for item in state.counts if item.constraint.position == position), None)
    return None if counts is None else CountedConstraint(found, report, counts)


def passes(filtered: FilterResult, plugins: tuple[str, ...]) -> Bools:
    """Return a mask of the nodes that no plugin refuses, bool (N,)."""
    left: Bools = filtered.considered.copy()
    for verdict in filtered.plugin_results:
        if verdict.plugin in plugins:
            left &= verdict.bits == 0
    return left


def without_own(usable: Bools, filtered: FilterResult, own: tuple[Pod, ...]) -> Bools:
    """Add the nodes that can take a pod once the workload's own pods there are gone."""
    by_node: dict[int, list[Pod]] = {}
    for pod in own:
        at = filtered.columns.index.get(pod.node_name)
        if at is not None and filtered.considered[at] and not usable[at]:
            by_node.setdefault(at, []).append(pod)
    for at, pods in by_node.items():
        usable[at] = not any(
            verdict.bits[at] and verdict.state.filter_with(at, pods, ())
            for verdict in filtered.plugin_results
            if verdict.plugin != names.POD_TOPOLOGY_SPREAD
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
    counted = counted_constraint(report, found)
    own = {} if counted is None else counted.own_matching()
    nodes = (found.chosen, found.usable, found.candidates)
    key = (id(report.domains), *(mask.tobytes() for mask in nodes), tuple(own.items()))
    domains = shared.get(key)
    if domains is None:
        domains = shared[key] = _domains(report, nodes, own, topology)
    return ConstraintFacts(
        max_skew=report.constraint.max_skew,
        min_domains=report.min_domains,
        counts_own=report.self_match and not report.selector.is_empty,
        nodes=columns.n,
        nodes_with_key=int(has_key.sum()),
        candidates=int(found.candidates.sum()),
        without_key=tuple(columns.nodes[node].name for node in np.flatnonzero(found.candidates & ~has_key)),
        domains=domains,
        sharing=() if counted is None or report.constraint.topology_key != HOSTNAME else _sharing(counted),
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


def _sharing(counted: CountedConstraint) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the hostname values that several counted nodes share, with the names of these nodes."""
    found, counts = counted.evidence, counted.counts
    nodes: dict[str, list[str]] = {}
    for at in np.flatnonzero(found.candidates & counts.included).tolist():
        nodes.setdefault(counts.topology.values[counts.topology.codes[at]], []).append(
            found.filtered.columns.nodes[at].name
        )
    return tuple((value, tuple(names)) for value, names in sorted(nodes.items()) if len(names) > 1)


Plain = dict[str, Any]
T = TypeVar("T")

# Plugins whose verdict does not depend on other pods.
_ABOUT_THE_NODE = (names.NODE_UNSCHEDULABLE, names.NODE_NAME, names.TAINT_TOLERATION, names.NODE_AFFINITY)
_CONSTRAINTS = "topologySpreadConstraints"


class PerWorkload(Generic[T]):
    """A value for each workload, computed on first use."""

    def __init__(self, compute: Callable[[Workload], T]) -> None:
        self._compute = compute
        self._found: dict[tuple[Any, ...], tuple[Workload, T]] = {}

    def __call__(self, workload: Workload) -> T:
        """Return the value of a workload."""
        # The key has the id() of the template, so the workload is stored to keep the template alive.
        key = (*key_of(workload), workload.replicas, id(workload.template))
        if key not in self._found:
            self._found[key] = workload, self._compute(workload)
        return self._found[key][1]


class EvidenceFinder:
    """Evidence about each workload, on the nodes and running pods of a cluster."""

    def __init__(
        self,
        cluster: Cluster,
        profiles: Mapping[str, Profile],
        placements: Mapping[ObjectKey, Placement],
        *,
        namespace: str,
        keys: Optional[frozenset[str]],
    ) -> None:
        """Store the input. All results are computed on first use.

        Args:
            cluster: with the other objects of the manifests applied.
            profiles: of the scheduler.
            placements: of workloads that are already placed.
            namespace: replaces `default`.
            keys: label keys of nodes whose values are all that is known of the cluster; None for a whole cluster.
        """
        self._cluster = cluster
        self._profiles = profiles
        self._minor = next(iter(profiles.values())).minor
        self._placements = placements
        self._namespace = namespace
        self._keys = keys
        self._evidence = PerWorkload(self._ask)
        self._shared_reports: SharedDomains = {}

    def __call__(self, workload: Workload) -> Optional[Evidence]:
        """Return the evidence about a workload; None if the scheduler does not place it or may not know its pods."""
        return self._evidence(workload)

    def locate(self, workload: Workload) -> Workload:
        """Return a workload in its namespace."""
        return workload._replace(namespace=self._namespace) if workload.namespace == "default" else workload

    def known_part(self, workload: Workload) -> tuple[Workload, tuple[int, ...]]:
        """Return a workload reduced to fields about known node labels, and the positions of the constraints left."""
        return _as_known(self.locate(workload), self._keys)

    @cached_property
    def columns(self) -> Columns:
        """Return the bound pods of the cluster."""
        return Columns(self._cluster)

    @cached_property
    def _scheduler(self) -> Scheduler:
        return Scheduler(self.columns, self._profiles)

    @cached_property
    def _owned(self) -> OwnedPods:
        return OwnedPods(self._cluster)

    @cached_property
    def _own_pods(self) -> dict[ObjectKey, list[Pod]]:
        """Return the running pods by their controllers and by their own name."""
        found: dict[ObjectKey, list[Pod]] = {}
        for pod in self._cluster.bound_pods():
            if not pod.terminating:
                for key in self._keys_of(pod):
                    found.setdefault(key, []).append(pod)
        return found

    def _keys_of(self, pod: Pod) -> Iterable[ObjectKey]:
        own = ObjectKey("Pod", pod.namespace, pod.name)
        return dict.fromkeys((*self._cluster.owners_of(pod), workload_of(pod, self._cluster), own))

    def _ask(self, workload: Workload) -> Optional[Evidence]:
        spec = workload.template.get("spec") or {}
        if workload.kind in ("DaemonSet", "PodTemplate") or spec.get("nodeName") or not self._cluster.nodes:
            return None
        owner, positions = self.known_part(workload)
        own = tuple(self._own_pods.get(key_of(owner), ()))
        alone = self._owned.only(own)
        pod = self._first_replica(
            running_workload(stored_workload(admitted_workload(owner, alone.cluster), self._minor), alone)
        )
        pod_class = self._without_others(pod.cls, owner)
        profile = self._profiles.get(pod_class.scheduler_name)
        if unsupported_features(pod_class, profile, self._cluster):
            return None
        filtered = self._scheduler.filter(pod._replace(cls=pod_class))
        if filtered.rejection is not None:
            return None
        made = constraint_reports(pod_class, filtered, shared=self._shared_reports)
        reports = {item.constraint.position: item for item in made if not item.is_default}
        chosen, candidates = passes(filtered, (names.NODE_AFFINITY,)), passes(filtered, _ABOUT_THE_NODE)
        usable = without_own(passes_all_but_spread(filtered), filtered, own)
        return Evidence(owner, pod, pod_class, filtered, chosen, candidates, usable, own, reports, positions, {})

    def _first_replica(self, owner: Workload) -> Pod:
        """Return the first pod of a workload, created here unless the placement has created it already."""
        known = self._placements.get(key_of(owner))
        if known is not None and known.first_replica is not None and known.workload == owner:
            return known.first_replica
        return replica(owner, 0)

    def _without_others(self, pod_class: PodClass, owner: Workload) -> PodClass:
        """Return the class without requirements that other pods or later claims decide."""
        claims = self._cluster.storage.claims
        made = claim_names(owner, replica_name(owner, 0))
        kept = tuple(
            volume
            for volume in pod_class.volumes
            if not volume.claim
            or (
                volume.claim not in made
                and not volume.is_ephemeral
                and (claim := claims.get(NamespacedName(pod_class.namespace, volume.claim))) is not None
                and claim.is_bound
            )
        )
        return pod_class._replace(pod_affinity=(), volumes=kept)


def _as_known(owner: Workload, keys: Optional[frozenset[str]]) -> tuple[Workload, tuple[int, ...]]:
    """Return a workload reduced to fields about known node labels, and the positions of the constraints left.

    The reduced workload requires less. So if it does not fit, the written one does not fit either.
    """
    spec: Plain = owner.template.get("spec") or {}
    written = mappings(spec.get(_CONSTRAINTS))
    if keys is None:
        return owner, tuple(range(len(written)))
    positions = tuple(at for at, item in enumerate(written) if item.get("topologyKey") in keys)
    kept: Plain = {
        _CONSTRAINTS: [written[at] for at in positions],
        "nodeSelector": {key: value for key, value in (spec.get("nodeSelector") or {}).items() if key in keys},
        "affinity": {"podAntiAffinity": (spec.get("affinity") or {}).get("podAntiAffinity") or {}},
    }
    if spec.get("schedulerName"):
        kept["schedulerName"] = spec["schedulerName"]
    template = {"metadata": owner.template.get("metadata") or {}, "spec": kept}
    return owner._replace(template=template, claim_templates=()), positions
