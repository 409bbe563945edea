"""Pending pods that wait together, each explained when its turn in the queue comes instead of alone.

Source: pkg/scheduler/framework/plugins/queuesort/priority_sort.go, Less (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.ownership import owner_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.containers import grouped
from kubectl_spread.engine.placing import place_in_turn, Placer
from kubectl_spread.explain.explanation import examine, ExaminedPod, Explanation, PodVerdict
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.cycle import Scheduler, unsupported_features
from kubectl_spread.scheduler.framework.plugin import Profile

if TYPE_CHECKING:  # only loaded if there are NodePools
    from kubectl_spread.provisioners.prospect import Outlook

MOST_PODS = 2_000  # With more Pending pods, their order is not examined.
_SECONDS = len("2006-01-02T15:04:05")


def _rank(pod: Pod) -> tuple[int, str]:
    """Return the sort key of PrioritySort's `Less`: priority first, then age."""
    return (-pod.cls.priority, pod.created[:_SECONDS])


class Fate(IntEnum):
    """Outcome for a pod when its turn in the queue comes, the worst first."""

    WAITS = 0
    DEPENDS = 1  # on the order in which pods of equal priority and age are taken
    PLACED = 2
    UNKNOWN = 3  # not in the queue: it waits alone, is gated, is bound, or too many pods wait


class Prospect(NamedTuple):
    """A pod explained, on the cluster as it will be at the pod's turn.

    placed_first: where the order decides, keys of the Pending pods that find a node if the pod's equals come first.
    """

    examined: ExaminedPod
    cluster: Cluster
    fate: Fate
    placed_first: frozenset[str] = frozenset()


class Prospects:
    """Prospects of some pods among all waiting pods.

    They are placed twice: before the pods of equal priority and age, and after them. If the results differ, the order
    decides.
    """

    def __init__(self, asked: Sequence[Pod], cluster: Cluster, profiles: Mapping[str, Profile]) -> None:
        self._cluster = cluster
        self._profiles = profiles
        own = frozenset(pod.key for pod in asked if not pod.node_name)
        pods = [pod for pod in cluster.pending() if self._is_queued(pod)]
        self._queued = frozenset(pod.key for pod in pods)
        self._early: dict[str, Pod] = {}
        self._late: dict[str, Pod] = {}
        if not 1 < len(pods) <= MOST_PODS or own.isdisjoint(self._queued):
            self._queued = frozenset()
        else:
            self._early = self._late = self._placed(pods, own, is_last=False)
            ranks = {_rank(pod) for pod in pods if pod.key in own}
            equals = [pod for pod in pods if pod.key not in own and _rank(pod) in ranks]
            if equals and own & self._early.keys():
                self._late = self._placed(pods, own, is_last=True)
            self._rivals = tuple(pod.key for pod in equals if pod.key in self._late)

    def _is_queued(self, pod: Pod) -> bool:
        """Return whether the scheduler tries to place the pod, and its node is predictable."""
        if pod.cls.gates or pod.terminating:
            return False
        profile = self._profiles.get(pod.cls.scheduler_name)
        return profile is not None and not unsupported_features(pod.cls, profile, self._cluster)

    def _placed(self, pods: Iterable[Pod], own: Collection[str], *, is_last: bool) -> dict[str, Pod]:
        """Place all pods; those of `own` come before, or after, pods of equal priority and age.

        Returns the pods that find a node, by key. A pod that the scheduler tries earlier comes earlier.
        """
        ordered = sorted(pods, key=lambda pod: (*_rank(pod), (pod.key in own) == is_last, pod.name))
        scheduler = Scheduler(Columns(self._cluster), self._profiles)
        return place_in_turn(ordered, Placer(self._cluster, scheduler, next(iter(self._profiles.values())))).bound

    def fate(self, pod: Pod) -> Fate:
        """Return whether a pod finds a node in every order of equal pods, in some order, or in none."""
        if pod.key not in self._queued:
            return Fate.UNKNOWN
        early, late = pod.key in self._early, pod.key in self._late
        if early and late:
            return Fate.PLACED
        return Fate.DEPENDS if early or late else Fate.WAITS

    def group_by_fate(self, pods: Iterable[Pod]) -> list[list[Pod]]:
        """Group pods by their fate."""
        groups = grouped((self.fate(pod), pod) for pod in pods)
        return list(groups.values())

    def finding(self, pods: Sequence[Pod]) -> Optional[Range]:
        """Return how many of some pods find a node; None if they are not in the queue."""
        if not self._queued:
            return None
        counts = [sum(pod.key in placed for pod in pods) for placed in (self._early, self._late)]
        return Range(min(counts), max(counts))

    def of(self, pod: Pod) -> Prospect:
        """Explain a pod in the current cluster, or when its turn comes if the result differs then."""
        fate = self.fate(pod)
        now = examine(pod, self._cluster, self._profiles)
        turn = (now.explanation.verdict, fate)
        if turn in ((PodVerdict.SCHEDULABLE, Fate.WAITS), (PodVerdict.PENDING, Fate.PLACED)):
            return self._then(pod, self._early, now)
        placed = frozenset[str]()
        if turn == (PodVerdict.SCHEDULABLE, Fate.DEPENDS):  # it fits now, and is Pending if its equals come first
            last, placed = self._then(pod, self._late, now).examined.explanation, frozenset(self._late)
            explanation = now.explanation._replace(verdict=PodVerdict.CONTENDED, rivals=self._rivals, last_turn=last)
            now = now._replace(explanation=explanation)
        return Prospect(now, self._cluster, fate, placed)

    def _then(self, pod: Pod, placed: Mapping[str, Pod], now: ExaminedPod) -> Prospect:
        """Explain a pod after the placed pods have their nodes."""
        pods = (pod if item.key == pod.key else placed.get(item.key, item) for item in self._cluster.pods)
        cluster = self._cluster._replace(pods=tuple(pods))
        examined = examine(pod, cluster, self._profiles)
        # The pods placed first that make the difference: its siblings, and pods on nodes that fit now
        own, feasible = owner_of(pod.cls, self._cluster), now.explanation.diagnosis.feasible
        waiting = self._cluster.pending() if own else ()
        siblings = {other.key for other in waiting if owner_of(other.cls, self._cluster) == own}
        assumed = tuple(
            (key, other.node_name)
            for key, other in placed.items()
            if key != pod.key and (key in siblings or other.node_name in feasible or not (siblings or feasible))
        )
        explanation = examined.explanation._replace(assumed=assumed)
        return Prospect(examined._replace(explanation=explanation), cluster, self.fate(pod))


class WaitingGroup(NamedTuple):
    """Equal Pending pods of a workload, with the explanation of the first one."""

    key: ObjectKey
    explanation: Explanation
    outlook: Optional[Outlook] = None  # what Karpenter does about them

    @property
    def is_stuck(self) -> bool:
        """Return whether it does not help to wait until Karpenter has added nodes."""
        return self.explanation.verdict.is_waiting and not (self.outlook is not None and self.outlook.all_run)


def waiting(
    pods: Iterable[tuple[ObjectKey, Pod]], cluster: Cluster, profiles: Mapping[str, Profile]
) -> Iterator[WaitingGroup]:
    """Explain Pending pods, equal ones together.

    Args:
        pods: each with its workload.
        cluster: the cluster of the pods.
        profiles: of the scheduler.
    """
    every = list(pods)
    alike = grouped(((key, pod.cls), pod) for key, pod in every)
    prospects = Prospects([pod for _, pod in every], cluster, profiles)
    added = {}
    if cluster.provisioning:
        from kubectl_spread.provisioners import prospect  # 30 ms

        added = prospect.added_nodes(cluster, [pod for _, pod in every], profiles)
    for (key, _), group in alike.items():
        for first, *rest in prospects.group_by_fate(group):
            explanation = prospects.of(first).examined.explanation
            found = WaitingGroup(key, explanation._replace(others=tuple(pod.name for pod in rest)))
            of_karpenter = [added[pod.key] for pod in (first, *rest) if pod.key in added]
            if of_karpenter and explanation.verdict is PodVerdict.PENDING:
                found = found._replace(outlook=prospect.outlook(of_karpenter))
            yield found
