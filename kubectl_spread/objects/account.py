"""What a cluster says of a workload before any of its pods is placed: nodes, domains, and the room in them.

Made by `simulate.cluster_facts`, read by the lint rules; here because neither may import the other.
"""

from __future__ import annotations

from typing import NamedTuple

from kubectl_spread.objects.node_reason import NodeReason

UNBOUNDED = 2**31 - 1


class Domain(NamedTuple):
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


class Account(NamedTuple):
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
    domains: tuple[Domain, ...]
    sharing: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def counted(self) -> list[Domain]:
        return [domain for domain in self.domains if domain.counted]

    @property
    def unreachable(self) -> list[Domain]:
        """Counted, though no node there takes the pod."""
        return [domain for domain in self.counted if not domain.usable]

    @property
    def hidden(self) -> list[Domain]:
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


class Others(NamedTuple):
    """The pods of another workload that a constraint counts: the domain of each."""

    kind: str
    name: str
    domains: tuple[str, ...]


class Spread(NamedTuple):
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


class Outcome(NamedTuple):
    """How many pods of a workload found a node, those that run already included, and how many did not.

    `conflict` names the requirements that left no node for the first that did not. `is_preempting`: pods would be
    evicted for it.
    """

    placed: int
    pending: int
    conflict: tuple[str, ...] = ()
    is_preempting: bool = False

    @property
    def pods(self) -> int:
        return self.placed + self.pending

    @property
    def falls_short(self) -> bool:
        """Whether pods stay Pending for good."""
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
