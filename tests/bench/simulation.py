"""Budgets of the engine over time, in seconds of CPU time; `make bench` runs it.

Exits with 1 where one is missed.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import Any

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.engine import steps
from kubectl_spread.engine.run import Answer, Limits, Mode, play
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.scheduler.profiles import profiles

Plain = dict[str, Any]
ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
WEB = ObjectKey("Deployment", "app", "web")
MEMORY_GB = 2
SETTLE: tuple[steps.Op, ...] = ()


def node(name: str, zone: str) -> Plain:
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOSTNAME: name, ZONE: zone}},
        "status": {"allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110"}},
    }


def nodes(count: int) -> list[Plain]:
    """Nodes of three zones in turn."""
    return [node(f"{'abc'[at % 3]}{at // 3:03}", "abc"[at % 3]) for at in range(count)]


def deployment(name: str, replicas: int) -> Plain:
    """One that is hard spread over zones, and soft over nodes."""
    constraints = [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": action,
            "labelSelector": {"matchLabels": {"app": name}},
        }
        for key, action in ((ZONE, "DoNotSchedule"), (HOSTNAME, "ScheduleAnyway"))
    ]
    containers = [{"name": "c", "image": "pause", "resources": {"requests": {"cpu": "100m"}}}]
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": containers, "topologySpreadConstraints": constraints},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "app"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template},
    }


def pods(name: str, hosts: list[str]) -> list[Plain]:
    """Ready pods of a Deployment's only ReplicaSet."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{name}-h", "controller": True}
    spec = deployment(name, 1)["spec"]["template"]["spec"]
    return [
        {
            "kind": "Pod",
            "metadata": {
                "name": f"{name}-h-{at}",
                "namespace": "app",
                "uid": f"{name}-{at}",
                "labels": {"app": name, "pod-template-hash": "h"},
                "ownerReferences": [owner],
            },
            "spec": {**spec, "nodeName": host},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        }
        for at, host in enumerate(hosts)
    ]


def rollout(replicas: int, count: int, limits: Limits) -> Answer:
    objects = [*nodes(count), deployment("web", replicas)]
    return play(cluster_of(objects), profiles(), [SETTLE, steps.Restart(WEB)], limits=limits)


def drain() -> Answer:
    """Drain a node with 30 pods, each of another Deployment of 30 replicas."""
    every = nodes(1000)
    names = [item["metadata"]["name"] for item in every]
    objects = list(every)
    for number in range(30):
        name = f"web-{number}"
        objects.append(deployment(name, 30))
        objects += pods(name, [names[at * 33 % 1000] for at in range(30)])
    limits = Limits(mode=Mode.FIRST)
    return play(cluster_of(objects), profiles(), [steps.Drain((names[0],))], limits=limits)


BUDGETS: tuple[tuple[str, float, Callable[[], Answer]], ...] = (
    ("first outcome of a rollout, 100 replicas on 100 nodes", 2, lambda: rollout(100, 100, Limits(mode=Mode.FIRST))),
    ("all outcomes of a rollout, 6 replicas on 9 nodes", 10, lambda: rollout(6, 9, Limits(max_states=50_000))),
    ("all outcomes of a rollout, 9 replicas on 9 nodes", 10, lambda: rollout(9, 9, Limits(max_states=50_000))),
    ("all outcomes of a rollout, 12 replicas on 9 nodes", 10, lambda: rollout(12, 9, Limits())),
    ("1,000 runs of a rollout, 12 replicas on 9 nodes", 20, lambda: rollout(12, 9, Limits(Mode.SAMPLE, samples=1000))),
    ("drain of one node of 1,000 with 30 pods", 5, drain),
)


def main() -> int:
    failed = 0
    for name, budget_s, run in BUDGETS:
        start = time.process_time()
        last = run().last
        seconds = time.process_time() - start
        is_over = seconds > budget_s
        failed += is_over
        found = f"{len(last.outcomes)} outcomes, {last.states} states, exact: {last.is_exact}"
        print(f"{'MISSED' if is_over else 'ok':6} {name}: {seconds:.1f} s of {budget_s} s ({found})")
    used_gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{'MISSED' if used_gb > MEMORY_GB else 'ok':6} memory: {used_gb:.2f} GB of {MEMORY_GB} GB")
    return int(failed > 0 or used_gb > MEMORY_GB)


if __name__ == "__main__":
    sys.exit(main())
