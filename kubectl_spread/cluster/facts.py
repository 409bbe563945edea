"""Facts about a workload on a cluster, which lint rules request before or while its pods run.

`ClusterFacts` is the interface, `simulate.cluster_facts` the implementation: neither lint nor this module loads numpy.
"""

from __future__ import annotations

from typing import NamedTuple, Optional, Protocol, TYPE_CHECKING

from kubectl_spread.objects.node import NodeReason

if TYPE_CHECKING:  # 10 ms
    from kubectl_spread.objects.constraints.constraint import ConstraintCounts, TopologySpreadConstraint
    from kubectl_spread.objects.constraints.uncounted import UncountedPods
    from kubectl_spread.objects.workloads.workload import Workload

UNBOUNDED = 2**31 - 1


class DomainFacts(NamedTuple):
    """One domain of a constraint.

    counted: whether the constraint counts the domain.
    matching: the number of pods that the constraint counts there.
    chosen: the nodes of `nodes` that the pod's node affinity and selector allow.
    candidates: the nodes that the pod may use, even if they are full.
    usable: the nodes that fit the pod, spread constraints aside.
    unusable_because: the reason why no node is usable.
    """

    value: str
    nodes: int
    chosen: int
    usable: int
    matching: int
    counted: bool
    unusable_because: tuple[NodeReason, ...] = ()
    candidates: int = 0


class ConstraintFacts(NamedTuple):
    """One constraint of a workload, on the cluster without the workload's own pods.

    candidates: the nodes that the pod may use, even if they are full.
    without_key: the names of the candidates that lack the label.
    nodes_with_key: the number of all nodes with the label.
    counts_own: whether the constraint counts the workload's pods.
    sharing: values of `kubernetes.io/hostname` that several counted candidates share, with the names of these nodes.
    """

    max_skew: int
    min_domains: int
    counts_own: bool
    nodes: int
    nodes_with_key: int
    candidates: int
    without_key: tuple[str, ...]
    domains: tuple[DomainFacts, ...]
    sharing: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def counted_domains(self) -> list[DomainFacts]:
        return [domain for domain in self.domains if domain.counted]

    @property
    def unreachable(self) -> list[DomainFacts]:
        """Return the domains that count, although no node in them can run the pod."""
        return [domain for domain in self.counted_domains if not domain.usable]

    @property
    def hidden_domains(self) -> list[DomainFacts]:
        """Return the uncounted domains with candidates. Their nodes lack the label of another hard constraint."""
        return [domain for domain in self.domains if domain.candidates and not domain.counted]

    @property
    def minimum(self) -> int:
        """Return an upper bound of the global minimum; 0 below minDomains.

        It is the number of pods in the smallest domain that can take no new pod.
        """
        if self.is_below_min_domains:
            return 0
        return min((domain.matching for domain in self.unreachable), default=UNBOUNDED)

    @property
    def is_below_min_domains(self) -> bool:
        return len(self.counted_domains) < self.min_domains

    @property
    def most_in_a_domain(self) -> int:
        """Return how many pods a domain may come to hold."""
        return min(self.max_skew + self.minimum, UNBOUNDED)

    @property
    def room(self) -> int:
        """Return the most pods of the workload that the constraint allows, for any order of placement."""
        if not self.counts_own or self.most_in_a_domain == UNBOUNDED:
            return UNBOUNDED
        return sum(max(0, self.most_in_a_domain - domain.matching) for domain in self.counted_domains if domain.usable)


class ForeignPods(NamedTuple):
    """The pods of another workload that a constraint counts: the domain of each."""

    kind: str
    name: str
    domains: tuple[str, ...]


class PodsPerDomain(NamedTuple):
    """Pod counts of a workload per domain of a constraint; `is_certain`: no other placement is possible."""

    domains: tuple[tuple[str, int], ...]
    is_certain: bool


class AntiAffinity(NamedTuple):
    """A required anti-affinity of a workload's pods to each other; `room` domains take one pod each.

    `position` is the position of the term. There is no bound if a usable node lacks the label.
    """

    position: int
    topology_key: str
    room: int


class PlacedReplicas(NamedTuple):
    """The numbers of a workload's pods that find a node, running ones included, and that do not.

    `conflict` names, for display, the requirements that leave no node for the first Pending pod.
    `is_spread_conflict`: one of them is a spread constraint. `is_preempting`: pods would be evicted.
    """

    placed: int
    pending: int
    conflict: tuple[str, ...] = ()
    is_preempting: bool = False
    is_spread_conflict: bool = False

    @property
    def pods(self) -> int:
        return self.placed + self.pending

    @property
    def falls_short(self) -> bool:
        """Return whether pods stay Pending for good."""
        return self.pending > 0 and not self.is_preempting


class Impossible(NamedTuple):
    """A proof that no placement fits all pods of a workload; at most `most` pods fit, running ones included.

    `helping` are positions of hard constraints. All pods would fit if any one of them were ScheduleAnyway.
    """

    most: int
    helping: tuple[int, ...]


class RolloutFacts(NamedTuple):
    """The simulated rollout of a workload on the cluster.

    stuck, outcomes: how many of the outcomes that were found get stuck. is_exact: there are no other outcomes.
    `conflict` names, for display, the requirements that leave no node for the first pod that stays Pending.
    """

    outcomes: int
    stuck: int
    is_exact: bool
    conflict: tuple[str, ...] = ()


class Server(NamedTuple):
    """The API server's minor version, from the versions of kubelets, which are never newer.

    `is_certain`: the version is from a control plane node. Kubelets of other nodes may be older than the server.
    """

    minor: int
    is_certain: bool


class RefutedRule(NamedTuple):
    """A rule of a policy that some order of events violates, in words.

    regime: the events that are needed. is_settled: the violation stays once nothing moves by itself any more.
    """

    policy: str
    rule: str
    regime: str
    violation: str
    is_settled: bool = True


class ClusterFacts(Protocol):
    """The nodes and pods of a snapshot, or of a made-up cluster."""

    @property
    def node_keys(self) -> frozenset[str]:
        """Return the label keys that at least one node has."""
        ...

    def domain_count(self, key: str) -> int:
        """Return how many values a label has among the nodes."""
        ...

    @property
    def server(self) -> Optional[Server]:
        """Return the version of the API server; None if no node reports one."""
        ...

    def constraint_facts(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[ConstraintFacts]:
        """Return a constraint on the cluster without the workload's own pods."""
        ...

    def live(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[ConstraintCounts]:
        """Return the counts of a hard constraint with the workload's running pods; None if no pod runs."""
        ...

    def uncounted_pods(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[UncountedPods]:
        """Return the workload's running pods that a constraint's selector does not match, if it matches others."""
        ...

    def place_again(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[PodsPerDomain]:
        """Return the domains of the running pods if all were placed again; None if some would find no node."""
        ...

    def place(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[PodsPerDomain]:
        """Return the domains of all pods of a workload without running pods, as `check` places them."""
        ...

    def others(self, workload: Workload, constraint: TopologySpreadConstraint) -> tuple[ForeignPods, ...]:
        """Return the other workloads whose running pods a hard constraint counts."""
        ...

    def pods_of_other_namespaces(
        self, workload: Workload, constraint: TopologySpreadConstraint
    ) -> tuple[tuple[str, int], ...]:
        """Return how many pods of each other namespace a constraint selects, and does not count."""
        ...

    def scale_down(
        self, workload: Workload, constraint: TopologySpreadConstraint, replicas: int
    ) -> Optional[ConstraintCounts]:
        """Return the most even result of scaling the running pods of a Deployment or ReplicaSet down."""
        ...

    def has_claims(self, workload: Workload) -> bool:
        """Return whether a claim of a StatefulSet for one of its pods already exists."""
        ...

    def volume_values(self, class_name: Optional[str], key: str) -> Optional[frozenset[str]]:
        """Return the values of a node label at which a StorageClass can create a volume for a pod.

        Return None if it allows any value, if a volume of the class is available, or if the class is unknown. Without a
        name, use the default class.
        """
        ...

    def anti_affinities(self, workload: Workload) -> tuple[AntiAffinity, ...]:
        """Return the required anti-affinities that keep the workload's own pods apart."""
        ...

    def outcome(self, workload: Workload) -> Optional[PlacedReplicas]:
        """Return how many of the workload's pods find a node, as `check` places them."""
        ...

    def impossible(self, workload: Workload) -> Optional[Impossible]:
        """Return why some pod stays Pending in every possible placement.

        Return None if some placement fits all pods, if hard constraints are not the cause, or if there are too many
        placements.
        """
        ...

    def rollout(self, workload: Workload) -> Optional[RolloutFacts]:
        """Return how the next rollout of a workload ends; None if it was not simulated."""
        ...

    def configured_defaults(self, workload: Workload) -> Optional[tuple[TopologySpreadConstraint, ...]]:
        """Return the configured default constraints; None for the built-in ones."""
        ...

    def refuted_rules(self, workload: Workload) -> tuple[RefutedRule, ...]:
        """Return the violated rules of the policies for a group of workloads; none unless the workload is its first."""
        ...
