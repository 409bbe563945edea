"""What `explain` takes for a Pending pod, suggestions and loading included; `make bench` runs it.

Seconds of CPU time of the whole process, on snapshots as kubectl prints them: a Deployment of 13 replicas, 10 of them
Pending, as the tainted nodes of a third zone are counted. A quarter of the time on 100 nodes is the simulation over
time of the three changes that are suggested. Exits with 1 where a budget is missed.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from kubectl_spread.advice.problem import of_pod
from kubectl_spread.advice.search import suggest
from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.explain.explanation import explain
from kubectl_spread.scheduler.profiles import profiles
from tests.bench.scheduling import constraint, HARD, HOSTNAME, node, plain_pod, running_pod, ZONE
from tests.bench.startup import cpu_ms

Plain = dict[str, Any]

DEDICATED = [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}]
WAITING, RUNNING = 10, 3


class Size(NamedTuple):
    """A cluster, and how long an answer may take, in seconds."""

    nodes: int
    pods: int
    budget_s: float


SIZES = (Size(100, 1_000, 0.5), Size(5_000, 50_000, 15))


def objects(size: Size) -> list[Plain]:
    """The objects of a cluster, whose third zone is tainted; twenty pods have one template, of at most 1,000."""
    nodes = [node(at, taints=DEDICATED) if at % 3 == 2 else node(at) for at in range(size.nodes)]
    filled = json.dumps(running_pod())
    templates = min(1000, size.pods // 20)
    pods = []
    for at in range(size.pods):
        text = filled.replace("@POD", f"{at:08}").replace("@NODE", f"{at % size.nodes:05}")
        pods.append(
            json.loads(text.replace("@APP", f"{at % templates // 2}").replace("@HASH", f"{at % templates:010}"))
        )
    return [*nodes, *pods, *(web(at) for at in range(WAITING + RUNNING))]


def web(at: int) -> Plain:
    """A pod of the Deployment that is asked about; the first run."""
    labels = {"app": "web", "pod-template-hash": "1"}
    spread = [constraint(ZONE, 1, HARD, {"app": "web"}), constraint(HOSTNAME, 1, HARD, {"app": "web"})]
    bound = {"nodeName": f"node-{(0, 1, 3)[at]:05}"} if at < RUNNING else {}
    pod = plain_pod(f"web-1-{at}", labels, topologySpreadConstraints=spread, **bound)
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "web-1", "controller": True}
    pod["metadata"]["ownerReferences"] = [owner]
    return {"apiVersion": "v1", **pod}


def cpu_s(items: list[Plain]) -> float:
    """CPU seconds of one `explain`."""
    program = str(Path(sys.executable).with_name("kubectl-spread"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "snapshot.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=4))
        return cpu_ms([program, "explain", "pod", f"web-1-{RUNNING}", "-n", "test", "--snapshot", str(path)]) / 1000


def tried(items: list[Plain]) -> str:
    """How many changes were simulated."""
    cluster = cluster_of(items)
    pod = next(pod for pod in cluster.pending())
    problem = of_pod(explain(pod, cluster, profiles()), cluster, profiles())
    if problem is None:
        return "nothing is Pending"
    found = suggest(problem)
    return f"{found.tried} changes simulated, {found.verified} help, {found.not_tried} not tried"


def main() -> int:
    """Measure and print; 1 where a budget is missed."""
    failed = False
    for size in SIZES:
        items = objects(size)
        seconds = min(cpu_s(items) for _ in range(5 if size.nodes < 1000 else 1))
        failed |= seconds > size.budget_s
        over = "MISSED" if seconds > size.budget_s else ""
        what = f"explain, {size.nodes:,} nodes and {size.pods:,} pods"
        print(f"{what:45} {seconds:8.2f} s {size.budget_s:6} s  {over}".rstrip())
        print(f"  {tried(items)}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
