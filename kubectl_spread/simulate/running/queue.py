"""Queue of the scheduler: placed pods and waiting pods."""

from __future__ import annotations

from typing import NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.explain.explanation import (
    ClaimProblem,
    ClaimTrouble,
    explain_filtered,
    Explanation,
    GATED,
    PodVerdict,
    without_scheduler,
)
from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.framework.diagnosis import Diagnosis
from kubectl_spread.simulate.pending_claims import lacks_provisioner
from kubectl_spread.simulate.placement import EvictedPod, GatedPod, PendingPod, PlacedPod, UnpredictedPod
from kubectl_spread.simulate.placing import Placer, Unschedulable

# The volume controller's words (event ExternalProvisioning of the claim).
_AWAITED = (
    "Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by the system "
    "administrator. If volume creation is delayed, please verify that the provisioner is running and correctly "
    "registered."
)


class PlannedPreemption(NamedTuple):
    """A pod that evicts others, and its nominated node."""

    pod: Pod
    node: str
    victims: tuple[Pod, ...]


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
        self._refused_at: list[int] = []  # `changes` of the placer when each was refused
        self._last_refusal: Optional[tuple[Unschedulable, Explanation]] = None
        self.provisioning: list[PendingPod] = []  # Their nodes are chosen, but their volumes are never provisioned.
        self.gated: list[GatedPod] = []
        self.unpredicted: list[UnpredictedPod] = []
        self.beyond: dict[str, None] = {}
        self.evictions: list[EvictedPod] = []
        self.first: Optional[Explanation] = None
        self.first_moment: Optional[Cluster] = None
        self.moment: Optional[Cluster] = None

    def add(self, pod: Pod) -> bool:
        """Add a new pod; return whether it runs, or may run."""
        before = self._waiting_count
        if pod.cls.gates:
            self.gated.append(GatedPod(pod.name, GATED))
        elif pod.node_name:
            self._put(pod)
        else:
            self._try(pod)
        return self._waiting_count == before

    @property
    def is_waiting(self) -> bool:
        """Return whether a pod is Pending or gated."""
        return bool(self._waiting_count)

    @property
    def _waiting_count(self) -> int:
        return len(self.pending) + len(self.provisioning) + len(self.gated)

    def retry(self) -> None:
        """Retry refused pods until none of them finds a node; nominated ones keep their nodes.

        Placed pods can make room for pods that were refused earlier, for example if they raise the global minimum. Any
        binding brings refused pods back into the scheduler's queue.
        """
        while self._refused_at and min(self._refused_at) < self._placer.changes:
            waiting, self.pending, self._refused_at = self.pending, [], []
            for item in waiting:
                if item.explanation.nominated_node:
                    self.pending.append(item)
                    self._refused_at.append(self._placer.changes)
                else:
                    self._try(item.pod)

    def preemptions(self) -> list[PlannedPreemption]:
        """Return the pods that wait for others to be evicted."""
        found = ((item.pod, item.explanation) for item in self.pending)
        return [
            PlannedPreemption(pod, explanation.nominated_node, explanation.victims)
            for pod, explanation in found
            if explanation.nominated_node
        ]

    def preempt(self) -> None:
        """Try pods whose victims were evicted, each on its nominated node first."""
        waiting, self.pending, self._refused_at = self.pending, [], []
        for item in waiting:
            node = item.explanation.nominated_node
            self._try(item.pod._replace(nominated_node=node) if node else item.pod)

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
        reasons = self._placer.unpredictable(pod)
        if reasons:
            self._leave_out(pod, reasons)
            return
        found = self._placer.place(pod, before=lambda filtered: self._explain_first(pod, filtered))
        if isinstance(found, Unschedulable):
            self._refuse(pod, found)
            return
        making = self._never_made(pod, found.pod.node_name) if pod.cls.volumes else ()
        if making:
            explanation = Explanation(pod, PodVerdict.WAITS_FOR_VOLUME, found.filtered.diagnosis(), claims=making)
            message = _AWAITED.format(provisioner=making[0].provisioner)
            self.provisioning.append(PendingPod(pod, explanation._replace(message=message)))
        else:
            self.placed.append(PlacedPod(pod.name, found.pod.node_name, found.fitting, found.hosts))

    def _explain_first(self, pod: Pod, filtered: FilterResult) -> None:
        """Explain the first pod that fits, if the queue explains."""
        if self._explains and self.first is None:
            self.first_moment = self._placer.now()
            self.first = explain_filtered(pod, filtered, self._placer.scheduler)

    def _never_made(self, pod: Pod, node: str) -> tuple[ClaimTrouble, ...]:
        """Return the pod's claims that no component of the cluster can provision on the chosen node."""
        found = []
        storage = self._placer.scheduler.columns.storage
        for key, claim in storage.claims_of(pod.cls):
            storage_class = storage.class_of(claim) if claim is not None and claim.selected_node == node else None
            if storage_class is not None and lacks_provisioner(storage_class, self._placer.cluster):
                trouble = ClaimTrouble(ClaimProblem.PROVISIONING, key, storage_class.name, storage_class.provisioner)
                found.append(trouble._replace(selected_node=node))
        return tuple(found)

    def _leave_out(self, pod: Pod, reasons: tuple[str, ...]) -> None:
        """Skip a pod whose node cannot be predicted: it uses no resources and is not counted."""
        self.unpredicted.append(UnpredictedPod(pod, reasons))
        self.beyond.update(dict.fromkeys(reasons))
        scheduler = self._placer.scheduler
        if not self._explains or self.first is not None or pod.node_name:
            return
        if scheduler.has_profile(pod.cls):
            self.first = explain_filtered(pod, scheduler.filter(pod), scheduler)
        else:
            self.first = without_scheduler(pod, self._placer.cluster, scheduler.names)

    def _refuse(self, pod: Pod, refusal: Unschedulable) -> None:
        """Let a pod wait. If preemption makes room for it, this room is not available to later pods."""
        if not self.pending and self._explains:
            self.moment = self._placer.now()
        explained = self._explanation(pod, refusal)
        self.pending.append(PendingPod(pod, explained))
        self._refused_at.append(self._placer.changes)
        if explained.nominated_node and refusal.error is None:
            self._placer.nominate(pod._replace(nominated_node=explained.nominated_node))

    def _explanation(self, pod: Pod, refusal: Unschedulable) -> Explanation:
        """Explain a refusal; pods of one class share an explanation until the cluster changes."""
        if self._last_refusal is not None and self._last_refusal[0] is refusal:
            return self._last_refusal[1]
        explained = explain_filtered(pod, refusal.filtered, self._placer.scheduler)
        if refusal.error is not None:
            explained = explained._replace(verdict=PodVerdict.PENDING, message=str(refusal.error))
        self._last_refusal = refusal, explained
        return explained
