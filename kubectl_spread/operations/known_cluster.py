"""Answers to the lint rules' questions about a cluster, as records of `cluster.facts`, from the scheduler model.

The plugins filter the first replica of the workload; their counts and refusals are the answers. Required affinity to
other workloads' pods and claims that do not exist are ignored, because other workloads may change them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Optional, TYPE_CHECKING, TypeVar

from kubectl_spread.cluster.build import stored_workload
from kubectl_spread.cluster.columns import Columns, unique
from kubectl_spread.cluster.facts import (
    AntiAffinity,
    ConstraintFacts,
    DomainFacts,
    ForeignPods,
    Impossible,
    PlacedReplicas,
    PodsPerDomain,
    RefutedRule,
    Server,
)
from kubectl_spread.cluster.ownership import OwnedPods, owner_of
from kubectl_spread.cluster.snapshot import Cluster, Controller, key_of
from kubectl_spread.containers import grouped
from kubectl_spread.engine.loading import remaining_pods, RemainingPods
from kubectl_spread.engine.nodes import set_cordon
from kubectl_spread.engine.placing import max_placed_pods
from kubectl_spread.engine.results.certainty import Certainty
from kubectl_spread.engine.workloads import running_pods, running_workload
from kubectl_spread.explain import replicas
from kubectl_spread.explain.constraint_report import constraint_reports, ConstraintReport, SharedDomains
from kubectl_spread.explain.placement import Placement
from kubectl_spread.explain.replicas import as_replicaset, new_pods, Start
from kubectl_spread.explain.status import find_uncounted, UncountedPods
from kubectl_spread.guarantee.policy import Policy
from kubectl_spread.guarantee.texts import rule_text, violation_text
from kubectl_spread.guarantee.verdict import GroupResult
from kubectl_spread.objects.constraints.constraint import ConstraintCounts, SOFT, TopologySpreadConstraint
from kubectl_spread.objects.keys import NamespacedName, ObjectKey
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.reading.plain import fields, mappings, Plain
from kubectl_spread.objects.releases.version import kubelet_minor
from kubectl_spread.objects.selectors import CONTROL_PLANE
from kubectl_spread.objects.storage import NO_PROVISIONER
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.objects.workloads.workload import claim_names, replica_name, REPLICATED_KINDS, Workload
from kubectl_spread.operations.evidence import (
    account_of,
    CONSTRAINTS,
    CountedConstraint,
    Evidence,
    Shared,
    without_own,
)
from kubectl_spread.scheduler import profiles as scheduler_profiles
from kubectl_spread.scheduler.cycle import Scheduler, unsupported_features
from kubectl_spread.scheduler.framework.plugin import Profile
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import passes_all_but_spread
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread

if TYPE_CHECKING:  # loads the engine
    from kubectl_spread.operations.rollouts import Rollouts
    from kubectl_spread.report.check.rollouts import RolloutResult

T = TypeVar("T")

_MOST_DOMAINS = 64  # Limit of the cost: each remaining pod searches the emptiest domain.


def least_uneven(
    left: RemainingPods, domains: Mapping[str, Optional[str]], others: Mapping[str, int]
) -> ConstraintCounts:
    """Return the counts with the smallest skew, over all choices of the remaining pods.

    Args:
        left: the remaining pods.
        domains: domain of each node; None if its pods are not counted.
        others: domain -> pods counted there in addition to these.
    """
    kept = Counter(domains[pod.node_name] for pod in left.kept)
    tied = Counter(domains[pod.node_name] for pod in left.tied)
    base = {domain: count + kept[domain] for domain, count in others.items()}
    uncounted = sum(number for domain, number in tied.items() if domain not in base)
    fewest = max(0, left.number - uncounted)
    found = []
    for number in range(fewest, left.number + 1):  # of the pods of equal rank that stay, each in the emptiest domain
        counts, room = dict(base), Counter({domain: tied[domain] for domain in base})
        for _ in range(min(number, room.total())):
            emptiest = min((domain for domain in counts if room[domain]), key=lambda domain: counts[domain])
            counts[emptiest] += 1
            room[emptiest] -= 1
        found.append(ConstraintCounts(counts))
    return min(found, key=lambda counts: counts.skew or 0)


# Plugins whose verdict does not depend on other pods.
_ABOUT_THE_NODE = (names.NODE_UNSCHEDULABLE, names.NODE_NAME, names.TAINT_TOLERATION, names.NODE_AFFINITY)

_NO_SPECS: Mapping[str, Plain] = {}
_WORK = 50_000  # Limit of replicas times nodes in one search, about a second.
_FEWEST_PATHS, _MOST_PATHS = 5, 200
_SEARCHES = 3  # Limit for all workloads together.


def _per_workload(method: Callable[[KnownCluster, Workload], T]) -> Callable[[KnownCluster, Workload], T]:
    """Compute a method's answer for each workload once."""

    def cached(self: KnownCluster, workload: Workload) -> T:
        # The key has the id() of the template, so the workload is stored to keep the template alive.
        key = (method, *key_of(workload), workload.replicas, id(workload.template))
        if key not in self.answers:
            self.answers[key] = workload, method(self, workload)
        answer: T = self.answers[key][1]
        return answer

    cached.__doc__ = method.__doc__
    return cached


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
        are_running: bool = False,
    ) -> None:
        """Store the input. All results are computed on first use.

        Args: cluster: with the other objects of the manifests applied. profiles: of the scheduler; the built-in one if
            None. placements: of workloads that are already placed. rollouts: of these workloads. namespace: replaces
            `default`, also for workloads without a namespace. keys: label keys of nodes, if nothing but their values is
            known about the cluster; None for a whole cluster. policies: that the workloads are to keep. specs: of the
            workloads, by their keys. are_running: the workloads are those of the cluster, not of manifests.
        """
        self._cluster = cluster
        self._profiles = scheduler_profiles.profiles() if profiles is None else profiles
        self._keys = keys
        self._rollouts = rollouts
        self._placements = {key_of(placement.workload): placement for placement in placements}
        self._namespace = namespace
        self._release = next(iter(self._profiles.values())).release
        self.answers: dict[tuple[Any, ...], tuple[Workload, Any]] = {}
        self._shared_reports = SharedDomains()
        self._shared_domains: Shared = {}
        self._searched = 0
        self._policies = policies
        self._specs = specs
        self._are_running = are_running

    @cached_property
    def node_keys(self) -> frozenset[str]:
        """Return the label keys that at least one node has."""
        return frozenset(key for node in self._cluster.nodes for key in node.labels)

    def immutable_changes(self, workload: Workload, spec: Plain) -> tuple[str, ...]:
        """Return the API server's messages about a manifest that changes immutable fields of the running workload."""
        from kubectl_spread.kubectl.situation import refused_changes

        if self._are_running:  # they have only some of their fields
            return ()
        return tuple(refused_changes(self._cluster, self._located(workload), spec, self._release))

    def refuted_rules(self, workload: Workload) -> Iterator[RefutedRule]:
        """Yield the violated rules of the policies for a group of workloads, if the workload is its first."""
        if self._keys is not None or not self._policies:
            return
        from kubectl_spread.engine.search.explore import Limit
        from kubectl_spread.guarantee.members import groups_of, member_of
        from kubectl_spread.guarantee.prove import prove

        workloads = [item.workload for item in self._placements.values()] or [workload]
        found = [
            member_of(key_of(item), Controller(item, spec=self._specs.get(item.key, {})), self._cluster)
            for item in workloads
            if item.kind in REPLICATED_KINDS
        ]
        around = {item.key: item.controller for item in found}
        cluster = self._cluster._replace(controllers={**self._cluster.controllers, **around})
        for policy in self._policies:
            for spec in policy.groups:
                for part in groups_of(spec, found):
                    if part[0].controller.workload.key == workload.key:
                        limit = Limit(_MOST_STATES)
                        result = prove(part, cluster, self._profiles, spec.rules, regimes=policy.regimes, limit=limit)
                        yield from _refuted(policy, result)

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
                is_control_plane = any(key in node.labels for key in CONTROL_PLANE)
                minors[is_control_plane] = max(minor, minors.get(is_control_plane, 0))
        return Server(max(minors.values()), is_certain=True in minors) if minors else None

    def constraint_facts(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[ConstraintFacts]:
        """Return a constraint's domains and counts without the workload's own pods."""
        found = self._reported(workload, constraint)
        if found is None:
            return None
        evidence, report = found
        position = report.constraint.position
        if position not in evidence.accounts:
            account = account_of(report, evidence, self._shared_domains)
            # A combination of labels is not a node, so the number of nodes is unknown.
            evidence.accounts[position] = account if self._keys is None else account._replace(sharing=())
        return evidence.accounts[position]

    def live(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[ConstraintCounts]:
        """Return the counts of a hard constraint if pods of the workload run."""
        hard = self._hard(workload, constraint)
        if hard is None or not hard.evidence.own or not hard.report.eligible_domains:
            return None
        return hard.report.counts

    def uncounted_pods(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[UncountedPods]:
        """Return the workload's running pods that a constraint's selector does not match, if it matches others."""
        found = self._evidence(workload)
        if found is None or not found.own:
            return None
        return find_uncounted(constraint, found.own, dict(found.pod_class.labels))

    def place_again(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[PodsPerDomain]:
        """Place the running pods again as if none of them ran; returns None unless all find a node."""
        hard = self._hard(workload, constraint)
        if hard is None:
            return None
        found = hard.evidence
        gone = {pod.key for pod in found.own}
        without = self._cluster._replace(pods=tuple(pod for pod in self._cluster.pods if pod.key not in gone))
        (placement,) = replicas.place([found.owner._replace(replicas=len(found.own))], without, self._profiles)
        return None if len(placement.placed) < placement.replicas else _spread(placement, constraint)

    def place(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[PodsPerDomain]:
        """Return the placement of a workload's pods if none runs yet; None if unknown, or if some stay Pending."""
        placement = self._placement(workload) if self._keys is None else None
        if placement is None or len(placement.placed) < placement.replicas:
            return None
        return None if any(pod.ran_already for pod in placement.placed) else _spread(placement, constraint)

    def others(self, workload: Workload, constraint: TopologySpreadConstraint) -> tuple[ForeignPods, ...]:
        """Return the other workloads whose running pods a hard constraint counts."""
        hard = self._hard(workload, constraint)
        if hard is None or hard.report.selector.is_empty:
            return ()
        own = {pod.uid for pod in hard.evidence.own}
        domains: dict[ObjectKey, list[str]] = {}
        selected: dict[int, bool] = {}  # perf: by id of the class, which many pods share
        for pod in self._by_namespace.get(hard.evidence.pod_class.namespace, ()):
            cls = id(pod.cls)
            if not (selected[cls] if cls in selected else selected.setdefault(cls, hard.selects(pod))):
                continue
            owner = owner_of(pod.cls, self._cluster)
            value = hard.domain_of(pod) if pod.uid not in own else None
            if owner is not None and value is not None:
                domains.setdefault(owner, []).append(value)
        return tuple(ForeignPods(key.kind, key.name, tuple(sorted(domains[key]))) for key in sorted(domains))

    def pods_of_other_namespaces(
        self, workload: Workload, constraint: TopologySpreadConstraint
    ) -> tuple[tuple[str, int], ...]:
        """Count the pods of other namespaces that a constraint selects, without workloads of the same kind and name."""
        found = self._reported(workload, constraint)
        if found is None:
            return ()
        evidence, report = found
        own = (workload.kind, workload.name)
        numbers = Counter(
            pod.namespace
            for namespace, pods in self._by_namespace.items()
            for pod in (pods if namespace != evidence.pod_class.namespace else ())
            if report.selector.matches(pod.labels)
            and not ((owner := owner_of(pod.cls, self._cluster)) and (owner.kind, owner.name) == own)
        )
        return tuple(sorted(numbers.items()))

    def scale_down(
        self, workload: Workload, constraint: TopologySpreadConstraint, replicas: int
    ) -> Optional[ConstraintCounts]:
        """Return the counts with the smallest skew that a scale-down of a ReplicaSet's running pods can leave.

        Returns None if no pod is deleted, if the pods are not of one ReplicaSet, or if there are many domains.
        """
        hard = self._hard(workload, constraint)
        if hard is None or workload.kind not in ("Deployment", "ReplicaSet"):
            return None
        own = hard.evidence.own
        if len({pod.owner for pod in own}) != 1 or any(pod.phase != "Running" for pod in own) or replicas >= len(own):
            return None
        matching = hard.own_matching()
        others = {
            item.value: item.matching - matching.get(item.value, 0) for item in hard.report.domains if item.eligible
        }
        if not 1 < len(others) <= _MOST_DOMAINS:
            return None
        left = remaining_pods(own, replicas, read_at=self._cluster.read_at)
        return least_uneven(left, {pod.node_name: hard.domain_of(pod) for pod in own}, others)

    def has_claims(self, workload: Workload) -> bool:
        """Return whether a claim that a StatefulSet creates for one of its pods exists already."""
        owner = self._located(workload)
        prefixes = tuple(claim_names(owner, f"{owner.name}-"))
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
        found = self._evidence(workload)
        if found is None:
            return ()
        pod_class, columns = found.pod_class, found.filtered.columns
        labels, bounds = dict(pod_class.labels), []
        for position, term in enumerate(pod_class.pod_anti_affinity):
            if term.matches(pod_class.namespace, labels, columns.labels_of(pod_class.namespace)):
                codes = columns.topology(term.topology_key).codes[found.usable]
                if (codes >= 0).all():
                    bounds.append(AntiAffinity(position, term.topology_key, len(unique(codes))))
        return tuple(bounds)

    def outcome(self, workload: Workload) -> Optional[PlacedReplicas]:
        """Return how many of the workload's pods find a node, with other workloads if they were placed together."""
        found = self._evidence(workload)
        if found is not None and found.owner.is_simulated and 0 < len(found.own) == found.owner.replicas:
            return PlacedReplicas(len(found.own), 0)  # perf: nothing is to be placed
        placement = self._placement(workload)
        if placement is None:
            return None
        pending, evicts = placement.pending, bool(placement.evictions)
        absent = len(placement.not_created) + len(placement.refused)
        if not pending:
            return PlacedReplicas(len(placement.placed), absent, is_preempting=evicts)
        first = pending[0].explanation
        return PlacedReplicas(
            len(placement.placed),
            len(pending) + absent,
            first.conflict,
            evicts or any(item.explanation.nominated_node for item in pending),
            any(
                part.position is not None
                for conflict in first.conflicts[:1]
                for item in conflict.requirements
                for part in (item, *item.parts)
            ),
        )

    def uncordoned(self, key: str, domains: Iterable[DomainFacts]) -> KnownCluster:
        """Return the facts if some domains had no cordoned node."""
        values = {domain.value for domain in domains}
        nodes = [
            set_cordon(node, is_cordoned=False) if node.labels.get(key) in values else node
            for node in self._cluster.nodes
        ]
        cluster = self._cluster._replace(nodes=tuple(nodes))
        return KnownCluster(cluster, self._profiles, namespace=self._namespace, keys=self._keys)

    @cached_property
    def has_node_pools(self) -> bool:
        """Return whether Karpenter can add nodes."""
        return any(kind == "NodePool" for kind, _ in self._cluster.provisioning)

    def gets_nodes(self, workload: Workload) -> bool:
        """Return whether pods of the workload run on nodes that Karpenter adds, so that today's nodes say little."""
        placed = self._placements.get(key_of(workload))
        return placed is not None and any(found.is_running for found in placed.added_nodes.values())

    def rollout(self, workload: Workload) -> Optional[RolloutResult]:
        """Return how the next rollout of a workload ends; None if it was not simulated."""
        found = None if self._rollouts is None else self._rollouts.rollout_of(key_of(self._located(workload)))
        return found if found is not None and found.basis.is_known else None

    def configured_defaults(self, workload: Workload) -> Optional[tuple[TopologySpreadConstraint, ...]]:
        """Return the default constraints of the scheduler's configuration; None for the built-in ones."""
        name = workload.pod_spec.get("schedulerName") or scheduler_profiles.DEFAULT_SCHEDULER
        profile = self._profiles.get(name)
        plugin = profile and profile.plugin(PodTopologySpread)
        return plugin.configured_defaults if plugin else ()

    def _located(self, workload: Workload) -> Workload:
        """Return a workload in its namespace."""
        return workload._replace(namespace=self._namespace) if workload.namespace == "default" else workload

    def _known_part(self, workload: Workload) -> tuple[Workload, tuple[int, ...]]:
        """Return a workload reduced to fields about known node labels, and the positions of the constraints left.

        The reduced workload requires less. So if it does not fit, the written one does not fit either.
        """
        owner, keys = self._located(workload), self._keys
        spec: Plain = owner.pod_spec
        written = mappings(spec.get(CONSTRAINTS))
        if keys is None:
            return owner, tuple(range(len(written)))
        positions = tuple(at for at, item in enumerate(written) if item.get("topologyKey") in keys)
        kept: Plain = {
            CONSTRAINTS: [written[at] for at in positions],
            "nodeSelector": {key: value for key, value in fields(spec, "nodeSelector").items() if key in keys},
            "affinity": {"podAntiAffinity": fields(spec, "affinity", "podAntiAffinity")},
        }
        if spec.get("schedulerName"):
            kept["schedulerName"] = spec["schedulerName"]
        template = {"metadata": fields(owner.template, "metadata"), "spec": kept}
        return owner._replace(template=template, claim_templates=()), positions

    @cached_property
    def _columns(self) -> Columns:
        """Return the bound pods of the cluster."""
        return Columns(self._cluster)

    @cached_property
    def _scheduler(self) -> Scheduler:
        return Scheduler(self._columns, self._profiles)

    @cached_property
    def _owned(self) -> OwnedPods:
        return OwnedPods(self._cluster)

    @_per_workload
    def _evidence(self, workload: Workload) -> Optional[Evidence]:
        """Return the plugins' verdicts on the first replica; None if its scheduling is not predictable."""
        spec = workload.pod_spec
        if workload.kind in ("DaemonSet", "PodTemplate") or spec.get("nodeName") or not self._cluster.nodes:
            return None
        owner, positions = self._known_part(workload)
        own = tuple(running_pods(owner, self._owned))
        created = running_workload(stored_workload(owner, self._cluster, self._release.minor), self._owned)
        placed = self._placements.get(key_of(owner))
        first = placed.first_replica if placed is not None and placed.workload == created else None
        pod = first or replica(created, 0)  # The placement may have created it already.
        pod_class = self._without_others(pod.cls, owner)
        profile = self._profiles.get(pod_class.scheduler_name)
        if unsupported_features(pod_class, profile, self._cluster):
            return None
        filtered = self._scheduler.filter(pod._replace(cls=pod_class))
        if filtered.rejection is not None:
            return None
        made = constraint_reports(pod_class, filtered, shared=self._shared_reports)
        reports = {item.constraint.position: item for item in made if not item.is_default}
        chosen = filtered.passes(lambda plugin: plugin == names.NODE_AFFINITY)
        candidates = filtered.passes(lambda plugin: plugin in _ABOUT_THE_NODE)
        usable = without_own(passes_all_but_spread(filtered), filtered, own)
        return Evidence(owner, pod, pod_class, filtered, chosen, candidates, usable, own, reports, positions, {})

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

    @cached_property
    def _by_namespace(self) -> dict[str, list[Pod]]:
        """Return the bound pods that constraints count, by namespace."""
        return grouped((pod.namespace, pod) for pod in self._cluster.bound_pods() if not pod.terminating)

    def _reported(
        self, workload: Workload, constraint: TopologySpreadConstraint
    ) -> Optional[tuple[Evidence, ConstraintReport]]:
        """Return the evidence about a workload with the report of a constraint, if the plugins counted it."""
        found = self._evidence(workload)
        if found is None or constraint.position not in found.positions:
            return None
        report = found.reports.get(found.positions.index(constraint.position))
        return None if report is None else (found, report)

    def _hard(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[CountedConstraint]:
        """Return a hard constraint with the plugin's counts; None if it does not count the workload's pods."""
        found = self._reported(workload, constraint) if constraint.is_hard else None
        return None if found is None else found[0].counted(found[1])

    @_per_workload
    def _placement(self, workload: Workload) -> Optional[Placement]:
        owner, _ = self._known_part(workload)
        spec = owner.pod_spec
        if not owner.is_simulated or self._evidence(workload) is None or spec.get("schedulingGates"):
            return None
        found = self._placements.get(key_of(owner))
        if found is not None:  # A rule may ask about another number of replicas, or about other constraints.
            placed = found.workload
            is_same = placed.replicas == owner.replicas and placed.pod_spec.get(CONSTRAINTS) == spec.get(CONSTRAINTS)
            found = found if is_same else None
        found = found or self._place(owner)
        return None if found.unpredicted else found

    @_per_workload
    def impossible(self, workload: Workload) -> Optional[Impossible]:
        """Return the hard constraints that keep some pod Pending in every possible placement; None without any.

        All placements of the missing pods are searched, if there are not too many.
        """
        found = self._evidence(workload)
        if found is None:
            return None
        missing = (found.owner.replicas or 0) - len(found.own)
        cost = (missing + 10) * len(self._cluster.nodes) + len(self._cluster.pods)
        paths = min(_MOST_PATHS, _WORK // cost)
        twins = as_replicaset(found.pod, found.owner, missing)
        if missing < 1 or twins is None or paths < _FEWEST_PATHS:
            return None
        hard = [item.position for item in found.pod_class.constraints if item.is_hard]
        helping = [position for position in hard if self._all_fit(twins.with_constraint_fields({position: SOFT}))]
        if not helping and not self._all_fit(twins.with_constraint_fields(dict.fromkeys(hard, SOFT))):
            return None
        if self._searched >= _SEARCHES:
            return None
        self._searched += 1
        new = new_pods(Start([twins], self._cluster, self._profiles), self._profiles, all_nodes=True)
        most = max_placed_pods(new, max_states=paths * missing)
        if most is None or most == missing:
            return None
        return Impossible(len(found.own) + most, tuple(found.positions[position] for position in helping))

    def _all_fit(self, owner: Workload) -> bool:
        return len(self._place(owner).placed) == owner.replicas

    def _place(self, owner: Workload) -> Placement:
        (placement,) = replicas.place([owner], self._cluster, self._profiles, known=(self._owned, self._columns))
        return placement


def _spread(placement: Placement, constraint: TopologySpreadConstraint) -> PodsPerDomain:
    counts = placement.domains.get(constraint.topology_key, {})
    return PodsPerDomain(tuple(sorted(counts.items())), placement.certainty is Certainty.CERTAIN)


_MOST_STATES = 3_000  # for each regime of a group
_EVENTS = {
    "creation": "the order in which the pods are created",
    "restarts": "restarts of pods",
    "rollouts": "a rollout",
    "scaling": "scaling",
    "disruptions": "a drained node or a lost domain",
}


def _refuted(policy: Policy, result: GroupResult) -> Iterator[RefutedRule]:
    """Yield each refuted rule once, with the first regime that violates it, if possible once settled."""
    seen = set()
    for regime in result.results:
        for verdict in regime.rules:
            if verdict.witness is None or verdict.rule in seen:
                continue
            seen.add(verdict.rule)
            every = (item for one in result.results for item in one.rules if item.rule == verdict.rule)
            settled = next((item.once_settled for item in every if item.once_settled.witness is not None), None)
            shown = settled or verdict
            witness = shown.witness or verdict.witness
            events = _EVENTS[(shown.regime or regime.regime).value]
            message = violation_text(witness.evaluation, waiting=witness.waiting_pods)
            yield RefutedRule(policy.name, rule_text(verdict.rule), events, message, settled is not None)
