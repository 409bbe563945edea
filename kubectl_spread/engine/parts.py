"""Parts of a step that do not influence each other, each in a small cluster that stands for the whole one.

A drain of a node with pods of ten workloads has more orders than can be visited, and most of them differ in nothing
that decides. Two workloads are independent if neither's hard spread constraints count the other's pods, if no
disruption budget selects pods of both, and if the nodes that are merged have room for all new pods together.
Then each workload is simulated apart, and its nodes are merged by what still decides: labels that its constraints use,
taints, and whether they pass the filters.

    zone a: a1 a2 a3 ... a400      ──▶   a1 with room for everything, and the workload's pods of zone a
    zone b: b1 b2 b3 ... b400      ──▶   b1

A hard constraint or a required anti-affinity over hostnames lets a limited number of pods on a node. As long as each
kind of nodes has a node with room and below that limit, it decides nothing more than which of them a pod goes to.

Scores and the choice among pods that a ReplicaSet may delete depend on single nodes. In the small cluster a pod may
therefore go to every node that fits, and a ReplicaSet may delete any pod of the lowest rank, whatever else is on its
node (`World.is_widened`). So the outcomes there include every real one: what holds in all of them is certain, and
ranges are at most these.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Optional

import numpy as np

from kubectl_spread.cluster.build import stored_workload
from kubectl_spread.cluster.columns import Bools, Columns, Int64s, LabelGroup, LabelGroups, Topology
from kubectl_spread.cluster.snapshot import Cluster, Controller, DisruptionBudget, key_of
from kubectl_spread.containers import Numbering, tied
from kubectl_spread.engine import steps
from kubectl_spread.engine.loading import on_nodes, unfinished_workloads
from kubectl_spread.engine.reading import most_pods, with_owners
from kubectl_spread.engine.shapes import shape_of
from kubectl_spread.engine.world import without_hostnames
from kubectl_spread.objects.keys import NamespacedName, ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.selectors import HOSTNAME, PodAffinityTerm, Selector, ZONE
from kubectl_spread.objects.storage import READ_WRITE_ONCE_POD
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.scheduler.cycle import Scheduler, unsupported_features
from kubectl_spread.scheduler.framework.plugin import Profile
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.common import Constraint, filter_topology_spread_constraints
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import PreFilterState
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread

_ON_NODES = (steps.Drain, steps.Cordon, steps.NodesDown, steps.DeleteNodes)
_ON_PODS = (steps.Evict, steps.DeletePods)
_ON_KEYS = (steps.Scale, steps.Restart, steps.Delete)
_KINDS = ("Deployment", "ReplicaSet", "StatefulSet")
_ENDLESS = 10**12  # of every resource: a node of a small cluster always has room
_MOST_DOMAINS = 20  # of a key that no hard constraint has; nodes of keys with more are merged


class Part(NamedTuple):
    """Workloads that are simulated together, apart from all others.

    ops: the part of the user's steps that is about these workloads. keys: the topology keys whose domains are kept.
    new: the most new pods at a time. merged: the nodes that each node stands for.
    has_room: every new pod finds a node in every order. Its emptiest domain always admits it ('existing matching num' +
    'if self-match' - 'global minimum' is 0 or 1), and each domain has a node with room for all new pods.
    is_short: in no order do all pods find a node, see `_Splitting._is_short`.
    shape: equal for parts that differ only in names, and so have equal outcomes; None if that is not known.
    foreign: topology keys of soft constraints that count pods of other workloads, so the part lacks their skew.
    """

    workloads: frozenset[ObjectKey]
    cluster: Cluster
    ops: tuple[steps.Op, ...]
    keys: frozenset[str]
    new: int
    merged: Mapping[str, tuple[str, ...]]
    has_room: bool = False
    is_short: bool = False
    shape: Optional[Hashable] = None
    foreign: frozenset[str] = frozenset()


_Selecting = tuple[str, Selector]  # namespace and labels of pods


class _Hard(NamedTuple):
    """A hard constraint with its counts on the whole cluster, as in `DomainCounts`, but without numbers per node."""

    constraint: Constraint
    topology: Topology
    included: Bools
    eligible: Bools
    match_num: Int64s
    is_below_min_domains: bool


class _Filters(NamedTuple):
    """Verdicts on a class of pods.

    passes: bool (N,), nodes that pass all filters but those for room and spread. hard: hard constraints on the cluster,
    but those over hostnames. free: int64 (N,), how many more pods that these or an anti-affinity count each node may
    get before it refuses pods of the class; None if it never does. selecting: what its hard constraints and its
    anti-affinity select.
    """

    passes: Bools
    hard: tuple[_Hard, ...]
    free: Optional[Int64s]
    selecting: frozenset[_Selecting]


class _Workload(NamedTuple):
    """A workload of the step.

    made: the class of its new pods. most_new: the most of them that exist at a time. filters: by class of its pods.
    """

    key: ObjectKey
    controller: Controller
    pods: tuple[Pod, ...]
    made: PodClass
    most_new: int
    filters: Mapping[PodClass, _Filters]

    @property
    def hard(self) -> list[_Hard]:
        return [counts for each in self.filters.values() for counts in each.hard]

    @property
    def free(self) -> Optional[Int64s]:
        """Return how many more pods each node may get before it refuses some pod, int64 (N,); None if it never does."""
        limits = [each.free for each in self.filters.values() if each.free is not None]
        return np.min(limits, axis=0) if limits else None


class _Merged(NamedTuple):
    """Nodes of which one stands for all that are alike.

    kept: places of the nodes that stand for others. of: int64 (N,), place in `kept` of the node that stands for each.
    lasting: places of the kept nodes that the step leaves alone, with the places of all that each stands for.
    """

    kept: tuple[int, ...]
    of: Int64s
    lasting: dict[int, Int64s]
    nodes: tuple[Node, ...]
    names: Mapping[str, tuple[str, ...]]


class Splitter:
    """A cluster whose steps can be split; several steps may use one.

    solved: results of parts by their shapes, kept for the caller.
    """

    def __init__(self, cluster: Cluster, profiles: Mapping[str, Profile], *, columns: Optional[Columns] = None) -> None:
        """Store the input; `columns` of the cluster, if there are any already."""
        self.cluster = with_owners(cluster).cluster
        self.profiles = profiles
        self.minor = next(iter(profiles.values())).minor
        self.solved: dict[Hashable, Any] = {}
        self.workloads: dict[ObjectKey, Optional[_Workload]] = {}  # that no step concerns
        self._columns = columns
        self._passes: dict[PodClass, Optional[Bools]] = {}
        self._masks: dict[bytes, Bools] = {}

    @cached_property
    def columns(self) -> Columns:
        return self._columns or Columns(self.cluster)

    @cached_property
    def pods(self) -> dict[Optional[ObjectKey], list[Pod]]:
        """Return the pods of each workload, and those without one."""
        found: dict[Optional[ObjectKey], list[Pod]] = defaultdict(list)
        for pod in self.cluster.pods:
            if pod.is_visible:
                found[self.cluster.top_owner(pod)].append(pod)
        return found

    @cached_property
    def controllers(self) -> dict[ObjectKey, dict[ObjectKey, Controller]]:
        """Return the controllers by the topmost one."""
        found: dict[ObjectKey, dict[ObjectKey, Controller]] = defaultdict(dict)
        for key, item in self.cluster.controllers.items():
            found[self.cluster.owners.get(key, key)][key] = item
        return found

    @cached_property
    def labels(self) -> _LabelIndex:
        return _LabelIndex((key, pod.cls) for key, pods in self.pods.items() for pod in pods)

    @cached_property
    def terms(self) -> dict[PodAffinityTerm, set[Optional[ObjectKey]]]:
        """Return the required anti-affinity of all pods, with the workloads whose pods have it."""
        found: dict[PodAffinityTerm, set[Optional[ObjectKey]]] = defaultdict(set)
        for key, pods in self.pods.items():
            for cls in {id(pod.cls): pod.cls for pod in pods}.values():
                for term in cls.pod_anti_affinity:
                    found[term].add(key)
        return dict(found)

    @cached_property
    def _avoiding(self) -> dict[Optional[ObjectKey], set[Optional[ObjectKey]]]:
        """Return the workloads whose anti-affinity selects pods of a workload, in a list of namespaces."""
        found: dict[Optional[ObjectKey], set[Optional[ObjectKey]]] = defaultdict(set)
        for term, keys in self.terms.items():
            for key in (key for each in _selecting([term]) for key in self.labels.matching(*each)):
                found[key] |= keys
        return found

    @cached_property
    def _avoided_in_domains(self) -> frozenset[Optional[ObjectKey]]:
        """Return the workloads with pods that anti-affinity over larger domains selects."""
        terms = [term for term in self.terms if term.topology_key != HOSTNAME]
        return frozenset(key for each in _selecting(terms) for key in self.labels.matching(*each))

    @cached_property
    def _scheduler(self) -> Scheduler:
        return Scheduler(self.columns, self.profiles, all_nodes=True)

    @cached_property
    def unfinished(self) -> frozenset[ObjectKey]:
        return unfinished_workloads(self.cluster, self.profiles)

    def live(self, touched: frozenset[ObjectKey], nodes: frozenset[str]) -> frozenset[ObjectKey]:
        """Return the workloads whose pods take part; arguments as of `loading.load`."""
        return touched | self.unfinished | on_nodes(self.cluster, nodes)

    def parts(
        self,
        ops: Sequence[steps.Op],
        live: Collection[ObjectKey],
        *,
        only: Optional[ObjectKey] = None,
    ) -> tuple[Part, ...]:
        """Return the parts of a step; none if something ties them together that is not told apart here.

        DaemonSets and pods without a controller are in none.

        Args:
            ops: the user's steps.
            live: the workloads that take part.
            only: the workload whose part is returned; None for all.
        """
        if not all(isinstance(op, (*_ON_NODES, *_ON_PODS, *_ON_KEYS, steps.Apply)) for op in ops):
            return ()
        if len(self.cluster.nodes) != len(self.columns.nodes):
            return ()
        if any(isinstance(op, steps.Cordon) and not op.is_cordoned for op in ops):
            return ()  # Whether such a node has room for new pods is not looked at.
        return _Splitting(self, tuple(ops)).parts(live, only)

    def filters(self, cls: PodClass, key: ObjectKey) -> Optional[_Filters]:
        """Return the verdicts on a class; None if more than room, static filters and spread decides about its pods."""
        profile = self.profiles.get(cls.scheduler_name)
        if profile is None or self._depends_on_others(cls) or unsupported_features(cls, profile, self.cluster):
            return None
        if self.terms and (not self._is_plain or key in self._avoided_in_domains):
            return None
        # perf: workloads differ in labels, on which the filters of nodes depend only if pods avoid others
        bare: dict[str, Any] = dict.fromkeys(("labels", "constraints", "images", "pod_anti_affinity"), ())
        alike = cls._replace(owner=None, owner_uid="", **bare)
        if alike not in self._passes:
            filtered = self._scheduler.filter(Pod("new pod", "new pod", alike))
            others = (names.NODE_RESOURCES_FIT, names.POD_TOPOLOGY_SPREAD, names.INTER_POD_AFFINITY)
            self._passes[alike] = (
                None if filtered.rejection is not None else filtered.passes(lambda plugin: plugin not in others)
            )
        passes = self._passes[alike]
        spread = profile.plugin(PodTopologySpread)
        if passes is None or spread is None:
            return None
        state = spread.pre_filter(cls, self.columns)
        every = state.counts if isinstance(state, PreFilterState) else ()
        counts = [item for item in every if item.constraint.topology_key != HOSTNAME]
        limits: list[Int64s] = []
        for item in every:
            if item.constraint.topology_key == HOSTNAME:  # if some node has none
                free = item.constraint.max_skew + 1 - item.constraint.self_match_num
                limits.append(np.maximum(free - item.match_num[item.topology.codes], 0))
        if cls.pod_anti_affinity or self._avoiding[key]:
            # By anti-affinity over hostnames, nodes with pods that the class avoids or that avoid it get none.
            selected = {each for pair in _selecting(cls.pod_anti_affinity) for each in self.labels.matching(*pair)}
            avoided = (pod.node_name for each in selected | self._avoiding[key] for pod in self.pods[each])
            limits.append(np.where(self.columns.mask(avoided), 0, 1))
        if limits and not (self._is_plain and all(term.topology_key == HOSTNAME for term in cls.pod_anti_affinity)):
            return None
        # A pod that has constraints follows no default ones.
        if len(every) > len(counts) and (not cls.constraints or spread.configured_defaults):
            return None
        # perf: most workloads have equal masks
        masks = [self._masks.setdefault(item.included.tobytes(), item.included) for item in counts]
        hard = tuple(
            _Hard(item.constraint, item.topology, mask, item.eligible, item.match_num, item.is_below_min_domains)
            for item, mask in zip(counts, masks, strict=True)
        )
        pairs = {(cls.namespace, item.constraint.selector) for item in every}
        pairs.update(_selecting(cls.pod_anti_affinity))
        return _Filters(passes, hard, np.min(limits, axis=0) if limits else None, frozenset(pairs))

    @cached_property
    def _is_plain(self) -> bool:
        """Return whether each node has a hostname of its own, and anti-affinity is over lists of namespaces."""
        topology = self.columns.topology(HOSTNAME)
        is_own = len(topology.values) == self.columns.n == len(np.unique(topology.codes))
        return is_own and all(term.namespace_selector is None for term in self.terms)

    def _depends_on_others(self, cls: PodClass) -> bool:
        """Return whether more of other pods matters to a pod than their room and their labels.

        A claim that is bound to a volume allows the same nodes as long as it exists.
        """
        if cls.pod_affinity or cls.host_ports or cls.gates:
            return True
        known = self.cluster.storage.claims
        claims = [  # None without one that outlives the pod
            None if volume.is_ephemeral else known.get(NamespacedName(cls.namespace, volume.claim))
            for volume in cls.volumes
        ]
        return any(
            item is None or not item.is_bound or item.is_deleted or READ_WRITE_ONCE_POD in item.access_modes
            for item in claims
        )


class _Splitting:
    """The parts of one step."""

    def __init__(self, known: Splitter, ops: tuple[steps.Op, ...]) -> None:
        self._known = known
        self._cluster, self._columns = known.cluster, known.columns
        self._ops = ops
        self._named = steps.named_nodes(ops)
        self._untouched = self._columns.index.keys() - self._named
        self._leaving = {name for op in ops if isinstance(op, _ON_NODES) for name in op.nodes}
        emptying = [
            op
            for op in ops
            if isinstance(op, (steps.NodesDown, steps.DeleteNodes)) or (isinstance(op, steps.Drain) and not op.selector)
        ]
        # bool (N,): nodes that the step names, that lose all pods, that go, and that no new pod comes to
        self._taken = (
            known.columns.mask(self._leaving),
            known.columns.mask(name for op in emptying for name in op.nodes),
            known.columns.mask(name for op in emptying if isinstance(op, steps.DeleteNodes) for name in op.nodes),
            # Until the nodes of a later step leave, pods may still come to them.
            known.columns.mask(ops[0].nodes if isinstance(ops[0], _ON_NODES) else ()),
        )
        self._drained = {name for op in ops if isinstance(op, steps.Drain) for name in op.nodes}
        self._uids = frozenset(uid for op in ops if isinstance(op, _ON_PODS) for uid in op.uids)
        self._applied = {key_of(op.controller.workload): op.controller for op in ops if isinstance(op, steps.Apply)}
        self._merges: dict[Hashable, Optional[_Merged]] = {}
        named: dict[str, tuple[int, ...]] = {}
        for number, op in enumerate(ops):
            named.update((name, (*named.get(name, ()), number)) for name in steps.named_nodes([op]))
        facts = [(node.taints, node.unschedulable, named.get(node.name)) for node in self._columns.nodes]
        numbers = Numbering[object]()
        self._facts = np.array([numbers[item] for item in facts], np.int64)  # (N,)

    def parts(self, live: Collection[ObjectKey], only: Optional[ObjectKey]) -> tuple[Part, ...]:
        of: dict[ObjectKey, _Workload] = {}
        for key in sorted(key for key in live if key.kind != "DaemonSet"):
            workload = self._workload(key)
            if workload is None:
                return ()
            of[key] = workload
        workloads = of.values()
        index = _LabelIndex((item.key, cls) for item in workloads for cls in item.filters)
        budgets = [(budget, index.matching(budget.namespace, budget.selector)) for budget in self._cluster.budgets]
        budgets = [(budget, keys) for budget, keys in budgets if keys]
        selecting: dict[_Selecting, set[Optional[ObjectKey]]] = defaultdict(set)  # the workloads whose pods do
        for item in workloads:
            for each in {each for found in item.filters.values() for each in found.selecting}:
                selecting[each].add(item.key)
        every = [*selecting, *((budget.namespace, budget.selector) for budget, _ in budgets)]
        if any(not of.keys() >= self._known.labels.matching(*each) for each in every):
            return ()  # A hard constraint, an anti-affinity or a budget selects pods that do not take part.
        ties = [keys | index.matching(*each) for each, keys in selecting.items()]
        groups = tied(of, [*ties, *(keys for _, keys in budgets)])
        bare = [pod.cls for pod in self._known.pods[None] if not pod.node_name]
        slots = self._slots([*(cls for item in workloads for cls in item.filters), *bare])
        new = len(bare) + sum(item.most_new for item in workloads)
        of_key: dict[ObjectKey, list[DisruptionBudget]] = defaultdict(list)
        for budget, keys in budgets:
            of_key[min(key for key in keys if key is not None)].append(budget)
        made: list[Part] = []
        for group in groups:
            if only is None or only in group:
                found = tuple(budget for key in group for budget in of_key[key])
                part = self._part([of[key] for key in group], found, slots, new)
                if part is None:
                    return ()
                made.append(part)
        return tuple(made)

    def _workload(self, key: ObjectKey) -> Optional[_Workload]:
        """Return a workload; None if more than room, static filters and spread decides about its pods."""
        own = [op for op in self._ops if _is_about(op, key)]
        if self._named or self._uids or own:
            return self._read(key, own)
        if key not in self._known.workloads:
            self._known.workloads[key] = self._read(key, own)
        return self._known.workloads[key]

    def _read(self, key: ObjectKey, own: Sequence[steps.Op]) -> Optional[_Workload]:
        """Read a workload; `own` are the steps about it."""
        cluster = self._cluster
        controller = self._applied.get(key) or cluster.controllers.get(key)
        if controller is None or key.kind not in _KINDS or key in cluster.owners:
            return None
        if any(quota.namespace == key.namespace for quota in cluster.quotas):
            return None
        owner, pods = controller.workload, tuple(self._known.pods[key])
        labels = fields(owner.template, "metadata", "labels").items()
        if self._known.terms and not any(labels <= dict(pod.cls.labels).items() for pod in pods):
            return None  # Labels that no pod has yet may be ones that other pods avoid.
        if own and any(pod.cls.volumes for pod in pods):
            return None  # New ordinals have new claims.
        made = replica(stored_workload(owner, cluster, self._known.minor), owner.first_ordinal).cls
        if not self._known.terms.keys() >= set(made.pod_anti_affinity):
            return None  # Pods that are there may be ones that it avoids.
        filters: dict[PodClass, _Filters] = {}
        for cls in {made: None, **{pod.cls: None for pod in pods}}:
            found = self._known.filters(cls, key)
            if found is None:
                return None
            filters[cls] = found
        scaler, scaled = cluster.autoscalers.get(key), [op.replicas for op in own if isinstance(op, steps.Scale)]
        if scaler is None and len(scaled) == len(own) and key not in self._known.unfinished:
            gone = sum(pod.node_name not in self._untouched or pod.uid in self._uids for pod in pods)
            most_new = gone + max(0, *scaled, len(pods)) - len(pods)
        else:
            replicas = max(owner.replicas or 0, 0 if scaler is None else scaler.max_replicas, *scaled)
            most_new = most_pods(controller._replace(workload=owner._replace(replicas=replicas)))
        return _Workload(key, controller, pods, made, most_new, filters)

    def _slots(self, classes: Sequence[PodClass]) -> Int64s:
        """Return how many more pods of any of some classes each node has room for: int64 (N,)."""
        columns = self._columns
        largest: dict[str, int] = {}
        for cls in classes:
            for resource, amount in columns.with_summed_requests(cls).requests:
                largest[resource] = max(amount, largest.get(resource, 0))
        slots = columns.room(largest.items())
        most = max((len(cls.volumes) for cls in classes), default=0)
        if most:  # A driver attaches a limited number of volumes to a node.
            free = {name: min(limits.values()) for name, limits in self._cluster.storage.limits.items() if limits}
            used = Counter(
                pod.node_name for every in self._known.pods.values() for pod in every for _ in pod.cls.volumes
            )
            by_limits = [(free.get(node.name, _ENDLESS) - used[node.name]) // most for node in columns.nodes]
            slots = np.clip(np.array(by_limits, np.int64), 0, slots)
        return slots

    def _part(
        self, group: Sequence[_Workload], budgets: tuple[DisruptionBudget, ...], slots: Int64s, new: int
    ) -> Optional[Part]:
        """Return the part of some workloads; None if nodes that are merged may run out of room for some pods.

        Args:
            group: the workloads.
            budgets: that select their pods.
            slots: room of each node for new pods of all workloads, int64 (N,).
            new: the most new pods of all workloads at a time.
        """
        keys = frozenset(item.key for item in group)
        # The topology keys by which the nodes of the part differ.
        hard = {counts.constraint.topology_key for item in group for counts in item.hard}
        soft = {constraint.topology_key for item in group for constraint in item.made.constraints} | {ZONE}
        soft -= {HOSTNAME} if any(item.free is not None for item in group) else set()
        few = {name for name in soft if len(self._columns.topology(name).values) <= _MOST_DOMAINS}
        domains = frozenset(hard | few)
        merged = self._merged(group, domains, slots, new)
        priorities = {cls.priority for item in group for cls in item.filters}
        own = sum(item.most_new for item in group)
        if merged is None or (len(priorities) > 1 and any(item.hard or item.free is not None for item in group)):
            return None  # A pod may preempt others that its constraint counts.
        if not all(self._has_free(item, merged, slots, own=own, new=new) for item in group):
            return None
        at, nodes = self._columns.index, self._columns.nodes
        pods = tuple(
            pod._replace(
                node_name=nodes[merged.kept[merged.of[at[pod.node_name]]]].name
                if pod.node_name in at
                else pod.node_name,
                cls=without_hostnames(pod.cls),
            )
            for item in group
            for pod in item.pods
        )
        cluster = self._cluster._replace(
            nodes=merged.nodes,
            pods=pods,
            budgets=budgets,
            storage=self._cluster.storage._replace(limits={}, attachments=()),
            controllers={name: each for key in sorted(keys) for name, each in self._known.controllers[key].items()},
            read_at="",  # Ages decide nothing here.
        )
        ops = tuple(self._ops_for(keys, {pod.uid for pod in pods}, merged.names))
        part = Part(keys, cluster, ops, domains, own, merged.names)
        return part._replace(
            has_room=all(_is_admitted(each, merged.lasting) for item in group for each in item.filters.values()),
            is_short=len(group) == 1 and self._is_short(group[0]),
            foreign=frozenset(
                each.topology_key
                for item in group
                for each in filter_topology_spread_constraints(item.made, hard=False)
                if not keys.issuperset(self._known.labels.matching(item.key.namespace, each.selector))
            ),
            shape=shape_of(group[0].key, cluster, ops, made=group[0].made, minor=self._known.minor)
            if len(group) == 1
            else None,
        )

    def _merged(
        self, group: Sequence[_Workload], domains: frozenset[str], slots: Int64s, new: int
    ) -> Optional[_Merged]:
        """Return the nodes of a part, merged by what decides; None if those of a kind may run out of room."""
        columns = self._columns
        apart = {pod.node_name for item in group for pod in item.pods} & self._drained
        passes = [each.passes for item in group for each in item.filters.values()]
        masks = {
            mask.tobytes(): mask for mask in (*passes, *(counts.included for item in group for counts in item.hard))
        }
        resources = {resource for item in group for cls in item.filters for resource, _ in cls.requests}
        key = (domains, frozenset(resources), frozenset(apart), frozenset(masks))
        if key not in self._merges:
            table = [columns.topology(name).codes for name in sorted(domains)] + [self._facts, *masks.values()]
            table.append(np.array([at * (node.name in apart) for at, node in enumerate(columns.nodes, 1)], np.int64))
            _, first, of = np.unique(np.stack(table).astype(np.int64), axis=1, return_index=True, return_inverse=True)
            of = of.reshape(-1)
            slots_of = np.bincount(of, weights=slots)
            kept = tuple(first.tolist())
            every = np.split(np.argsort(of, kind="stable"), np.cumsum(np.bincount(of))[:-1])
            lasting = {at: every[place] for place, at in enumerate(kept) if columns.nodes[at].name not in self._leaving}
            # Until a kind of nodes has as many pods more, one of them has room for a pod.
            is_full = any(slots_of[of[at]] < new and any(mask[at] for mask in passes) for at in lasting)
            names = {
                columns.nodes[at].name: tuple(columns.nodes[other].name for other in others.tolist())
                for at, others in zip(kept, every, strict=True)
            }
            room = dict.fromkeys((*resources, "pods"), _ENDLESS)
            nodes = tuple(
                node._replace(allocatable={**node.allocatable, **room})
                for node in (columns.nodes[at] for at in sorted(kept))
            )
            self._merges[key] = None if is_full else _Merged(kept, of, lasting, nodes, names)
        return self._merges[key]

    def _has_free(self, item: _Workload, merged: _Merged, slots: Int64s, *, own: int, new: int) -> bool:
        """Return whether each kind of nodes always has a node with room that takes the pods of a workload.

        A node stops taking them once its room is used up, or once it has as many pods that count as it may get.

        Args:
            item: the workload.
            merged: the kinds of nodes.
            slots: room of each node for new pods of all workloads, int64 (N,).
            own: the most new pods at a time that may count.
            new: the most new pods of all workloads at a time.
        """
        free = item.free
        if free is None:
            return True
        for at, nodes in merged.lasting.items():
            if not any(each.passes[at] for each in item.filters.values()):
                continue
            able = nodes[free[nodes] > 0]
            left = len(able) - (own - 1) // int(free[able].min()) if len(able) else 0
            if left <= 0 or np.sort(slots[able])[:left].sum() < new:
                return False
        return True

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

    def _is_short(self, item: _Workload) -> bool:
        """Return whether the workload cannot have all its pods after the step, whatever the order of events.

        No new pod enters a domain in which every node refuses it or leaves, so the domain's matching pods only become
        fewer. A pod enters another domain only if that has at most maxSkew - 1 more. So no domain that takes pods ends
        with more than maxSkew more, unless it has them already.
        """
        own = [op for op in self._ops if _is_about(op, item.key)]
        scaled = [op.replicas for op in own if isinstance(op, steps.Scale)]
        replicas = scaled[-1] if scaled else item.controller.workload.replicas or 0
        is_usual = all(isinstance(op, (*_ON_NODES, *_ON_PODS, steps.Scale, steps.Restart)) for op in self._ops)
        if not is_usual or item.key in self._cluster.autoscalers:
            return False
        columns = self._columns
        is_left, is_emptied, is_gone, is_shut = self._taken
        is_settled = all(pod.node_name and not pod.terminating for pod in item.pods)
        if not is_settled or len(item.pods) < (item.controller.workload.replicas or 0):
            is_shut = np.zeros(columns.n, np.bool_)  # A waiting pod may come to a node before it leaves.
        staying = np.zeros(columns.n, np.int64)  # pods that may stay, (N,)
        if item.key.kind != "Deployment" or not any(isinstance(op, steps.Restart) for op in own):
            places = [columns.index[pod.node_name] for pod in item.pods if pod.node_name in columns.index]
            np.add.at(staying, places, 1)
            staying[is_emptied] = 0
        passes = np.any([each.passes for each in item.filters.values()], axis=0)
        if not (passes & ~is_shut).any():
            return int(staying.sum()) < replicas
        if len({tuple(counts.constraint for counts in each.hard) for each in item.filters.values()}) > 1:
            return False
        if any(each.match_label_keys for cls in item.filters for each in cls.constraints):
            return False  # The pods of a new revision are counted apart.
        for counts in item.filters[item.made].hard:
            codes, size = counts.topology.codes, len(counts.topology.values)
            counted = counts.included & ~is_gone & ~(is_left & counts.constraint.honors_taints)
            entered = np.bincount(codes[(codes >= 0) & passes & ~is_shut], minlength=size) > 0
            frozen = (np.bincount(codes[counted], minlength=size) > 0) & ~entered
            if not frozen.any() or counts.constraint.self_match_num != 1:
                continue
            most = int(counts.match_num[frozen].min()) + counts.constraint.max_skew
            stay = np.bincount(codes[codes >= 0], weights=staying[codes >= 0], minlength=size)
            places = np.where(entered, np.maximum(stay, most), stay).sum() + staying[codes < 0].sum()
            if places < replicas:
                return True
        return False


class _LabelIndex:
    """Workloads by the labels of their pods."""

    def __init__(self, labelled: Iterable[tuple[Optional[ObjectKey], PodClass]]) -> None:
        self._groups = LabelGroups()
        self._keys: dict[int, set[Optional[ObjectKey]]] = defaultdict(set)
        for key, cls in labelled:
            self._keys[self._groups.add(LabelGroup(cls.namespace, cls.labels, terminating=False))].add(key)

    def matching(self, namespace: str, selector: Selector) -> frozenset[Optional[ObjectKey]]:
        """Return the workloads of a namespace that have pods that a selector matches."""
        groups = np.flatnonzero(self._groups.matching(namespace, selector)).tolist()
        return frozenset(key for group in groups for key in self._keys[group])


def _selecting(terms: Iterable[PodAffinityTerm]) -> Iterator[_Selecting]:
    return ((namespace, term.selector) for term in terms for namespace in term.namespaces)


def _is_admitted(filters: _Filters, lasting: Iterable[int]) -> bool:
    """Return whether a pod finds a node in every order; lasting: nodes that stay and have room for all new pods."""
    able = [at for at in lasting if filters.passes[at]]
    if len(filters.hard) != 1:
        return bool(able) and not filters.hard
    counts = filters.hard[0]
    domains = {int(counts.topology.codes[at]) for at in able}
    return not counts.is_below_min_domains and domains >= set(np.flatnonzero(counts.eligible).tolist())


def _is_about(op: steps.Op, key: ObjectKey) -> bool:
    if isinstance(op, steps.Apply):
        return key_of(op.controller.workload) == key
    return isinstance(op, _ON_KEYS) and op.key == key
