"""Facts about a workload on a cluster, which lint rules ask for before or while its pods run.

`ClusterFacts` is the question, `simulate.cluster_facts` the answer: neither lint nor this module loads numpy.
"""

from __future__ import annotations

from typing import NamedTuple
from typing import Optional
from typing import Protocol
from typing import TYPE_CHECKING

from kubectl_spread.objects.node_reason import NodeReason

if TYPE_CHECKING:  # 10 ms
    from kubectl_spread.objects.constraint import TopologySpreadConstraint
    from kubectl_spread.objects.constraint_counts import ConstraintCounts
    from kubectl_spread.objects.uncounted import Uncounted
    from kubectl_spread.objects.workload import Workload

UNBOUNDED = 2**31 - 1


class DomainFacts(NamedTuple):
    """One domain of a constraint.

    `counted` says whether the constraint counts it; `matching` are the pods that it counts there. Of its `nodes`,
    `chosen` are those that the pod's node affinity and selector allow, `candidates` those that the pod may use, however
    full they are, and `usable` those that take it, spread aside; where there are none, `unusable_because` says why not.
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

    `candidates` are the nodes that the pod may use, however full they are; `without_key` names those of them that lack
    the label. `nodes_with_key` counts all nodes that have it. `counts_own`: the constraint counts the workload's pods.
    `sharing` are values of `kubernetes.io/hostname` that several candidates have which a hard constraint counts, and
    the names of these nodes.
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
    def counted(self) -> list[DomainFacts]:
        return [domain for domain in self.domains if domain.counted]

    @property
    def unreachable(self) -> list[DomainFacts]:
        """Counted, though no node there takes the pod."""
        return [domain for domain in self.counted if not domain.usable]

    @property
    def hidden(self) -> list[DomainFacts]:
        """Not counted, though the pod may use nodes there: these lack the label of another hard constraint."""
        return [domain for domain in self.domains if domain.candidates and not domain.counted]

    @property
    def minimum(self) -> int:
        """What the smallest domain never exceeds: the pods where no new one can go; 0 below minDomains."""
        if self.is_below_min_domains:
            return 0
        return min((domain.matching for domain in self.unreachable), default=UNBOUNDED)

    @property
    def is_below_min_domains(self) -> bool:
        return len(self.counted) < self.min_domains

    @property
    def most_in_a_domain(self) -> int:
        """How many pods a domain may come to hold."""
        return min(self.max_skew + self.minimum, UNBOUNDED)

    @property
    def room(self) -> int:
        """The most pods of the workload that the constraint lets in, in whatever order they come."""
        if not self.counts_own or self.most_in_a_domain == UNBOUNDED:
            return UNBOUNDED
        return sum(max(0, self.most_in_a_domain - domain.matching) for domain in self.counted if domain.usable)


class ForeignPods(NamedTuple):
    """The pods of another workload that a constraint counts: the domain of each."""

    kind: str
    name: str
    domains: tuple[str, ...]


class PodsPerDomain(NamedTuple):
    """How many pods of a workload the domains of a constraint get; `is_certain`: no other placement is possible."""

    domains: tuple[tuple[str, int], ...]
    is_certain: bool


class AntiAffinity(NamedTuple):
    """A required anti-affinity of a workload's pods to each other; `room` domains take one of them each.

    `position` is that of the term. There is no bound where a node that takes the pod lacks the label.
    """

    position: int
    topology_key: str
    room: int


class PlacedReplicas(NamedTuple):
    """How many pods of a workload find a node, running ones included, and how many do not.

    `conflict` has the names, for display, of the requirements that leave no node for the first Pending pod;
    `is_spread_conflict` if a spread constraint is one of them. `is_preempting`: pods would be evicted for it.
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
    """No way of placing a workload's pods places all: `most` find a node, those that run already included.

    `helping` are the positions of the hard constraints each of which, if it were ScheduleAnyway, would let all in.
    """

    most: int
    helping: tuple[int, ...]


class Server(NamedTuple):
    """The API server's minor version, from the versions of kubelets, which are never newer.

    `is_certain` where a control plane node says it; kubelets of other nodes may be older than the server.
    """

    minor: int
    is_certain: bool


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
        """Return the version of the API server; None where no node tells one."""
        ...

    def constraint_facts(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[ConstraintFacts]:
        """Return a constraint on the cluster without the workload's own pods."""
        ...

    def live(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[ConstraintCounts]:
        """Return a hard constraint and the workload's pods that run; None where none of them does."""
        ...

    def uncounted(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[Uncounted]:
        """Return the workload's running pods that a constraint's selector does not match, if it matches others."""
        ...

    def anew(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[PodsPerDomain]:
        """Return where the pods that run would be if none of them did; None where not all of them would find a node."""
        ...

    def placed(self, workload: Workload, constraint: TopologySpreadConstraint) -> Optional[PodsPerDomain]:
        """Return where all pods of a workload of which none runs yet go, as `check` places them."""
        ...

    def others(self, workload: Workload, constraint: TopologySpreadConstraint) -> tuple[ForeignPods, ...]:
        """Return the workloads whose running pods a hard constraint counts beside the own."""
        ...

    def elsewhere(self, workload: Workload, constraint: TopologySpreadConstraint) -> tuple[tuple[str, int], ...]:
        """Return how many pods of each other namespace a constraint selects, and does not count."""
        ...

    def scaled_down(
        self, workload: Workload, constraint: TopologySpreadConstraint, replicas: int
    ) -> Optional[ConstraintCounts]:
        """Return the most even result of scaling the running pods of a Deployment or ReplicaSet down."""
        ...

    def has_claims(self, workload: Workload) -> bool:
        """Return whether a claim that a StatefulSet makes for one of its pods is there already."""
        ...

    def volume_values(self, class_name: Optional[str], key: str) -> Optional[frozenset[str]]:
        """Return the values of a node label at which a StorageClass can create a volume for a pod.

        None where it allows any, where a volume of the class lies ready, or the class is not known; without a name it
        is the default one.
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

        None where there is a way, where hard constraints are not the reason, or there are too many ways to look at.
        """
        ...

    def configured_defaults(self, workload: Workload) -> Optional[tuple[TopologySpreadConstraint, ...]]:
        """Return the configured default constraints; None for the built-in ones."""
        ...
