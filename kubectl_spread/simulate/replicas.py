"""Placement of workloads' replicas, one after another.

A pod goes to the node with the highest score. If several nodes have it, kube-scheduler may take any of them. A `Pick`
chooses one, and `Placement.certainty` records that there was a choice. Refused pods are retried after all pods of their
workload, and again after all workloads, as long as the cluster changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Optional, Protocol

import numpy as np

from kubectl_spread.cluster.building.build import admitted_workload, stored_workload
from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.tables.columns import Columns, MatchCounter
from kubectl_spread.engine.refusals import lasting_refusal, QuotaUsage, unknown_class, usage_at_start
from kubectl_spread.engine.results.certainty import Certainty
from kubectl_spread.explain.explanation import IgnoredFields
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.reading.plain import mappings
from kubectl_spread.objects.releases import field_versions
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.plugins.podtopologyspread.common import effective_selector
from kubectl_spread.simulate.pending_claims import NewClaims, with_claims
from kubectl_spread.simulate.placement import EvictedPod, PlacedPod, Placement, RefusedPod, ReplacementPod
from kubectl_spread.simulate.placing import first_by_name, Pick, Placer
from kubectl_spread.simulate.running.controllers import (
    creates_no_pods,
    MAX_REPLICAS,
    missing_replicas,
    running_pods,
    running_workload,
    with_controllers,
)
from kubectl_spread.simulate.running.queue import Queue

_MOST_ROUNDS = 100  # Evictions end, as each makes room for a pod of higher priority.


class PlacedWorkload(Protocol):
    """A workload whose pods are placed."""

    queue: Queue

    def retry(self) -> None:
        """Retry the refused pods."""


def settle(placings: Sequence[PlacedWorkload], placer: Placer, *, evicts: bool, explains: bool) -> None:
    """Retry the refused pods of every workload after every change, until the cluster no longer changes.

    Args:
        placings: in the order of their pods' priority.
        placer: the cluster that they share.
        evicts: also evict the victims of pods that preemption has nominated.
        explains: whether re-created pods are explained.
    """
    evictor = _Evictor([placing.queue for placing in placings], placer, explains=explains)
    for _ in range(_MOST_ROUNDS):
        _retry(placings, evictor, placer)
        if not evicts or not evictor.evict():
            break
    evictor.tell_outcomes()


def _retry(placings: Sequence[PlacedWorkload], evictor: _Evictor, placer: Placer) -> None:
    before = -1
    while placer.changes > before:
        before = placer.changes
        for placing in placings:
            placing.retry()
        for queue in list(evictor.others.values()):
            queue.retry()


class _Evictor:
    """Executor of preemption. It lets the controllers of evicted pods create replacements.

    others: replacements from controllers outside the run, by namespace.
    """

    def __init__(self, queues: list[Queue], placer: Placer, *, explains: bool) -> None:
        self._explains = explains
        self._own = queues
        self._placer = placer
        self.others: dict[str, Queue] = {}
        self._again: dict[str, Queue] = {}  # Queue of the replacement, by uid of the evicted pod.

    @property
    def _queues(self) -> list[Queue]:
        return [*self._own, *self.others.values()]

    def evict(self) -> bool:
        """Carry out the planned preemptions, and return whether there were any."""
        victims: dict[str, Pod] = {}
        for queue in self._queues:
            for preemption in queue.preemptions():
                new = [victim for victim in preemption.victims if victim.uid not in victims]
                victims.update({victim.uid: victim for victim in new})
                queue.evictions += [EvictedPod(victim, preemption.pod.name) for victim in new]
        if not victims:
            return False
        self._placer.evict(list(victims.values()))
        for queue in self._queues:
            if queue.preemptions():
                queue.preempt()
        for victim in sorted(victims.values(), key=lambda victim: -victim.cls.priority):
            self._replace(victim)
        return True

    def _replace(self, victim: Pod) -> None:
        """Let the controller of an evicted pod create a replacement; a bare pod is lost."""
        own = next((queue for queue in self._queues if queue.lose(victim)), None)
        if victim.owner is None:
            return
        if own is None:
            own = self.others.setdefault(
                victim.namespace, Queue(victim.namespace, self._placer, explains=self._explains)
            )
        self._again[victim.uid] = own
        own.add(self._placer.recreate(victim))

    def tell_outcomes(self) -> None:
        """Add the outcome of the replacement to each eviction."""
        for queue in self._queues:
            queue.evictions = [
                eviction._replace(again=_outcome(eviction.pod, self._again[eviction.pod.uid]))
                if eviction.pod.uid in self._again
                else eviction
                for eviction in queue.evictions
            ]


def _outcome(victim: Pod, queue: Queue) -> ReplacementPod:
    node = next((placed.node for placed in queue.placed if placed.pod == victim.name), "")
    messages = (item.explanation.message for item in queue.pending if item.pod.name == victim.name)
    return ReplacementPod(node, next(messages, ""))


def place(
    workloads: Iterable[Workload],
    cluster: Cluster,
    profiles: Mapping[str, Profile],
    *,
    pick: Optional[Pick] = None,
    all_nodes: bool = False,
    explain_first: bool = False,
    evicts: bool = False,
) -> list[Placement]:
    """Place workloads in the order of their pods' priority, then in the given order; each sees the pods before it.

    Pods of a workload that already run in the cluster are its first replicas; only the missing ones are placed.

    Args:
        workloads: in the order in which they compete.
        cluster: the cluster for them.
        profiles: of the scheduler, by name.
        pick: chooses among nodes of equal score; the first by name without one.
        all_nodes: examine every node, also if the scheduler would stop early.
        explain_first: explain also the first replica of each workload, at the moment it was placed.
        evicts: carry preemption out; otherwise a pod that it makes room for stays Pending, with its nominated node.
    """
    rehearsal = Rehearsal(workloads, cluster, profiles, all_nodes=all_nodes)
    return rehearsal.run(pick or first_by_name, explain_first=explain_first, evicts=evicts)


class Rehearsal:
    """Workloads that can be placed repeatedly: every run starts from the same cluster.

    cluster, owned, owners: with the changes of the API server and the controllers. columns: before any run.
    """

    def __init__(
        self,
        workloads: Iterable[Workload],
        cluster: Cluster,
        profiles: Mapping[str, Profile],
        *,
        all_nodes: bool = False,
    ) -> None:
        self._release = next(iter(profiles.values()))
        self._profiles = profiles
        self._all_nodes = all_nodes
        self._written = [owner for owner in workloads if owner.kind != "PodTemplate"]
        minor = self._release.minor
        owned = OwnedPods(cluster)
        self.owners = [
            running_workload(stored_workload(admitted_workload(owner, cluster), minor), owned)
            for owner in self._written
        ]
        self.cluster = with_claims(self.owners, with_controllers(self.owners, cluster))
        self.owned = OwnedPods(self.cluster)
        self.columns = Columns(self.cluster)

    def scheduler(self) -> Scheduler:
        """Return a new scheduler."""
        return Scheduler(self.columns.copy_for_cluster(self.cluster), self._profiles, all_nodes=self._all_nodes)

    def run(self, pick: Pick, *, explain_first: bool = False, evicts: bool = False) -> list[Placement]:
        """Place all pods once.

        Args:
            pick: chooses among nodes of equal score.
            explain_first: as in `place`.
            evicts: as in `place`.
        """
        owners = self.owners
        placer = Placer(self.cluster, self.scheduler(), self._release, pick=pick)
        run = _Run(placer, self.owned, {}, explain_first)
        placings: dict[int, _Placing] = {}
        for at in sorted(range(len(owners)), key=lambda at: -_priority(owners[at])):
            placings[at] = _Placing(owners[at], run)
            placings[at].start()
        settle(list(placings.values()), placer, evicts=evicts, explains=explain_first)
        found = [placing.placement() for placing in placings.values()]
        complete = dict(zip(placings, _with_uncounted(found, self._profiles), strict=True))
        minor = self._release.minor
        return [complete[at]._replace(ignored=_ignored(owner, minor)) for at, owner in enumerate(self._written)]


def _ignored(owner: Workload, minor: int) -> IgnoredFields:
    return IgnoredFields(f"1.{minor}", field_versions.stored_spec(owner.template.get("spec") or {}, minor).ignored)


def _with_uncounted(placements: list[Placement], profiles: Mapping[str, Profile]) -> list[Placement]:
    """Add to each placement the workloads with unpredictable pods, which it could not count.

    Workloads of the same scheduler matter if they come earlier in the queue. Pods of another scheduler may be bound at
    any time.
    """
    found: list[Placement] = []
    unsure = [(before, other) for before, other in enumerate(placements) if other.unpredicted]
    for at, placement in enumerate(placements):
        unseen = [
            other.workload.key
            for before, other in unsure
            if before != at
            and any(before < at or item.pod.cls.scheduler_name not in profiles for item in other.unpredicted)
        ]
        is_affected = unseen and placement.certainty is Certainty.CERTAIN
        certainty = Certainty.POSSIBLE if is_affected else placement.certainty
        found.append(placement._replace(certainty=certainty, not_counted=tuple(unseen)))
    return found


class _Run(NamedTuple):
    """State that the workloads of one run share."""

    placer: Placer
    owned: OwnedPods
    quotas: dict[str, QuotaUsage]  # by namespace
    explains: bool


class _Placing:
    """Placement of one workload in progress."""

    def __init__(self, owner: Workload, run: _Run) -> None:
        cluster = run.placer.cluster
        self.owner = owner
        self._run = run
        self._new_claims = NewClaims(cluster)
        self._first: Optional[Pod] = None
        self._coming = missing_replicas(owner, run.owned, create=self._replica)
        self._is_held = creates_no_pods(owner, run.owned)
        self._refusal = lasting_refusal(owner, cluster)
        if owner.namespace not in run.quotas:
            run.quotas[owner.namespace] = usage_at_start(cluster, owner.namespace)
        self._quotas = run.quotas[owner.namespace]
        self._refused: list[RefusedPod] = []
        self.queue = Queue(owner.namespace, run.placer, explains=run.explains)
        self.queue.placed += [PlacedPod(pod.name, pod.node_name, 0, 0) for pod in running_pods(owner, run.owned)]
        beyond = self.queue.beyond
        class_name = (owner.template.get("spec") or {}).get("priorityClassName") or ""
        if class_name and class_name not in cluster.priority_classes and not _priority(owner):
            beyond[f"the priority class {class_name}, which is not in the cluster facts"] = None
        if unknown := unknown_class(owner, cluster):
            beyond[f"the runtime class {unknown}, which is not in the cluster facts"] = None

    def start(self) -> None:
        """Create the missing pods and try each; then retry the refused ones."""
        self._create()
        self.retry()

    def retry(self) -> None:
        """Retry the refused pods, and create the pods that waited for one of them."""
        self.queue.retry()
        while self.owner.is_ordered and not (self.queue.is_waiting or self._refused) and self._create():
            self.queue.retry()

    def _create(self) -> bool:
        """Let the controller create pods; of an ordered set none after one that does not run.

        Returns whether it created any.
        """
        has_created = False
        for created in () if self._is_held else self._coming:
            has_created = True
            refusal = self._refusal or self._quotas.admit(self.owner.template.get("spec") or {})
            if refusal:
                self._refused.append(RefusedPod(created.name, f'pods "{created.name}" is forbidden: {refusal}'))
            runs = not refusal and self.queue.add(self._without_new_claims(created))
            if self.owner.is_ordered and not runs:
                break
        return has_created

    def placement(self) -> Placement:
        """Return the placement of the pods; call it after all pods are placed."""
        queue, columns = self.queue, self._run.placer.scheduler.columns
        return Placement(
            workload=self.owner,
            placed=tuple(queue.placed),
            pending=(*queue.pending, *queue.provisioning),
            gated=tuple(queue.gated),
            domains=_domains(self.owner, queue.placed, columns),
            certainty=self._certainty(),
            not_predictable=tuple(queue.beyond),
            matching=_matching(self._replica(self.owner, 0).cls, columns),
            first=queue.first,
            moment=queue.moment if queue.pending else queue.first_moment,
            unpredicted=tuple(queue.unpredicted),
            not_created=tuple(pod.name for pod in self._coming),
            evictions=tuple(queue.evictions),
            refused=tuple(self._refused),
            on_missing_nodes=tuple(pod.pod for pod in queue.placed if pod.node not in columns.index),
            first_replica=self._replica(self.owner, 0),
            not_tried=self._not_tried,
        )

    def _replica(self, owner: Workload, ordinal: int) -> Pod:
        """Create a pod of the workload; the first one is created once."""
        if ordinal:
            return replica(owner, ordinal)
        if self._first is None:
            self._first = replica(owner, 0)
        return self._first

    def _without_new_claims(self, pod: Pod) -> Pod:
        known = self._new_claims.without(pod, self.owner)
        if known is not pod:
            self.queue.beyond["claims that are not in the cluster facts"] = None
        return known

    @property
    def _not_tried(self) -> int:
        return max(0, (self.owner.replicas or 0) - MAX_REPLICAS)

    def _certainty(self) -> Certainty:
        if self.queue.beyond or self._not_tried:
            return Certainty.NOT_PREDICTABLE
        has_choice = self.queue.evictions or any(pod.hosts > 1 for pod in self.queue.placed)
        return Certainty.POSSIBLE if has_choice else Certainty.CERTAIN


def _priority(owner: Workload) -> int:
    return int((owner.template.get("spec") or {}).get("priority") or 0)


def _matching(pod_class: PodClass, columns: Columns) -> dict[str, dict[str, int]]:
    """Count all pods that the first constraint of each topology key selects, per domain."""
    found: dict[str, dict[str, int]] = {}
    for constraint in pod_class.constraints:
        if constraint.topology_key in found:
            continue
        topology = columns.topology(constraint.topology_key)
        counter = MatchCounter(pod_class.namespace, effective_selector(constraint, dict(pod_class.labels)), columns)
        counter.sync()
        with_key = topology.codes >= 0
        counts = np.zeros(len(topology.values), np.int64)
        np.add.at(counts, topology.codes[with_key], counter.counts[with_key])
        found[constraint.topology_key] = topology.by_value(counts)
    return found


def _domains(owner: Workload, placed: list[PlacedPod], columns: Columns) -> dict[str, dict[str, int]]:
    """Count the workload's pods per domain of each topology key in its constraints."""
    constraints = mappings((owner.template.get("spec") or {}).get("topologySpreadConstraints"))
    nodes = np.array([columns.index[pod.node] for pod in placed if pod.node in columns.index], np.intp)
    found: dict[str, dict[str, int]] = {}
    for key in dict.fromkeys(constraint.get("topologyKey") or "" for constraint in constraints):
        topology = columns.topology(key)
        codes = topology.codes[nodes]
        found[key] = topology.by_value(np.bincount(codes[codes >= 0], minlength=len(topology.values)))
    return found
