"""Pages of large clusters, against their budgets; `make bench` runs it.

CPU seconds from the read cluster or the simulated steps to the page, and the size of the page. The cluster of `status`
has 5,000 nodes in 3 zones and 200 racks, and 50 Deployments with 3,000 pods each; the one of `simulate drain` has 5,001
nodes and one Deployment of 300. Exits with 1 where a budget is missed.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine.run import Limits, Mode
from kubectl_spread.explain.status import statuses, WorkloadStatus
from kubectl_spread.kubectl.parsing import parse_text
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Owner, Pod, PodClass
from kubectl_spread.objects.selectors import HOSTNAME, LabelSelector, ZONE
from kubectl_spread.operations.cluster_facts import ClusterSource, load_profiles
from kubectl_spread.operations.simulate import simulate_commands, SimulateRequest, SimulateResult
from kubectl_spread.report.pages import simulation as simulation_page
from kubectl_spread.report.pages import workloads as status_page
from kubectl_spread.report.pages.page import PageSource
from tests.bench.simulation import deployment

NODES, WORKLOADS, PODS, DRAINED = 5000, 50, 3000, 300
MOST_S, MOST_BYTES = 3.0, 3_000_000


def cluster() -> Cluster:
    """A cluster in which every workload spreads over zones, racks and nodes."""
    nodes = tuple(
        Node(f"node-{at:04}", {HOSTNAME: f"node-{at:04}", ZONE: "abc"[at % 3], "rack": f"r{at // 25}"})
        for at in range(NODES)
    )
    pods: list[Pod] = []
    owners = {}
    for number in range(WORKLOADS):
        labels = (("app", f"web-{number}"), ("pod-template-hash", "1"))
        selector = LabelSelector((("app", f"web-{number}"),))
        constraints = tuple(
            TopologySpreadConstraint(at, 1, key, "DoNotSchedule" if key == ZONE else "ScheduleAnyway", selector)
            for at, key in enumerate((ZONE, "rack", HOSTNAME))
        )
        owner = Owner("apps/v1", "ReplicaSet", f"web-{number}-1")
        owners[ObjectKey("ReplicaSet", "shop", owner.name)] = ObjectKey("Deployment", "shop", f"web-{number}")
        cls = PodClass("shop", labels=labels, owner=owner, constraints=constraints)
        pods += [
            Pod(f"web-{number}-{at}", f"{number}/{at}", cls, nodes[(at * 7 + at // 5) % NODES].name, "Running")
            for at in range(PODS)
        ]
    return Cluster(nodes, tuple(pods), owners=owners)


def drained() -> SimulateResult:
    """The drain of a node, in the first outcome, with the moments that its page draws."""
    source = ClusterSource(topology=f"zones=3,nodes={NODES // 3 + 1},cpu=16,memory=64Gi")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "web.json"
        path.write_text(json.dumps(deployment("web", DRAINED)))
        commands = (parse_text("drain node-a0001"),)
        request = SimulateRequest(commands, (str(path),), source=source, limits=Limits(mode=Mode.FIRST))
        return simulate_commands(request._replace(commands=tuple(commands)), has_frames=True)


def measured(name: str, make: Callable[[], str]) -> bool:
    """Print the time and the size of a page; return whether a budget is missed."""
    begin = time.process_time()
    size = len(make().encode())
    seconds = time.process_time() - begin
    is_missed = seconds > MOST_S or size > MOST_BYTES
    print(f"{name:40} {seconds:6.2f} s {MOST_S:5} s  {size / 1e6:6.2f} MB {MOST_BYTES / 1e6:4} MB", end="")
    print("  MISSED" if is_missed else "")
    return is_missed


def main() -> int:
    """Measure and print; 1 where a budget is missed."""
    known = cluster()
    found: list[WorkloadStatus] = list(statuses(known, load_profiles(ClusterSource())))
    pods = f"{len(known.pods):,} pods"
    failed = measured(
        f"status, {NODES:,} nodes, {pods}", lambda: status_page.render(found, known, PageSource("bench", "", ""))
    )
    done = drained()
    failed |= measured(
        f"simulate drain, {len(done.known.cluster.nodes):,} nodes, {DRAINED:,} pods",
        lambda: simulation_page.render(done.simulation, PageSource("bench", "", "")),
    )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
