"""Places for pods: templates of pools with their instance types, and the nodes and claims that exist.

Sets of instance types are bit masks: bit i stands for the i-th type of the pool.

Source: sigs.k8s.io/karpenter pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go, nodeclaim.go,
existingnode.go; pkg/controllers/state/statenode.go, cluster.go (v1.13.0).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.containers import grouped
from kubectl_spread.objects import resources
from kubectl_spread.objects.keys import NamespacedName
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import HostPort, Pod, PodClass
from kubectl_spread.objects.selectors import HOSTNAME, Labels, NODE_POOL, ZONE
from kubectl_spread.provisioners import pods
from kubectl_spread.provisioners import requirement as algebra
from kubectl_spread.provisioners.objects import Amounts, InstanceType, NodeClaim, NodeFacts, NodePool
from kubectl_spread.provisioners.reading import Gap, GapKind, Provisioning
from kubectl_spread.provisioners.requirement import Requirements
from kubectl_spread.provisioners.topology import Taints, untolerated

_REGISTERED, _INITIALIZED = "karpenter.sh/registered", "karpenter.sh/initialized"
_READINESS = "readiness.k8s.io/"
_STARTING = {
    *(("node.kubernetes.io/not-ready", "NoSchedule"), ("node.kubernetes.io/not-ready", "NoExecute")),
    *(("node.kubernetes.io/unreachable", "NoSchedule"), ("karpenter.sh/unregistered", "NoExecute")),
    ("node.cloudprovider.kubernetes.io/uninitialized", "NoSchedule"),
}


def total(*amounts: Amounts) -> Amounts:
    """Return the sum of amounts."""
    found: Amounts = {}
    for one in amounts:
        resources.add(found, one)
    return found


def fits(requests: Iterable[tuple[str, int]], free: Amounts) -> bool:
    """Return whether requests fit; nothing fits if anything is overcommitted."""
    for name, amount in requests:
        if amount > free.get(name, 0):
            return False
    return min(free.values(), default=0) >= 0


class Types:
    """The instance types of one pool; each method returns a bit mask."""

    def __init__(self, types: tuple[InstanceType, ...], *, is_open: bool = False) -> None:
        """Prepare types; `is_open`: they stand for types that are not known, and so hold everything."""
        self.types = types
        self.all = (1 << len(types)) - 1
        self.is_open = is_open
        self._masks: dict[Hashable, int] = {}

    def __iter__(self) -> Iterator[tuple[int, InstanceType]]:
        return ((1 << at, item) for at, item in enumerate(self.types))

    def of(self, mask: int) -> list[InstanceType]:
        return [item for bit, item in self if mask & bit]

    def _that(self, key: Hashable, meets: Callable[[InstanceType], bool]) -> int:
        """Return the types that meet a condition; `key` is the condition."""
        mask = self._masks.get(key)
        if mask is None:
            mask = self._masks[key] = sum(bit for bit, item in self if meets(item))
        return mask

    def compatible(self, requirements: Requirements) -> int:
        """Return the types that share a value with each requirement."""
        found = self.all
        for key, item in requirements.items():
            found &= self._that(item, lambda each: algebra.agree(each.requirements.get(key, item), item))  # noqa: B023
        return found

    def offered(self, requirements: Requirements) -> int:
        """Return the types that are available in a zone and a capacity type that the requirements allow."""
        wanted = requirements.get(ZONE), requirements.get(algebra.CAPACITY_TYPE)
        return self._that(wanted, lambda item: self.is_open or bool(sold(item, requirements)))

    def fitting(self, requests: Amounts) -> int:
        """Return the types with enough room."""
        key = tuple(sorted(requests.items()))
        return self._that((key,), lambda item: self.is_open or fits(key, item.allocatable))

    def within(self, limits: Amounts) -> int:
        """Return the types that are not larger than what is left of the limits."""
        return sum(
            bit for bit, item in self if all(item.capacity.get(name, 0) <= amount for name, amount in limits.items())
        )

    def largest(self, mask: int) -> Amounts:
        """Return the largest amount of each resource."""
        found: Amounts = {}
        for item in self.of(mask):
            found |= {name: max(amount, found.get(name, amount)) for name, amount in item.capacity.items()}
        return found

    def missing(self, mask: int, requirements: Requirements) -> dict[str, int]:
        """Return the labels of which the types have fewer values than minValues, with their numbers."""
        found = {}
        for key, item in requirements.items() if mask else ():
            if item.min_values is not None:
                named = [algebra.get(each.requirements, key).values for each in self.of(mask)]
                number = len(frozenset().union(*named))
                if number < item.min_values:
                    found[key] = number
        return found


def sold(item: InstanceType, requirements: Requirements) -> list[tuple[str, str]]:
    """Return the zones and capacity types that requirements allow and that have a type."""
    zones, kinds = (algebra.get(requirements, key) for key in (ZONE, algebra.CAPACITY_TYPE))
    return [(zone, kind) for zone, kind in item.offerings if zones.has(zone) and kinds.has(kind)]


class Claim(NamedTuple):
    """A node that the round invents; without a host and pods, what each new node of a pool is.

    mask: its types. requests: of its pods, and of DaemonSets.
    """

    pool: NodePool
    types: Types
    requirements: Requirements
    mask: int
    requests: Amounts
    ports: tuple[HostPort, ...]
    host: str = ""
    placed: tuple[int, ...] = ()


class Machine(NamedTuple):
    """A node, or a launched claim without a node, with the pods that the round places on it."""

    name: str
    labels: Labels
    taints: Taints
    requirements: Requirements
    free: Amounts
    capacity: Amounts
    node: Optional[Node]
    ports: tuple[HostPort, ...]
    is_initialized: bool
    disks: frozenset[tuple[str, NamespacedName]] = frozenset()
    disk_limits: dict[str, int] = {}  # noqa: RUF012 (never written to)
    placed: tuple[int, ...] = ()


def machines(
    cluster: Cluster, provisioning: Provisioning, daemons: list[PodClass], *, readiness_taints: bool
) -> tuple[list[Machine], set[str]]:
    """Return the machines in Karpenter's order, and the names of nodes that are being deleted."""
    by_id = {claim.provider_id: claim for claim in provisioning.claims if claim.provider_id}
    by_node = {claim.node_name: claim for claim in provisioning.claims if claim.node_name}
    bound = grouped((pod.node_name, pod) for pod in cluster.bound_pods())
    found: list[Machine] = []
    deleted: set[str] = set()
    joined: set[str] = set()
    for node in cluster.nodes:
        facts = provisioning.nodes.get(node.name, NodeFacts(capacity=node.allocatable))
        claim = by_id.get(facts.provider_id) or by_node.get(node.name)
        joined.update([] if claim is None else [claim.name])
        if node.name in provisioning.nodes and node.labels.get(NODE_POOL):
            # Karpenter waits until more is known (UpdateNode).
            is_typed = node.labels.get(algebra.INSTANCE_TYPE) or node.labels.get(_INITIALIZED)
            if not facts.provider_id or not is_typed:
                continue
        if (facts if claim is None else claim).is_deleted:
            deleted.add(node.name)
            continue
        running = bound.get(node.name, [])
        machine = _machine(node, claim, facts.capacity, running, daemons, readiness_taints=readiness_taints)
        disks = [pods.attached(pod.cls, cluster.storage) for pod in running]
        limits = cluster.storage.limits.get(node.name, {})
        found.append(machine._replace(disk_limits=limits, disks=frozenset().union(*disks)))
    for claim in provisioning.claims:
        if claim.provider_id and claim.name not in joined and not claim.is_deleted:
            found.append(_machine(None, claim, {}, [], daemons, readiness_taints=readiness_taints))
    return sorted(found, key=lambda item: (not item.is_initialized, item.name)), deleted


def _machine(
    node: Optional[Node],
    claim: Optional[NodeClaim],
    capacity: Amounts,
    running: list[Pod],
    daemons: list[PodClass],
    *,
    readiness_taints: bool,
) -> Machine:
    """Return a machine with what its pods leave, and with room kept for DaemonSet pods that are yet to come.

    Before it is initialized, its claim says what is missing.
    """
    record = node if claim is None or (node is not None and node.labels.get(_REGISTERED) == "true") else claim
    assert record is not None  # noqa: S101 (one of both exists)
    labels, taints = algebra.of_labels(record.labels), record.taints
    room, capacity = {} if node is None else dict(node.allocatable), dict(capacity)
    is_initialized = claim is None or (node is not None and node.labels.get(_INITIALIZED) == "true")
    if claim is not None and not is_initialized:
        for have, given in ((room, claim.allocatable), (capacity, claim.capacity)):
            have.update({key: amount for key, amount in given.items() if not have.get(key)})
        gone = _STARTING | {(taint.key, taint.effect) for taint in claim.startup_taints}
        taints = tuple(taint for taint in taints if (taint.key, taint.effect) not in gone)
        taints = tuple(taint for taint in taints if not (readiness_taints and taint.key.startswith(_READINESS)))
    coming = [
        daemon
        for daemon in daemons
        if not (untolerated(taints, daemon.tolerations) or algebra.clash(labels, pods.required(daemon)))
    ]
    daemon_room = total(*map(pods.requests_of, coming))
    for pod in running:
        if pods.is_of_daemon(pod):
            resources.add(daemon_room, {name: -amount for name, amount in pods.requests_of(pod.cls).items()})
    used = total(*(pods.requests_of(pod.cls) for pod in running))
    host = record.labels.get(HOSTNAME) or record.name
    return Machine(
        record.name,
        record.labels,
        taints,
        algebra.of((algebra.requirement(HOSTNAME, "In", (host,)),), labels),
        {name: amount - used.get(name, 0) - max(0, daemon_room.get(name, 0)) for name, amount in room.items()},
        {**capacity, "nodes": 1},
        node,
        tuple(port for pod in running for port in pod.cls.host_ports),
        is_initialized,
    )


def types_of(pool: NodePool, provisioning: Provisioning) -> Types:
    """Return the types of a pool; an unknown one is as large as needed, in every zone of the pool's class."""
    known = provisioning.types.get(pool.name, ())
    if known or Gap(GapKind.INSTANCE_TYPES, pool.name) not in provisioning.gaps:
        return Types(known)
    wanted = {ZONE: algebra.requirement(ZONE, "In", pool.zones)} if pool.zones else {}
    return Types((InstanceType("", {}, {}, wanted),), is_open=True)


def templates(
    pools: Iterable[NodePool], provisioning: Provisioning, daemons: list[PodClass]
) -> tuple[list[Claim], list[PodClass]]:
    """Return the pools that have fitting types, in order, and the DaemonSets as this leaves them.

    A required term of a DaemonSet that does not fit one pool is gone for all later ones and for existing nodes.
    """
    result: list[Claim] = []
    left, options = list(daemons), provisioning.options
    for pool in pools:
        of_pool, requirements = types_of(pool, provisioning), pool.template
        mask = of_pool.compatible(requirements) & of_pool.offered(requirements) & of_pool.fitting({})
        if not mask or (of_pool.missing(mask, requirements) and not options.relaxes_min_values):
            continue
        if not result:
            left = [daemon._replace(tolerations=(*daemon.tolerations, pods.NO_PREFERENCE)) for daemon in daemons]
        own = []
        for at, daemon in enumerate(left):
            while not untolerated(pool.taints, daemon.tolerations):
                if not algebra.clash(requirements, pods.required(daemon), options.well_known):
                    own.append(daemon)
                    break
                terms = daemon.node_affinity.required or ()
                if len(terms) < 2:
                    break
                daemon = daemon._replace(node_affinity=daemon.node_affinity._replace(required=terms[1:]))  # noqa: PLW2901
            left[at] = daemon
        overhead = {resources.PODS: 0, **total(*map(pods.requests_of, own))}
        ports = tuple(port for daemon in own for port in daemon.host_ports)
        result.append(Claim(pool, of_pool, requirements, mask, overhead, ports))
    return result, left
