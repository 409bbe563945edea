"""Placement of workloads' replicas, one after another.

A pod goes to the node with the highest score. If several nodes have it, kube-scheduler may take any of them. A `Pick`
chooses one, and `Placement.certainty` records that there was a choice. Refused pods are retried after all pods of their
workload, and again after all workloads, as long as the cluster changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import Optional

import numpy as np

from kubectl_spread.cluster.build import stored_workload
from kubectl_spread.cluster.columns import Columns, MatchCounter
from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Cluster, Controller
from kubectl_spread.engine.claims import lacks_provisioner, NewClaims, with_claims
from kubectl_spread.engine.placing import first_by_name, NewPods, Pick, Placer, Unschedulable
from kubectl_spread.engine.reading import with_owners
from kubectl_spread.engine.refusals import charge, lasting_refusal, QuotaUsage, unknown_class, usage_at_start
from kubectl_spread.engine.results.certainty import Certainty
from kubectl_spread.engine.workloads import (
    creates_no_pods,
    missing_replicas,
    running_pods,
    running_workload,
    with_controllers,
    with_manifests,
)
from kubectl_spread.explain.explanation import (
    ClaimProblem,
    ClaimTrouble,
    explain_filtered,
    Explanation,
    IgnoredFields,
    PodVerdict,
    without_scheduler,
)
from kubectl_spread.explain.placement import (
    EvictedPod,
    PendingPod,
    PlacedPod,
    Placement,
    ReplacementPod,
    UnpredictedPod,
    UntriedPod,
)
from kubectl_spread.objects.pod import GATED, Pod
from kubectl_spread.objects.releases import field_versions
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.objects.workloads.workload import PER_POD_LABELS, Workload
from kubectl_spread.scheduler.cycle import Scheduler, UNKNOWN_CLAIMS
from kubectl_spread.scheduler.filter_result import Diagnosis, FilterResult
from kubectl_spread.scheduler.framework.plugin import Profile
from kubectl_spread.scheduler.plugins.podtopologyspread.common import effective_selector

# The volume controller's words (event ExternalProvisioning of the claim).
_AWAITED = (
    "Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by the system "
    "administrator. If volume creation is delayed, please verify that the provisioner is running and correctly "
    "registered."
)


class Queue:
    """Pods of one workload, or of several workloads of one namespace.

    first, first_moment: the explanation of the first pod that was placed and the cluster at that moment, if the queue
    explains. moment: the cluster when the first pod was refused.
    """

    def __init__(self, namespace: str, placer: Placer, *, explains: bool) -> None:
        self.namespace = namespace
        self._placer = placer
        self._explains = explains
        self.placed: list[PlacedPod] = []
        self.pending: list[PendingPod] = []
        self._refused_at = inf  # `changes` of the placer when the first of them was refused
        self._last_refusal: Optional[tuple[Unschedulable, Explanation]] = None
        self.provisioning: list[PendingPod] = []  # Their nodes are chosen, but their volumes are never provisioned.
        self.gated: list[UntriedPod] = []
        self.unpredicted: list[UnpredictedPod] = []
        self.beyond: dict[str, None] = {}
        self.evictions: list[EvictedPod] = []
        self.first: Optional[Explanation] = None
        self.first_moment: Optional[Cluster] = None
        self.moment: Optional[Cluster] = None

    def add(self, pod: Pod) -> bool:
        """Add a new pod; return whether it runs, or may run."""
        before = self.waiting
        if pod.cls.gates:
            self.gated.append(UntriedPod(pod.name, GATED))
        elif pod.node_name:
            self._put(pod)
        else:
            self._try(pod)
        return self.waiting == before

    @property
    def waiting(self) -> int:
        """Return how many pods are Pending or gated."""
        return len(self.pending) + len(self.provisioning) + len(self.gated)

    def retry(self) -> None:
        """Retry refused pods until none of them finds a node; nominated ones keep their nodes.

        Placed pods can make room for pods that were refused earlier, for example if they raise the global minimum. Any
        binding brings refused pods back into the scheduler's queue.
        """
        while self._refused_at < self._placer.changes:
            self.try_again(has_room=False)

    def try_again(self, *, has_room: bool) -> None:
        """Try each refused pod once; has_room: the victims of nominated ones are gone."""
        waiting, self.pending, self._refused_at = self.pending, [], inf
        for item in waiting:
            node = item.explanation.nominated_node
            if node and not has_room:
                self.pending.append(item)
            else:
                self._try(item.pod._replace(nominated_node=node) if node else item.pod)

    def preemptors(self) -> list[PendingPod]:
        """Return the pods that wait for others to be evicted."""
        return [item for item in self.pending if item.explanation.nominated_node]

    def lose(self, victim: Pod) -> bool:
        """Forget a placed pod that was evicted; return whether it was in this queue."""
        if victim.namespace != self.namespace:
            return False
        left = [item for item in self.placed if (item.pod, item.node) != (victim.name, victim.node_name)]
        is_own = len(left) < len(self.placed)
        self.placed = left
        return is_own

    def _put(self, pod: Pod) -> None:
        """Run a pod that is created with spec.nodeName on that node, without the scheduler."""
        columns = self._placer.scheduler.columns
        node = columns.index.get(pod.node_name)
        if self._explains and self.first is None:
            verdict = PodVerdict.NODE_GONE if node is None else PodVerdict.RUNNING
            self.first = Explanation(pod, verdict, Diagnosis(columns.n))
        self.placed.append(PlacedPod(pod.name, pod.node_name, 1, 1))
        if node is not None:
            self._placer.put(pod, node)

    def _try(self, pod: Pod) -> None:
        scheduler = self._placer.scheduler
        reasons = self._placer.unpredictable(pod)
        if reasons:
            # Its node cannot be predicted: the pod is left out, uses no resources and is not counted.
            self.unpredicted.append(UnpredictedPod(pod, reasons))
            self.beyond.update(dict.fromkeys(reasons))
            if self._explains and self.first is None and scheduler.has_profile(pod.cls):
                self.first = explain_filtered(pod, scheduler.filter(pod), scheduler)
            elif self._explains and self.first is None:
                self.first = without_scheduler(pod, self._placer.cluster, scheduler.names)
            return
        found = self._placer.place(pod, before=lambda filtered: self._explain_first(pod, filtered))
        if isinstance(found, Unschedulable):
            # The pod waits. If preemption makes room for it, this room is not available to later pods.
            if not self.pending and self._explains:
                self.moment = self._placer.now()
            explained = self._explanation(pod, found)
            self.pending.append(PendingPod(pod, explained))
            self._refused_at = min(self._refused_at, self._placer.changes)
            if explained.nominated_node and found.error is None:
                self._placer.nominate(pod._replace(nominated_node=explained.nominated_node))
            return
        # The claims that no component of the cluster can provision on the chosen node
        node, making, storage = found.pod.node_name, [], scheduler.columns.storage
        for key, claim in storage.claims_of(pod.cls):
            storage_class = storage.class_of(claim) if claim is not None and claim.selected_node == node else None
            if storage_class is not None and lacks_provisioner(storage_class, self._placer.cluster):
                trouble = ClaimTrouble(ClaimProblem.PROVISIONING, key, storage_class.name, storage_class.provisioner)
                making.append(trouble._replace(selected_node=node))
        if making:
            verdict = PodVerdict.WAITS_FOR_VOLUME
            explanation = Explanation(pod, verdict, found.filtered.diagnosis(), claims=tuple(making))
            message = _AWAITED.format(provisioner=making[0].provisioner)
            self.provisioning.append(PendingPod(pod, explanation._replace(message=message)))
        else:
            self.placed.append(PlacedPod(pod.name, node, found.fitting, found.hosts))

    def _explain_first(self, pod: Pod, filtered: FilterResult) -> None:
        """Explain the first pod that fits, if the queue explains."""
        if self._explains and self.first is None:
            self.first_moment = self._placer.now()
            self.first = explain_filtered(pod, filtered, self._placer.scheduler)

    def _explanation(self, pod: Pod, refusal: Unschedulable) -> Explanation:
        """Explain a refusal; pods of one class share an explanation until the cluster changes."""
        if self._last_refusal is not None and self._last_refusal[0] is refusal:
            return self._last_refusal[1]
        explained = explain_filtered(pod, refusal.filtered, self._placer.scheduler)
        if refusal.error is not None:
            explained = explained._replace(verdict=PodVerdict.PENDING, message=str(refusal.error))
        self._last_refusal = refusal, explained
        return explained


_MOST_ROUNDS = 100  # Evictions end, as each makes room for a pod of higher priority.


class _Evictor:
    """Executor of preemption. It lets the controllers of evicted pods create replacements.

    others: replacements from controllers outside the run, by namespace.
    """

    def __init__(self, queues: Iterable[Queue], placer: Placer, *, explains: bool) -> None:
        self._explains = explains
        self._own = queues
        self._placer = placer
        self.others: dict[str, Queue] = {}
        self._again: dict[str, Queue] = {}  # Queue of the replacement, by uid of the evicted pod.

    @property
    def queues(self) -> list[Queue]:
        return [*self._own, *self.others.values()]

    def evict(self) -> bool:
        """Carry out the planned preemptions, and return whether there were any."""
        victims: dict[str, Pod] = {}
        for queue in self.queues:
            for item in queue.preemptors():
                new = [victim for victim in item.explanation.victims if victim.uid not in victims]
                victims.update({victim.uid: victim for victim in new})
                queue.evictions += [EvictedPod(victim, item.pod.name) for victim in new]
        if not victims:
            return False
        self._placer.evict(list(victims.values()))
        for queue in self.queues:
            if queue.preemptors():
                queue.try_again(has_room=True)
        for victim in sorted(victims.values(), key=lambda victim: -victim.cls.priority):
            self._replace(victim)
        return True

    def _replace(self, victim: Pod) -> None:
        """Let the controller of an evicted pod create a replacement; a bare pod is lost."""
        own = next((queue for queue in self.queues if queue.lose(victim)), None)
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
        for queue in self.queues:
            for at, eviction in enumerate(queue.evictions):
                own, name = self._again.get(eviction.pod.uid), eviction.pod.name
                if own is not None:
                    node = next((placed.node for placed in own.placed if placed.pod == name), "")
                    messages = (item.explanation.message for item in own.pending if item.pod.name == name)
                    queue.evictions[at] = eviction._replace(again=ReplacementPod(node, next(messages, "")))


def place(
    workloads: Iterable[Workload],
    cluster: Cluster,
    profiles: Mapping[str, Profile],
    *,
    pick: Optional[Pick] = None,
    explain_first: bool = False,
    evicts: bool = False,
    known: Optional[tuple[OwnedPods, Columns]] = None,
) -> list[Placement]:
    """Place workloads in the order of their pods' priority, then in the given order; each sees the pods before it.

    Pods of a workload that already run in the cluster are its first replicas; only the missing ones are placed.

    Args:
        workloads: in the order in which they compete.
        cluster: the cluster for them.
        profiles: of the scheduler, by name.
        pick: chooses among nodes of equal score; the first by name without one.
        explain_first: explain also the first replica of each workload, at the moment it was placed.
        evicts: carry preemption out; otherwise a pod that it makes room for stays Pending, with its nominated node.
        known: the pods of the cluster by owners and by nodes, if they are indexed already.
    """
    release = next(iter(profiles.values()))
    written = [owner for owner in workloads if owner.kind != "PodTemplate"]
    start = Start(written, cluster, profiles, known=known)
    owners, cluster = start.owners, start.columns.cluster
    scheduler = Scheduler(start.columns, profiles)
    placer = Placer(cluster, scheduler, release, pick=pick or first_by_name)
    quotas: dict[str, QuotaUsage] = {}  # by namespace
    placings: dict[int, _Placing] = {}
    for at in sorted(range(len(owners)), key=lambda at: -_priority(owners[at])):
        placings[at] = _Placing(owners[at], placer, start.owned, quotas, explains=explain_first)
        placings[at].create()
        placings[at].retry()
    evictor = _Evictor(placings.values(), placer, explains=explain_first)
    for _ in range(_MOST_ROUNDS):
        before = -1
        while placer.changes > before:
            before = placer.changes
            for queue in evictor.queues:
                queue.retry()
        if not evicts or not evictor.evict():
            break
    evictor.tell_outcomes()
    found = {at: placing.placement() for at, placing in placings.items()}
    # Each placement names the workloads with unpredictable pods, which it could not count. Workloads of the same
    # scheduler matter if they come earlier in the queue. Pods of another scheduler may be bound at any time.
    turns = {at: turn for turn, at in enumerate(found)}
    unsure = [(before, other) for before, other in found.items() if other.unpredicted]
    complete = []
    for at, owner in enumerate(written):
        unseen = tuple(
            other.workload.key
            for before, other in unsure
            if before != at
            and any(
                turns[before] < turns[at] or item.pod.cls.scheduler_name not in profiles for item in other.unpredicted
            )
        )
        is_affected = unseen and found[at].certainty is Certainty.CERTAIN
        ignored = field_versions.stored_spec(owner.pod_spec, release.minor).ignored
        complete.append(
            found[at]._replace(
                certainty=Certainty.POSSIBLE if is_affected else found[at].certainty,
                not_counted=unseen,
                ignored=IgnoredFields(f"1.{release.minor}", ignored),
            )
        )
    return complete


class Start:
    """Workloads and the cluster from which they are placed.

    cluster, owned, owners: with the changes of the API server and the controllers. columns: before any pod is placed,
    with the workloads as their manifests have them.
    """

    def __init__(
        self,
        workloads: Iterable[Workload],
        cluster: Cluster,
        profiles: Mapping[str, Profile],
        *,
        known: Optional[tuple[OwnedPods, Columns]] = None,
    ) -> None:
        """Apply the workloads to a cluster; `known` has its pods, if they are indexed already."""
        minor = next(iter(profiles.values())).minor
        workloads = list(workloads)
        adopted = with_owners(cluster, [Controller(owner) for owner in workloads]).cluster
        cluster = cluster._replace(owners=adopted.owners, pods=adopted.pods)
        owned = OwnedPods(cluster) if known is None else known[0].in_cluster(cluster)
        self.owners = [running_workload(stored_workload(owner, cluster, minor), owned) for owner in workloads]
        self.cluster = with_claims(self.owners, with_controllers(self.owners, cluster))
        self.owned = owned.in_cluster(self.cluster)
        # perf: binding all pods takes most of the time of placing a few
        is_same = known is not None and self.cluster.pods is known[1].cluster.pods
        written = with_manifests(self.owners, self.cluster)
        self.columns = known[1].copy_for_cluster(written) if known and is_same else Columns(written)


class _Placing(Queue):
    """Placement of one workload in progress."""

    def __init__(
        self, owner: Workload, placer: Placer, owned: OwnedPods, quotas: dict[str, QuotaUsage], *, explains: bool
    ) -> None:
        super().__init__(owner.namespace, placer, explains=explains)
        cluster = placer.cluster
        self.owner = owner
        self._new_claims = NewClaims(cluster)
        self._first = replica(owner, 0)
        self._coming = missing_replicas(owner, owned, create=lambda _, at: replica(owner, at) if at else self._first)
        self._is_held = creates_no_pods(owner, owned)
        self._refusal = lasting_refusal(owner, cluster)
        if owner.namespace not in quotas:
            quotas[owner.namespace] = usage_at_start(cluster, owner.namespace)
        self._quotas = quotas[owner.namespace]
        self._refused: list[UntriedPod] = []
        self.placed += [PlacedPod(pod.name, pod.node_name, 0, 0) for pod in running_pods(owner, owned)]
        beyond = self.beyond
        class_name = owner.pod_spec.get("priorityClassName") or ""
        if class_name and class_name not in cluster.priority_classes and not _priority(owner):
            beyond[f"the priority class {class_name}, which is not in the cluster facts"] = None
        if unknown := unknown_class(owner, cluster):
            beyond[f"the runtime class {unknown}, which is not in the cluster facts"] = None

    def retry(self) -> None:
        """Retry the refused pods, and create the pods that waited for one of them."""
        super().retry()
        while self.owner.is_ordered and not (self.waiting or self._refused) and self.create():
            super().retry()

    def create(self) -> bool:
        """Let the controller create pods and try each; of an ordered set none after one that does not run.

        Returns whether it created any.
        """
        has_created = False
        for created in () if self._is_held else self._coming:
            has_created = True
            refusal = self._refusal or self._quotas.admit(charge(self.owner.pod_spec))
            if refusal:
                self._refused.append(UntriedPod(created.name, f'pods "{created.name}" is forbidden: {refusal}'))
            known = self._new_claims.without(created, self.owner)
            if known is not created and not refusal:
                self.beyond[UNKNOWN_CLAIMS] = None
            runs = not refusal and self.add(known)
            if self.owner.is_ordered and not runs:
                break
        return has_created

    def placement(self) -> Placement:
        """Return the placement of the pods; call it after all pods are placed."""
        columns = self._placer.scheduler.columns
        has_choice = self.evictions or any(pod.hosts > 1 for pod in self.placed)
        certainty = Certainty.POSSIBLE if has_choice else Certainty.CERTAIN
        if self.beyond:
            certainty = Certainty.NOT_PREDICTABLE
        # By topology key and domain, the workload's pods, and all pods that the first constraint of the key selects
        domains: dict[str, dict[str, int]] = {}
        matching: dict[str, dict[str, int]] = {}
        cls, nodes = self._first.cls, [columns.index[pod.node] for pod in self.placed if pod.node in columns.index]
        for constraint in cls.constraints:
            key = constraint.topology_key
            if key in domains:
                continue
            topology = columns.topology(key)
            codes, size = topology.codes[nodes], len(topology.values)
            domains[key] = topology.by_value(np.bincount(codes[codes >= 0], minlength=size))
            counter = MatchCounter(cls.namespace, effective_selector(constraint, dict(cls.labels)), columns)
            counter.sync()
            with_key, counts = topology.codes >= 0, np.zeros(size, np.int64)
            np.add.at(counts, topology.codes[with_key], counter.counts[with_key])
            matching[key] = topology.by_value(counts)
        return Placement(
            workload=self.owner,
            placed=tuple(self.placed),
            pending=(*self.pending, *self.provisioning),
            gated=tuple(self.gated),
            domains=domains,
            certainty=certainty,
            not_predictable=tuple(self.beyond),
            matching=matching,
            first=self.first,
            moment=self.moment if self.pending else self.first_moment,
            unpredicted=tuple(self.unpredicted),
            not_created=tuple(pod.name for pod in self._coming),
            evictions=tuple(self.evictions),
            refused=tuple(self._refused),
            on_missing_nodes=tuple(pod.pod for pod in self.placed if pod.node not in columns.index),
            first_replica=self._first,
        )


def _priority(owner: Workload) -> int:
    return int(owner.pod_spec.get("priority") or 0)


def new_pods(start: Start, profiles: Mapping[str, Profile], *, all_nodes: bool) -> NewPods:
    """Return the pods that the only workload of a start still lacks.

    Pods that admission refuses are left out.
    """
    (owner,) = start.owners
    # The pods that the controller creates if each finds a node, without volumes that are unknown
    pods: list[Pod] = []
    claims, quotas = NewClaims(start.cluster), usage_at_start(start.cluster, owner.namespace)
    creates_none = lasting_refusal(owner, start.cluster) or creates_no_pods(owner, start.owned)
    for pod in () if creates_none else missing_replicas(owner, start.owned):
        if not quotas.admit(charge(owner.pod_spec)):
            pods.append(claims.without(pod, owner))
        elif owner.is_ordered:
            break
    are_equal = not pods or not (pods[0].cls.volumes or as_replicaset(pods[0], owner, len(pods)) is None)
    return NewPods(
        start.cluster,
        profiles,
        pods,
        start.columns,
        are_equal=are_equal,
        is_ordered=owner.is_ordered,
        all_nodes=all_nodes,
    )


def as_replicaset(pod: Pod, owner: Workload, count: int) -> Optional[Workload]:
    """Return a ReplicaSet of pods like one pod, so that no pod has a name or number of its own.

    Returns None if a selector tells the pods apart, or if each pod has claims of its own.
    """
    pod_class = pod.cls
    if not pod_class.selecting_keys.isdisjoint(PER_POD_LABELS) or owner.claim_templates:
        return None
    template = {**owner.template, "metadata": {"labels": dict(pod_class.labels)}}
    return Workload("ReplicaSet", "apps/v1", owner.namespace, f"{owner.name} recreated", count, template)
