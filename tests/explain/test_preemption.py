"""Whom preemption would evict and why there, or why it does not help."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.explain.preemption import preemption_report, PreemptionReport
from kubectl_spread.objects.reading import read
from kubectl_spread.report.explain import text
from kubectl_spread.report.table import lay_out
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.preemption import post_filter
from kubectl_spread.scheduler.profiles import profiles


def lines(*args: Any, **options: Any) -> list[str]:
    """The text of the blocks."""
    return lay_out(text.preemption_blocks(*args, **options))


Plain = dict[str, Any]

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
OWNER = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "controller": True}]


def node(name: str, zone: str = "", cpu: str = "1", **spec: Any) -> Plain:
    labels = {HOSTNAME: name, **({ZONE: zone} if zone else {})}
    status = {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "10"}}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}


def pod(name: str, on: str = "", cpu: str = "1", start: str = "", **spec: Any) -> Plain:
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    metadata: Plain = {"name": name, "labels": {"app": name.partition("-")[0]}}
    if name.startswith("web"):
        metadata["ownerReferences"] = OWNER
    status = {"startTime": start} if start else {}
    spec = {"nodeName": on, "containers": [container], **spec}
    return {"kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def hard(key: str = ZONE, skew: int = 1) -> Plain:
    selector = {"matchLabels": {"app": "web"}}
    return {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}


def found(objects: list[Plain], incoming: Plain) -> PreemptionReport:
    scheduler = Scheduler(Columns(cluster_of(objects)), profiles())
    wanted = read.pod(incoming)
    filtered = scheduler.filter(wanted)
    result = post_filter(wanted, filtered, scheduler)
    assert result.dry_run is not None
    told = preemption_report(wanted, filtered, scheduler, result.dry_run)
    if not told.not_eligible:
        assert result.node == told.node
        assert list(result.victims) == [victim.pod for victim in told.victims]
    return told


def test_a_pod_evicts_its_own_sibling() -> None:
    """Zone b is counted and cannot be used: room for one more in zone a is made by its own kind."""
    objects = [node("a1", "a", "4"), node("b1", "b", unschedulable=True), pod("web-1", "a1"), pod("db-1", "a1")]
    told = found(objects, pod("web-2", priority=10, topologySpreadConstraints=[hard()]))

    assert [
        "Preemption would evict 1 pod on a1:",
        (
            "  default/web-1: priority 0; of ReplicaSet default/web, the workload of the pod itself; "
            "counted by topologySpreadConstraints[0]: the count there drops by one"
        ),
        "  the only node where preemption helps",
    ] == lines(told)


def test_a_pod_elsewhere_is_in_the_way() -> None:
    """The pod that is counted is on a2, which has no room; a1 has room and no victim."""
    objects = [
        node("a1", "a"),
        node("a2", "a", "100m"),
        node("b1", "b", unschedulable=True),
        pod("web-1", "a2", "100m"),
    ]
    told = found(objects, pod("web-2", priority=10, topologySpreadConstraints=[hard()]))

    assert [
        "Preemption does not help:",
        "  1 node has no pod of lower priority: a1",
        "  evicting pods would not help on 1 node (Insufficient cpu): a2",
        "  evicting pods would not help on 1 node (node(s) were unschedulable): b1",
        (
            "Without default/web-1 on a2, which topologySpreadConstraints[0] counts in the same domain, a1 would take "
            "the pod; the scheduler does not try that: it evicts only on the node where the pod is to go."
        ),
    ] == lines(told)


def test_evicting_all_is_not_enough() -> None:
    """The pods that count have a higher priority."""
    objects = [
        node("a1", "a", "4"),
        node("b1", "b", unschedulable=True),
        pod("web-1", "a1", priority=20),
        pod("db-1", "a1"),
    ]
    told = found(objects, pod("web-2", priority=10, topologySpreadConstraints=[hard()]))

    assert [
        "Preemption does not help:",
        (
            "  1 node would refuse the pod even without its pods of lower priority "
            "(node(s) didn't match pod topology spread constraints): a1"
        ),
        "  evicting pods would not help on 1 node (node(s) were unschedulable): b1",
    ] == lines(told)


def test_a_pod_that_may_not_preempt() -> None:
    told = found([node("a1"), pod("db-1", "a1")], pod("web-1", priority=10, preemptionPolicy="Never"))

    assert ["Preemption: not eligible due to preemptionPolicy=Never."] == lines(told)
    assert (told.node, [victim.pod.name for victim in told.victims]) == ("a1", ["db-1"])  # without the policy


def test_the_lower_priority_is_evicted() -> None:
    objects = [
        node("a1"),
        node("b1"),
        pod("db-1", "a1", priority=5, start="2026-01-01T00:00:00Z"),
        pod("db-2", "b1", priority=1),
    ]

    assert [
        "Preemption would evict 1 pod on b1:",
        "  default/db-2: priority 1",
        "  chosen among 2 nodes, preferred to a1 because of lower highest priority of a victim:",
        "    NODE   PDB VIOLATIONS   HIGHEST PRIORITY   SUM   VICTIMS   EARLIEST START",
        "    b1     0                1                  1     1         -",
        "    a1     0                5                  5     1         2026-01-01T00:00:00Z",
    ] == lines(found(objects, pod("web-1", priority=10)))


def test_what_decides_between_nodes() -> None:
    """One criterion after the other."""
    early, late = {"start": "2026-01-01T00:00:00Z"}, {"start": "2026-01-02T00:00:00Z"}
    nodes = [node("a1"), node("b1")]
    budget = {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "db"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "db"}}},
        "status": {"disruptionsAllowed": 0},
    }
    halves = [pod("x-1", "a1", "500m"), pod("x-2", "a1", "500m"), pod("x-3", "b1")]
    cases: list[list[Plain]] = [
        [budget, pod("db-1", "a1"), pod("x-1", "b1")],
        [pod("x-1", "a1", priority=2), pod("x-2", "b1", priority=1)],
        halves,
        [pod("x-1", "a1", **early), pod("x-2", "b1", **late)],
        [pod("x-1", "a1", **early), pod("x-2", "b1", **early)],
    ]
    told = [found([*nodes, *objects], pod("web-1", priority=10)) for objects in cases]

    assert ["VIOLATIONS", "HIGHEST", "VICTIMS", "START", "NAME"] == [
        item.criterion.name if item.criterion else "" for item in told
    ]
    assert ["b1", "b1", "b1", "b1", "a1"] == [item.node for item in told]
    assert "its eviction breaks a PodDisruptionBudget" in "".join(
        lines(found([node("a1"), budget, pod("db-1", "a1")], pod("web-1", priority=10)))
    )


def test_sums_of_priorities_decide() -> None:
    """As many victims, of which the highest are alike."""
    pods = [
        *(pod(f"x-{at}", "a1", "500m", priority=at) for at in (3, 2)),
        *(pod(f"y-{at}", "b1", "500m", priority=at) for at in (3, 1)),
    ]
    told = found([node("a1"), node("b1"), *pods], pod("web-1", priority=10))

    assert ("b1", "PRIORITIES") == (told.node, told.criterion.name if told.criterion else "")
    assert [4, 5] == [text.priorities(choice) for choice in told.choices]


nodes = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["100m", "1", "2"])), min_size=2, max_size=6)
pods = st.lists(st.tuples(st.sampled_from(["web", "db"]), st.integers(0, 5), st.integers(0, 20)), max_size=6)


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(nodes, pods, st.sampled_from([(ZONE,), (HOSTNAME,), (ZONE, HOSTNAME)]))
def test_without_the_pod_elsewhere_the_node_takes_it(
    drawn: list[tuple[str, str]], running: list[tuple[str, int, int]], keys: tuple[str, ...]
) -> None:
    """The scheduler says so, once that pod is gone; it is not on that node, and of lower priority."""
    objects = [node(f"n{at}", zone, cpu) for at, (zone, cpu) in enumerate(drawn)]
    objects.append(node("empty", "d", unschedulable=True))
    placed = [
        pod(f"{app}-{at}", f"n{on % len(drawn)}", "50m", priority=priority)
        for at, (app, on, priority) in enumerate(running)
    ]
    incoming = pod("web-new", cpu="50m", priority=10, topologySpreadConstraints=[hard(key) for key in keys])
    scheduler = Scheduler(Columns(cluster_of([*objects, *placed])), profiles())
    wanted = read.pod(incoming)
    if scheduler.filter(wanted).feasible.any():
        return
    elsewhere = found([*objects, *placed], incoming).other_node
    if elsewhere is None:
        return
    rest = [item for item in placed if item["metadata"]["name"] != elsewhere.pod.name]
    without = Scheduler(Columns(cluster_of([*objects, *rest])), profiles())

    assert without.filter(wanted).feasible[without.columns.index[elsewhere.node]]
    assert elsewhere.pod.node_name != elsewhere.node
    assert elsewhere.pod.cls.priority < 10


def test_thousands_of_nodes_are_summarised() -> None:
    objects = [node(f"n{at:04}", cpu="500m") for at in range(2000)]
    told = found(objects, pod("web-1", priority=10))

    assert [
        "Preemption does not help:",
        (
            "  evicting pods would not help on 2,000 nodes (Insufficient cpu): "
            "n0000, n0001, n0002, n0003, n0004, n0005 and 1994 more"
        ),
    ] == lines(told)
