"""Every way in which the pods of a workload could be placed, as far as it matters.

One simulation is one path: pods are placed one after another, on nodes that a walk chooses instead of the scores. A
state is how many pods each node has, nodes that are alike not told apart. What lies behind a state is looked at once:

    {} ── a1 ── a1 b1 ── a1 b1 b2 ── refused       first path
                   └──── a1 b1 c1 ── ...           second: the walk avoids what is exhausted

The eligibility of nodes is the simulation's own at every step; nothing of it is repeated here.
"""

from __future__ import annotations

from collections.abc import Hashable
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Optional

import numpy as np

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.constraint import SCHEDULE_ANYWAY
from kubectl_spread.objects.plain import mappings
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.resources import PODS
from kubectl_spread.objects.workload import Workload
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.framework.plugin import NodeIndices
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.plugins.podtopologyspread.common import effective_selector
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import PreFilterState
from kubectl_spread.simulate import replicas

# Labels that controllers give each pod for itself.
_ITS_OWN = {
    "statefulset.kubernetes.io/pod-name",
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/job-completion-index",
}

_State = tuple[tuple[int, int], ...]  # how alike nodes are, and how many new pods each has; sorted


def most_placed(
    owner: Workload,
    cluster: Cluster,
    profiles: Mapping[str, Profile],
    *,
    kinds: list[int],
    paths: int,
) -> Optional[int]:
    """The most pods that any path places; None after so many `paths`, or where a pod would evict others.

    Args:
        owner: the workload.
        cluster: where its pods go, and where some may run.
        profiles: the scheduler's; what they score is not looked at.
        kinds: a number for each node, equal for nodes that are alike for these pods.
        paths: how many to look at.
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


def twins(pod: Pod, owner: Workload, count: int) -> Optional[Workload]:
    """A ReplicaSet of so many pods like one: no pod is told from the others by a name or number of its own.

    None where a selector tells them apart, or each has claims that it finds again.
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
    return Workload("ReplicaSet", "apps/v1", owner.namespace, f"{owner.name} anew", count, template)


def softened(owner: Workload, positions: Iterable[int]) -> Workload:
    """The workload if some of its constraints were ScheduleAnyway."""
    spec = owner.template.get("spec") or {}
    written = [dict(item) for item in mappings(spec.get("topologySpreadConstraints"))]
    for position in positions:
        written[position]["whenUnsatisfiable"] = SCHEDULE_ANYWAY
        written[position].pop("minDomains", None)
    return owner._replace(template={**owner.template, "spec": {**spec, "topologySpreadConstraints": written}})


def alike(pod_class: PodClass, filtered: FilterResult) -> list[int]:
    """A number for each node, equal for nodes that can be exchanged without any pod of a class noticing.

    A label that no other node shares, as that of the hostname, is like any other such label.
    """
    columns = filtered.columns
    if pod_class.pod_affinity or pod_class.volumes or pod_class.host_ports:
        return list(range(columns.n))
    kinds: dict[Hashable, int] = {}
    return [kinds.setdefault(kind, len(kinds)) for kind in _kinds(pod_class, filtered, columns)]


def _kinds(pod_class: PodClass, filtered: FilterResult, columns: Columns) -> list[Hashable]:
    keys = [
        *(item.topology_key for item in pod_class.constraints),
        *(item.topology_key for item in pod_class.pod_anti_affinity),
    ]
    topologies = [columns.topology(key) for key in dict.fromkeys(keys)]
    sizes = [np.bincount(topology.codes + 1, minlength=len(topology.values) + 1) for topology in topologies]
    resources = [name for name, _ in pod_class.requests if name in columns.allocatable and name != PODS]
    counts = [
        item
        for verdict in filtered.plugin_results
        if isinstance(verdict.state, PreFilterState)
        for item in verdict.state.counts
    ]
    found: list[Hashable] = []
    for at in range(columns.n):
        domains = tuple(
            int(topology.codes[at]) if topology.codes[at] < 0 or size[topology.codes[at] + 1] > 1 else -2
            for topology, size in zip(topologies, sizes, strict=True)
        )
        free = [int(columns.allocatable[name][at] - columns.requested_of(name)[at]) for name in resources]
        slots = columns.nodes[at].allocatable.get(PODS, 0) - int(columns.pod_count[at])
        bits = tuple(int(verdict.bits[at]) for verdict in filtered.plugin_results)
        matching = tuple((bool(item.included[at]), int(item.on_nodes[at])) for item in counts)
        found.append((domains, tuple(free), slots, bits, bool(filtered.considered[at]), matching))
    return found


class Walk:
    """Which states are exhausted: every path on from them was taken."""

    def __init__(self, kinds: list[int]) -> None:
        self._kinds = kinds
        self._exhausted: set[_State] = set()
        self.start()

    def start(self) -> None:
        self._pods: dict[int, int] = {}  # new ones, by node
        self._path: list[tuple[_State, list[_State]]] = []  # states, and those that may follow

    @property
    def is_over(self) -> bool:
        return () in self._exhausted

    def pick(self, hosts: NodeIndices) -> int:
        """Go on to a state that is not exhausted."""
        alike = {(self._kinds[host], self._pods.get(host, 0)): host for host in reversed(hosts.tolist())}
        options = {self._after(host): host for host in alike.values()}
        self._path.append((self._state(self._pods), list(options)))
        host = next((host for state, host in options.items() if state not in self._exhausted), int(hosts[0]))
        self._pods[host] = self._pods.get(host, 0) + 1
        return host

    def finish(self) -> None:
        """The last state has nothing after it; those before it are exhausted where all is that follows them."""
        self._exhausted.add(self._state(self._pods))
        for state, following in reversed(self._path):
            if not self._exhausted.issuperset(following):
                return
            self._exhausted.add(state)

    def _after(self, host: int) -> _State:
        return self._state({**self._pods, host: self._pods.get(host, 0) + 1})

    def _state(self, pods: dict[int, int]) -> _State:
        return tuple(sorted((self._kinds[node], count) for node, count in pods.items()))
