"""Groups of workloads and their filters, from the cluster facts; loads numpy.

The filters of a node are the scheduler's own verdicts on the cluster without the group's pods. Constraints,
anti-affinity, host ports and requests among the group's pods are added as numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Optional

import numpy as np

from kubectl_spread.cluster.building.stored import admitted, as_stored
from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Cluster, Controller, OwnerKey
from kubectl_spread.cluster.tables.arrays import Int64s
from kubectl_spread.cluster.tables.columns import Columns
from kubectl_spread.guarantee.model import (
    Disruption,
    fenceposts,
    Filters,
    GroupModel,
    Kind,
    KindFilters,
    Layout,
    LossKind,
    OwnerSpec,
    Separation,
    Spread,
)
from kubectl_spread.objects.constraints.constraint import SCHEDULE_ANYWAY, TopologySpreadConstraint
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.selectors.labels import HOSTNAME
from kubectl_spread.objects.taints import NO_EXECUTE, NO_SCHEDULE, Taint
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.objects.workloads.workload import revision_label, Workload
from kubectl_spread.policy.policy import Regime, ReplicaBounds
from kubectl_spread.records import NamedTuple
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts, PreFilterState
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubectl_spread.scheduler.unsupported import not_evaluated
from kubectl_spread.timeline.nodes import cordoned, tainted, UNREACHABLE

KINDS = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"})
_PLAIN = TopologySpreadConstraint(0, 1, HOSTNAME, SCHEDULE_ANYWAY)  # without it, default constraints would apply
_NEW_HASH = "guarantee-new"
PODS = "pods"


class Member(NamedTuple):
    """A workload of a group, as it is stored; bounds: range of its replicas."""

    key: OwnerKey
    controller: Controller
    bounds: Optional[ReplicaBounds] = None


class GroupBuilder:
    """Builder of a group's numbers, and of its filters during disruptions."""

    def __init__(
        self, members: Sequence[Member], cluster: Cluster, profiles: Mapping[str, Profile], keys: Iterable[str], *,
        regime: Regime, name: str = ""
    ) -> None:  # fmt: skip
        """Read the workloads.

        Args:
            members: the workloads.
            cluster: the cluster facts; pods of the workloads are not counted as others' pods.
            profiles: of the scheduler.
            keys: topology keys of the rules.
            regime: the last regime; ordinals of StatefulSets matter from scaling on.
            name: of the group.
        """
        self._profiles = profiles
        owned = OwnedPods(cluster)
        own = {pod.uid for member in members for pod in owned.of(member.key)}
        self._running = [(member.key, owned.of(member.key)) for member in members]
        self.cluster = cluster._replace(pods=tuple(pod for pod in cluster.bound() if pod.uid not in own))
        self._minor = next(iter(profiles.values())).minor
        workloads = [as_stored(admitted(member.controller.workload, cluster), self._minor) for member in members]
        self._workloads = workloads
        self._keys = tuple(dict.fromkeys(keys))
        self.notes: dict[str, None] = {}
        self._is_certain = True
        self.classes: list[PodClass] = []
        kinds: list[Kind] = []
        owners: list[OwnerSpec] = []
        for at, (member, workload) in enumerate(zip(members, workloads, strict=True)):
            made = self._kinds(at, member, workload, regime)
            for kind, cls in made:
                kinds.append(kind)
                self.classes.append(cls)
            owners.append(self._owner(member, workload, made, regime))
            self._examine(member.key, workload)
        self.group = GroupModel(
            name, tuple(owners), tuple(kinds), self._layout(), (), tuple(self.notes), self._is_certain
        )
        self.group = self.group._replace(placed=self._placed())

    def _kinds(self, at: int, member: Member, workload: Workload, regime: Regime) -> list[tuple[Kind, PodClass]]:
        """Return the kinds of a workload's pods with their classes."""
        if (
            workload.kind == "StatefulSet"
            and member.bounds is not None
            and regime in (Regime.SCALING, Regime.DISRUPTIONS)
        ):
            size = max(member.bounds.most, workload.replicas or 0)
            return [(Kind(at, ordinal=number), _bare(replica(workload, number).cls)) for number in range(size)]
        old = _bare(replica(workload, 0).cls)
        if not _tells_revisions_apart(workload, old):
            return [(Kind(at), old)]
        if workload.kind == "StatefulSet":
            self.notes[f"StatefulSet {workload.name}: its constraints count each revision separately, and its "
                       "rollouts are not followed revision by revision"] = None  # fmt: skip
            return [(Kind(at), old)]
        new = _bare(replica(workload._replace(known_hash=_NEW_HASH), 0).cls)
        return [(Kind(at), old), (Kind(at, is_new=True), new)]

    def _owner(
        self, member: Member, workload: Workload, made: list[tuple[Kind, PodClass]], regime: Regime
    ) -> OwnerSpec:
        strategy = fields(member.controller.spec.get("strategy"))
        rolling = fields(strategy.get("rollingUpdate"))
        is_rolling = workload.kind == "Deployment" and strategy.get("type") != "Recreate"
        is_scaled = regime in (Regime.SCALING, Regime.DISRUPTIONS)
        found = OwnerSpec(
            member.key,
            workload.replicas or 0,
            _or_default(rolling.get("maxSurge")) if is_rolling else 0,
            _or_default(rolling.get("maxUnavailable")) if is_rolling else 0,
            bounds=member.bounds if is_scaled else None,
            is_stateful=workload.kind == "StatefulSet",
            is_ordered=workload.is_ordered,
        )
        most = max(found.replicas, member.bounds.most if member.bounds is not None else 0)
        surges = is_rolling and any(fenceposts(found, number)[0] for number in range(1, most + 1))
        return found._replace(is_rolled=surges or len(made) == 2)

    def _examine(self, key: OwnerKey, workload: Workload) -> None:
        """Note what can keep the pods Pending and is not modelled."""
        cls = replica(workload, 0).cls
        beyond = list(not_evaluated(cls, self._profiles.get(cls.scheduler_name), self.cluster))
        if cls.gates:
            beyond.append("scheduling gates")
        if any(volume.claim or volume.is_ephemeral for volume in cls.volumes) or workload.claim_templates:
            beyond.append("volumes, which can keep a pod in the zone of its first node")
        labels = [dict(item.labels) for item in (replica(other, 0).cls for other in self._workloads)]
        if any(term.selector.matches(item) for term in cls.pod_affinity for item in labels):
            beyond.append("required pod affinity to the group's own pods")
        for what in beyond:
            self.notes[f"{key.kind} {key.name}: not followed: {what}"] = None
            self._is_certain = False

    def _layout(self) -> Layout:
        names = tuple(node.name for node in self.cluster.nodes)
        columns = Columns(self.cluster._replace(pods=()))
        domain_of, values = {}, {}
        for key in dict.fromkeys((*self._keys, HOSTNAME)):
            topology = columns.topology(key)
            domain_of[key] = tuple(topology.codes.tolist())
            values[key] = topology.values
        return Layout(names, domain_of, values)

    def _placed(self) -> tuple[tuple[int, int], ...]:
        """Return kind and node of each running pod; none if some pod cannot be told."""
        index = {node.name: at for at, node in enumerate(self.cluster.nodes)}
        found = []
        for owner, (_, pods) in enumerate(self._running):
            for pod in pods:
                if not pod.is_visible or pod.terminating or pod.node_name not in index:
                    continue
                kind = self._kind_of(owner, pod)
                if kind is None:
                    return ()
                found.append((kind, index[pod.node_name]))
        return tuple(found)

    def _kind_of(self, owner: int, pod: Pod) -> Optional[int]:
        _, _, number = pod.name.rpartition("-")
        ordinal = int(number) - self._workloads[owner].first_ordinal if number.isdecimal() else -1
        for at, kind in enumerate(self.group.kinds):
            if kind.owner == owner and not kind.is_new and kind.ordinal in (-1, ordinal):
                return at
        return None

    def filters(self, disruption: Optional[Disruption] = None) -> Filters:
        """Return the filters on the nodes as they are, or during a disruption."""
        cluster = self.cluster if disruption is None else _disrupted(self.cluster, disruption)
        columns = Columns(cluster)
        scheduler = Scheduler(columns, self._profiles, all_nodes=True)
        known: dict[PodClass, tuple[tuple[int, ...], tuple[Spread, ...]]] = {}
        found = []
        names = self._resources(columns)
        for cls in self.classes:
            if cls not in known:
                known[cls] = (_allowed(cls, scheduler), self._spreads(cls, columns))
            requests = dict(columns.counted(cls).requests)
            requests[PODS] = 1
            found.append(
                KindFilters(
                    *known[cls], self._separations(cls, columns), tuple(requests.get(name, 0) for name in names)
                )
            )
        free = tuple(tuple(int(_free(columns, name)[at]) for name in names) for at in range(len(cluster.nodes)))
        return Filters(tuple(found), free if names else (), names)

    def _resources(self, columns: Columns) -> tuple[str, ...]:
        """Return the resources that all pods together could exhaust on some node."""
        wanted: dict[str, int] = {PODS: 0}
        for kind, cls in zip(self.group.kinds, self.classes, strict=True):
            spec = self.group.owners[kind.owner]
            size = max(spec.replicas, spec.bounds.most if spec.bounds is not None else 0)
            number = 1 if kind.ordinal >= 0 else size + fenceposts(spec, size)[0]
            for name, amount in (*columns.counted(cls).requests, (PODS, 1)):
                wanted[name] = wanted.get(name, 0) + number * amount
        return tuple(sorted(name for name, amount in wanted.items() if amount > _least(_free(columns, name))))

    def _spreads(self, cls: PodClass, columns: Columns) -> tuple[Spread, ...]:
        profile = self._profiles.get(cls.scheduler_name)
        plugin = (
            next((item for item in profile.pre_filter if isinstance(item, PodTopologySpread)), None)
            if profile
            else None
        )
        if plugin is None or profile is None:
            return ()
        hard = plugin.constraints(cls, columns, hard=True)
        if not hard:
            return ()
        return tuple(self._spread(counts, cls) for counts in PreFilterState(hard, cls, columns, profile.release).counts)

    def _spread(self, counts: DomainCounts, cls: PodClass) -> Spread:
        constraint = counts.constraint
        matches = tuple(
            other.namespace == cls.namespace
            and not constraint.selector.is_empty
            and constraint.selector.matches(dict(other.labels))
            for other in self.classes
        )
        codes = counts.topology.codes
        return Spread(
            constraint.topology_key,
            constraint.max_skew,
            tuple(codes.tolist()),
            tuple(np.flatnonzero(counts.included & (codes >= 0)).tolist()),
            tuple(np.flatnonzero(counts.eligible).tolist()),
            counts.is_below_min_domains,
            matches,
            constraint.self_match_num,
            tuple(counts.match_num.tolist()),
            constraint.min_domains,
        )

    def _separations(self, cls: PodClass, columns: Columns) -> tuple[Separation, ...]:
        """Return the anti-affinity between a kind and the others, in both directions, and conflicts of host ports."""
        by_key: dict[str, list[bool]] = {}
        for number, other in enumerate(self.classes):
            for one, target in ((cls, other), (other, cls)):
                for term in one.pod_anti_affinity:
                    namespace = self.cluster.namespaces.get(target.namespace, {})
                    if term.matches(target.namespace, dict(target.labels), namespace):
                        by_key.setdefault(term.topology_key, [False] * len(self.classes))[number] = True
        found = [
            Separation(key, tuple(columns.topology(key).codes.tolist()), tuple(matches))
            for key, matches in by_key.items()
        ]
        ports = tuple(
            any(one.conflicts(item) for one in cls.host_ports for item in other.host_ports) for other in self.classes
        )
        if any(ports):
            found.append(Separation("", tuple(range(columns.n)), ports))
        return tuple(found)


def _bare(cls: PodClass) -> PodClass:
    """Return a class without volumes, which are not followed."""
    return cls._replace(volumes=())


def _tells_revisions_apart(workload: Workload, cls: PodClass) -> bool:
    """Return whether a hard constraint or an anti-affinity of the pods depends on the label of their revision."""
    label = revision_label(workload)
    if not label:
        return False
    keys = {key for item in cls.constraints if item.is_hard for key in item.match_label_keys}
    terms = {item.key for term in cls.pod_anti_affinity for item in term.selector.requirements or ()}
    return label in keys | terms


def _or_default(value: object) -> object:
    return "25%" if value is None else value


def _allowed(cls: PodClass, scheduler: Scheduler) -> tuple[int, ...]:
    """Return the nodes that pass every filter that does not depend on the group's pods."""
    if not scheduler.has_profile(cls):
        return ()
    pod = Pod("guarantee", "guarantee", cls._replace(constraints=(_PLAIN,), gates=()))
    return tuple(np.flatnonzero(scheduler.filter(pod).feasible).tolist())


def _free(columns: Columns, resource: str) -> Int64s:
    """Return what is left of a resource on each node, int64 (N,)."""
    if resource == PODS:
        return columns.slots() - columns.pod_count
    return columns.allocatable_of(resource) - columns.requested_of(resource)


def _disrupted(cluster: Cluster, disruption: Disruption) -> Cluster:
    """Return the cluster with a cordoned node, or with nodes that do not answer."""
    nodes = list(cluster.nodes)
    for at in disruption.nodes:
        nodes[at] = cordoned(nodes[at], is_cordoned=True) if disruption.kind is LossKind.DRAIN else _down(nodes[at])
    return cluster._replace(nodes=tuple(nodes))


def _down(node: Node) -> Node:
    for effect in (NO_SCHEDULE, NO_EXECUTE):
        node = tainted(node, Taint(UNREACHABLE, "", effect))
    return node


def disruptions(group: GroupModel, keys: Iterable[str], lost: Iterable[tuple[str, int]] = ()) -> tuple[Disruption, ...]:
    """Return the drains of each node and the losses of each domain.

    Args:
        group: the nodes.
        keys: topology keys whose domains are lost, one at a time.
        lost: topology keys whose domains are lost several at a time.
    """
    from itertools import combinations

    layout = group.layout
    hosts = layout.domain_of[HOSTNAME]
    found = [
        Disruption(LossKind.DRAIN, HOSTNAME, (layout.nodes[at],), (at,)) for at in range(len(layout.nodes)) if hosts
    ]
    sizes = dict.fromkeys([*((key, 1) for key in keys), *lost])
    for key, size in sizes:
        for chosen in combinations(range(len(layout.values[key])), size):
            nodes = tuple(at for at, domain in enumerate(layout.domain_of[key]) if domain in chosen)
            found.append(Disruption(LossKind.LOSS, key, tuple(layout.values[key][at] for at in chosen), nodes))
    return tuple(found)


def _least(amounts: Int64s) -> int:
    return int(amounts.min()) if len(amounts) else 0
