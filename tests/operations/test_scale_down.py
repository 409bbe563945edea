"""Which pods a ReplicaSet keeps, against every order in which it may remove them."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any, Optional

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.engine.loading import deleted_first, remaining_pods
from kubectl_spread.objects.constraints import constraint as constraint_reader
from kubectl_spread.objects.constraints.constraint import ConstraintCounts
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.workloads.workload import workload
from kubectl_spread.operations.known_cluster import KnownCluster, least_uneven

ZONE, COST = "topology.kubernetes.io/zone", "controller.kubernetes.io/pod-deletion-cost"
ROOM = {"pods": "9"}
CONSTRAINT = {
    "maxSkew": 1,
    "topologyKey": ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}
SPEC = {"containers": [{"name": "c"}], "topologySpreadConstraints": [CONSTRAINT]}
Plain = dict[str, Any]
NODES = {"a1": "a", "a2": "a", "b1": "b", "c1": "c", "x1": None}


def narrowest(nodes: list[str], others: dict[str, int], replicas: int) -> int:
    """The least that domains are apart, over all ways to remove pods of equal rank."""
    ranks = Counter(nodes)
    skews = []
    for kept in itertools.combinations(range(len(nodes)), replicas):
        gone = [at for at in range(len(nodes)) if at not in kept]
        if all(ranks[nodes[stays]] <= ranks[nodes[goes]] for stays in kept for goes in gone):
            counts = Counter(NODES[nodes[at]] for at in kept)
            left = [others[domain] + counts[domain] for domain in others]
            skews.append(max(left) - min(left))
    return min(skews)


@pytest.mark.slow
@settings(deadline=None, derandomize=True, database=None, max_examples=300)
@given(
    st.lists(st.sampled_from(sorted(NODES)), min_size=1, max_size=7),
    st.fixed_dictionaries({domain: st.integers(0, 2) for domain in "abc"}),
    st.integers(0, 6),
)
def test_no_order_of_removing_leaves_less_apart(nodes: list[str], others: dict[str, int], replicas: int) -> None:
    pods = list(cluster_of([running(f"p{at}", name) for at, name in enumerate(nodes)]).pods)
    left = min(replicas, len(nodes))

    assert narrowest(nodes, others, left) == least_uneven(remaining_pods(pods, replicas), NODES, others).skew


def running(name: str, on: str, *, is_ready: bool = True, cost: str = "") -> Plain:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "controller": True}
    metadata = {"name": name, "uid": name, "namespace": "default", "labels": {"app": "web"}, "ownerReferences": [owner]}
    return {
        "kind": "Pod",
        "metadata": {**metadata, "annotations": {COST: cost} if cost else {}},
        "spec": {**SPEC, "nodeName": on},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": str(is_ready)}]},
    }


def scaled_down(zones: list[str], pods: list[Plain], replicas: int) -> Optional[ConstraintCounts]:
    """The counts of zones with one node each, after the ReplicaSet of the pods is scaled down."""
    nodes = [
        {"kind": "Node", "metadata": {"name": f"{zone}1", "labels": {ZONE: zone}}, "status": {"allocatable": ROOM}}
        for zone in zones
    ]
    template = {"metadata": {"labels": {"app": "web"}}, "spec": SPEC}
    web = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": len(pods), "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }
    (constraint,) = constraint_reader.constraints(SPEC)
    facts = KnownCluster(cluster_of([*nodes, web, *pods]))
    return facts.scale_down(workload(web, "ReplicaSet"), constraint, replicas)


@pytest.mark.parametrize(("zones", "is_compared"), [(64, True), (65, False)])
def test_many_domains_are_not_compared(zones: int, is_compared: bool) -> None:
    found = scaled_down([f"z{at}-" for at in range(zones)], [running("p", "z0-1"), running("q", "z1-1")], 1)

    assert is_compared == (found is not None)


def test_deletion_costs_decide_over_the_number_of_pods_on_a_node() -> None:
    """The two cheap pods in zones b and c go first, although a1 has more pods."""
    pods = [running(f"p{at}", f"{zone}1", cost="-1" if zone in "bc" else "") for at, zone in enumerate("aabc")]
    found = scaled_down(["a", "b", "c"], pods, 2)

    assert found is not None
    assert {"a": 2, "b": 0, "c": 0} == found.domains


def test_pods_that_are_not_ready_are_deleted_first() -> None:
    """The two unready pods in zones b and c go first, although a1 has more pods."""
    pods = [running(f"p{at}", f"{zone}1", is_ready=zone == "a") for at, zone in enumerate("aabc")]
    found = scaled_down(["a", "b", "c"], pods, 2)

    assert found is not None
    assert {"a": 2, "b": 0, "c": 0} == found.domains


def test_nothing_is_said_if_no_pod_is_deleted() -> None:
    assert scaled_down(["a", "b"], [running("p", "a1")], 1) is None


def test_young_pods_are_deleted_before_old_ones() -> None:
    """One pod per node: only the age decides, and it is known if the time of reading is."""
    ready = ["2026-01-01T00:00:00Z", "2026-02-28T23:00:00Z"]
    pods = list(cluster_of([running(f"p{at}", f"{zone}1") for at, zone in enumerate("ab")]).pods)
    pods = [pod._replace(ready_since=since) for pod, since in zip(pods, ready, strict=True)]

    assert (pods[0],) == remaining_pods(pods, 1, read_at="2026-03-01T00:00:00Z").kept
    assert () == remaining_pods(pods, 1).kept


def test_pods_that_are_not_ready_or_cheap_are_deleted_first() -> None:
    """Then those that share a node with most others, and of these the youngest."""
    made = [
        Pod("old", "1", PodClass("app"), "a1", is_ready=True, created="2026-01-01T00:00:00Z"),
        Pod("young", "2", PodClass("app"), "a1", is_ready=True, created="2026-01-02T00:00:00Z"),
        Pod("alone", "3", PodClass("app"), "b1", is_ready=True, created="2026-01-03T00:00:00Z"),
        Pod("cheap", "4", PodClass("app"), "b2", is_ready=True, deletion_cost=-1),
        Pod("broken", "5", PodClass("app"), "b3", "Running", is_ready=False),
    ]

    assert [pod.name for pod in deleted_first(made)] == ["broken", "cheap", "young", "old", "alone"]
