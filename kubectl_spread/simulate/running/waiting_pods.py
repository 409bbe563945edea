"""The Pending pods of a cluster, placed one after another in the scheduler's order.

Several waiting pods may each fit alone while there is not enough room for all. The scheduler takes the pod of the
highest priority first, and of equal ones the pod that waits longest (PrioritySort). Times are known to the second, so
the order of pods created in the same second is unknown.

Source: pkg/scheduler/framework/plugins/queuesort/priority_sort.go, Less (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.tables.columns import Columns
from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.unsupported import unsupported_features
from kubectl_spread.simulate.placing import place_in_turn, Placer

MOST_PODS = 2_000  # With more Pending pods, their order is not examined.
_SECONDS = len("2006-01-02T15:04:05")


class QueuePlacement(NamedTuple):
    """Nodes of the placed pods by key, in order of placement; `cluster` has these pods on their nodes.

    has_ties: the scheduler might choose other nodes of equal score.
    """

    placed: dict[str, str]
    cluster: Cluster
    has_ties: bool = False


class WaitingPods:
    """Pending pods that the scheduler tries to place, and whether their order matters."""

    def __init__(self, cluster: Cluster, profiles: Mapping[str, Profile], *, all_nodes: bool = False) -> None:
        self._cluster = cluster
        self._profiles = profiles
        self._all_nodes = all_nodes
        self.pods = [pod for pod in cluster.pending() if _is_queued(pod) and self._is_predictable(pod)]

    @property
    def is_small(self) -> bool:
        """Return whether placing the pods is worthwhile: there are several, but not too many."""
        return 1 < len(self.pods) <= MOST_PODS

    def run(self, own: Collection[str], *, is_last: bool) -> QueuePlacement:
        """Place all pods.

        Args:
            own: keys of the pods to place before, or after, pods of equal priority and age.
            is_last: whether they come after.
        """
        ordered = sorted(self.pods, key=lambda pod: (*_rank(pod), (pod.key in own) == is_last, pod.name))
        scheduler = Scheduler(Columns(self._cluster), self._profiles, all_nodes=self._all_nodes)
        placer = Placer(self._cluster, scheduler, next(iter(self._profiles.values())))
        placed = place_in_turn(ordered, placer)
        pods = tuple(placed.bound.get(pod.key, pod) for pod in self._cluster.pods)
        return QueuePlacement(placed.nodes, self._cluster._replace(pods=pods), placed.has_ties)

    def equals(self, own: Collection[str]) -> list[Pod]:
        """Return the other pods that have the priority and age of one of `own`."""
        ranks = {_rank(pod) for pod in self.pods if pod.key in own}
        return [pod for pod in self.pods if pod.key not in own and _rank(pod) in ranks]

    def _is_predictable(self, pod: Pod) -> bool:
        profile = self._profiles.get(pod.cls.scheduler_name)
        return profile is not None and not unsupported_features(pod.cls, profile, self._cluster)


def _is_queued(pod: Pod) -> bool:
    """Return whether the scheduler tries to place the pod: it is neither gated nor being deleted."""
    return not pod.cls.gates and not pod.terminating


def _rank(pod: Pod) -> tuple[int, str]:
    """Return the sort key of PrioritySort's `Less`: priority first, then age."""
    return (-pod.cls.priority, pod.created[:_SECONDS])
