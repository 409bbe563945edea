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
from kubectl_spread.objects.amounts import resources
from kubectl_spread.objects.keys import NamespacedName
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import HostPort, Pod, PodClass
from kubectl_spread.objects.selectors import HOSTNAME, Labels, NODE_POOL, ZONE
from kubectl_spread.provisioners import pods
from kubectl_spread.provisioners import requirement as algebra
from kubectl_spread.provisioners.objects import Amounts, InstanceType, NodeClaim, NodeFacts, NodePool, Offering
from kubectl_spread.provisioners.reading import Options, Provisioning
from kubectl_spread.provisioners.refusals import Unfit
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
        """Return the types with an available offering that the requirements allow."""
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
        every = [item.capacity for item in self.of(mask)]
        return {name: max(one[name] for one in every if name in one) for name in {key for one in every for key in one}}

    def missing(self, mask: int, requirements: Requirements) -> dict[str, int]:
        """Return the labels of which the types have fewer values than minValues, with their numbers."""
        asked = {key: item.min_values for key, item in requirements.items() if item.min_values is not None}
        kept = self.of(mask) if asked else []
        if not kept:
            return {}
        numbers = {
            key: len({value for item in kept if key in item.requirements for value in item.requirements[key].values})
            for key in asked
        }
        return {key: number for key, number in numbers.items() if number < (asked[key] or 0)}

    def unfit(self, available: int, requirements: Requirements, own: Amounts, daemons: Amounts, full: Amounts) -> Unfit:
        """Return why no type is left (InstanceTypeFilterError)."""
        compatible, fitting, offered = self.compatible(requirements), self.fitting(full), self.offered(requirements)
        wanted = tuple(item for key, item in sorted(requirements.items()) if key != HOSTNAME)
        asked = tuple(sorted(total(daemons, own).items()))
        return Unfit(compatible & available, fitting & available, offered & available, wanted, asked)


def sold(item: InstanceType, requirements: Requirements) -> list[Offering]:
    """Return the available offerings of a type that requirements allow."""
    zone, kind = (requirements.get(key) or algebra.exists(key) for key in (ZONE, algebra.CAPACITY_TYPE))
    return [
        offering
        for offering in item.offerings
        if offering.is_available and zone.has(offering.zone) and kind.has(offering.capacity_type)
    ]


class Template(NamedTuple):
    """A pool from which new claims are made: its types, and what DaemonSets take of a new node."""

    pool: NodePool
    requirements: Requirements
    types: Types
    mask: int
    overhead: Amounts
    ports: tuple[HostPort, ...]


class Machine(NamedTuple):
    """A node, or a launched claim without a node, with the pods that the round places on it."""

    name: str
    host: str
    pool: str
    taints: Taints
    requirements: Requirements
    free: Amounts
    capacity: Amounts
    ports: tuple[HostPort, ...] = ()
    disks: frozenset[tuple[str, NamespacedName]] = frozenset()
    disk_limits: dict[str, int] = {}  # noqa: RUF012 (never written to)
    is_initialized: bool = True
    labels: Labels = {}  # noqa: RUF012  # of the Node; empty without one
    node: Optional[Node] = None
    placed: tuple[int, ...] = ()


def machines(
    cluster: Cluster, provisioning: Provisioning, daemons: list[PodClass], *, readiness_taints: bool
) -> tuple[list[Machine], list[str]]:
    """Return the machines in Karpenter's order, and the names of nodes that are being deleted."""
    by_id = {claim.provider_id: claim for claim in provisioning.claims if claim.provider_id}
    by_node = {claim.node_name: claim for claim in provisioning.claims if claim.node_name}
    bound = grouped((pod.node_name, pod) for pod in cluster.bound_pods())
    found: list[Machine] = []
    deleted, joined = [], set()
    for node in cluster.nodes:
        facts = provisioning.nodes.get(node.name)
        claim = (by_id.get(facts.provider_id) if facts is not None else None) or by_node.get(node.name)
        joined.update([] if claim is None else [claim.name])
        if facts is not None and node.labels.get(NODE_POOL):  # Karpenter waits until more is known (UpdateNode).
            is_typed = node.labels.get(algebra.INSTANCE_TYPE) or node.labels.get(_INITIALIZED)
            if not facts.provider_id or not is_typed:
                continue
        if claim.is_deleted if claim is not None else facts is not None and facts.is_deleted:
            deleted.append(node.name)
            continue
        running = bound.get(node.name, [])
        machine = _machine(
            node, claim, facts or NodeFacts(capacity=node.allocatable), readiness_taints=readiness_taints
        )
        limits = cluster.storage.limits.get(node.name, {})
        disks = [pods.attached(pod.cls, cluster.storage) for pod in running]
        ports = tuple(port for pod in running for port in pod.cls.host_ports)
        machine = machine._replace(disk_limits=limits, disks=frozenset().union(*disks), ports=ports)
        found.append(_occupied(machine, running, daemons))
    for claim in provisioning.claims:
        if claim.provider_id and claim.name not in joined and not claim.is_deleted:
            found.append(_occupied(_machine(None, claim, NodeFacts(), readiness_taints=readiness_taints), [], daemons))
    return sorted(found, key=lambda item: (not item.is_initialized, item.name)), deleted


def _machine(node: Optional[Node], claim: Optional[NodeClaim], facts: NodeFacts, *, readiness_taints: bool) -> Machine:
    """Return a machine without pods; before it is initialized, its claim says what is missing."""
    if node is None or (claim is not None and node.labels.get(_REGISTERED) != "true"):
        assert claim is not None  # noqa: S101 (one of both exists)
        name, labels, taints = claim.name, claim.labels, claim.taints
    else:
        name, labels, taints = node.name, node.labels, node.taints
    free = {} if node is None else dict(node.allocatable)
    capacity = dict(facts.capacity)
    is_initialized = claim is None or (node is not None and node.labels.get(_INITIALIZED) == "true")
    if claim is not None and not is_initialized:
        for have, given in ((free, claim.allocatable), (capacity, claim.capacity)):
            have.update({key: amount for key, amount in given.items() if not have.get(key)})
        gone = _STARTING | {(taint.key, taint.effect) for taint in claim.startup_taints}
        taints = tuple(taint for taint in taints if (taint.key, taint.effect) not in gone)
        taints = tuple(taint for taint in taints if not (readiness_taints and taint.key.startswith(_READINESS)))
    host = labels.get(HOSTNAME) or name
    requirements = algebra.plus(algebra.of_labels(labels), (algebra.requirement(HOSTNAME, "In", (host,)),))
    machine = Machine(name, host, labels.get(NODE_POOL, ""), taints, requirements, free, {**capacity, "nodes": 1})
    return machine._replace(is_initialized=is_initialized, labels={} if node is None else labels, node=node)


def _occupied(machine: Machine, running: list[Pod], daemons: list[PodClass]) -> Machine:
    """Return a machine with what its pods leave, and with room kept for DaemonSet pods that are yet to come."""
    coming: Amounts = {}
    labels = {key: item for key, item in machine.requirements.items() if key != HOSTNAME or HOSTNAME in machine.labels}
    for daemon in daemons:
        if not untolerated(machine.taints, daemon.tolerations) and algebra.meets(labels, pods.required(daemon)):
            resources.add(coming, pods.requests_of(daemon))
    for pod in running:
        if pods.is_of_daemon(pod):
            resources.add(coming, {name: -amount for name, amount in pods.requests_of(pod.cls).items()})
    used = total(*(pods.requests_of(pod.cls) for pod in running))
    free = {name: amount - used.get(name, 0) - max(0, coming.get(name, 0)) for name, amount in machine.free.items()}
    return machine._replace(free=free)


def templates(
    pools: Iterable[NodePool],
    types: dict[str, Types],
    daemons: list[PodClass],
    options: Options,
) -> tuple[list[Template], list[PodClass]]:
    """Return the pools that have fitting types, in order, and the DaemonSets as this leaves them.

    A required term of a DaemonSet that does not fit one pool is gone for all later ones and for existing nodes.
    """
    result: list[Template] = []
    left = list(daemons)
    for pool in pools:
        of_pool, requirements = types[pool.name], pool.template
        mask = of_pool.compatible(requirements) & of_pool.offered(requirements) & of_pool.fitting({})
        if not mask or (of_pool.missing(mask, requirements) and not options.relaxes_min_values):
            continue
        if not result:
            left = [daemon._replace(tolerations=(*daemon.tolerations, pods.NO_PREFERENCE)) for daemon in daemons]
        own = []
        for at, daemon in enumerate(left):
            while not untolerated(pool.taints, daemon.tolerations):
                if algebra.meets(requirements, pods.required(daemon), options.well_known):
                    own.append(daemon)
                    break
                terms = daemon.node_affinity.required or ()
                if len(terms) < 2:
                    break
                daemon = daemon._replace(node_affinity=daemon.node_affinity._replace(required=terms[1:]))  # noqa: PLW2901
            left[at] = daemon
        overhead = {resources.PODS: 0, **total(*map(pods.requests_of, own))}
        ports = tuple(port for daemon in own for port in daemon.host_ports)
        result.append(Template(pool, requirements, of_pool, mask, overhead, ports))
    return result, left
