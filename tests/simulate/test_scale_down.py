"""Which pods a ReplicaSet keeps, against every order in which it may remove them."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Optional

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_spread.cluster.building.build import cluster_of
from kubectl_spread.objects.constraints import constraint_reader
from kubectl_spread.objects.workloads.workload import workload
from kubectl_spread.simulate.cluster_facts import KnownCluster
from kubectl_spread.simulate.scale_down import least_uneven

ZONE, COST = "topology.kubernetes.io/zone", "controller.kubernetes.io/pod-deletion-cost"
ROOM = {"pods": "9"}
CONSTRAINT = {
    "maxSkew": 1,
    "topologyKey": ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}
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
    pods: list[tuple[str, Optional[str]]] = [(node, NODES[node]) for node in nodes]
    found = least_uneven(pods, others, replicas)

    if replicas >= len(nodes):
        assert found is None
    else:
        assert found is not None
        assert narrowest(nodes, others, replicas) == found.skew


def test_many_domains_are_not_compared() -> None:
    others = {f"n{at}": 0 for at in range(65)}

    assert least_uneven([("n1", "n1"), ("n2", "n2")], others, 1) is None


def test_deletion_costs_decide_over_the_number_of_pods_on_a_node() -> None:
    """The two cheap pods in zones b and c go first, although a1 has more pods."""
    nodes = [
        {
            "kind": "Node",
            "metadata": {"name": f"{zone}1", "labels": {ZONE: zone}},
            "status": {"allocatable": {"pods": "9"}},
        }
        for zone in "abc"
    ]
    owner = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "controller": True}]
    spec = {"containers": [{"name": "c"}], "topologySpreadConstraints": [CONSTRAINT]}
    pods = [
        {
            "kind": "Pod",
            "metadata": {"name": f"p{at}", "uid": f"p{at}", "namespace": "default", "labels": {"app": "web"},
                         "ownerReferences": owner, "annotations": {COST: "-1"} if host in "bc" else {}},
            "spec": {**spec, "nodeName": f"{host}1"},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        }
        for at, host in enumerate("aabc")
    ]  # fmt: skip
    template = {"metadata": {"labels": {"app": "web"}}, "spec": spec}
    web = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 4, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }
    facts = KnownCluster(cluster_of([*nodes, web, *pods]))
    (constraint,) = constraint_reader.constraints(spec)
    found = facts.scaled_down(workload(web, "ReplicaSet"), constraint, 2)

    assert found is not None
    assert {"a": 2, "b": 0, "c": 0} == found.domains
