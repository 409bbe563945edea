"""Pods placed per second on scheduler_perf's workloads, after loading, in one process; `make bench` runs it.

And what a cluster of the largest supported size takes to load. Seconds are of CPU time: one process computes, and what
else the machine does is none of its business. Exits with 1 where a budget is missed.
"""

from __future__ import annotations

import gc
import itertools
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading import read
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.profiles import profiles
from kubectl_spread.sources import files, snapshot
from kubectl_spread.text import json_nodes

Plain = dict[str, Any]

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
HARD, SOFT = "DoNotSchedule", "ScheduleAnyway"
NOW = "2026-01-01T00:00:00Z"

LOAD_S, LOAD_GB = 30, 3  # of the largest supported cluster


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


def deployments(number: int, *, of: int, nodes: int) -> Workload:
    """Deployments that each spread by labels of their own, `of` replicas each."""
    pods: list[Pod] = []
    for at in range(number):
        labels = {"app": f"web-{at}"}
        constraints = [constraint(ZONE, 1, HARD, labels), constraint(HOSTNAME, 1, SOFT, labels)]
        pods += replicas(of, f"web-{at}", labels, topologySpreadConstraints=constraints)
    name = f"{number:,} Deployments of {of}, {nodes:,} nodes"
    return Workload(name, 3_000, [*map(node, range(nodes))], pods)


WORKLOADS: tuple[Callable[[], Workload], ...] = (
    lambda: spreading(HARD),
    lambda: spreading(SOFT),
    default_spreading,
    inclusion_policy,
    hard_and_soft,
    anti_affinity,
    lambda: deployments(200, of=20, nodes=1000),
    lambda: deployments(1000, of=5, nodes=300),
)


def pods_per_second(workload: Workload) -> float:
    """Place all pods; one that finds no node ends the run with an error."""
    scheduler = Scheduler(Columns(cluster_of(workload.objects)), profiles())
    gc.collect()
    gc.disable()  # as the program does
    start = time.process_time()
    for pod in workload.pods:
        filtered = scheduler.filter(pod)
        scheduler.bind(pod, int(scheduler.hosts(pod, filtered)[0]))
    return len(workload.pods) / (time.process_time() - start)


def growth() -> Iterator[tuple[int, float]]:
    """Microseconds for each pod, by the number of nodes: one hard zone and one soft hostname constraint."""
    labels = {"app": "web"}
    constraints = [constraint(ZONE, 1, HARD, labels), constraint(HOSTNAME, 1, SOFT, labels)]
    for nodes in (10, 100, 1000, 5000):
        count = min(2000, nodes * 30)
        pods = replicas(count, "web", labels, topologySpreadConstraints=constraints)
        yield nodes, 1e6 / pods_per_second(Workload("", 0, [*map(node, range(nodes))], pods))


class Load(NamedTuple):
    """What it takes to have a snapshot ready to place on."""

    parts: dict[str, float]  # seconds
    gigabytes: float

    @property
    def seconds(self) -> float:
        return sum(self.parts.values())


def write_large_snapshot(path: Path) -> None:
    """The largest supported cluster as `kubectl get nodes,pods -A -o json` prints it; its pods have 1,000 templates."""
    printed = json.dumps(running_pod(), indent=4).replace("\n", "\n        ")
    with path.open("w") as file:
        file.write('{\n    "apiVersion": "v1",\n    "items": [\n        ')
        file.write(",\n        ".join(json.dumps(node(at), indent=4).replace("\n", "\n        ") for at in range(5000)))
        for at in range(150_000):
            item = printed.replace("@POD", f"{at:08}").replace("@NODE", f"{at % 5000:05}")
            file.write(",\n        " + item.replace("@APP", f"{at % 500}").replace("@HASH", f"{at % 1000:010}"))
        file.write('\n    ],\n    "kind": "List",\n    "metadata": {"resourceVersion": ""}\n}\n')


def running_pod() -> Plain:
    """A pod as the API server shows it, with blanks to fill in."""
    pod = plain_pod("app-@APP-@HASH-@POD", {"app": "app-@APP", "pod-template-hash": "@HASH"}, nodeName="node-@NODE")
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": "app-@APP-@HASH",
        "uid": "@HASH",
        "controller": True,
    }
    pod["metadata"] |= {"uid": "@POD", "creationTimestamp": NOW, "ownerReferences": [owner]}
    mount = {"name": "token-@POD", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": True}
    pod["spec"]["containers"][0] |= {"ports": [{"containerPort": 8080, "protocol": "TCP"}], "volumeMounts": [mount]}
    sources = [{"serviceAccountToken": {"path": "token"}}, {"configMap": {"name": "kube-root-ca.crt"}}]
    pod["spec"] |= {
        "tolerations": [
            {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            for key in ("not-ready", "unreachable")
        ],
        "topologySpreadConstraints": [constraint(ZONE, 1, SOFT, {"app": "app-@APP"})],
        "schedulerName": "default-scheduler",
        "serviceAccountName": "default",
        "terminationGracePeriodSeconds": 30,
        "volumes": [{"name": "token-@POD", "projected": {"defaultMode": 420, "sources": sources}}],
    }
    conditions = ("Initialized", "Ready", "ContainersReady", "PodScheduled")
    container = {"name": "c", "image": "pause", "containerID": f"containerd://{64 * '0'}", "ready": True}
    pod["status"] = {
        "phase": "Running",
        "startTime": NOW,
        "conditions": [{"type": name, "status": "True", "lastTransitionTime": NOW} for name in conditions],
        "containerStatuses": [{**container, "state": {"running": {"startedAt": NOW}}}],
    }
    return pod


def load(path: str) -> Load:
    """Read a snapshot and prepare to place on it."""
    gc.disable()  # as the program does
    times = [time.process_time()]
    json_nodes.values(files.read_text(path).text)
    times.append(time.process_time())
    facts = snapshot.load(path)
    times.append(time.process_time())
    Scheduler(Columns(facts.cluster), profiles())
    times.append(time.process_time())
    parse, both, columns = (after - before for before, after in itertools.pairwise(times))
    parts = {"read and parse JSON": parse, "make pods and nodes of it": both - parse, "make columns": columns}
    return Load(parts, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)


def large_snapshot() -> Load:
    """In a process of its own, whose memory is that of nothing else."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "snapshot.json"
        write_large_snapshot(path)
        print(f"\n5,000 nodes and 150,000 pods, {path.stat().st_size / 1e6:.0f} MB of JSON:")
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as other:
            return other.submit(load, str(path)).result()


def missed(what: str, measured: str, goal: str, *, is_missed: bool) -> bool:
    """Print a figure beside its goal, and give back whether it misses it."""
    print(f"{what:45} {measured:>10} {goal:>10}  {'MISSED' if is_missed else ''}".rstrip())
    return is_missed


def main() -> int:
    """Measure and print; 1 where a budget is missed."""
    failed = []
    print(f"{'workload':45} {'pods/s':>10} {'goal':>10}")
    for make in WORKLOADS:
        workload = make()
        rate = pods_per_second(workload)
        failed.append(missed(workload.name, f"{rate:.0f}", f"{workload.goal}", is_missed=rate < workload.goal))
    print("\nhard zone and soft hostname, by the number of nodes:")
    for nodes, cost in growth():
        print(f"{nodes:5} nodes: {cost:7.0f} us a pod")
    loaded = large_snapshot()
    for part, seconds in loaded.parts.items():
        print(f"{part:45} {seconds:8.1f} s")
    failed.append(
        missed("ready to place", f"{loaded.seconds:.1f} s", f"{LOAD_S} s", is_missed=loaded.seconds >= LOAD_S)
    )
    memory, most = f"{loaded.gigabytes:.2f} GB", f"{LOAD_GB} GB"
    failed.append(missed("memory at its most", memory, most, is_missed=loaded.gigabytes >= LOAD_GB))
    return int(any(failed))


if __name__ == "__main__":
    sys.exit(main())
