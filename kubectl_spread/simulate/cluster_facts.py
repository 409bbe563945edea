"""Answers to the lint rules' questions about a cluster (`cluster.facts.ClusterFacts`), computed by the scheduler model.

The plugins filter the first replica of the workload; their counts and refusals are the answers. Required affinity to
other workloads' pods and claims that do not exist are ignored, because other workloads may change them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Optional

from kubectl_spread.cluster.building.stored import admitted, as_stored
from kubectl_spread.cluster.facts import (
    AntiAffinity,
    ConstraintFacts,
    ForeignPods,
    Impossible,
    PlacedReplicas,
    PodsPerDomain,
    RefutedRule,
    RolloutFacts,
    Server,
)
from kubectl_spread.cluster.ownership import OwnedPods, owner_of, workload_of
from kubectl_spread.cluster.snapshot import Cluster, OwnerKey
from kubectl_spread.cluster.tables.arrays import distinct
from kubectl_spread.cluster.tables.columns import Columns
from kubectl_spread.explain.constraints.report import (
    constraint_reports,
    ConstraintReport,
    passes_all_but_spread,
    SharedDomains,
)
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.constraints.constraint_counts import ConstraintCounts
from kubectl_spread.objects.constraints.uncounted import Uncounted, uncounted
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.reading.plain import mappings
from kubectl_spread.objects.releases.version import kubelet_minor
from kubectl_spread.objects.storage import NO_PROVISIONER, ObjectKey
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.objects.workloads.workload import made_claims, replica_name, Workload
from kubectl_spread.policy.policy import Policy
from kubectl_spread.scheduler.configuration import profiles as scheduler_profiles
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubectl_spread.scheduler.unsupported import not_evaluated
from kubectl_spread.simulate import exhaustive, node_kinds, replicas, scale_down
from kubectl_spread.simulate.first_replica import (
    account_of,
    counts_of,
    domain_of,
    Evidence,
    own_matching,
    passes,
    Shared,
    without_own,
)
from kubectl_spread.simulate.placement import Certainty, Placement
from kubectl_spread.simulate.rollouts import scaling
from kubectl_spread.simulate.rollouts.result import Rollouts
from kubectl_spread.simulate.running.controllers import as_running
from kubectl_spread.simulate.running.policy_facts import PolicyFacts

Plain = dict[str, Any]

_FIELD = "topologySpreadConstraints"

# Plugins whose verdict does not depend on other pods.
_ABOUT_THE_NODE = (names.NODE_UNSCHEDULABLE, names.NODE_NAME, names.TAINT_TOLERATION, names.NODE_AFFINITY)
_NO_SPECS: Mapping[str, Plain] = {}
_CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_WORK = 50_000  # Limit of replicas times nodes in one search, about a second.
_FEWEST_PATHS, _MOST_PATHS = 5, 200
_SEARCHES = 3  # Limit for all workloads together.


class KnownCluster:
    """Nodes and pods of a cluster, and the profiles of its scheduler."""

    def __init__(
        self,
        cluster: Cluster,
        profiles: Optional[Mapping[str, Profile]] = None,
        *,
        placements: Iterable[Placement] = (),
        rollouts: Optional[Rollouts] = None,
        namespace: str = "default",
        keys: Optional[frozenset[str]] = None,
        policies: Sequence[Policy] = (),
        specs: Mapping[str, Plain] = _NO_SPECS,
    ) -> None:
        """Store the input. All results are computed on first use.

        Args:
            cluster: with the other objects of the manifests applied.
            profiles: of the scheduler; the built-in one if None.
            placements: of workloads that are already placed.
            rollouts: of these workloads.
            namespace: replaces `default`, also for workloads without a namespace.
            keys: label keys of nodes whose values are all that is known of the cluster; None for a whole cluster.
            policies: that the workloads are to keep.
            specs: of the workloads, by their keys.
        """
        self._cluster = cluster
        self._profiles = scheduler_profiles.profiles() if profiles is None else profiles
        self._minor = next(iter(self._profiles.values())).minor
        self._namespace = namespace
        self._keys = keys
        self._rollouts = rollouts
        self._placements = {_key(placement.workload): placement for placement in placements}
        self._evidence: dict[tuple[Any, ...], tuple[Workload, Optional[Evidence]]] = {}
        self._known: dict[tuple[Any, ...], tuple[Workload, Optional[Placement]]] = {}
        self._impossible: dict[tuple[Any, ...], tuple[Workload, Optional[Impossible]]] = {}
        self._shared_reports = SharedDomains()
        self._shared_domains: Shared = {}
        self._searched = 0
        self._policies = PolicyFacts(policies, [item.workload for item in self._placements.values()], specs)

    @cached_property
    def node_keys(self) -> frozenset[str]:
        """Return the label keys that at least one node has."""
        return frozenset(key for node in self._cluster.nodes for key in node.labels)

    def refuted(self, workload: Workload) -> tuple[RefutedRule, ...]:
        """Return the violated rules of the policies for a group of workloads, if the workload is its first."""
        return self._policies.refuted(workload, self._cluster, self._profiles) if self._keys is None else ()

    def domain_count(self, key: str) -> int:
        """Count the values of a label among the nodes."""
        return len({node.labels[key] for node in self._cluster.nodes if key in node.labels})

    @cached_property
    def server(self) -> Optional[Server]:
        """Return the newest kubelet version, preferably of a control-plane node; None if unknown."""
        minors: dict[bool, int] = {}
        for node in self._cluster.nodes:
            minor = kubelet_minor(node.kubelet_version)
            if minor is not None:
                is_control_plane = any(key in node.labels for key in _CONTROL_PLANE)
                minors[is_control_plane] = max(minor, minors.get(is_control_plane, 0))
        return Server(max(minors.values()), is_certain=True in minors) if minors else None

    def constraint_facts(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[ConstraintFacts]:
        """Return a constraint's domains and counts without the workload's own pods."""
        found = self._evidence_of(workload)
        if found is None or constraint.position not in found.positions:
            return None
        position = found.positions.index(constraint.position)
        if position not in found.accounts and position in found.reports:
            account = account_of(found.reports[position], found, self._shared_domains)
            # A combination of labels is not a node, so the number of nodes is unknown.
            found.accounts[position] = account if self._keys is None else account._replace(sharing=())
        return found.accounts.get(position)

    def live(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[ConstraintCounts]:
        """Return the counts of a hard constraint if pods of the workload run."""
        found, report = self._hard(workload, constraint)
        if found is None or report is None or not found.own or not report.eligible_domains:
            return None
        return report.counts

    def uncounted(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[Uncounted]:
        """Return the workload's running pods that a constraint's selector does not match, if it matches others."""
        found = self._evidence_of(workload)
        if found is None or not found.own:
            return None
        return uncounted(constraint, found.own, dict(found.pod_class.labels))

    def placed_again(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[PodsPerDomain]:
        """Place the running pods again as if none of them ran; returns None unless all find a node."""
        found, report = self._hard(workload, constraint)
        if found is None or report is None:
            return None
        gone = {pod.key for pod in found.own}
        without = self._cluster._replace(pods=tuple(pod for pod in self._cluster.pods if pod.key not in gone))
        (placement,) = replicas.place([found.owner._replace(replicas=len(found.own))], without, self._profiles)
        return None if len(placement.placed) < placement.replicas else _spread(placement, constraint)

    def placed(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[PodsPerDomain]:
        """Return the placement of a workload's pods if none runs yet; None if unknown, or if some stay Pending."""
        placement = self._placement_of(workload) if self._keys is None else None
        if placement is None or len(placement.placed) < placement.replicas:
            return None
        return None if any(pod.ran_already for pod in placement.placed) else _spread(placement, constraint)

    def others(self, workload: Workload, constraint: TopologySpreadConstraint) -> tuple[ForeignPods, ...]:
        """Return the other workloads whose running pods a hard constraint counts."""
        found, report = self._hard(workload, constraint)
        counts = None if found is None or report is None else counts_of(report, found)
        if found is None or report is None or counts is None or report.selector.is_empty:
            return ()
        own = {pod.key for pod in found.own}
        domains: dict[OwnerKey, list[str]] = {}
        for pod in self._by_namespace.get(found.pod_class.namespace, ()):
            owner = owner_of(pod.cls, self._cluster)
            if owner is not None and pod.key not in own and report.selector.matches(dict(pod.cls.labels)):
                value = domain_of(pod, counts, found)
                if value is not None:
                    domains.setdefault(owner, []).append(value)
        return tuple(ForeignPods(key.kind, key.name, tuple(sorted(domains[key]))) for key in sorted(domains))

    def pods_of_other_namespaces(
        self, workload: Workload, constraint: TopologySpreadConstraint
    ) -> tuple[tuple[str, int], ...]:
        """Count the pods of other namespaces that a constraint selects, without workloads of the same kind and name."""
        found = self._evidence_of(workload)
        if found is None or constraint.position not in found.positions:
            return ()
        report = found.reports[found.positions.index(constraint.position)]
        numbers: dict[str, int] = {}
        for namespace, pods in self._by_namespace.items():
            for pod in () if namespace == found.pod_class.namespace else pods:
                owner = owner_of(pod.cls, self._cluster)
                is_like = owner is not None and (owner.kind, owner.name) == (workload.kind, workload.name)
                if not is_like and report.selector.matches(dict(pod.cls.labels)):
                    numbers[namespace] = numbers.get(namespace, 0) + 1
        return tuple(sorted(numbers.items()))

    def scaled_down(
        self, workload: Workload, constraint: TopologySpreadConstraint, replicas: int
    ) -> Optional[ConstraintCounts]:
        """Return the smallest skew that a scale-down can leave: over all simulated outcomes, or else a bound."""
        found, report = self._hard(workload, constraint)
        counts = None if found is None or report is None else counts_of(report, found)
        if found is None or report is None or counts is None or len({pod.owner for pod in found.own}) != 1:
            return None
        if workload.kind not in ("Deployment", "ReplicaSet") or any(pod.phase != "Running" for pod in found.own):
            return None
        pods = [(pod.node_name, domain_of(pod, counts, found)) for pod in found.own]
        own = own_matching(report, found)
        base = {item.value: item.matching - own.get(item.value, 0) for item in report.domains if item.eligible}
        bound = scale_down.least_uneven(pods, base, replicas)
        if bound is None or all(pod.is_ready is not False and not pod.deletion_cost for pod in found.own):
            return bound  # It is exact for pods that are all ready and equally cheap to delete.
        outcomes = scaling.remaining(
            found.owner._replace(replicas=len(found.own)), replicas, self._cluster, self._profiles, bound=self._columns
        )
        if not outcomes or any(len(nodes) != replicas for nodes in outcomes):
            return bound
        domains = dict(pods)  # by node
        best = _least_uneven(base, [Counter(domains.get(node) for node in nodes) for nodes in outcomes])
        return bound if best.skew == bound.skew else best  # Of equal domains the bound names the same each time.

    def has_claims(self, workload: Workload) -> bool:
        """Return whether a claim that a StatefulSet creates for one of its pods exists already."""
        owner = self._located(workload)
        prefixes = tuple(made_claims(owner, f"{owner.name}-"))
        return any(
            key.namespace == owner.namespace and key.name.startswith(prefixes) for key in self._cluster.storage.claims
        )

    def volume_values(self, class_name: Optional[str], key: str) -> Optional[frozenset[str]]:
        """Return the values of a node label that a StorageClass allows for volumes that wait for their pod."""
        storage = self._cluster.storage
        named = [
            item
            for item in storage.classes.values()
            if (item.is_default if class_name is None else item.name == class_name)
        ]
        found = named[0] if len(named) == 1 else None
        if found is None or not found.waits or found.provisioner in ("", NO_PROVISIONER):
            return None
        if any(volume.storage_class == found.name and not volume.claim_uid for volume in storage.volumes.values()):
            return None
        return found.allowed_values(key)

    def anti_affinities(self, workload: Workload) -> tuple[AntiAffinity, ...]:
        """Return the required anti-affinities between the workload's own pods that limit their number."""
        found = self._evidence_of(workload)
        if found is None:
            return ()
        pod_class, columns = found.pod_class, found.filtered.columns
        labels, bounds = dict(pod_class.labels), []
        for position, term in enumerate(pod_class.pod_anti_affinity):
            if term.matches(pod_class.namespace, labels, columns.labels_of(pod_class.namespace)):
                codes = columns.topology(term.topology_key).codes[found.usable]
                if (codes >= 0).all():
                    bounds.append(AntiAffinity(position, term.topology_key, len(distinct(codes))))
        return tuple(bounds)

    def outcome(self, workload: Workload) -> Optional[PlacedReplicas]:
        """Return how many of the workload's pods find a node, with other workloads if they were placed together."""
        placement = self._placement_of(workload)
        return None if placement is None else _read(placement)

    def impossible(self, workload: Workload) -> Optional[Impossible]:
        """Return the hard constraints that keep some pod Pending in every possible placement; None without any."""
        key = _identity(workload)
        if key not in self._impossible:
            self._impossible[key] = workload, self._search(workload)
        return self._impossible[key][1]

    def rollout(self, workload: Workload) -> Optional[RolloutFacts]:
        """Return how the next rollout of a workload ends; None if it was not simulated."""
        found = None if self._rollouts is None else self._rollouts.rollout_of(_key(self._located(workload)))
        if found is None or found.verdict is None:
            return None
        if found.summary is None:
            return RolloutFacts(1, 0, found.is_exact)
        endings, conflicts = found.summary.endings, () if found.explanation is None else found.explanation.conflicts
        stuck = sum(not item.is_complete for item in endings)
        conflict = tuple(item.text for item in conflicts[0].requirements) if conflicts else ()
        return RolloutFacts(len(endings), stuck, found.is_exact, conflict)

    def configured_defaults(self, workload: Workload) -> Optional[tuple[TopologySpreadConstraint, ...]]:
        """Return the default constraints of the scheduler's configuration; None for the built-in ones."""
        name = (workload.template.get("spec") or {}).get("schedulerName") or scheduler_profiles.DEFAULT_SCHEDULER
        profile = self._profiles.get(name)
        for plugin in () if profile is None else profile.pre_filter:
            if isinstance(plugin, PodTopologySpread):
                return plugin.configured_defaults
        return ()

    @cached_property
    def _owned(self) -> OwnedPods:
        return OwnedPods(self._cluster)

    @cached_property
    def _columns(self) -> Columns:
        return Columns(self._cluster)

    @cached_property
    def _scheduler(self) -> Scheduler:
        return Scheduler(self._columns, self._profiles)

    @cached_property
    def _by_namespace(self) -> dict[str, list[Pod]]:
        """Return the bound pods that constraints count, by namespace."""
        found: dict[str, list[Pod]] = {}
        for pod in self._cluster.bound():
            if not pod.terminating:
                found.setdefault(pod.namespace, []).append(pod)
        return found

    @cached_property
    def _own_pods(self) -> dict[OwnerKey, list[Pod]]:
        """Return the running pods by their controllers and by their own name."""
        found: dict[OwnerKey, list[Pod]] = {}
        for pod in self._cluster.bound():
            if not pod.terminating:
                for key in self._keys_of(pod):
                    found.setdefault(key, []).append(pod)
        return found

    def _keys_of(self, pod: Pod) -> Iterable[OwnerKey]:
        own = OwnerKey("Pod", pod.namespace, pod.name)
        return dict.fromkeys((*self._cluster.owners_of(pod), workload_of(pod, self._cluster), own))

    def _located(self, workload: Workload) -> Workload:
        return workload._replace(namespace=self._namespace) if workload.namespace == "default" else workload

    def _hard(
        self, workload: Workload, constraint: TopologySpreadConstraint
    ) -> tuple[Optional[Evidence], Optional[ConstraintReport]]:
        """Return the plugin's report of a hard constraint."""
        found = self._evidence_of(workload)
        if found is None or constraint.position not in found.positions or not constraint.is_hard:
            return None, None
        return found, found.reports.get(found.positions.index(constraint.position))

    def _evidence_of(self, workload: Workload) -> Optional[Evidence]:
        key = _identity(workload)
        if key not in self._evidence:
            self._evidence[key] = workload, self._ask(workload)
        return self._evidence[key][1]

    def _ask(self, workload: Workload) -> Optional[Evidence]:
        spec = workload.template.get("spec") or {}
        if workload.kind in ("DaemonSet", "PodTemplate") or spec.get("nodeName") or not self._cluster.nodes:
            return None
        owner = self._located(workload)
        owner, positions = _as_known(owner, self._keys)
        own = tuple(self._own_pods.get(_key(owner), ()))
        alone = self._owned.only(own)
        pod = self._first_replica(as_running(as_stored(admitted(owner, alone.cluster), self._minor), alone))
        pod_class = self._without_others(pod.cls, owner)
        profile = self._profiles.get(pod_class.scheduler_name)
        if not_evaluated(pod_class, profile, self._cluster):
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
        known = self._placements.get(_key(owner))
        if known is not None and known.first_replica is not None and known.workload == owner:
            return known.first_replica
        return replica(owner, 0)

    def _without_others(self, pod_class: PodClass, owner: Workload) -> PodClass:
        """Return the class without requirements that other pods or later claims decide."""
        claims = self._cluster.storage.claims
        made = made_claims(owner, replica_name(owner, 0))
        kept = tuple(
            volume
            for volume in pod_class.volumes
            if not volume.claim
            or (
                volume.claim not in made
                and not volume.is_ephemeral
                and (claim := claims.get(ObjectKey(pod_class.namespace, volume.claim))) is not None
                and claim.is_bound
            )
        )
        return pod_class._replace(pod_affinity=(), volumes=kept)

    def _placement_of(self, workload: Workload) -> Optional[Placement]:
        key = _identity(workload)
        if key not in self._known:
            self._known[key] = workload, self._placement(workload)
        return self._known[key][1]

    def _placement(self, workload: Workload) -> Optional[Placement]:
        owner, _ = _as_known(self._located(workload), self._keys)
        if self._evidence_of(workload) is None or (owner.template.get("spec") or {}).get("schedulingGates"):
            return None
        known = self._placements.get(_key(owner))
        if known is None or not _is_same(known.workload, owner):
            (known,) = replicas.place([owner], self._cluster, self._profiles)
        return None if known.unpredicted else known

    def _search(self, workload: Workload) -> Optional[Impossible]:
        """Search all placements of the missing pods, if there are not too many."""
        found = self._evidence_of(workload)
        if found is None:
            return None
        missing = (found.owner.replicas or 0) - len(found.own)
        paths = min(_MOST_PATHS, _WORK // ((missing + 10) * len(self._cluster.nodes) + len(self._cluster.pods)))
        twins = exhaustive.twins(found.pod, found.owner, missing)
        if missing < 1 or twins is None or paths < _FEWEST_PATHS:
            return None
        helping = self._helping(found, twins)
        if helping is None or self._searched >= _SEARCHES:
            return None
        self._searched += 1
        kinds = node_kinds.alike_to_filter(found.pod.cls, found.filtered)
        most = exhaustive.most_placed(twins, self._cluster, self._profiles, kinds=kinds, paths=paths)
        if most is None or most == missing:
            return None
        return Impossible(len(found.own) + most, tuple(found.positions[position] for position in helping))

    def _helping(self, found: Evidence, twins: Workload) -> Optional[list[int]]:
        """Return the positions of the hard constraints that help: softening one of them lets all pods fit.

        Returns None if even softening all of them does not help.
        """
        hard = [item.position for item in found.pod_class.constraints if item.is_hard]
        helping = [position for position in hard if self._all_fit(exhaustive.softened(twins, [position]))]
        return helping if helping or self._all_fit(exhaustive.softened(twins, hard)) else None

    def _all_fit(self, owner: Workload) -> bool:
        (placement,) = replicas.place([owner], self._cluster, self._profiles)
        return len(placement.placed) == owner.replicas


def _key(owner: Workload) -> OwnerKey:
    return OwnerKey(owner.kind, owner.namespace, owner.name)


def _is_same(placed: Workload, owner: Workload) -> bool:
    """Return whether a workload was placed with the same constraints, as a rule may ask about changed ones."""
    specs = [item.template.get("spec") or {} for item in (placed, owner)]
    return placed.replicas == owner.replicas and specs[0].get(_FIELD) == specs[1].get(_FIELD)


def _identity(workload: Workload) -> tuple[Any, ...]:
    """Return a key of a workload. It contains the id() of the template, so store the workload with the key."""
    return (*_key(workload), workload.replicas, id(workload.template))


def _spread(placement: Placement, constraint: TopologySpreadConstraint) -> PodsPerDomain:
    counts = placement.domains.get(constraint.topology_key, {})
    return PodsPerDomain(tuple(sorted(counts.items())), placement.certainty is Certainty.CERTAIN)


def _read(placement: Placement) -> PlacedReplicas:
    pending, evicts = placement.pending, bool(placement.evictions)
    if not pending:
        absent = len(placement.not_created) + len(placement.refused)
        return PlacedReplicas(len(placement.placed), absent, is_preempting=evicts)
    conflicts = pending[0].explanation.conflicts
    requirements = conflicts[0].requirements if conflicts else ()
    return PlacedReplicas(
        len(placement.placed),
        len(pending) + len(placement.not_created) + len(placement.refused),
        tuple(requirement.text for requirement in requirements),
        evicts or any(item.explanation.nominated_node for item in pending),
        any(part.position is not None for item in requirements for part in (item, *item.parts)),
    )


def _as_known(owner: Workload, keys: Optional[frozenset[str]]) -> tuple[Workload, tuple[int, ...]]:
    """Return a workload reduced to fields about known node labels, and the positions of the constraints left.

    The reduced workload requires less. So if it does not fit, the written one does not fit either.
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


def _least_uneven(base: Mapping[str, int], outcomes: Sequence[Counter[Optional[str]]]) -> ConstraintCounts:
    """Return the counts with the smallest skew; base: other matching pods, by domain."""
    results = [ConstraintCounts({value: base[value] + pods[value] for value in base}) for pods in outcomes]
    return min(results, key=lambda counts: counts.skew or 0)
