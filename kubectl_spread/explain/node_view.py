"""Everything that the program knows about one pod on one node."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.explain.constraints.report import ConstraintReport, DomainReport
from kubectl_spread.explain.explanation import ExaminedPod
from kubectl_spread.explain.requirements.requirement import Requirement
from kubectl_spread.objects.node import Node, Taint
from kubectl_spread.objects.resources import PODS
from kubectl_spread.scheduler.framework.plugin import Status, status_of


class NotConsidered(Enum):
    """The reason why the scheduler does not examine a node."""

    NAMED_NODES = "namedNodes"  # the pod names other nodes
    CHOSEN_NODE = "chosenNode"  # another node is chosen for the pod, and it still fits
    REFUSED_BEFORE = "refusedBefore"  # the pod is refused before any node is looked at


class Room(NamedTuple):
    """A resource of the node, in the units of `PodClass.requests`."""

    resource: str
    allocatable: int
    requested: int
    asked: int

    @property
    def free(self) -> int:
        return self.allocatable - self.requested

    @property
    def is_enough(self) -> bool:
        return not self.asked or self.asked <= self.free


class TaintAnswer(NamedTuple):
    taint: Taint
    is_tolerated: bool


class NodeView(NamedTuple):
    """A node from the point of view of one pod.

    plugins: of the plugins that filter this pod, in the order they run; without reasons if the node passes.
    domains: the node's domain for each constraint; None if the node lacks the key.
    refusing: the requirements that the node does not meet.
    """

    node: Node
    fits: bool
    taints: tuple[TaintAnswer, ...]
    rooms: tuple[Room, ...]
    plugins: tuple[Status, ...]
    refusing: tuple[Requirement, ...]
    domains: tuple[tuple[ConstraintReport, Optional[DomainReport]], ...]
    pods: int
    not_considered: Optional[NotConsidered]
    chosen: str  # the chosen node, if it is the reason why this one is not examined


def node_view(name: str, examined: ExaminedPod) -> Optional[NodeView]:
    """Return the view of one node; None if the node does not exist, or if no plugin ran."""
    filtered, explanation = examined.filtered, examined.explanation
    if filtered is None or name not in filtered.columns.index:
        return None
    columns, at = filtered.columns, filtered.columns.index[name]
    node, cls = columns.nodes[at], explanation.pod.cls
    nominated = [
        pod
        for pod in columns.cluster.pending()
        if pod.nominated_node == name and pod.uid != explanation.pod.uid and pod.cls.priority >= cls.priority
    ]
    fails = filtered.nominated.get(at)
    why_not = None if filtered.considered[at] else NotConsidered.NAMED_NODES
    if why_not and filtered.rejection is not None:
        why_not = NotConsidered.REFUSED_BEFORE
    elif why_not and explanation.pod.nominated_node in explanation.diagnosis.feasible:
        why_not = NotConsidered.CHOSEN_NODE
    return NodeView(
        node=node,
        fits=bool(filtered.feasible[at]),
        taints=tuple(
            TaintAnswer(taint, any(toleration.tolerates(taint) for toleration in cls.tolerations))
            for taint in node.taints
        ),
        rooms=tuple(
            Room(
                resource,
                node.allocatable.get(resource, 0),
                int((columns.pod_count if resource == PODS else columns.requested_of(resource))[at])
                + sum({PODS: 1, **dict(pod.cls.requests)}.get(resource, 0) for pod in nominated),
                request,
            )
            for resource, request in {PODS: 1, **dict(cls.requests)}.items()
        ),
        plugins=tuple(
            fails
            if fails is not None and fails.plugin == verdict.plugin
            else status_of(verdict.plugin, verdict.state.reasons, int(verdict.bits[at]))
            for verdict in filtered.plugin_results
        ),
        refusing=tuple(item for item in explanation.requirements if not item.allowed[at]),
        domains=tuple(
            (report, next((item for item in report.domains if item.value == node.labels.get(key)), None))
            for report in explanation.constraints
            for key in [report.constraint.topology_key]
        ),
        pods=int(columns.pod_count[at]),
        not_considered=why_not,
        chosen=explanation.pod.nominated_node if why_not is NotConsidered.CHOSEN_NODE else "",
    )
