"""What the lint rules ask about a cluster (`lint.facts.ClusterFacts`), answered with the scheduler's own code.

Nodes and domains are those that its plugins count and refuse, asked for a first replica of the workload. What other
workloads decide is left aside, as they may change it: required affinity to their pods, and claims that do not exist.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from functools import cached_property
from typing import Any
from typing import NamedTuple
from typing import Optional

import numpy as np

from kubectl_spread.cluster.columns import Bools
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.explain.explanation import constraint_reports
from kubectl_spread.explain.explanation import ConstraintReport
from kubectl_spread.explain.explanation import passes_all_but_spread
from kubectl_spread.objects.account import Account
from kubectl_spread.objects.account import AntiAffinity
from kubectl_spread.objects.account import Domain
from kubectl_spread.objects.account import Impossible
from kubectl_spread.objects.account import Live
from kubectl_spread.objects.account import Outcome
from kubectl_spread.objects.account import Server
from kubectl_spread.objects.constraint import TopologySpreadConstraint
from kubectl_spread.objects.plain import mappings
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.replica import replica
from kubectl_spread.objects.storage import ObjectKey
from kubectl_spread.objects.version import kubelet_minor
from kubectl_spread.objects.workload import made_claims
from kubectl_spread.objects.workload import replica_name
from kubectl_spread.objects.workload import Workload
from kubectl_spread.scheduler import config
from kubectl_spread.scheduler.beyond import not_evaluated
from kubectl_spread.scheduler.cycle import Filtered
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import PreFilterState
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubectl_spread.simulate import replicas
from kubectl_spread.simulate import search
from kubectl_spread.simulate.controllers import admitted
from kubectl_spread.simulate.controllers import as_running
from kubectl_spread.simulate.controllers import as_stored
from kubectl_spread.simulate.placement import Placement

Plain = dict[str, Any]

_FIELD = "topologySpreadConstraints"

# Plugins whose answer no other pod changes.
_ABOUT_THE_NODE = (names.NODE_UNSCHEDULABLE, names.NODE_NAME, names.TAINT_TOLERATION, names.NODE_AFFINITY)
_CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_WORK = 50_000  # replicas times nodes that one search looks at, about a second
_FEWEST_PATHS, _MOST_PATHS = 5, 200
_SEARCHES = 3  # all workloads together


class _Evidence(NamedTuple):
    """What the plugins say of a workload's first replica, `own` being the pods that run.

    chosen, candidates, usable: bool (N,), nodes that its node affinity allows, that it may use however full they are,
    and that take it as if none of its own pods were there. pod: the first replica; `cls` is its class without what
    others decide. positions: where the constraints that were asked about are written.
    """

    owner: Workload
    pod: Pod
    cls: PodClass
    filtered: Filtered
    chosen: Bools
    candidates: Bools
    usable: Bools
    own: tuple[Pod, ...]
    reports: dict[int, ConstraintReport]
    positions: tuple[int, ...]
    accounts: dict[int, Account]  # as far as somebody asked


class KnownCluster:
    """The nodes and pods of a cluster, and the profiles of its scheduler."""

    def __init__(
        self,
        cluster: Cluster,
        profiles: Optional[Mapping[str, Profile]] = None,
        *,
        placements: Iterable[Placement] = (),
        namespace: str = "default",
        keys: Optional[frozenset[str]] = None,
    ) -> None:
        """Nothing is worked out before it is asked for.

        Args:
            cluster: with what stands beside the workloads applied.
            profiles: the built-in one without them.
            placements: of workloads that were placed already.
            namespace: that of workloads in `default`, which is where those are that name none.
            keys: all that is known of the cluster are the values of these labels; None for a whole cluster.
        """
        self._cluster = cluster
        self._profiles = config.profiles(None, config.LATEST) if profiles is None else profiles
        self._minor = next(iter(self._profiles.values())).minor
        self._namespace = namespace
        self._keys = keys
        self._placements = {_key(placement.workload): placement for placement in placements}
        self._evidence: dict[tuple[Any, ...], tuple[Workload, Optional[_Evidence]]] = {}
        self._outcomes: dict[tuple[Any, ...], tuple[Workload, Optional[Outcome]]] = {}
        self._impossible: dict[tuple[Any, ...], tuple[Workload, Optional[Impossible]]] = {}
        self._searched = 0

    @cached_property
    def node_keys(self) -> frozenset[str]:
        """The label keys that at least one node has."""
        return frozenset(key for node in self._cluster.nodes for key in node.labels)

    def domain_count(self, key: str) -> int:
        """How many values a label has among the nodes."""
        return len({node.labels[key] for node in self._cluster.nodes if key in node.labels})

    @cached_property
    def server(self) -> Optional[Server]:
        """The newest kubelet's version, that of a control plane node if there is one."""
        minors: dict[bool, int] = {}
        for node in self._cluster.nodes:
            minor = kubelet_minor(node.kubelet_version)
            if minor is not None:
                is_control_plane = any(key in node.labels for key in _CONTROL_PLANE)
                minors[is_control_plane] = max(minor, minors.get(is_control_plane, 0))
        return Server(max(minors.values()), is_certain=True in minors) if minors else None

    def account(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[Account]:
        """A constraint on the cluster without the workload's own pods."""
        found = self._evidence_of(workload)
        if found is None or constraint.position not in found.positions:
            return None
        position = found.positions.index(constraint.position)
        if position not in found.accounts and position in found.reports:
            found.accounts[position] = _account(found.reports[position], found)
        return found.accounts.get(position)

    def live(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[Live]:
        """A hard constraint and the workload's pods that run."""
        found = self._evidence_of(workload)
        if found is None or not found.own or constraint.position not in found.positions or not constraint.is_hard:
            return None
        report = found.reports[found.positions.index(constraint.position)]
        eligible = [domain for domain in report.domains if domain.eligible]
        if not eligible:
            return None
        fullest = max(eligible, key=lambda domain: domain.matching)
        emptiest = () if report.is_below_min_domains else report.minimum_in
        return Live(fullest.value, fullest.matching, emptiest, report.global_minimum)

    def anti_affinities(self, workload: Workload) -> tuple[AntiAffinity, ...]:
        """The required anti-affinities that keep the workload's own pods apart, as far as they bound their number."""
        found = self._evidence_of(workload)
        if found is None:
            return ()
        cls, columns = found.cls, found.filtered.columns
        labels, bounds = dict(cls.labels), []
        for position, term in enumerate(cls.pod_anti_affinity):
            if term.matches(cls.namespace, labels, columns.labels_of(cls.namespace)):
                codes = columns.topology(term.topology_key).codes[found.usable]
                if (codes >= 0).all():
                    bounds.append(AntiAffinity(position, term.topology_key, len(np.unique(codes))))
        return tuple(bounds)

    def outcome(self, workload: Workload) -> Optional[Outcome]:
        """What becomes of the workload's pods; where it was placed with others already, in their company."""
        key = _identity(workload)
        if key not in self._outcomes:
            self._outcomes[key] = workload, self._outcome(workload)
        return self._outcomes[key][1]

    def impossible(self, workload: Workload) -> Optional[Impossible]:
        """What keeps some pod out in every way the scheduler could place them, if hard constraints do."""
        key = _identity(workload)
        if key not in self._impossible:
            self._impossible[key] = workload, self._search(workload)
        return self._impossible[key][1]

    def configured_defaults(self, workload: Workload) -> Optional[tuple[TopologySpreadConstraint, ...]]:
        """The default constraints that the scheduler's configuration has instead of those built in, which are None."""
        name = (workload.template.get("spec") or {}).get("schedulerName") or config.DEFAULT_SCHEDULER
        profile = self._profiles.get(name)
        for plugin in () if profile is None else profile.pre_filter:
            if isinstance(plugin, PodTopologySpread):
                return plugin.configured_defaults
        return ()

    @cached_property
    def _scheduler(self) -> Scheduler:
        return Scheduler(Columns(self._cluster), self._profiles)

    @cached_property
    def _own_pods(self) -> dict[OwnerKey, list[Pod]]:
        """Running pods by what controls them, and by their own name."""
        found: dict[OwnerKey, list[Pod]] = {}
        for pod in self._cluster.bound():
            if not pod.terminating:
                for key in (*self._cluster.owners_of(pod), OwnerKey("Pod", pod.namespace, pod.name)):
                    found.setdefault(key, []).append(pod)
        return found

    def _located(self, workload: Workload) -> Workload:
        return workload._replace(namespace=self._namespace) if workload.namespace == "default" else workload

    def _evidence_of(self, workload: Workload) -> Optional[_Evidence]:
        key = _identity(workload)
        if key not in self._evidence:
            self._evidence[key] = workload, self._ask(workload)
        return self._evidence[key][1]

    def _ask(self, workload: Workload) -> Optional[_Evidence]:
        spec = workload.template.get("spec") or {}
        if workload.kind in ("DaemonSet", "PodTemplate") or spec.get("nodeName") or not self._cluster.nodes:
            return None
        owner = self._located(workload)
        owner, positions = _as_known(owner, self._keys)
        own = tuple(self._own_pods.get(_key(owner), ()))
        alone = self._cluster._replace(pods=own)
        pod = replica(as_running(as_stored(admitted(owner, alone), self._minor), alone), 0)
        cls = self._without_others(pod.cls, owner)
        profile = self._profiles.get(cls.scheduler_name)
        if not_evaluated(cls, profile, self._cluster):
            return None
        filtered = self._scheduler.filter(pod._replace(cls=cls))
        if filtered.rejection is not None:
            return None
        reports = {item.constraint.position: item for item in constraint_reports(cls, filtered) if not item.is_default}
        chosen, candidates = _passes(filtered, (names.NODE_AFFINITY,)), _passes(filtered, _ABOUT_THE_NODE)
        usable = _without_own(passes_all_but_spread(filtered), filtered, own)
        return _Evidence(owner, pod, cls, filtered, chosen, candidates, usable, own, reports, positions, {})

    def _without_others(self, cls: PodClass, owner: Workload) -> PodClass:
        """The class without what other pods and claims yet to come decide."""
        claims = self._cluster.storage.claims
        made = made_claims(owner, replica_name(owner, 0))
        kept = tuple(
            volume
            for volume in cls.volumes
            if not volume.claim
            or (
                volume.claim not in made
                and not volume.is_ephemeral
                and (claim := claims.get(ObjectKey(cls.namespace, volume.claim))) is not None
                and claim.is_bound
            )
        )
        return cls._replace(pod_affinity=(), volumes=kept)

    def _outcome(self, workload: Workload) -> Optional[Outcome]:
        owner, _ = _as_known(self._located(workload), self._keys)
        if self._evidence_of(workload) is None or (owner.template.get("spec") or {}).get("schedulingGates"):
            return None
        known = self._placements.get(_key(owner))
        if known is None or not _is_same(known.workload, owner):
            (known,) = replicas.place([owner], self._cluster, self._profiles)
        return None if known.unpredicted else _read(known)

    def _search(self, workload: Workload) -> Optional[Impossible]:
        found = self._evidence_of(workload)
        if found is None:
            return None
        missing = (found.owner.replicas or 0) - len(found.own)
        paths = min(_MOST_PATHS, _WORK // ((missing + 10) * len(self._cluster.nodes) + len(self._cluster.pods)))
        twins = search.twins(found.pod, found.owner, missing)
        if missing < 1 or twins is None or paths < _FEWEST_PATHS:
            return None
        hard = [item.position for item in found.cls.constraints if item.is_hard]
        helping = [position for position in hard if self._all_fit(search.softened(twins, [position]))]
        if not helping and not self._all_fit(search.softened(twins, hard)):
            return None
        if self._searched >= _SEARCHES:
            return None
        self._searched += 1
        kinds = search.alike(found.pod.cls, found.filtered)
        most = search.most_placed(twins, self._cluster, self._profiles, kinds=kinds, paths=paths)
        if most is None or most == missing:
            return None
        return Impossible(len(found.own) + most, tuple(found.positions[position] for position in helping))

    def _all_fit(self, owner: Workload) -> bool:
        (placement,) = replicas.place([owner], self._cluster, self._profiles)
        return len(placement.placed) == owner.replicas


def _key(owner: Workload) -> OwnerKey:
    return OwnerKey(owner.kind, owner.namespace, owner.name)


def _is_same(placed: Workload, owner: Workload) -> bool:
    """Whether a workload was placed as it is asked about: a rule may ask what another constraint would do."""
    specs = [item.template.get("spec") or {} for item in (placed, owner)]
    return placed.replicas == owner.replicas and specs[0].get(_FIELD) == specs[1].get(_FIELD)


def _identity(workload: Workload) -> tuple[Any, ...]:
    """A workload's template is known by its object, which whoever keeps the answer keeps as well."""
    return (*_key(workload), workload.replicas, id(workload.template))


def _passes(filtered: Filtered, plugins: tuple[str, ...]) -> Bools:
    """Bool (N,): nodes that none of the plugins refuses."""
    passes: Bools = filtered.considered.copy()
    for verdict in filtered.verdicts:
        if verdict.plugin in plugins:
            passes &= verdict.bits == 0
    return passes


def _without_own(usable: Bools, filtered: Filtered, own: tuple[Pod, ...]) -> Bools:
    """Add the nodes that take a pod once the workload's own pods there are gone."""
    by_node: dict[int, list[Pod]] = {}
    for pod in own:
        at = filtered.columns.index.get(pod.node_name)
        if at is not None and filtered.considered[at] and not usable[at]:
            by_node.setdefault(at, []).append(pod)
    for at, pods in by_node.items():
        usable[at] = not any(
            verdict.bits[at] and verdict.state.what_if(at, pods, ())
            for verdict in filtered.verdicts
            if verdict.plugin != names.POD_TOPOLOGY_SPREAD
        )
    return usable


def _account(report: ConstraintReport, found: _Evidence) -> Account:
    columns = found.filtered.columns
    topology = columns.topology(report.constraint.topology_key)
    has_key = topology.codes >= 0
    size = len(topology.values)
    chosen = np.bincount(topology.codes[has_key & found.chosen], minlength=size).tolist()
    usable = np.bincount(topology.codes[has_key & found.usable], minlength=size).tolist()
    at = {value: code for code, value in enumerate(topology.values)}
    own = _own_matching(report, found)
    return Account(
        max_skew=report.constraint.max_skew,
        min_domains=report.min_domains,
        counts_own=report.self_match and not report.selector.is_empty,
        nodes=columns.n,
        nodes_with_key=int(has_key.sum()),
        candidates=int(found.candidates.sum()),
        without_key=tuple(columns.nodes[node].name for node in np.flatnonzero(found.candidates & ~has_key)),
        domains=tuple(
            Domain(
                value=domain.value,
                nodes=domain.nodes,
                chosen=chosen[at[domain.value]],
                usable=usable[at[domain.value]],
                matching=domain.matching - own.get(domain.value, 0),
                counted=domain.eligible,
                unusable_because="" if usable[at[domain.value]] else domain.unusable_because,
            )
            for domain in report.domains
        ),
    )


def _own_matching(report: ConstraintReport, found: _Evidence) -> dict[str, int]:
    """How many of the workload's own pods a hard constraint counts in each domain."""
    position = report.constraint.position
    states = [verdict.state for verdict in found.filtered.verdicts if isinstance(verdict.state, PreFilterState)]
    counts = next((item for state in states for item in state.counts if item.constraint.position == position), None)
    numbers: dict[str, int] = {}
    if counts is None or report.selector.is_empty:
        return numbers
    for pod in found.own:
        at = found.filtered.columns.index.get(pod.node_name)
        if at is not None and counts.included[at] and report.selector.matches(dict(pod.cls.labels)):
            value = counts.topology.values[counts.topology.codes[at]]
            numbers[value] = numbers.get(value, 0) + 1
    return numbers


def _read(placement: Placement) -> Outcome:
    pending = placement.pending
    if not pending:
        return Outcome(len(placement.placed), 0)
    conflicts = pending[0].explanation.conflicts
    return Outcome(
        len(placement.placed),
        len(pending),
        tuple(requirement.text for requirement in conflicts[0].requirements) if conflicts else (),
        any(item.explanation.nominated_node for item in pending),
    )


def _as_known(owner: Workload, keys: Optional[frozenset[str]]) -> tuple[Workload, tuple[int, ...]]:
    """A workload without what nodes of which only some labels are known say nothing about.

    What is left asks for less, so that what does not fit would not fit either as it is written. Also the positions
    of the constraints that are left.
    """
    spec: Plain = owner.template.get("spec") or {}
    written = mappings(spec.get(_FIELD))
    if keys is None:
        return owner, tuple(range(len(written)))
    positions = tuple(at for at, item in enumerate(written) if item.get("topologyKey") in keys)
    kept: Plain = {
        _FIELD: [written[at] for at in positions],
        "nodeSelector": {key: value for key, value in (spec.get("nodeSelector") or {}).items() if key in keys},
        "affinity": {"podAntiAffinity": (spec.get("affinity") or {}).get("podAntiAffinity") or {}},
    }
    if spec.get("schedulerName"):
        kept["schedulerName"] = spec["schedulerName"]
    template = {"metadata": owner.template.get("metadata") or {}, "spec": kept}
    return owner._replace(template=template, claim_templates=()), positions
