"""Room for DaemonSet pods on nodes that a suggestion adds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.amounts.resources import PODS
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.workloads.replica import daemon
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.timeline.controllers.daemonset import verdict_on


def daemon_pods(cluster: Cluster, node: Node) -> list[Pod]:
    """Return the pods that DaemonSets create on a new node."""
    return [daemon(owner, node.name) for owner in _starting(cluster, node)]


def _starting(cluster: Cluster, node: Node) -> Iterator[Workload]:
    for key, controller in cluster.controllers.items():
        owner = controller.workload
        has_pods = bool((owner.template.get("spec") or {}).get("containers"))
        if key.kind == "DaemonSet" and has_pods and verdict_on(owner, node).runs:
            yield owner


def with_room(node: Node, pods: Iterable[Pod]) -> Node:
    """Return a node with additional room for some pods."""
    room = dict(node.allocatable)
    for pod in pods:
        for name, amount in {**dict(pod.cls.requests), PODS: 1}.items():
            if name in room:
                room[name] += amount
    return node._replace(allocatable=room)
