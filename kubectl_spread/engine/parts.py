"""Parts of a step that do not influence each other, each in a small cluster that stands for the whole one.

A drain of a node with pods of ten workloads has more orders than can be visited, and most of them differ in nothing
that decides. Two workloads are independent if neither's hard spread constraints count the other's pods, if no
disruption budget selects pods of both, and if the nodes that are merged have room for all new pods together.
Then each workload is simulated apart, and its nodes are merged by what still decides: labels that its constraints use,
taints, and whether they pass the filters.

    zone a: a1 a2 a3 ... a400      ──▶   a1 with room for everything, and the workload's pods of zone a
    zone b: b1 b2 b3 ... b400      ──▶   b1

Scores and the choice among pods that a ReplicaSet may delete depend on single nodes. In the small cluster a pod may
therefore go to every node that fits, and a ReplicaSet may delete any pod of the lowest rank, whatever else is on its
node (`World.is_widened`). So the outcomes there include every real one: what holds in all of them is certain, and
ranges are at most these.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Optional

import numpy as np

from kubectl_spread.cluster.building.build import admitted_workload, stored_workload
from kubectl_spread.cluster.snapshot import Cluster, Controller, DisruptionBudget, key_of
from kubectl_spread.cluster.tables.columns import Bools, Columns, Int64s
from kubectl_spread.engine import references, steps
from kubectl_spread.engine.controllers.deployment import DeploymentSpec
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod, PodClass, PodVolume
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.selectors import HOSTNAME, ZONE
from kubectl_spread.objects.storage import Claim, NamespacedName, READ_WRITE_ONCE_POD
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts, PreFilterState
from kubectl_spread.scheduler.unsupported import unsupported_features

_ON_NODES = (steps.Drain, steps.Cordon, steps.NodesDown, steps.DeleteNodes)
_ON_PODS = (steps.Evict, steps.DeletePods)
_ON_KEYS = (steps.Scale, steps.Restart, steps.Undo, steps.Delete)
_KINDS = ("Deployment", "ReplicaSet", "StatefulSet")
_ENDLESS = 10**12  # of every resource: a node of a small cluster always has room
_MOST_DOMAINS = 20  # of a key that no hard constraint has; nodes of keys with more are merged


class Part(NamedTuple):
    """Workloads that are simulated together, apart from all others.

    ops: the user's steps, as far as they concern these workloads. keys: the topology keys whose domains are kept.
    has_room: every new pod finds a node in every order. Its emptiest domain always admits it ('existing matching num' +
    'if self-match' - 'global minimum' is 0 or 1), and each domain has a node with room for all new pods.
    """

    workloads: frozenset[ObjectKey]
    cluster: Cluster
    ops: tuple[steps.Op, ...]
    keys: frozenset[str]
    has_room: bool


class _Workload(NamedTuple):
    """A workload of the step.

    made: the class of its new pods. most_new: the most of them that exist at a time. filters: for each class of its
    pods, bool (N,), nodes that pass all filters but those for room and spread, and its hard constraints on the whole
    cluster.
    """

    key: ObjectKey
    controller: Controller
    pods: tuple[Pod, ...]
    made: PodClass
    most_new: int
    filters: tuple[tuple[Bools, tuple[DomainCounts, ...]], ...]

    @property
    def hard(self) -> list[DomainCounts]:
        return [counts for _, every in self.filters for counts in every]

    @property
    def labels(self) -> Iterator[dict[str, str]]:
        """Yield the labels of its running and its new pods."""
        return map(dict, {self.made.labels, *(pod.cls.labels for pod in self.pods)})


def parts(
    cluster: Cluster,
    profiles: Mapping[str, Profile],
    ops: Sequence[steps.Op],
    live: Collection[ObjectKey],
    columns: Columns,
) -> tuple[Part, ...]:
    """Return the parts of a step; none if something ties them together that is not told apart here.

    Args:
        cluster: the cluster before the step.
        profiles: of the scheduler, by name.
        ops: the user's steps.
        live: the workloads that take part.
        columns: of the cluster.
    """
    if not all(isinstance(op, (*_ON_NODES, *_ON_PODS, *_ON_KEYS, steps.Apply)) for op in ops):
        return ()
    if len(cluster.nodes) != len(columns.nodes):
        return ()
    return _Splitting(cluster, profiles, tuple(ops), columns).parts(live)


class _Splitting:
    def __init__(
        self, cluster: Cluster, profiles: Mapping[str, Profile], ops: tuple[steps.Op, ...], columns: Columns
    ) -> None:
        self._cluster = cluster
        self._profiles = profiles
        self._ops = ops
        self._columns = columns
        self._scheduler = Scheduler(columns, profiles, all_nodes=True)
        self._named = references.named_nodes(ops)
        self._uids = frozenset(uid for op in ops if isinstance(op, _ON_PODS) for uid in op.uids)
        self._applied = {key_of(op.controller.workload): op.controller for op in ops if isinstance(op, steps.Apply)}
        self._pods: dict[Optional[ObjectKey], list[Pod]] = defaultdict(list)
        for pod in cluster.pods:
            if pod.is_visible:
                self._pods[cluster.top_owner(pod)].append(pod)

    def parts(self, live: Collection[ObjectKey]) -> tuple[Part, ...]:
        workloads: list[_Workload] = []
        for key in sorted(key for key in live if key.kind != "DaemonSet"):
            workload = self._workload(key)
            if workload is None:
                return ()
            workloads.append(workload)
        if not workloads or self._counts_others(workloads):
            return ()
        bare = [pod.cls for pod in self._pods[None] if not pod.node_name]
        slots = self._slots([*(item.made for item in workloads), *bare])
        new = len(bare) + sum(item.most_new for item in workloads)
        made = [self._part(group, slots, new) for group in self._tied(workloads)]
        return tuple(item for item in made if item is not None) if all(made) else ()

    def _workload(self, key: ObjectKey) -> Optional[_Workload]:
        """Return a workload; None if more than room, static filters and spread decides about its pods."""
        cluster = self._cluster
        controller = self._applied.get(key) or cluster.controllers.get(key)
        if controller is None or key.kind not in _KINDS or key in cluster.owners:
            return None
        if any(quota.namespace == key.namespace for quota in cluster.quotas):
            return None
        owner = controller.workload
        is_changed = any(_is_about(op, key) for op in self._ops)
        if is_changed and any(pod.cls.volumes for pod in self._pods[key]):
            return None  # New ordinals have new claims.
        minor = next(iter(self._profiles.values())).minor
        made = replica(stored_workload(admitted_workload(owner, cluster), minor), owner.first_ordinal).cls
        pods = tuple(self._pods[key])
        filters: list[tuple[Bools, tuple[DomainCounts, ...]]] = []
        for cls in {made, *(pod.cls for pod in pods)}:
            if self._depends_on_others(cls) or unsupported_features(
                cls, self._profiles.get(cls.scheduler_name), cluster
            ):
                return None
            filtered = self._scheduler.filter(Pod("new pod", "new pod", cls))
            if filtered.rejection is not None:
                return None
            passes: Bools = filtered.considered.copy()
            hard: list[DomainCounts] = []
            for result in filtered.plugin_results:
                if isinstance(result.state, PreFilterState):
                    hard += result.state.counts
                elif result.plugin != names.NODE_RESOURCES_FIT:
                    passes &= result.bits == 0
            if any(item.constraint.topology_key == HOSTNAME for item in hard):
                return None
            filters.append((passes, tuple(hard)))
        return _Workload(key, controller, pods, made, self._most_new(key, controller, pods), tuple(filters))

    def _depends_on_others(self, cls: PodClass) -> bool:
        """Return whether more of other pods matters to a pod than their room and their labels.

        A claim that is bound to a volume allows the same nodes forever.
        """
        if cls.pod_affinity or cls.pod_anti_affinity or cls.host_ports or cls.gates:
            return True
        claims = [self._claim(cls, volume) for volume in cls.volumes]
        return any(item is None or not item.is_bound or READ_WRITE_ONCE_POD in item.access_modes for item in claims)

    def _claim(self, cls: PodClass, volume: PodVolume) -> Optional[Claim]:
        """Return the claim of a volume; None if it has none that outlives the pod."""
        if not volume.claim or volume.is_ephemeral:
            return None
        return self._cluster.storage.claims.get(NamespacedName(cls.namespace, volume.claim))

    def _most_new(self, key: ObjectKey, controller: Controller, pods: Sequence[Pod]) -> int:
        """Return the most pods of a workload at a time that need a node."""
        scaler = self._cluster.autoscalers.get(key)
        if scaler is None and not any(_is_about(op, key) for op in self._ops):
            return sum(not pod.node_name or pod.node_name in self._named or pod.uid in self._uids for pod in pods)
        scaled = [op.replicas for op in self._ops if isinstance(op, steps.Scale) and op.key == key]
        replicas = max(controller.workload.replicas or 0, 0 if scaler is None else scaler.max_replicas, *scaled)
        rolling = fields(fields(controller.spec.get("strategy")).get("rollingUpdate"))
        surge = DeploymentSpec(replicas, 0, rolling.get("maxSurge", "25%")).max_surge
        return replicas + (surge if key.kind == "Deployment" else 0)

    def _counts_others(self, workloads: Sequence[_Workload]) -> bool:
        """Return whether a hard constraint or a budget of the workloads selects pods that do not take part."""
        own = {item.key for item in workloads}
        selectors = [(item.key.namespace, counts.constraint.selector) for item in workloads for counts in item.hard] + [
            (budget.namespace, budget.selector) for budget in self._budgets(workloads)
        ]
        looks = {
            (pod.cls.namespace, pod.cls.labels) for key, pods in self._pods.items() if key not in own for pod in pods
        }
        by_namespace: dict[str, list[dict[str, str]]] = defaultdict(list)
        for namespace, labels in looks:
            by_namespace[namespace].append(dict(labels))
        return any(selector.matches(labels) for namespace, selector in selectors for labels in by_namespace[namespace])

    def _budgets(self, workloads: Iterable[_Workload]) -> list[DisruptionBudget]:
        return [
            budget
            for budget in self._cluster.budgets
            if any(
                budget.namespace == item.key.namespace and any(map(budget.selector.matches, item.labels))
                for item in workloads
            )
        ]

    def _slots(self, classes: Sequence[PodClass]) -> Int64s:
        """Return how many more pods of any of some classes each node has room for: int64 (N,)."""
        columns = self._columns
        largest: dict[str, int] = {}
        for cls in classes:
            for resource, amount in columns.with_summed_requests(cls).requests:
                largest[resource] = max(amount, largest.get(resource, 0))
        slots: Int64s = columns.slots() - columns.pod_count
        most = max((len(cls.volumes) for cls in classes), default=0)
        if most:  # A driver attaches a limited number of volumes to a node.
            free = {name: min(limits.values()) for name, limits in self._cluster.storage.limits.items() if limits}
            used = Counter(pod.node_name for every in self._pods.values() for pod in every for _ in pod.cls.volumes)
            by_limits = [(free.get(node.name, _ENDLESS) - used[node.name]) // most for node in columns.nodes]
            slots = np.minimum(slots, np.array(by_limits, np.int64))
        for resource, amount in largest.items():
            if amount > 0:
                slots = np.minimum(slots, (columns.allocatable_of(resource) - columns.requested_of(resource)) // amount)
        return np.maximum(slots, 0)

    def _tied(self, workloads: Sequence[_Workload]) -> list[list[_Workload]]:
        """Return the workloads in groups; two of different groups are independent."""
        groups = [[item] for item in workloads]
        selectors = [
            *((item.key.namespace, counts.constraint.selector) for item in workloads for counts in item.hard),
            *((budget.namespace, budget.selector) for budget in self._budgets(workloads)),
        ]
        by_namespace: dict[str, list[_Workload]] = defaultdict(list)
        for item in workloads:
            by_namespace[item.key.namespace].append(item)
        for namespace, selector in selectors:
            tied = {item.key for item in by_namespace[namespace] if any(map(selector.matches, item.labels))}
            together = [group for group in groups if any(item.key in tied for item in group)]
            if len(together) > 1:
                groups = [group for group in groups if group not in together]
                groups.append([item for group in together for item in group])
        return groups

    def _part(self, group: Sequence[_Workload], slots: Int64s, new: int) -> Optional[Part]:
        """Return the part of some workloads; None if nodes that are merged may run out of room for some pods.

        Args:
            group: the workloads.
            slots: room of each node for new pods of all workloads, int64 (N,).
            new: the most new pods of all workloads at a time.
        """
        keys = frozenset(item.key for item in group)
        domains = self._domain_keys(group)
        own = {pod.node_name for item in group for pod in item.pods}
        drained = {name for op in self._ops if isinstance(op, steps.Drain) for name in op.nodes}
        leaving = {name for op in self._ops if isinstance(op, _ON_NODES) for name in op.nodes}
        passes = np.array([each for item in group for each, _ in item.filters])
        counted = [counts.included for item in group for counts in item.hard]
        merged: dict[object, list[int]] = defaultdict(list)  # nodes by what decides
        for at, node in enumerate(self._columns.nodes):
            sign = (
                tuple(node.labels.get(key) for key in sorted(domains)),
                node.taints,
                node.unschedulable,
                passes[:, at].tobytes(),
                tuple(bool(included[at]) for included in counted),
                node.name in self._named,
                node.name if node.name in drained and node.name in own else "",
            )
            merged[sign].append(at)
        stands_for: dict[str, str] = {}
        kept: list[int] = []
        lasting: list[int] = []
        for every in merged.values():
            first = every[0]
            kept.append(first)
            stands_for.update((self._columns.nodes[at].name, self._columns.nodes[first].name) for at in every)
            if self._columns.nodes[first].name in leaving:
                continue
            lasting.append(first)
            if passes[:, first].any() and slots[every].sum() < new:  # Until then, one of them has room for a pod.
                return None
        nodes = tuple(_endless(self._columns.nodes[at], group) for at in sorted(kept))
        pods = tuple(
            pod._replace(node_name=stands_for.get(pod.node_name, pod.node_name)) for item in group for pod in item.pods
        )
        there = {node.name for node in nodes}
        cluster = self._cluster._replace(
            nodes=nodes,
            pods=pods,
            budgets=tuple(self._budgets(group)),
            storage=self._cluster.storage._replace(limits={}, attachments=()),
            controllers={
                key: item
                for key, item in self._cluster.controllers.items()
                if key in keys or self._cluster.owners.get(key) in keys
            },
        )
        has_room = all(_is_admitted(counts, each, lasting) for item in group for each, counts in item.filters)
        ops = tuple(self._ops_for(keys, {pod.uid for pod in pods}, there))
        return Part(keys, cluster, ops, domains, has_room)

    def _domain_keys(self, group: Sequence[_Workload]) -> frozenset[str]:
        """Return the topology keys by which the nodes of a part differ."""
        hard = {counts.constraint.topology_key for item in group for counts in item.hard}
        soft = {constraint.topology_key for item in group for constraint in item.made.constraints} | {ZONE}
        few = {key for key in soft if len(self._columns.topology(key).values) <= _MOST_DOMAINS}
        return frozenset(hard | few)

    def _ops_for(
        self, keys: Collection[ObjectKey], uids: Collection[str], nodes: Collection[str]
    ) -> Iterator[steps.Op]:
        """Yield the user's steps for some workloads, pods and nodes."""
        for op in self._ops:
            if isinstance(op, _ON_NODES):
                named = tuple(name for name in op.nodes if name in nodes)
                if named:
                    yield op._replace(nodes=named)
            elif isinstance(op, _ON_PODS):
                chosen = tuple(uid for uid in op.uids if uid in uids)
                if chosen:
                    yield op._replace(uids=chosen)
            elif any(_is_about(op, key) for key in keys):
                yield op


def _is_admitted(hard: Sequence[DomainCounts], passes: Bools, lasting: Sequence[int]) -> bool:
    """Return whether a pod finds a node in every order; lasting: nodes that stay and have room for all new pods."""
    able = [at for at in lasting if passes[at]]
    if len(hard) != 1:
        return bool(able) and not hard
    counts = hard[0]
    domains = {int(counts.topology.codes[at]) for at in able}
    return not counts.now().is_below_min_domains and domains >= set(np.flatnonzero(counts.eligible).tolist())


def _is_about(op: steps.Op, key: ObjectKey) -> bool:
    if isinstance(op, steps.Apply):
        return key_of(op.controller.workload) == key
    return isinstance(op, _ON_KEYS) and op.key == key


def _endless(node: Node, group: Sequence[_Workload]) -> Node:
    """Return a node with room for everything."""
    resources = {resource for item in group for pod in item.pods for resource, _ in pod.cls.requests}
    resources |= {resource for item in group for resource, _ in item.made.requests}
    return node._replace(allocatable={**node.allocatable, **dict.fromkeys((*resources, "pods"), _ENDLESS)})
