"""Placing the replicas of workloads one after another.

Of the nodes that fit, the pod goes to the one with the fewest pods, and of those to the first by name. That is a
stand-in for scoring, which may choose any of them; `Placement.certainty` says whether there was a choice.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple
from typing import Optional

import numpy as np

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.explain.explanation import explain_filtered
from kubectl_spread.explain.explanation import Explanation
from kubectl_spread.objects.labels import REGION
from kubectl_spread.objects.labels import ZONE
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.replica import daemon
from kubectl_spread.objects.replica import replica
from kubectl_spread.objects.workload import replica_name
from kubectl_spread.objects.workload import Workload
from kubectl_spread.scheduler.cycle import Filtered
from kubectl_spread.scheduler.cycle import Scheduler


class Certainty(Enum):
    """How far a placement can be relied on."""

    CERTAIN = "certain"  # every pod had at most one node
    POSSIBLE = "possible"  # some pod had several nodes, and scoring decides among them
    NOT_PREDICTABLE = "notPredictable"  # the pod depends on something that is not evaluated


class PlacedPod(NamedTuple):
    """A pod and its node; `choices` is how many nodes fitted, 0 for one that ran there already."""

    pod: str
    node: str
    choices: int


class PendingPod(NamedTuple):
    """A pod that found no node, and why not at that moment; pods of one class share an explanation."""

    pod: Pod
    explanation: Explanation


class Gated(NamedTuple):
    """A pod that its scheduling gates hold back."""

    pod: str
    message: str


class Placement(NamedTuple):
    """Where the pods of one workload went.

    domains: topology key -> value -> the workload's pods there, for every key its constraints name.
    """

    workload: Workload
    placed: tuple[PlacedPod, ...]
    pending: tuple[PendingPod, ...]
    gated: tuple[Gated, ...]
    domains: dict[str, dict[str, int]]
    certainty: Certainty
    not_predictable: tuple[str, ...] = ()
    first: Optional[Explanation] = None  # of the first pod that was placed, where it was asked for

    @property
    def replicas(self) -> int:
        return len(self.placed) + len(self.pending) + len(self.gated)


def place(workloads: Iterable[Workload], cluster: Cluster, *, explain_first: bool = False) -> list[Placement]:
    """Place workloads in the order given, each seeing the pods of those before it.

    Pods of a workload that run in the cluster already are its first replicas; only the missing ones are placed.

    Args:
        workloads: in the order they compete.
        cluster: where they go.
        explain_first: explain also the first replica of each workload, at the moment it was placed.
    """
    scheduler = Scheduler(Columns(cluster))
    return [
        _place(owner, cluster, scheduler, explain_first=explain_first)
        for owner in workloads
        if owner.kind != "PodTemplate"
    ]


def missing_replicas(owner: Workload, cluster: Cluster) -> list[Pod]:
    """The pods that a workload's controller has yet to see on a node."""
    running = {pod.name for pod in running_pods(owner, cluster)}
    if owner.kind == "DaemonSet":
        covered = {pod.node_name for pod in running_pods(owner, cluster)}
        return [daemon(owner, node.name) for node in cluster.nodes if node.name not in covered]
    replicas = owner.replicas or 0
    if owner.kind in ("StatefulSet", "Pod"):
        ordinals = [at for at in range(replicas) if replica_name(owner, at) not in running]
    else:
        ordinals = list(range(len(running), replicas))
    return [replica(owner, at) for at in ordinals]


def running_pods(owner: Workload, cluster: Cluster) -> list[Pod]:
    """The workload's pods that are on a node and not on their way out."""
    key = OwnerKey(owner.kind, owner.namespace, owner.name)
    found = []
    for pod in cluster.bound():
        is_own = pod.key == f"{owner.namespace}/{owner.name}" if owner.kind == "Pod" else cluster.top_owner(pod) == key
        if is_own and not pod.terminating:
            found.append(pod)
    return found


def _place(owner: Workload, cluster: Cluster, scheduler: Scheduler, *, explain_first: bool) -> Placement:
    placed = [PlacedPod(pod.name, pod.node_name, 0) for pod in running_pods(owner, cluster)]
    pending: list[PendingPod] = []
    gated: list[Gated] = []
    beyond: dict[str, None] = {}
    stuck: Optional[PendingPod] = None
    first: Optional[Explanation] = None
    for pod in missing_replicas(owner, cluster):
        if pod.cls.gates:
            gated.append(Gated(pod.name, "Scheduling is blocked due to non-empty scheduling gates"))
            continue
        beyond.update(dict.fromkeys(pod.cls.beyond))
        if stuck is not None and stuck.pod.cls == pod.cls:
            # Nothing changed since its twin was refused.
            pending.append(stuck._replace(pod=pod))
            continue
        filtered = scheduler.filter(pod.cls)
        if owner.kind == "DaemonSet" and not _is_wanted(filtered):
            continue
        node = choose(filtered)
        if node is None:
            stuck = PendingPod(pod, explain_filtered(pod, filtered))
            pending.append(stuck)
            continue
        if explain_first and first is None:
            first = explain_filtered(pod, filtered)
        placed.append(PlacedPod(pod.name, filtered.columns.nodes[node].name, int(filtered.feasible.sum())))
        scheduler.bind(_labelled(pod, scheduler.columns, node), node)
    return Placement(
        workload=owner,
        placed=tuple(placed),
        pending=tuple(pending),
        gated=tuple(gated),
        domains=_domains(owner, placed, scheduler.columns),
        certainty=_certainty(placed, beyond),
        not_predictable=tuple(beyond),
        first=first,
    )


def choose(filtered: Filtered) -> Optional[int]:
    """The node with the fewest pods, the first by name among equals; None where none fits."""
    candidates = np.flatnonzero(filtered.feasible)
    if not len(candidates):
        return None
    return int(candidates[np.argmin(filtered.columns.pod_count[candidates])])


def _is_wanted(filtered: Filtered) -> bool:
    """Whether the DaemonSet controller makes a pod for this node: one it cannot run on gets none.

    Source: pkg/controller/daemon/daemon_controller.go, NodeShouldRunDaemonPod (v1.36.2).
    """
    node = int(np.flatnonzero(filtered.considered)[0])
    decisive = ("NodeName", "TaintToleration", "NodeAffinity")
    return not any(status.plugin in decisive for status in filtered.failures(node))


def _labelled(pod: Pod, columns: Columns, node: int) -> Pod:
    """Add the node's zone and region labels, as the PodTopologyLabels admission does at binding since 1.35."""
    labels = columns.nodes[node].labels
    copied = {key: labels[key] for key in (ZONE, REGION) if key in labels}
    if not copied:
        return pod
    own = {**dict(pod.cls.labels), **copied}
    return pod._replace(cls=pod.cls._replace(labels=tuple(sorted(own.items()))))


def _domains(owner: Workload, placed: list[PlacedPod], columns: Columns) -> dict[str, dict[str, int]]:
    constraints = (owner.template.get("spec") or {}).get("topologySpreadConstraints") or ()
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


def _certainty(placed: list[PlacedPod], beyond: dict[str, None]) -> Certainty:
    if beyond:
        return Certainty.NOT_PREDICTABLE
    return Certainty.POSSIBLE if any(pod.choices > 1 for pod in placed) else Certainty.CERTAIN
