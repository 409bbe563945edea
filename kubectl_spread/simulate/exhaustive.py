"""Exhaustive search for all placements of a workload's pods, up to exchangeable nodes.

One simulation is one path: pods are placed one after another, on nodes that a walk chooses instead of the scores. A
state is the number of pods on each node, up to exchangeable nodes. Each state is continued once:

    {} ── a1 ── a1 b1 ── a1 b1 b2 ── refused       first path
                   └──── a1 b1 c1 ── ...           second: the walk avoids exhausted states

The simulation decides at every step which nodes fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.constraints.constraint import SCHEDULE_ANYWAY
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading.plain import mappings
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.scheduler.framework.plugin import NodeIndices
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.plugins.podtopologyspread.common import effective_selector
from kubectl_spread.simulate import replicas

# Labels whose value is different for each pod.
_ITS_OWN = {
    "statefulset.kubernetes.io/pod-name",
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/job-completion-index",
}

_State = tuple[tuple[int, int], ...]  # kind of each node with its number of new pods, sorted


def most_placed(
    owner: Workload,
    cluster: Cluster,
    profiles: Mapping[str, Profile],
    *,
    kinds: list[int],
    paths: int,
) -> Optional[int]:
    """Return the most pods that any path places; None if `paths` are too few, or if a pod would evict others.

    Args:
        owner: the workload.
        cluster: where its pods go, and where some may run.
        profiles: the scheduler's, whose scores are ignored.
        kinds: a number for each node, equal for nodes that can be exchanged (`node_kinds`).
        paths: how many to try.
    """
    blind = {name: profile._replace(score=(), pre_score=()) for name, profile in profiles.items()}
    walk, most = Walk(kinds), 0
    for _ in range(paths):
        walk.start()
        (placement,) = replicas.place([owner], cluster, blind, pick=walk.pick, all_nodes=True)
        if any(item.explanation.nominated_node for item in placement.pending):
            return None
        most = max(most, len(placement.placed))
        if not placement.pending:
            return most
        walk.finish()
        if walk.is_over:
            return most
    return None


def as_replicaset(pod: Pod, owner: Workload, count: int) -> Optional[Workload]:
    """Return a ReplicaSet of pods like one pod, so that no pod has a name or number of its own.

    Returns None if a selector tells the pods apart, or if each pod has claims of its own.
    """
    pod_class = pod.cls
    selectors = [
        *(effective_selector(item, dict(pod_class.labels)) for item in pod_class.constraints),
        *(term.selector for term in (*pod_class.pod_affinity, *pod_class.pod_anti_affinity)),
    ]
    named = {requirement.key for selector in selectors for requirement in selector.requirements or ()}
    if named & _ITS_OWN or owner.claim_templates:
        return None
    template = {**owner.template, "metadata": {"labels": dict(pod_class.labels)}}
    return Workload("ReplicaSet", "apps/v1", owner.namespace, f"{owner.name} recreated", count, template)


def soften(owner: Workload, positions: Iterable[int]) -> Workload:
    """Return the workload with some of its constraints made ScheduleAnyway."""
    spec = owner.template.get("spec") or {}
    written = [dict(item) for item in mappings(spec.get("topologySpreadConstraints"))]
    for position in positions:
        written[position]["whenUnsatisfiable"] = SCHEDULE_ANYWAY
        written[position].pop("minDomains", None)
    return owner._replace(template={**owner.template, "spec": {**spec, "topologySpreadConstraints": written}})


class Walk:
    """Exhausted states: every path from them was taken."""

    def __init__(self, kinds: list[int]) -> None:
        self._kinds = kinds
        self._exhausted: set[_State] = set()
        self.start()

    def start(self) -> None:
        self._pods: dict[int, int] = {}  # new ones, by node
        self._path: list[tuple[_State, list[_State]]] = []  # states, each with its successors

    @property
    def is_over(self) -> bool:
        return () in self._exhausted

    def pick(self, hosts: NodeIndices) -> int:
        """Move to a state that is not exhausted."""
        alike = {(self._kinds[host], self._pods.get(host, 0)): host for host in reversed(hosts.tolist())}
        options = {self._after(host): host for host in alike.values()}
        self._path.append((self._state(self._pods), list(options)))
        host = next((host for state, host in options.items() if state not in self._exhausted), int(hosts[0]))
        self._pods[host] = self._pods.get(host, 0) + 1
        return host

    def finish(self) -> None:
        """Mark the last state as exhausted, and each earlier state whose successors all are."""
        self._exhausted.add(self._state(self._pods))
        for state, following in reversed(self._path):
            if not self._exhausted.issuperset(following):
                return
            self._exhausted.add(state)

    def _after(self, host: int) -> _State:
        return self._state({**self._pods, host: self._pods.get(host, 0) + 1})

    def _state(self, pods: dict[int, int]) -> _State:
        return tuple(sorted((self._kinds[node], count) for node, count in pods.items()))
