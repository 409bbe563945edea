"""DaemonSet pods on nodes that a change adds or opens for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.amounts.resources import PODS
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.workloads.replica import daemon
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.timeline.controllers.daemonset import verdict_on


def coming(cluster: Cluster, before: Optional[Node], after: Node) -> list[Pod]:
    """Return the pods that DaemonSets create on a node once it has changed; `before` is None for a new node."""
    return [daemon(owner, after.name) for owner in _starting(cluster, before, after)]


def _starting(cluster: Cluster, before: Optional[Node], after: Node) -> Iterator[Workload]:
    for key, controller in cluster.controllers.items():
        owner = controller.workload
        if key.kind != "DaemonSet" or not (owner.template.get("spec") or {}).get("containers"):
            continue
        ran = before is not None and verdict_on(owner, before).runs
        if not ran and verdict_on(owner, after).runs:
            yield owner


def with_room(node: Node, pods: Iterable[Pod]) -> Node:
    """Return a node with additional room for some pods."""
    room = dict(node.allocatable)
    for pod in pods:
        for name, amount in {**dict(pod.cls.requests), PODS: 1}.items():
            if name in room:
                room[name] += amount
    return node._replace(allocatable=room)
