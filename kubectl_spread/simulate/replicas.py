"""Placing the replicas of workloads one after another.

A pod goes to the node with the highest score. Where several have it, kube-scheduler may take any of them; a `Pick`
chooses, and `Placement.certainty` says that there was a choice.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Optional

import numpy as np

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.columns import MatchCounter
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.explain.explanation import explain_filtered
from kubectl_spread.explain.explanation import Explanation
from kubectl_spread.explain.explanation import GATED
from kubectl_spread.explain.explanation import Ignored
from kubectl_spread.explain.explanation import Verdict
from kubectl_spread.explain.explanation import without_scheduler
from kubectl_spread.objects import history
from kubectl_spread.objects.plain import mappings
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.replica import replica
from kubectl_spread.objects.workload import Workload
from kubectl_spread.scheduler.beyond import not_evaluated
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.diagnosis import Diagnosis
from kubectl_spread.scheduler.framework.plugin import NodeIndices
from kubectl_spread.scheduler.framework.plugin import ScoreError
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.plugins.podtopologyspread.common import effective_selector
from kubectl_spread.simulate.binding import labelled
from kubectl_spread.simulate.controllers import admitted
from kubectl_spread.simulate.controllers import as_running
from kubectl_spread.simulate.controllers import as_stored
from kubectl_spread.simulate.controllers import MAX_REPLICAS
from kubectl_spread.simulate.controllers import missing_replicas
from kubectl_spread.simulate.controllers import running_pods
from kubectl_spread.simulate.controllers import with_controllers
from kubectl_spread.simulate.new_claims import NewClaims
from kubectl_spread.simulate.placement import Certainty
from kubectl_spread.simulate.placement import Gated
from kubectl_spread.simulate.placement import PendingPod
from kubectl_spread.simulate.placement import PlacedPod
from kubectl_spread.simulate.placement import Placement
from kubectl_spread.simulate.placement import Unpredicted

Pick = Callable[[NodeIndices], int]


def first(hosts: NodeIndices) -> int:
    """The first by name."""
    return int(hosts[0])


def seeded(seed: int) -> Pick:
    """Any of them, the same ones for the same seed."""
    generator = random.Random(seed)  # noqa: S311 (a simulation's choice, no secret)
    return lambda hosts: int(hosts[generator.randrange(len(hosts))])


def place(
    workloads: Iterable[Workload],
    cluster: Cluster,
    profiles: Mapping[str, Profile],
    *,
    pick: Optional[Pick] = None,
    all_nodes: bool = False,
    explain_first: bool = False,
) -> list[Placement]:
    """Place workloads in the order of their pods' priority, then in the order given, each seeing the pods before it.

    Pods of a workload that run in the cluster already are its first replicas; only the missing ones are placed.

    Args:
        workloads: in the order they compete.
        cluster: where they go.
        profiles: the scheduler's, by name.
        pick: chooses among nodes of equal score; the first by name without one.
        all_nodes: look at every node, also where the scheduler would stop early.
        explain_first: explain also the first replica of each workload, at the moment it was placed.
    """
    return Rehearsal(workloads, cluster, profiles, all_nodes=all_nodes).run(pick or first, explain_first=explain_first)


class Rehearsal:
    """Workloads about to be placed, as often as one likes: every run starts from the same cluster.

    cluster, owners: with what the API server and the controllers make of the workloads; columns: before any run.
    """

    def __init__(
        self,
        workloads: Iterable[Workload],
        cluster: Cluster,
        profiles: Mapping[str, Profile],
        *,
        all_nodes: bool = False,
    ) -> None:
        self._release = next(iter(profiles.values()))
        self._profiles = profiles
        self._all_nodes = all_nodes
        self._written = [owner for owner in workloads if owner.kind != "PodTemplate"]
        minor = self._release.minor
        self.owners = [as_running(as_stored(admitted(owner, cluster), minor), cluster) for owner in self._written]
        self.cluster = with_controllers(self.owners, cluster)
        self.columns = Columns(self.cluster)

    def scheduler(self) -> Scheduler:
        """One that nobody used yet."""
        return Scheduler(self.columns.changed(self.cluster), self._profiles, all_nodes=self._all_nodes)

    def run(self, pick: Pick, *, explain_first: bool = False) -> list[Placement]:
        """Place all pods once."""
        scheduler, owners = self.scheduler(), self.owners
        placements: dict[int, Placement] = {}
        for at in sorted(range(len(owners)), key=lambda at: -_priority(owners[at])):
            placing = _Placing(
                owners[at], self.cluster, scheduler, pick, release=self._release, explain_first=explain_first
            )
            placements[at] = placing.run()
        told = dict(zip(placements, _with_uncounted(list(placements.values()), self._profiles), strict=True))
        minor = self._release.minor
        return [told[at]._replace(ignored=_ignored(owner, minor)) for at, owner in enumerate(self._written)]


def _ignored(owner: Workload, minor: int) -> Ignored:
    return Ignored(f"1.{minor}", history.stored(owner.template.get("spec") or {}, minor).ignored)


def _with_uncounted(placements: list[Placement], profiles: Mapping[str, Profile]) -> list[Placement]:
    """Say of each placement which pods it did not see, for nobody knows their nodes.

    Those of the same scheduler come before it in the queue; another scheduler takes its own at any time.
    """
    found: list[Placement] = []
    unsure = [(before, other) for before, other in enumerate(placements) if other.unpredicted]
    for at, placement in enumerate(placements):
        unseen = [
            other.workload.key
            for before, other in unsure
            if before != at
            and any(before < at or item.pod.cls.scheduler_name not in profiles for item in other.unpredicted)
        ]
        is_affected = unseen and placement.certainty is Certainty.CERTAIN
        certainty = Certainty.POSSIBLE if is_affected else placement.certainty
        found.append(placement._replace(certainty=certainty, not_counted=tuple(unseen)))
    return found


class _Placing:
    """One workload on its way to a Placement."""

    def __init__(
        self,
        owner: Workload,
        cluster: Cluster,
        scheduler: Scheduler,
        pick: Pick,
        *,
        release: Profile,
        explain_first: bool,
    ) -> None:
        """`release` is any of the profiles: what they have in common is that of the release."""
        self._release = release
        self._owner = owner
        self._cluster = cluster
        self._scheduler = scheduler
        self._pick = pick
        self._explain_first = explain_first
        self._placed = [PlacedPod(pod.name, pod.node_name, 0, 0) for pod in running_pods(owner, cluster)]
        self._pending: list[PendingPod] = []
        self._refusals: list[int] = []  # how many pods were placed at each
        self._gated: list[Gated] = []
        self._new_claims = NewClaims(cluster)
        self._unpredicted: list[Unpredicted] = []
        self._beyond: dict[str, None] = {}
        self._first: Optional[Explanation] = None
        self._moment: Optional[Cluster] = None  # when the first that is Pending was refused
        self._first_moment: Optional[Cluster] = None
        class_name = (owner.template.get("spec") or {}).get("priorityClassName") or ""
        if class_name and class_name not in cluster.priority_classes and not _priority(owner):
            self._beyond[f"the priority class {class_name}, which is not in the cluster facts"] = None
        if (owner.replicas or 0) > MAX_REPLICAS:
            self._beyond[f"more than {MAX_REPLICAS} replicas"] = None

    def run(self) -> Placement:
        for created in missing_replicas(self._owner, self._cluster):
            pod = self._without_new_claims(created)
            if pod.cls.gates:
                self._gated.append(Gated(pod.name, GATED))
            elif pod.node_name:
                self._put(pod)
            else:
                self._try(pod)
        self._try_again()
        return Placement(
            workload=self._owner,
            placed=tuple(self._placed),
            pending=tuple(self._pending),
            gated=tuple(self._gated),
            domains=_domains(self._owner, self._placed, self._scheduler.columns),
            certainty=self._certainty(),
            not_predictable=tuple(self._beyond),
            matching=_matching(self._owner, self._scheduler.columns),
            first=self._first,
            moment=self._moment if self._pending else self._first_moment,
            unpredicted=tuple(self._unpredicted),
        )

    def _try(self, pod: Pod) -> None:
        last = self._pending[-1] if self._pending and self._refusals[-1] == len(self._placed) else None
        if last is not None and last.is_hopeless_for(pod):
            self._pending.append(last._replace(pod=pod))  # nothing changed since its twin was refused
        else:
            self._schedule(pod)

    def _try_again(self) -> None:
        """Pods that were placed can make room for those refused before them, as where they raise the minimum.

        Any binding brings refused pods back into the queue; here they are tried when all have had their turn, until
        none of them finds a node. Those that preemption has nominated keep their nodes.
        """
        while self._refusals and self._refusals[0] < len(self._placed):
            waiting, self._pending, self._refusals = self._pending, [], []
            for item in waiting:
                if item.explanation.nominated_node:
                    self._pending.append(item)
                    self._refusals.append(len(self._placed))
                else:
                    self._try(item.pod)

    def _put(self, pod: Pod) -> None:
        """A pod that is created with spec.nodeName goes to that node, whatever the scheduler would say."""
        columns = self._scheduler.columns
        node = columns.index.get(pod.node_name)
        if node is None:
            self._leave_out(pod, (f"the node {pod.node_name}",))
            return
        if self._explain_first and self._first is None:
            self._first = Explanation(pod, Verdict.RUNNING, Diagnosis(columns.n))
        self._placed.append(PlacedPod(pod.name, pod.node_name, 1, 1))
        columns.bind(self._labelled(pod, node), node)

    def _schedule(self, pod: Pod) -> None:
        scheduler = self._scheduler
        profile = scheduler.profile_of(pod.cls) if scheduler.has_profile(pod.cls) else None
        reasons = not_evaluated(pod.cls, profile, self._cluster)
        if reasons:
            self._leave_out(pod, reasons)
            return
        filtered = scheduler.filter(pod)
        if not filtered.feasible.any():
            self._wait(PendingPod(pod, explain_filtered(pod, filtered, scheduler)))
            return
        if self._explain_first and self._first is None:
            self._first_moment = self._now()
            self._first = explain_filtered(pod, filtered, scheduler)
        try:
            hosts = scheduler.hosts(pod, filtered)
        except ScoreError as error:
            explained = explain_filtered(pod, filtered, scheduler)
            self._refuse(PendingPod(pod, explained._replace(verdict=Verdict.PENDING, message=str(error))))
            return
        node = int(self._pick(hosts))
        name = scheduler.columns.nodes[node].name
        self._placed.append(PlacedPod(pod.name, name, int(filtered.feasible.sum()), len(hosts)))
        scheduler.bind(self._labelled(pod, node), node)

    def _now(self) -> Optional[Cluster]:
        """The cluster as this pod found it, where that is asked for."""
        if not self._explain_first:
            return None
        others = [pod for pod in self._cluster.pods if not (pod.node_name and pod.is_visible)]
        return self._cluster._replace(pods=(*self._scheduler.columns.bound_pods, *others))

    def _leave_out(self, pod: Pod, reasons: tuple[str, ...]) -> None:
        """A pod whose node nobody can tell: it takes no room, and is not counted anywhere."""
        self._unpredicted.append(Unpredicted(pod, reasons))
        self._beyond.update(dict.fromkeys(reasons))
        if self._explain_first and self._first is None:
            scheduler = self._scheduler
            if scheduler.has_profile(pod.cls) and not pod.node_name:
                self._first = explain_filtered(pod, scheduler.filter(pod), scheduler)
            elif not pod.node_name:
                self._first = without_scheduler(pod, self._cluster, scheduler.names)

    def _wait(self, pending: PendingPod) -> None:
        """A pod that preemption makes room for is in the way of the pods after it."""
        self._refuse(pending)
        node = pending.explanation.nominated_node
        if node:
            self._scheduler.nominate(pending.pod._replace(nominated_node=node))

    def _refuse(self, pending: PendingPod) -> None:
        if not self._pending:
            self._moment = self._now()
        self._pending.append(pending)
        self._refusals.append(len(self._placed))

    def _without_new_claims(self, pod: Pod) -> Pod:
        known = self._new_claims.without(pod, self._owner)
        if known is not pod:
            self._beyond["claims that are not in the cluster facts"] = None
        return known

    def _labelled(self, pod: Pod, node: int) -> Pod:
        return labelled(pod, self._scheduler.columns.nodes[node].labels, self._release)

    def _certainty(self) -> Certainty:
        if self._beyond:
            return Certainty.NOT_PREDICTABLE
        return Certainty.POSSIBLE if any(pod.hosts > 1 for pod in self._placed) else Certainty.CERTAIN


def _priority(owner: Workload) -> int:
    return int((owner.template.get("spec") or {}).get("priority") or 0)


def _matching(owner: Workload, columns: Columns) -> dict[str, dict[str, int]]:
    cls = replica(owner, 0).cls
    found: dict[str, dict[str, int]] = {}
    for constraint in cls.constraints:
        topology = columns.topology(constraint.topology_key)
        counter = MatchCounter(cls.namespace, effective_selector(constraint, dict(cls.labels)), columns)
        counter.catch_up()
        with_key = topology.codes >= 0
        counts = np.zeros(len(topology.values), np.int64)
        np.add.at(counts, topology.codes[with_key], counter.counts[with_key])
        by_value = dict(zip(topology.values, counts.tolist(), strict=True))
        found.setdefault(constraint.topology_key, dict(sorted(by_value.items())))
    return found


def _domains(owner: Workload, placed: list[PlacedPod], columns: Columns) -> dict[str, dict[str, int]]:
    constraints = mappings((owner.template.get("spec") or {}).get("topologySpreadConstraints"))
    found: dict[str, dict[str, int]] = {}
    for key in dict.fromkeys(constraint.get("topologyKey") or "" for constraint in constraints):
        topology = columns.topology(key)
        counts = dict.fromkeys(sorted(topology.values), 0)
        for pod in placed:
            code = topology.codes[columns.index[pod.node]] if pod.node in columns.index else -1
            if code >= 0:
                counts[topology.values[code]] += 1
        found[key] = counts
    return found
