"""Pods placed per second on scheduler_perf's workloads, after loading, in one process; `make bench` runs it."""

from __future__ import annotations

import gc
import resource
import sys
import time
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any
from typing import NamedTuple

from kubectl_spread.cluster.assemble import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects import read
from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.config import profiles
from kubectl_spread.scheduler.cycle import Scheduler

Plain = dict[str, Any]

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
HARD, SOFT = "DoNotSchedule", "ScheduleAnyway"


class Workload(NamedTuple):
    """A cluster, and the pods to place there."""

    name: str
    goal: int  # pods per second
    objects: list[Plain]
    pods: list[Pod]


def node(number: int, **spec: Any) -> Plain:
    """One of scheduler_perf's nodes: cpu 4, memory 32Gi, 110 pods, three zones round robin."""
    name = f"node-{number:05d}"
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOSTNAME: name, ZONE: f"zone{number % 3}"}},
        "spec": spec,
        "status": {"allocatable": {"cpu": "4", "memory": "32Gi", "pods": "110"}},
    }


def plain_pod(name: str, labels: dict[str, str] | None = None, **spec: Any) -> Plain:
    """One of scheduler_perf's pods: cpu 100m, memory 500Mi."""
    container = {"name": "c", "image": "pause", "resources": {"requests": {"cpu": "100m", "memory": "500Mi"}}}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "test", "labels": labels or {}},
        "spec": {"containers": [container], **spec},
    }


def constraint(key: str, skew: int, action: str, labels: dict[str, str], **fields: str) -> Plain:
    return {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": action,
        "labelSelector": {"matchLabels": labels},
        **fields,
    }


def replicas(count: int, prefix: str, labels: dict[str, str], **spec: Any) -> list[Pod]:
    """Pods of one kind, which differ in their names alone."""
    first = read.pod(plain_pod(prefix, labels, **spec))
    return [first._replace(name=f"{prefix}-{at}", uid=f"{prefix}-{at}") for at in range(count)]


def plain_running(count: int, nodes: int) -> list[Plain]:
    """Plain pods that run already, evenly on the nodes."""
    return [plain_pod(f"init-{at}", nodeName=f"node-{at % nodes:05d}") for at in range(count)]


def spreading(action: str) -> Workload:
    labels = {"color": "blue"}
    pods = replicas(5000, "spread", labels, topologySpreadConstraints=[constraint(ZONE, 5, action, labels)])
    objects = [*map(node, range(5000)), *plain_running(5000, 5000)]
    name = "TopologySpreading" if action == HARD else "PreferredTopologySpreading"
    return Workload(name, 10_000, objects, pods)


def default_spreading() -> Workload:
    labels = {"app": "web"}
    service = {"kind": "Service", "metadata": {"name": "web", "namespace": "test"}, "spec": {"selector": labels}}
    objects = [*map(node, range(5000)), *plain_running(5000, 5000), service]
    return Workload("DefaultTopologySpreading", 5_000, objects, replicas(50_000, "web", labels))


def inclusion_policy() -> Workload:
    labels = {"foo": ""}
    policies = {"nodeAffinityPolicy": "Honor", "nodeTaintsPolicy": "Honor"}
    taint = [{"key": "foo", "value": "", "effect": "NoSchedule"}]
    objects = [*map(node, range(4000)), *(node(at, taints=taint) for at in range(4000, 5000))]
    constraints = [constraint(HOSTNAME, 1, HARD, labels, **policies)]
    pods = replicas(4000, "spread", labels, topologySpreadConstraints=constraints)
    return Workload("SchedulingWithNodeInclusionPolicy", 5_000, objects, pods)


def hard_and_soft() -> Workload:
    labels = {"app": "web"}
    constraints = [constraint(ZONE, 1, HARD, labels), constraint(HOSTNAME, 1, SOFT, labels)]
    pods = replicas(5000, "web", labels, topologySpreadConstraints=constraints)
    return Workload("hard zone and soft hostname, 1,000 nodes", 8_000, [*map(node, range(1000))], pods)


def anti_affinity() -> Workload:
    labels = {"color": "green"}
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": HOSTNAME}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    pods = replicas(2000, "green", labels, affinity=affinity)
    return Workload("anti-affinity on hostname", 2_000, [*map(node, range(5000))], pods)


def many_deployments() -> Workload:
    pods: list[Pod] = []
    for number in range(200):
        labels = {"app": f"web-{number}"}
        constraints = [constraint(ZONE, 1, HARD, labels), constraint(HOSTNAME, 1, SOFT, labels)]
        pods += replicas(20, f"web-{number}", labels, topologySpreadConstraints=constraints)
    return Workload("200 Deployments of 20, 1,000 nodes", 3_000, [*map(node, range(1000))], pods)


WORKLOADS: tuple[Callable[[], Workload], ...] = (
    lambda: spreading(HARD),
    lambda: spreading(SOFT),
    default_spreading,
    inclusion_policy,
    hard_and_soft,
    anti_affinity,
    many_deployments,
)


def pods_per_second(workload: Workload) -> float:
    """Place all pods; one that finds no node ends the run with an error."""
    scheduler = Scheduler(Columns(cluster_of(workload.objects)), profiles())
    gc.collect()
    gc.disable()  # as the program does
    start = time.perf_counter()
    for pod in workload.pods:
        filtered = scheduler.filter(pod)
        scheduler.bind(pod, int(scheduler.hosts(pod, filtered)[0]))
    return len(workload.pods) / (time.perf_counter() - start)


def growth() -> Iterator[tuple[int, float]]:
    """Microseconds for each pod, by the number of nodes: one hard zone and one soft hostname constraint."""
    labels = {"app": "web"}
    constraints = [constraint(ZONE, 1, HARD, labels), constraint(HOSTNAME, 1, SOFT, labels)]
    for nodes in (10, 100, 1000, 5000):
        count = min(2000, nodes * 30)
        pods = replicas(count, "web", labels, topologySpreadConstraints=constraints)
        yield nodes, 1e6 / pods_per_second(Workload("", 0, [*map(node, range(nodes))], pods))


def large_snapshot() -> tuple[float, float]:
    """Seconds and gigabytes to have the largest supported cluster ready to place on."""
    objects = [*map(node, range(5000))]
    for at in range(150_000):
        labels = {"app": f"app-{at % 500}", "pod-template-hash": f"{at % 1000:010d}"}
        objects.append(plain_pod(f"pod-{at}", labels, nodeName=f"node-{at % 5000:05d}"))
    start = time.perf_counter()
    Scheduler(Columns(cluster_of(objects)), profiles())
    return time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main() -> int:
    """Measure and print; 1 where a workload is under its goal."""
    failed = 0
    print(f"{'workload':45} {'pods/s':>8} {'goal':>8}")
    for make in WORKLOADS:
        workload = make()
        rate = pods_per_second(workload)
        failed |= rate < workload.goal
        print(f"{workload.name:45} {rate:8.0f} {workload.goal:8}  {'under' if rate < workload.goal else ''}")
    for nodes, cost in growth():
        print(f"{nodes:5} nodes: {cost:7.0f} us a pod")
    seconds, gigabytes = large_snapshot()
    print(f"5,000 nodes and 150,000 pods from plain objects: {seconds:.1f} s, {gigabytes:.2f} GB")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
