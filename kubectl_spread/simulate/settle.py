"""Final rounds of a placement: refused pods are retried, and preemption evicts pods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kubectl_spread.objects.pod import Pod
from kubectl_spread.simulate.placement import EvictedPod, ReplacementPod
from kubectl_spread.simulate.placing import Placer
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
