"""Outcome of a change of many pods, found by placing them in batches.

Playing every move would take too long. New pods of a Deployment are created within maxSurge, then old pods are deleted
within maxUnavailable, and so on. This is one of many possible orders; the suggestion names the others as not simulated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, Optional

from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.suggest.editing.recreate import recreated_pod
from kubectl_spread.suggest.judging.hypothetical import HypotheticalCluster
from kubectl_spread.suggest.problem import PendingPodProblem

_REPLACED = "other orders in which {pods} pods may be replaced: they were placed in batches"
_PLACED = "other orders in which {pods} pods may be placed, and other nodes of equal score"
_AT_ONCE = ("Job", "CronJob", "Pod")
_MOST_TURNS = 400


class FinalState(NamedTuple):
    """Final state: nodes of the workload's pods by pod key, and the number of running pods that were replaced."""

    scheduler: Scheduler
    placed: dict[str, str]
    restarts: int


def find_final_state(scene: HypotheticalCluster, others: Sequence[Pod]) -> Optional[FinalState]:
    """Return the final state of a change; None if a pod of the workload or of the others stays Pending.

    Args:
        scene: after the change.
        others: pods of other workloads that need a node, too.
    """
    if not scene.is_recreated:
        own = list(scene.own())
        return _settled(scene, _with_more(own, len(own) + scene.problem.missing), others)
    return _Batches(scene, others).run()


def _with_more(pods: list[Pod], wanted: int) -> list[Pod]:
    """Return the wanted number of pods; pods that the controller has yet to create are modelled on the first."""
    model = pods[0]
    names = ((f"{model.name}-{at}", f"{model.uid}-{at}") for at in range(len(pods), wanted))
    return [*pods, *(model._replace(name=name, uid=uid) for name, uid in names)][:wanted]


def _settled(
    scene: HypotheticalCluster, own: Sequence[Pod], others: Sequence[Pod], restarts: int = 0
) -> Optional[FinalState]:
    placed = scene.place([*own, *others])
    if placed.refused:
        return None
    return FinalState(placed.scheduler, {pod.key: placed.bound[pod.key].node_name for pod in own}, restarts)


def phrase_of_omissions(scene: HypotheticalCluster, found: FinalState) -> str:
    """Return a phrase for the outcomes that placing in batches leaves out."""
    words = _REPLACED if scene.is_recreated else _PLACED
    return words.format(pods=len(found.placed))


class _Batches:
    def __init__(self, scene: HypotheticalCluster, others: Sequence[Pod]) -> None:
        problem = self._problem = scene.problem
        self._scene, self._others = scene, others
        self._made = scene.recreation().pod
        self._old = [pod for pod in problem.given.running if pod.uid not in scene.gone]
        self._fresh = self._new_pods(problem)
        self._replicas = len(self._fresh)
        self._bound: list[Pod] = []

    def _new_pods(self, problem: PendingPodProblem) -> list[Pod]:
        """Return the wanted number of pods of the new template, the waiting ones first."""
        running = [
            pod for pod in (recreated_pod(pod, problem.cluster) for pod in problem.given.running) if pod is not None
        ]
        wanted = (
            max(problem.replicas, 1) if problem.owner.kind != "DaemonSet" else len(running) + len(problem.given.own)
        )
        return _with_more([*self._scene.own(), *map(self._made, running)], wanted)

    def run(self) -> Optional[FinalState]:
        restarts = len(self._old)
        surge, unavailable = self._limits()
        for _ in range(_MOST_TURNS):
            if not self._old and not self._fresh:
                return _settled(self._now(), self._bound, self._others, restarts)
            room = self._replicas + surge - len(self._old) - len(self._bound)
            is_moved = self._place(self._fresh[: max(0, room)])
            spare = len(self._old) + len(self._bound) - (self._replicas - unavailable)
            is_moved |= self._remove(min(spare, len(self._old)))
            if not is_moved:
                return None
        return None

    def _limits(self) -> tuple[int, int]:
        problem = self._problem
        kind, settings = problem.owner.kind, self._scene.rollout or problem.rollout
        if kind in _AT_ONCE or settings.type == "Recreate":
            return 0, self._replicas
        return (0, 1) if kind == "StatefulSet" else settings.limits(self._replicas)

    def _now(self) -> HypotheticalCluster:
        there = {pod.uid for pod in self._old}
        gone = {pod.uid for pod in self._problem.given.running if pod.uid not in there}
        return self._scene._replace(gone=self._scene.gone | gone)

    def _place(self, pods: Sequence[Pod]) -> bool:
        """Place new pods, and return whether any found a node."""
        if not pods:
            return False
        bound = self._now().place([*self._bound, *pods]).bound
        found = [pod for pod in pods if pod.key in bound]
        self._bound += [pod._replace(node_name=bound[pod.key].node_name) for pod in found]
        keys = {pod.key for pod in found}
        self._fresh = [pod for pod in self._fresh if pod.key not in keys]
        return bool(found)

    def _remove(self, count: int) -> bool:
        """Delete old pods, first pods that share a node with most others; the last ordinal of a StatefulSet first."""
        if count <= 0:
            return False
        if self._problem.owner.kind == "StatefulSet":
            ranked = sorted(self._old, key=lambda pod: (len(pod.name), pod.name), reverse=True)
        else:
            ranks = Counter(pod.node_name for pod in (*self._old, *self._bound))
            ranked = sorted(self._old, key=lambda pod: (-ranks[pod.node_name], pod.name))
        gone = {pod.uid for pod in ranked[:count]}
        self._old = [pod for pod in self._old if pod.uid not in gone]
        return True
