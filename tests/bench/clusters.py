"""Time and memory of commands on clusters of 50 to 5,000 nodes, beyond reading the snapshot; `make bench` runs it.

Exits with 1 where a budget is missed. `python -m tests.bench.clusters --snapshot NODES PODS SIZE FILE` writes such a
cluster.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

Plain = dict[str, Any]
ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
MEMORY_MB = 700
_PENDING = 10
_MOST_SLOWER = 1.5  # Events per second do not depend on pods and nodes that a command cannot touch.


class Row(NamedTuple):
    """A command on a cluster of some nodes and pods, in workloads of `size` pods; budget: seconds of CPU time.

    closed: zone c is tainted, and 10 workloads have a Pending pod each. tied: a quota ties all workloads together.
    apart: no two pods of a workload may share a node, by a constraint and by anti-affinity over hostnames.
    interrupted: the command is interrupted after this CPU time, and the budget is for the time after that.
    """

    nodes: int
    pods: int
    size: int
    command: str
    budget: float
    expects: str
    closed: bool = False
    memory_mb: int = MEMORY_MB
    tied: bool = False
    interrupted: float = 0
    apart: bool = False

    @property
    def name(self) -> str:
        """Return the name of the cluster's file."""
        kind = "-closed" * self.closed + "-tied" * self.tied + "-apart" * self.apart
        return f"{self.nodes}-{self.pods}-{self.size}{kind}.json"


_STUCK = "In every order of events the step gets stuck, and every number is in the range shown"
ROWS = [
    *(
        Row(nodes, 10 * nodes, 10, command, budget, "every number is in the range")
        for nodes, budget in ((50, 1.0), (200, 1.0), (1_000, 1.5), (5_000, 3.0))
        for command in ("simulate drain n0000 --ignore-daemonsets", "simulate scale deploy/web-3 --replicas=20")
    ),
    Row(1_000, 10_000, 10, "simulate rollout restart deploy/web-3", 1.0, "completes"),
    Row(600, 3_000, 100, "simulate rollout restart deploy/web-3", 5.0, "completes"),
    Row(30, 300, 30, "simulate rollout restart deploy/web-3", 10.0, "every number is in the range"),
    Row(200, 2_000, 100, "simulate drain n0000 --ignore-daemonsets", 1.0, "every new pod finds a node"),
    Row(600, 3_000, 100, "simulate lose zone=a", 5.0, _STUCK),
    Row(5_000, 50_000, 10, "simulate lose zone=a", 40.0, _STUCK),
    Row(1_000, 10_000, 100, "check -A", 6.0, "the next rollout gets stuck in every outcome", closed=True),
    Row(1_000, 10_000, 100, "rebalance -A", 10.0, "there is nothing to rebalance", closed=True),
    Row(
        1_000,
        10_000,
        100,
        "guarantee deploy/web-3 --at-most zone=1/2",
        5.0,
        "creation, restarts: proved",
        memory_mb=300,
    ),
    *(
        Row(nodes, 10 * nodes, 10, command, 1.0, "every number is in the range", apart=True)
        for nodes in (50, 200, 1_000)
        for command in (
            "simulate drain n0000 --ignore-daemonsets",
            "simulate scale deploy/web-3 --replicas=20",
            "simulate rollout restart deploy/web-3",
        )
    ),
    Row(5_000, 50_000, 50, "simulate lose zone=a", 1.0, "The search was interrupted", tied=True, interrupted=8.0),
]


def cluster(
    nodes: int, pods: int, size: int, *, is_closed: bool = False, is_tied: bool = False, is_apart: bool = False
) -> Plain:
    """Return a cluster of three zones with Deployments of equal size that are hard spread over the zones.

    With `is_closed`, zone c is tainted, and the last pod of ten Deployments is Pending. `is_tied`: there is a quota.
    `is_apart`: no two pods of a Deployment may share a node.
    """
    items: list[Plain] = [_node(at) for at in range(nodes)]
    for number in range(pods // size):
        made = _deployment(number, size, nodes)
        items += map(_apart, made) if is_apart else made
        if is_closed and number < _PENDING:
            del items[-1]["spec"]["nodeName"]
            items[-1]["status"] = {"phase": "Pending"}
    for item in items[2:nodes:3] if is_closed else ():
        item["spec"] = {"taints": [{"key": "maintenance", "effect": "NoSchedule"}]}
    if is_tied:
        spec = {"hard": {"pods": str(2 * pods)}}
        status = {**spec, "used": {"pods": str(pods)}}
        metadata = {"name": "pods", "namespace": "app"}
        items.append(
            {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": spec, "status": status}
        )
    return {"apiVersion": "v1", "kind": "List", "items": items}


def _apart(item: Plain) -> Plain:
    """Return an object of a Deployment whose pods may not share a node."""
    template = item["spec"].get("template", item)
    (zones,) = template["spec"]["topologySpreadConstraints"]
    selected = {"labelSelector": zones["labelSelector"], "topologyKey": HOSTNAME}
    anti = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [selected]}}
    spec = {**template["spec"], "topologySpreadConstraints": [zones, {**zones, **selected}], "affinity": anti}
    if template is item:
        return {**item, "spec": spec}
    return {**item, "spec": {**item["spec"], "template": {**template, "spec": spec}}}


def _node(at: int) -> Plain:
    name = f"n{at:04}"
    status = {
        "allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    labels = {HOSTNAME: name, ZONE: "abc"[at % 3]}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def _deployment(number: int, size: int, nodes: int) -> list[Plain]:
    app, text = f"web-{number}", f"{number:08x}"
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
    }
    containers = [{"name": "c", "image": "pause", "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}}]
    spec = {"containers": containers, "topologySpreadConstraints": [constraint]}
    labels = {"app": app, "pod-template-hash": text}
    owner = {"apiVersion": "apps/v1", "controller": True}
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}

    def made(kind: str, name: str, fields: Plain, *, metadata: Plain) -> Plain:
        known = {"name": name, "namespace": "app", "uid": f"{kind}/{name}"}
        version = "v1" if kind == "Pod" else "apps/v1"
        return {"apiVersion": version, "kind": kind, "metadata": {**known, **metadata}, **fields}

    def wanted(match: Plain) -> Plain:
        return {
            "replicas": size,
            "selector": {"matchLabels": match},
            "template": {"metadata": {"labels": match}, "spec": spec},
        }

    of_deployment = {**owner, "kind": "Deployment", "name": app, "uid": f"Deployment/{app}"}
    of_set = {**owner, "kind": "ReplicaSet", "name": f"{app}-{text}", "uid": f"ReplicaSet/{app}-{text}"}
    deployment = made("Deployment", app, {"spec": wanted({"app": app})}, metadata={})
    one = made("ReplicaSet", of_set["name"], {"spec": wanted(labels)}, metadata={"ownerReferences": [of_deployment]})
    pods = [
        made(
            "Pod",
            f"{app}-{text}-{at:05}",
            {"spec": {**spec, "nodeName": f"n{(number * size + at) % nodes:04}"}, "status": status},
            metadata={"labels": labels, "ownerReferences": [of_set]},
        )
        for at in range(size)
    ]
    return [deployment, one, *pods]


def measured(arguments: list[str], *, interrupted: float = 0) -> tuple[float, float, str]:
    """Return a command's seconds of CPU time (after the interrupt, if any), its memory in MB, and its output."""
    code = f"""
import os, signal, sys, time
from kubectl_spread.cli.main import run
begin = [0.0]
def interrupt(*_):
    begin[0] = time.process_time()
    os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGPROF, interrupt)
signal.setitimer(signal.ITIMER_PROF, {interrupted})
run(sys.argv[1:])
sys.stdout.flush()
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(time.process_time() - begin[0], int(peak) / 1024, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    seconds, megabytes = done.stderr.split()[-2:]
    return float(seconds), float(megabytes), done.stdout


def events_per_second(nodes: int) -> float:
    """Return how many events of a restart are simulated in a second of CPU time, in a cluster of 10 pods on a node."""
    code = f"""
import time
from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.engine import steps
from kubectl_spread.engine.parts import Splitter
from kubectl_spread.engine.run import Limits, play_part
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.scheduler.profiles import profiles
from tests.bench.clusters import cluster
splitter = Splitter(cluster_of(cluster({nodes}, {10 * nodes}, 10)["items"]), profiles())
first, other = (ObjectKey("Deployment", "app", f"web-{{at}}") for at in (3, 4))
play_part(splitter, (steps.Scale(other, 12),), other, limits=Limits())
begin = time.process_time()
found = play_part(splitter, (steps.Restart(first),), first, limits=Limits())
print(found.states / (time.process_time() - begin))
"""
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def main() -> int:
    """Measure every row; return 1 if a budget is missed."""
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        read: dict[str, float] = {}
        for row in ROWS:
            path = Path(folder) / row.name
            if not path.exists():
                made = cluster(
                    row.nodes, row.pods, row.size, is_closed=row.closed, is_tied=row.tied, is_apart=row.apart
                )
                path.write_text(json.dumps(made), encoding="utf-8")
                read[path.name] = measured(["simulate", "cordon", "n0001", "-n", "app", "--snapshot", str(path)])[0]
            place = [] if "-A" in row.command else ["-n", "app"]
            command = [*row.command.split(), *place, "--snapshot", str(path)]
            seconds, megabytes, out = measured(
                command, interrupted=row.interrupted and read[path.name] + row.interrupted
            )
            seconds -= 0 if row.interrupted else read[path.name]
            is_missed = seconds > row.budget or megabytes > row.memory_mb or row.expects not in out
            failed |= is_missed
            size = f"{row.nodes:,} nodes, {row.pods:,} pods of workloads of {row.size}"
            told = f"{seconds:6.2f} of {row.budget} s, {megabytes:4.0f} MB: {row.command}: {size}"
            print(f"{'MISSED' if is_missed else 'ok':6} {told}", flush=True)
    few, many = map(events_per_second, (50, 5_000))
    failed |= few > _MOST_SLOWER * many
    print(f"{few:,.0f} events per second on 50 nodes, {many:,.0f} on 5,000 ({_MOST_SLOWER} times as many are allowed)")
    return int(failed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--snapshot"]:
        sys.stdout.write(json.dumps(cluster(*map(int, sys.argv[2:5]))))
        raise SystemExit(0)
    raise SystemExit(main())
