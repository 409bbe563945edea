"""Outcomes of a simulation: steady states in terms of the cluster's objects, with their traces.

The skew of a workload includes every pod that its constraint counts, also those of other workloads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple, Optional

import numpy as np

from kubectl_spread.caching import cached_method
from kubectl_spread.cluster.columns import Columns, LabelGroup, LabelGroups
from kubectl_spread.cluster.ownership import also_counted
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.containers import grouped
from kubectl_spread.engine.claims import RELEASED
from kubectl_spread.engine.controllers import daemonset, deployment, job, statefulset
from kubectl_spread.engine.moves import CONTROLLERS, refusals
from kubectl_spread.engine.nodes import cluster_at
from kubectl_spread.engine.refusals import usage_now
from kubectl_spread.engine.search.symmetry import Interchange
from kubectl_spread.engine.state import (
    Deletion,
    EventKind,
    Move,
    NO_ORDINAL,
    of_owner,
    on_node,
    P,
    PENDING,
    slot,
    Stage,
    State,
    Step,
)
from kubectl_spread.engine.world import World
from kubectl_spread.objects.admission import Quantities
from kubectl_spread.objects.constraints.constraint import ConstraintCounts, DomainNumbers
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.selectors import Selector
from kubectl_spread.objects.workloads.workload import REVISION_LABEL_OF
from kubectl_spread.scheduler.plugins.podtopologyspread.common import Constraint
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread

_PROGRESS = itemgetter(*map(P._fields.index, ("owner", "stage", "end")))


class PodState(NamedTuple):
    """A pod in a steady state. If it is Pending, `node` is empty and `message` is the reason.

    maker: its controller, if that is not simulated.
    """

    owner: Optional[ObjectKey]
    name: str
    revision: str
    ordinal: Optional[int]
    node: str
    is_ready: bool
    is_terminating: bool
    nominated: str
    is_original: bool
    message: str = ""
    number: int = 0  # of the revision, in the order of first use
    namespace: str = ""
    maker: Optional[ObjectKey] = None

    @property
    def is_pending(self) -> bool:
        return not self.node and not self.is_terminating


class SteadyWorkload(NamedTuple):
    """State of a workload.

    not_created: number of pods that its controller has not created. refusal: the API server's message if it refuses a
    new pod. has_failed: a Job has ended because too many of its pods failed.
    """

    desired: int
    ready: int
    updated: int
    pending: int
    not_created: int
    is_complete: bool
    refusal: str = ""
    has_failed: bool = False


class RefusedEviction(NamedTuple):
    """An eviction that is refused permanently."""

    pod: PodState
    cause: str


class TraceEvent(NamedTuple):
    """An event of a trace; `pod` is empty if the event concerns a workload."""

    kind: EventKind
    owner: Optional[ObjectKey]
    pod: str
    revision: int
    node: str
    size: int = 1
    others: int = 0
    text: str = ""


Counts = list[tuple["Counting", ConstraintCounts]]  # of the constraints of a workload


class Moment(NamedTuple):
    """A state in terms of the cluster's objects.

    counts: of each workload's constraints. down: names of nodes that do not answer.
    """

    pods: tuple[PodState, ...]
    counts: dict[ObjectKey, Counts]
    nodes: tuple[Node, ...]
    down: frozenset[str] = frozenset()


def released(before: Iterable[Outcome], after: Iterable[Outcome]) -> list[str]:
    """Return the volumes whose claims are deleted in a later outcome, and in no earlier one."""
    earlier, later = (frozenset().union(*(item.released for item in some)) for some in (before, after))
    return sorted(later - earlier)


class Outcome:
    """A steady state in which a step can end."""

    def __init__(
        self,
        view: View,
        state: State,
        *,
        path: Callable[[], tuple[Step, ...]],
        is_steady: bool = True,
        before: Optional[Outcome] = None,
        interchange: Optional[Interchange] = None,
    ) -> None:
        """Read the outcome from a state.

        `before` is the outcome of the previous step from which this one follows. `interchange` has the interchangeable
        domains; without it there are none.
        """
        self.before = before
        self.interchange = interchange or Interchange()
        self._view, self._world = view, view.world
        self._path = path
        self.state = state
        self.is_steady = is_steady
        self.pods = view.pods(state)
        self.workloads = view.workloads(state)
        self.blocked = view.refused_evictions(state)
        self.restarts = view.restarts(state)

    @cached_property
    def pods_of(self) -> Mapping[Optional[ObjectKey], list[PodState]]:
        """Return the pods by their workloads."""
        return grouped((pod.owner, pod) for pod in self.pods)

    @property
    def is_complete(self) -> bool:
        """Return whether every workload is complete, and no pod is Pending or refused."""
        return (
            self.is_steady
            and not self.blocked
            and not self.pending
            and all(item.is_complete for item in self.workloads.values())
        )

    @property
    def pending(self) -> tuple[PodState, ...]:
        return tuple(pod for pod in self.pods if pod.is_pending)

    @property
    def released(self) -> frozenset[str]:
        """Return the names of the volumes whose claims are deleted."""
        return frozenset(name for namespace, name, _ in self.state.claims if namespace == RELEASED)

    @property
    def newly_pending(self) -> tuple[PodState, ...]:
        """Return the Pending pods of workloads that had fewer of them at the start."""
        more = Counter(pod.owner for pod in self.pending) - self._view.pending_before
        return tuple(pod for pod in self.pending if more[pod.owner])

    def by_revision(self, keys: Iterable[ObjectKey], topology_key: str) -> dict[str, Counter[int]]:
        """Return some workloads' pods in each domain that has any, by revision, without terminating ones."""
        domains, own = self._view.domains_of(self.state.facts, topology_key), set(map(self.name_of, keys))
        found: dict[str, Counter[int]] = {}
        for pod in self.pods:
            if pod.owner in own and not pod.is_terminating and pod.node in domains:
                found.setdefault(domains[pod.node], Counter())[pod.number] += 1
        return found

    def counts(self, keys: Collection[ObjectKey], topology_key: str) -> dict[str, int]:
        """Return the number of some workloads' pods per domain, without terminating pods."""
        found = self.by_revision(keys, topology_key)
        return {value: found.get(value, Counter()).total() for value in self.domain_values(topology_key)}

    def name_of(self, key: ObjectKey) -> ObjectKey:
        """Return the key of a workload here, as of `key_of`."""
        return key_of(self._world, self.state, self._world.owner_at[key])

    def skew(self, keys: Iterable[ObjectKey], topology_key: str) -> int:
        """Return the largest skew of some workloads' constraints; of their own pods if none has the topology key."""
        keys = tuple(keys)
        owners = {owner for key in keys if (owner := self._world.owner_at.get(key)) is not None}
        skews = [
            counts.skew or 0
            for owner in owners
            for item, counts in self._view.counts(self.state, owner)
            if item.constraint.topology_key == topology_key
        ]
        return max(skews) if skews else ConstraintCounts(self.counts(keys, topology_key)).skew or 0

    def also_counted(self, key: ObjectKey, topology_key: str) -> tuple[ObjectKey, ...]:
        """Return the other workloads whose pods the constraints of a workload count; none if it does not exist."""
        owner = self._world.owner_at.get(key)
        return () if owner is None else self._view.also_counted(self.state, owner, topology_key)

    def counts_one_revision(self, key: ObjectKey, topology_key: str) -> bool:
        """Return whether a constraint of a workload counts the pods of its newest revision only."""
        spec, label = self._spec(key), REVISION_LABEL_OF.get(key.kind)
        cls = None if spec is None else self._world.class_of_new_pods(spec.rev)
        constraints = () if cls is None else cls.constraints
        return any(item.topology_key == topology_key and label in item.match_label_keys for item in constraints)

    def quota_limits(self, namespace: str, missing: Mapping[ObjectKey, int]) -> dict[str, Quantities]:
        """Return the limits that a namespace's quotas need for numbers of further pods of workloads, by quota."""
        specs = ((spec.rev, number) for key, number in missing.items() if (spec := self._spec(key)) is not None)
        world, facts = self._world, self.state.facts
        pods = [(world.charge_of(world.cls_of(rev, 0, admission=world.admission(facts)), rev), n) for rev, n in specs]
        return usage_now(world, facts, namespace, self.state.pods).needed(pods)

    def cluster(self) -> Cluster:
        """Return the cluster in this outcome; pods that took part have synthetic uids, the others are unchanged."""
        return cluster_at(self._world, self.state, [pod.name for pod in self.pods])

    def revision_of(self, key: ObjectKey) -> int:
        """Return the number of the workload's target revision; 0 if the workload does not exist."""
        spec = self._spec(key)
        return 0 if spec is None else self._view.number(spec.rev)

    def _spec(self, key: ObjectKey) -> Any:
        """Return the spec of a workload; None if it does not exist."""
        own = self._world.own(self.state.sets, key)
        return None if own is None else self._world.specs[own.spec]

    def is_adopted(self, key: ObjectKey) -> bool:
        """Return whether a ReplicaSet belongs to a Deployment now."""
        return bool(self._spec(key)) and key.kind == "ReplicaSet" and self.name_of(key).kind == "Deployment"

    def is_paused(self, key: ObjectKey) -> bool:
        """Return whether a workload is a paused Deployment."""
        spec = self._spec(key)
        return isinstance(spec, deployment.DeploymentSpec) and spec.is_paused and not spec.is_orphaned

    def domain_values(self, topology_key: str) -> tuple[str, ...]:
        """Return the domains of a key, sorted; outcomes with the same nodes have one tuple."""
        return self._view.domains(self.state.facts, topology_key)

    def trace(self) -> tuple[TraceEvent, ...]:
        """Return the events on the shortest known path to this outcome."""
        return tuple(event for step in self._path() for event in self._events(step))

    def run(self) -> Iterator[tuple[tuple[TraceEvent, ...], Moment]]:
        """Yield the events of each step of the same path, with the pods and the nodes after it, without messages."""
        for step in self._path():
            pods = self._view.pods(step.state, has_messages=False)
            yield self._events(step), self._view.moment(step.state, pods)

    def nodes(self) -> tuple[tuple[Node, ...], frozenset[str]]:
        """Return the nodes that exist, and the names of those that do not answer."""
        return self._view.nodes(self.state.facts)

    def moment(self) -> Moment:
        """Return the moment of this outcome, as after each step of `run`."""
        return self._view.moment(self.state, self.pods)

    @cached_property
    def added(self) -> tuple[tuple[Node, bool], ...]:
        """Return the nodes that a provisioner has added in this step, and whether pods use them."""
        made = {node.name for ways in self._world.additions.values() for nodes in ways for node in nodes}
        made -= set() if self.before is None else {node.name for node in self.before.nodes()[0]}
        used = {pod.node for pod in self.pods if pod.owner is None or pod.owner.kind != "DaemonSet"}
        return tuple((node, node.name in used) for node in self.nodes()[0] if node.name in made)

    def _events(self, step: Step) -> tuple[TraceEvent, ...]:
        moves = (move for move in step.moves if move.kind is not EventKind.DONE or move.number >= 0)
        return tuple(map(self._view.event, moves))


class Counting(NamedTuple):
    """A constraint of a revision, by version of the facts, or one of the scheduler's defaults.

    values: the eligible domains, sorted. places: their places by the indices of counted nodes. bound: matching pods
    that take no part in the step. others: the number of these pods at each place, without terminating ones.
    """

    constraint: Constraint
    is_hard: bool
    is_default: bool
    namespace: str
    values: tuple[str, ...]
    places: dict[int, int]
    others: dict[int, int]
    is_below_min_domains: bool
    bound: tuple[Pod, ...]


class View:
    """Translator from states of a world to the cluster's objects."""

    def __init__(self, world: World, start: State, *, message: Callable[[P, State], str]) -> None:
        self.world = world
        self._start = start
        self._message = message
        self._labels = LabelGroups()
        self._groups: list[int] = []  # of the world's classes
        self._last: tuple[tuple[P, ...], dict[int, tuple[Counter[int], set[int]]]] = ((), {})
        self.pending_before = Counter(self._key(pod) for pod in start.pods if pod.node == PENDING and not pod.end)

    def _key(self, pod: P) -> Optional[ObjectKey]:
        return self.world.keys[pod.owner] if pod.owner >= 0 else None

    def pods(self, state: State, *, has_messages: bool = True) -> tuple[PodState, ...]:
        """Return the pods of a state; without the scheduler's messages, which take long, if these are not needed."""
        names: dict[object, list[str]] = {key: list(found) for key, found in self.world.names.items()}
        messages: Optional[dict[tuple[int, int], str]] = {} if has_messages else None
        return tuple(self._pod(pod, state, names, messages=messages) for pod in state.pods)

    def _pod(
        self,
        pod: P,
        state: State,
        names: Optional[dict[object, list[str]]],
        *,
        messages: Optional[dict[tuple[int, int], str]],
    ) -> PodState:
        key = key_of(self.world, state, pod.owner) if pod.owner >= 0 else None
        revision = self.world.revisions[pod.rev].name if pod.rev >= 0 else ""
        message = ""
        if messages is not None and pod.node == PENDING and pod.end == Deletion.ALIVE:
            alike = (self.world.shape(pod.cls), pod.nominated)  # Equal pods share the scheduler's message.
            if alike not in messages:
                messages[alike] = self._message(pod, state)
            message = messages[alike]
        return PodState(
            key,
            self.name(pod, names),
            revision,
            pod.ordinal if pod.ordinal != NO_ORDINAL and key is not None and key.kind != "DaemonSet" else None,
            self._node(pod.node),
            pod.stage == Stage.READY,
            pod.end != Deletion.ALIVE,
            self._node(pod.nominated),
            not pod.is_new,
            message,
            self.number(pod.rev),
            self.world.classes[pod.cls].namespace,
            self.world.classes[pod.cls].owner_key if key is None else None,
        )

    def name(self, pod: P, names: Optional[dict[object, list[str]]] = None) -> str:
        """Return a pod's name; for a new pod with a random name, its workload's name and `-*`.

        Without `names`, so is a pod that has equal pods on its node: an event concerns any of them.
        """
        key = self._key(pod)
        known = self.world.names if names is None else names
        # A pod without a name on its node was Pending at the start.
        found = known.get(slot(pod)) or known.get(slot(on_node(pod, PENDING)))
        if found:
            if names is not None:
                return found.pop(0)
            if key is None or len(found) == 1:
                return found[0]
        if key is None:
            return ""
        if key.kind == "StatefulSet" or (key.kind == "Job" and pod.ordinal != NO_ORDINAL):
            return f"{key.name}-{pod.ordinal}"
        return f"{key.name}-*"

    @cached_method
    def number(self, rev: int) -> int:
        """Return a revision's number in its workload, from 1; 0 if there is no revision."""
        every = () if rev < 0 else self.world.revisions_of(self.world.revisions[rev].owner)
        return next((number for number, item in enumerate(every, 1) if item.at == rev), 0)

    def _node(self, at: int) -> str:
        return "" if at == PENDING else self.world.node_names[at]

    def workloads(self, state: State) -> dict[ObjectKey, SteadyWorkload]:
        found = {owner: self._workload(state, owner) for owner, own in enumerate(state.sets) if own is not None}
        messages = {} if all(item.is_complete for item in found.values()) else refusals(self.world, state)
        return {
            key_of(self.world, state, owner): item._replace(refusal=messages.get(owner, ""))
            for owner, item in found.items()
        }

    def _workload(self, state: State, owner: int) -> SteadyWorkload:
        own = state.sets[owner]
        spec = self.world.specs[own.spec]
        mine = [pod for pod in of_owner(state.pods, owner) if not pod.end]
        if isinstance(own, statefulset.StatefulSetState):  # the others are about to be deleted
            mine = [pod for pod in mine if pod.ordinal in spec.ordinals]
        if isinstance(own, daemonset.DaemonSetState):  # pods on other nodes may stay, but are not wanted
            eligible = set(daemonset.eligible_nodes(self.world, state, spec.rev))
            mine = [pod for pod in mine if pod.ordinal in eligible]
        desired = spec.replicas if hasattr(spec, "replicas") else len(eligible)
        return SteadyWorkload(
            desired,
            sum(pod.stage == Stage.READY for pod in mine),
            sum(pod.rev == spec.rev for pod in mine),
            sum(pod.node == PENDING for pod in mine),
            max(0, desired - len(mine)),
            is_complete(self.world, state, owner),
            has_failed=isinstance(own, job.JobState) and job.has_failed(spec, own),
        )

    def refused_evictions(self, state: State) -> tuple[RefusedEviction, ...]:
        by_slot = {slot(pod): pod for pod in state.pods}
        return tuple(
            RefusedEviction(self._pod(by_slot[item[1]], state, None, messages={}), item[2])
            for item in state.todo
            if item[0] == "blocked" and item[1] in by_slot
        )

    def restarts(self, state: State) -> dict[ObjectKey, int]:
        before, after = (
            Counter(pod.owner for pod in pods if not pod.end and not pod.is_new)
            for pods in (self._start.pods, state.pods)
        )
        return {
            key_of(self.world, state if any(state.sets[at : at + 1]) else self._start, at): number - after[at]
            for at, number in before.items()
            if at >= 0
        }

    def counts(self, state: State, owner: int) -> Counts:
        """Return the pods that each constraint of a workload's next pod counts, whoever owns them.

        Source of the numbers: the scheduler's plugin, as for running workloads (`explain.status`).
        """
        own = state.sets[owner] if owner < len(state.sets) else None
        if own is None:
            return []
        bound = self._by_labels(state)
        found = []
        for item in self._counting(state.facts, self.world.specs[own.spec].rev):
            numbers = Counter(item.others)
            for group in self._matching(item):
                for node, number in bound[group][0].items() if group in bound else ():
                    if node in item.places:
                        numbers[item.places[node]] += number
            domains = DomainNumbers(item.values, dict(sorted(numbers.items())))
            found.append((item, ConstraintCounts(domains, item.is_below_min_domains)))
        return found

    def also_counted(self, state: State, owner: int, topology_key: str) -> tuple[ObjectKey, ...]:
        """Return the other workloads whose pods the constraints of a workload count."""
        found = [item for item, _ in self.counts(state, owner) if item.constraint.topology_key == topology_key]
        bound = self._by_labels(state)
        groups = {group for item in found for group in self._matching(item) if group in bound}
        others = {other for group in groups for other in bound[group][1] if other >= 0} - {owner}
        own = key_of(self.world, state, owner)
        theirs = also_counted((pod for item in found for pod in item.bound), own, self.world.cluster)
        return tuple(sorted({*theirs, *(key_of(self.world, state, other) for other in others)}))

    def moment(self, state: State, pods: tuple[PodState, ...]) -> Moment:
        """Return a state with the constraint counts of each workload."""
        counts = {key_of(self.world, state, owner): self.counts(state, owner) for owner in range(len(state.sets))}
        return Moment(pods, counts, *self.nodes(state.facts))

    @cached_method
    def _columns(self, facts: int) -> Columns:
        """Return the nodes with the pods that take no part."""
        return self.world.columns(self.world.facts[facts].cluster)

    @cached_method
    def _counting(self, facts: int, rev: int) -> tuple[Counting, ...]:
        """Return the constraints of a revision, with the pods that take no part."""
        cls = self.world.class_of_new_pods(rev)
        profile = None if cls is None else self.world.profiles.get(cls.scheduler_name)
        plugin = None if profile is None else profile.plugin(PodTopologySpread)
        if cls is None or plugin is None:
            return ()
        found: list[Counting] = []
        columns = self._columns(facts)
        for counts, is_hard in plugin.counts(cls, columns):
            codes = counts.topology.codes
            order = counts.topology.order[counts.eligible[counts.topology.order]].tolist()
            place = {code: at for at, code in enumerate(order)}
            nodes = np.flatnonzero(counts.included & (codes >= 0)).tolist()
            found.append(
                Counting(
                    counts.constraint,
                    is_hard,
                    not cls.constraints,
                    cls.namespace,
                    tuple(counts.topology.values[code] for code in order),
                    {
                        self.world.node_at[columns.nodes[at].name]: place[codes[at]]
                        for at in nodes
                        if codes[at] in place
                    },
                    {at: number for at, number in enumerate(counts.match_num[order].tolist()) if number},
                    counts.is_below_min_domains,
                    tuple(counts.pods()),
                )
            )
        return tuple(found)

    def _by_labels(self, state: State) -> dict[int, tuple[Counter[int], set[int]]]:
        """Return the bound pods of a state that are not terminating, by node, and their owners, by label group."""
        if state.pods is not self._last[0]:  # perf: every workload asks
            for cls in self.world.classes[len(self._groups) :]:
                self._groups.append(self._labels.add(LabelGroup(cls.namespace, cls.labels, terminating=False)))
            self._last = (state.pods, {})
            for pod in state.pods:
                if not pod.end and pod.node != PENDING:
                    nodes, owners = self._last[1].setdefault(self._groups[pod.cls], (Counter(), set()))
                    nodes[pod.node] += 1
                    owners.add(pod.owner)
        return self._last[1]

    def _matching(self, item: Counting) -> list[int]:
        """Return the label groups that a constraint counts; the empty selector counts none."""
        return self._matching_groups(item.namespace, item.constraint.selector, len(self._labels.all))

    @cached_method
    def _matching_groups(self, namespace: str, selector: Selector, _: int) -> list[int]:
        return [] if selector.is_empty else np.flatnonzero(self._labels.matching(namespace, selector)).tolist()

    @cached_method
    def domains(self, facts: int, topology_key: str) -> tuple[str, ...]:
        """Return the domains of a key, sorted."""
        return tuple(sorted(set(self.domains_of(facts, topology_key).values())))

    @cached_method
    def domains_of(self, facts: int, topology_key: str) -> dict[str, str]:
        """Return the domain of each node that has a label, by the node's name."""
        return {item.name: item.labels[topology_key] for item in self.nodes(facts)[0] if topology_key in item.labels}

    def nodes(self, facts: int) -> tuple[tuple[Node, ...], frozenset[str]]:
        """Return the nodes that exist, and the names of those that do not answer."""
        known = self.world.facts[facts]
        names = frozenset(self.world.node_names[at] for at in known.down)
        return tuple(node for node in known.nodes if node is not None), names

    def event(self, move: Move) -> TraceEvent:
        """Return a move as an event with names of objects."""
        owner, rev = (move.pod.owner, move.pod.rev) if move.pod is not None else (move.owner, move.rev)
        key = self.world.keys[owner] if owner >= 0 else None
        name = "" if move.pod is None else self.name(move.pod)
        return TraceEvent(
            move.kind, key, name, self.number(rev), self._node(move.node), move.number, move.others, move.text
        )


def key_of(world: World, state: State, owner: int) -> ObjectKey:
    """Return the key of a workload; of a deleted Deployment whose ReplicaSets are left, the key of the newest one."""
    key, own = world.keys[owner], state.sets[owner] if owner < len(state.sets) else None
    if not isinstance(own, deployment.DeploymentState) or not world.specs[own.spec].is_orphaned:
        return key
    name = world.revisions[world.specs[own.spec].rev].name
    made = ObjectKey("ReplicaSet", key.namespace, f"{key.name}-{name}")
    world.owner_at.setdefault(made, owner)
    return made


def is_complete(world: World, state: State, owner: int) -> bool:
    """Return whether `kubectl rollout status` would report success."""
    own = state.sets[owner]
    if isinstance(own, daemonset.DaemonSetState):
        return daemonset.is_complete(world, state, owner)
    found: bool = CONTROLLERS[type(own)].is_complete(world, of_owner(state.pods, owner), own)
    return found


def skews(view: View, states: Iterable[State]) -> dict[tuple[ObjectKey, str], int]:
    """Return the largest skew during the step, for each topology key of a workload's constraints."""
    found: dict[tuple[ObjectKey, str], int] = {}
    for state in states:
        for owner in range(len(state.sets)):
            of = key_of(view.world, state, owner)
            for item, counts in view.counts(state, owner):
                if not item.is_default:
                    key = (of, item.constraint.topology_key)
                    found[key] = max(found.get(key, 0), counts.skew or 0)
    return found


def fewest_ready(world: World, states: Iterable[State]) -> dict[ObjectKey, int]:
    """Return the lowest number of ready pods of each workload during the step."""
    found: dict[ObjectKey, int] = {}
    for state in states:
        ready: Counter[int] = Counter()
        for (owner, stage, end), number in Counter(map(_PROGRESS, state.pods)).items():  # perf: few kinds
            if stage == Stage.READY and end == Deletion.ALIVE:
                ready[owner] += number
        for owner, own in enumerate(state.sets):
            if own is not None:
                key = key_of(world, state, owner)
                found[key] = min(found.get(key, ready[owner]), ready[owner])
    return found


def refused_by_quotas(world: World, states: Iterable[State]) -> dict[ObjectKey, str]:
    """Return the API server's message for each workload whose pods a quota refuses in one of the states.

    States before the user's commands are left out, as these may change the quota.
    """
    found: dict[ObjectKey, str] = {}
    has_quotas = any(facts.cluster.quotas for facts in world.facts)
    for state in (state for state in states if has_quotas and not any(item[0] == "op" for item in state.todo)):
        for owner, text in refusals(world, state).items():
            found.setdefault(key_of(world, state, owner), text)
    return found
