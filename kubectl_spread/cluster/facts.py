"""Facts about a workload on a cluster, which lint rules request before or while its pods run.

`operations.known_cluster.KnownCluster` computes them with numpy; neither lint nor this module loads it.
"""

from __future__ import annotations

from typing import NamedTuple

from kubectl_spread.objects.node import NodeReason

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
