"""Scheduling the pods of a scene one after another."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from typing import NamedTuple

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.plugin import NodeIndices
from kubectl_spread.scheduler.framework.plugin import ScoreError
from kubectl_spread.scheduler.unsupported import not_evaluated
from kubectl_spread.simulate.binding import TopologyLabels
from kubectl_spread.suggest.hypothetical import Scene

Pick = Callable[[NodeIndices], int]


class Trial(NamedTuple):
    """What became of the pods: pod key -> node; `refused` found none. has_ties: the scheduler might choose others."""

    placed: dict[str, str]
    refused: tuple[Pod, ...]
    has_ties: bool
    scheduler: Scheduler


def run(scene: Scene, queue: Sequence[Pod], *, pick: Pick, needed: str = "") -> Trial:
    """Place the pods of a queue in its order.

    Args:
        scene: where.
        queue: the pods.
        pick: chooses among nodes of equal score.
        needed: the key of a pod without which the rest is not looked at.
    """
    problem = scene.problem
    columns = problem.columns.changed(scene.cluster, scene.gone)
    return _Run(scene, columns, pick).run(queue, needed)


class _Run:
    def __init__(self, scene: Scene, columns: Columns, pick: Pick) -> None:
        problem = scene.problem
        sampler = problem.sampler.anew() if columns.nodes is problem.cluster.nodes else None
        self._scheduler = Scheduler(columns, problem.profiles, all_nodes=problem.given.all_nodes, sampler=sampler)
        self._topology_labels = TopologyLabels(problem.release)
        self._cluster = scene.cluster
        self._pick = pick
        self._placed: dict[str, str] = {}
        self._refused: list[Pod] = []
        self._may_fit_now = False  # whether a pod was bound since one was refused
        self._has_ties = False
        self._hopeless: set[PodClass] = set()

    def run(self, queue: Sequence[Pod], needed: str) -> Trial:
        """A binding brings refused pods back: they are tried again when all have had their turn."""
        waiting, goes_on = list(queue), True
        while goes_on:
            self._refused, self._may_fit_now = [], False
            goes_on = self._turn(waiting, needed) and self._may_fit_now
            waiting = self._refused
        return Trial(self._placed, tuple(self._refused), self._has_ties, self._scheduler)

    def _turn(self, waiting: Sequence[Pod], needed: str) -> bool:
        """Try each pod once; whether all that is needed was placed."""
        for pod in waiting:
            if not self._put(pod):
                self._refused.append(pod)
                if pod.key == needed:
                    return False
        return True

    def _put(self, pod: Pod) -> bool:
        scheduler, columns = self._scheduler, self._scheduler.columns
        if pod.node_name:
            node = columns.index.get(pod.node_name)
            if node is not None:
                self._bind(pod, node)
            return node is not None
        if pod.cls in self._hopeless or not self._is_predictable(pod):
            return False
        filtered = scheduler.filter(pod)
        try:
            hosts = scheduler.hosts(pod, filtered) if filtered.feasible.any() else None
        except ScoreError:
            hosts = None
        if hosts is None:
            self._hopeless.add(pod.cls)  # until the next pod is bound
            return False
        self._has_ties |= len(hosts) > 1
        self._bind(pod, int(self._pick(hosts)))
        return True

    def _bind(self, pod: Pod, node: int) -> None:
        at = self._scheduler.columns.nodes[node]
        self._placed[pod.key] = at.name
        self._may_fit_now |= bool(self._refused)
        self._scheduler.bind(self._topology_labels.add(pod, at.labels), node)
        self._hopeless.clear()

    def _is_predictable(self, pod: Pod) -> bool:
        if not self._scheduler.has_profile(pod.cls):
            return False
        return not not_evaluated(pod.cls, self._scheduler.profile_of(pod.cls), self._cluster)
