"""How many nodes are looked at, and in which order."""

from __future__ import annotations

import numpy as np
import pytest

from kubectl_spread.objects.node import Node
from kubectl_spread.scheduler.cycle import num_feasible_nodes_to_find, Sampler, tree_order

ZONE, OLD_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"


@pytest.mark.parametrize(
    ("percentage", "nodes", "expected"),
    [
        (0, 99, 99),
        (0, 100, 100),
        (0, 200, 100),
        (0, 500, 230),
        (0, 1000, 420),
        (0, 5000, 500),
        (0, 6000, 300),
        (5, 60, 60),
        (5, 10_000, 500),
        (100, 300, 300),
    ],
)
def test_nodes_that_are_enough(percentage: int, nodes: int, expected: int) -> None:
    """Below 100 candidates every node is asked, whatever the percentage."""
    assert expected == num_feasible_nodes_to_find(percentage, nodes)


def test_the_order_takes_one_node_of_each_zone_in_turn() -> None:
    """The legacy label decides where a node has both, and nodes without a zone are a group of their own."""
    nodes = (
        Node("0", {ZONE: "a"}),
        Node("1", {ZONE: "a"}),
        Node("2", {ZONE: "a", OLD_ZONE: "b"}),
        Node("3", {}),
        Node("4", {ZONE: "b"}),
    )

    assert [0, 2, 3, 1, 4] == tree_order(nodes).tolist()


def test_a_search_stops_when_it_has_enough_and_the_next_starts_there() -> None:
    nodes = tuple(Node(str(at), {}) for at in range(300))
    feasible = np.ones(300, np.bool_)
    feasible[:50] = False
    sampler = Sampler(nodes)
    first = sampler.sample(feasible, None, 40)
    second = sampler.sample(feasible, None, 40)

    assert list(range(50, 170)) == first.tolist()
    assert [
        *range(170, 290),
    ] == second.tolist()


def test_a_search_that_finds_too_few_looks_at_every_node() -> None:
    nodes = tuple(Node(str(at), {}) for at in range(300))
    feasible = np.zeros(300, np.bool_)
    feasible[[7, 299]] = True
    sampler = Sampler(nodes)

    assert [7, 299] == sampler.sample(feasible, None, 0).tolist()
    assert [7, 299] == sampler.sample(feasible, None, 0).tolist()


def test_only_the_nodes_considered_count() -> None:
    nodes = tuple(Node(str(at), {}) for at in range(300))
    considered = np.zeros(300, np.bool_)
    considered[[3, 4]] = True
    sampler = Sampler(nodes)

    assert [3, 4] == sampler.sample(np.ones(300, np.bool_), considered, 0).tolist()
