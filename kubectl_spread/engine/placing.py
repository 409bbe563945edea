"""Pods bound to nodes one after another, as the scheduler does it.

One loop for everything that places pods: replicas of manifests, pods that are Pending, and tried suggestions.

```
pod ─▶ filter ─▶ no node fits  ─▶ Unschedulable: the same for each pod of its class until something changes
            └──▶ some nodes fit ─▶ highest score ─▶ pick one of equals ─▶ Binding: refused pods get another turn
```
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Optional, Union

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.selectors import REGION, ZONE
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.framework.plugin import NodeIndices, Profile, ScoreError
from kubectl_spread.scheduler.unsupported import unsupported_features

_COPIED = (ZONE, REGION)
Pick = Callable[[NodeIndices], int]


def first_by_name(hosts: NodeIndices) -> int:
    """Pick the first node by name."""
    return int(hosts[0])


def seeded_pick(seed: int) -> Pick:
    """Return a pick at random, the same ones for the same seed."""
    generator = random.Random(seed)  # noqa: S311 (a simulation's choice, no secret)
    return lambda hosts: int(hosts[generator.randrange(len(hosts))])


class Binding(NamedTuple):
    """A pod bound to a node; `fitting` nodes were feasible, and `hosts` of them had the highest score."""

    pod: Pod
    node: int
    fitting: int
    hosts: int
    filtered: FilterResult  # as it was before the pod was bound


class Unschedulable(NamedTuple):
    """A pod without a node; `error`: a plugin failed to score the feasible nodes."""

    filtered: FilterResult
    error: Optional[ScoreError] = None


class Placer:
    """A cluster and its scheduler, changed by every pod that is bound or evicted.

    changes: pods bound and evicted so far; a refused pod is worth another try after a change.
    """

    def __init__(self, cluster: Cluster, scheduler: Scheduler, release: Profile, *, pick: Pick = first_by_name) -> None:
        """Start with a cluster.

        Args:
            cluster: the cluster that the scheduler sees.
            scheduler: its columns change with every pod.
            release: any profile of the scheduler; all follow the same release.
            pick: chooses among nodes of equal score.
        """
        self.cluster = cluster
        self.scheduler = scheduler
        self.changes = 0
        self._pick = pick
        self._copies_labels = release.labels_topology
        # By id() of a class and the labels; the entry keeps the class alive, so that its id() stays unique.
        self._labelled: dict[tuple[int, tuple[tuple[str, str], ...]], tuple[PodClass, PodClass]] = {}
        self._refusals: dict[int, Unschedulable] = {}  # by class, valid until the cluster changes

    def unpredictable(self, pod: Pod) -> tuple[str, ...]:
        """Return the features of a pod that decide its node but are not evaluated."""
        scheduler = self.scheduler
        profile = scheduler.profile_of(pod.cls) if scheduler.has_profile(pod.cls) else None
        return unsupported_features(pod.cls, profile, self.cluster)

    def place(
        self, pod: Pod, *, before: Callable[[FilterResult], None] = lambda _: None
    ) -> Union[Binding, Unschedulable]:
        """Bind a pod to the best node, if any node fits.

        Args:
            pod: of a class that a profile schedules.
            before: gets the plugins' answers if some node fits, before the node is chosen.
        """
        class_at = self.scheduler.columns.class_index(pod.cls)
        refusal = None if pod.nominated_node else self._refusals.get(class_at)
        if refusal is not None:
            return refusal
        filtered = self.scheduler.filter(pod)
        refusal = Unschedulable(filtered)
        if filtered.feasible.any():
            before(filtered)
            try:
                hosts = self.scheduler.hosts(pod, filtered)
            except ScoreError as error:
                refusal = Unschedulable(filtered, error)
            else:
                node = int(self._pick(hosts))
                return Binding(self.bind(pod, node), node, int(filtered.feasible.sum()), len(hosts), filtered)
        if not pod.nominated_node:
            self._refusals[class_at] = refusal
        return refusal

    def bind(self, pod: Pod, node: int) -> Pod:
        """Bind a pod to a node, and return the pod with its node's labels."""
        bound = self._on_node(pod, node)
        self.scheduler.bind(bound, node)
        self._has_changed()
        return bound

    def put(self, pod: Pod, node: int) -> None:
        """Run a pod on the node that its own spec names, without the scheduler."""
        self.scheduler.columns.bind(self._on_node(pod, node), node)
        self._has_changed()

    def evict(self, victims: Sequence[Pod]) -> None:
        """Remove pods from their nodes; the volumes that other pods reserved stay reserved."""
        gone = frozenset(victim.uid for victim in victims)
        columns = self.scheduler.columns
        storage = self.cluster.storage._replace(claims=columns.storage.claims, volumes=columns.storage.volumes)
        staying = tuple(pod for pod in self.cluster.pods if pod.uid not in gone)
        self.cluster = self.cluster._replace(pods=staying, storage=storage)
        self.scheduler = self.scheduler.with_columns(columns.copy_for_cluster(self.cluster, gone))
        self._has_changed()

    def nominate(self, pod: Pod) -> None:
        """Reserve the nominated node of a pod against pods of lower priority."""
        self.scheduler.nominate(pod)
        self._refusals.clear()

    def recreate(self, pod: Pod) -> Pod:
        """Return the pod that a controller creates in place of an evicted one, without the labels of its node."""
        labels = tuple(item for item in pod.cls.labels if item[0] not in _COPIED)
        if self._copies_labels and labels != pod.cls.labels:
            pod = pod._replace(cls=pod.cls._replace(labels=labels))
        return pod._replace(uid=f"{pod.uid}/again", node_name="", nominated_node="", phase="Pending")

    def now(self) -> Cluster:
        """Return the current cluster."""
        others = [pod for pod in self.cluster.pods if not (pod.node_name and pod.is_visible)]
        return self.cluster._replace(pods=(*self.scheduler.columns.bound_pods, *others))

    def _on_node(self, pod: Pod, node: int) -> Pod:
        """Return a pod on a node, with the labels that the PodTopologyLabels admission copies from the node.

        Pods of one class that get the same labels share one labelled class, so that later comparisons are quick.
        """
        at = self.scheduler.columns.nodes[node]
        copied = tuple((key, at.labels[key]) for key in _COPIED if key in at.labels) if self._copies_labels else ()
        if copied:
            found = self._labelled.get((id(pod.cls), copied))
            if found is None:
                labels = {**pod.labels, **dict(copied)}
                found = pod.cls, pod.cls._replace(labels=tuple(sorted(labels.items())))
                self._labelled[id(pod.cls), copied] = found
            pod = pod._replace(cls=found[1])
        return pod._replace(node_name=at.name)

    def _has_changed(self) -> None:
        self.changes += 1
        self._refusals.clear()


class PlacedPods(NamedTuple):
    """Pods that were placed in turn: `bound` by key, in order of binding, and `refused` ones without a node."""

    bound: dict[str, Pod]
    refused: tuple[Pod, ...]
    scheduler: Scheduler


def place_in_turn(pods: Iterable[Pod], placer: Placer, *, needed: str = "") -> PlacedPods:
    """Place pods in order, and refused ones again after later bindings, until no more pod is bound.

    A pod that names its node is bound there. A pod that cannot be predicted is refused.

    Args:
        pods: in the order of the scheduler's queue.
        placer: of the cluster.
        needed: the key of a pod; if it is refused, no other pod is tried.
    """
    bound: dict[str, Pod] = {}
    waiting, has_changed = list(pods), True
    refused: list[Pod] = []
    while has_changed:
        refused, has_changed = [], False
        for pod in waiting:
            node, found = placer.scheduler.columns.index.get(pod.node_name), None
            if node is not None:
                found = placer.bind(pod, node)
            elif not pod.node_name and placer.scheduler.has_profile(pod.cls) and not placer.unpredictable(pod):
                answer = placer.place(pod)
                found = answer.pod if isinstance(answer, Binding) else None
            if found is not None:
                bound[pod.key] = found
                has_changed |= bool(refused)
                continue
            refused.append(pod)
            if pod.key == needed:
                return PlacedPods(bound, tuple(refused), placer.scheduler)
        waiting = refused
    return PlacedPods(bound, tuple(refused), placer.scheduler)
