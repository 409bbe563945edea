"""Karpenter adds a node that kube-scheduler will not use: kube-scheduler's side is asked from our own scheduler."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.selectors import HOSTNAME, ZONE
from kubectl_spread.provisioners import prospect
from kubectl_spread.provisioners.solve import Outcome
from kubectl_spread.scheduler.profiles import profiles
from tests.karpenter import replay
from tests.karpenter.worlds import node, pod, pool, spread, terms, World

DISAGREE = ("hand-092", "hand-178", "hand-179", "hand-192")


class Binding(NamedTuple):
    """The new nodes of an outcome, and where its pods run or who refuses them."""

    nodes: tuple[Node, ...]
    placed: dict[str, str]
    refused: dict[str, str]


def bound(cluster: Cluster, outcome: Outcome, nodes: tuple[Node, ...]) -> Binding:
    """What kube-scheduler does with the pods for which Karpenter has a place."""
    meant = [pod for pods in (*outcome.existing.values(), *(new.pods for new in outcome.nodes)) for pod in pods]
    _, places = prospect.bound(cluster, outcome, nodes, meant, profiles())
    placed = {key: place.node.name for key, place in places.items() if place.is_running and place.node is not None}
    return Binding(nodes, placed, {key: place.refused for key, place in places.items() if place.refused})


def bindings(world: World) -> list[Binding]:
    """The same for each outcome."""
    return [
        bound(world.cluster, outcome, nodes)
        for outcome in world.solution.outcomes
        for nodes in prospect.new_nodes(world.cluster, outcome, world.provisioning)
    ]


def test_or_terms_make_an_empty_node() -> None:
    """Karpenter looks at the zone of the first term only; kube-scheduler counts the zones of all terms."""
    constraint = {"topologySpreadConstraints": [spread()], "affinity": terms(("zone-a",), ("zone-b",))}
    world = World(
        pool(),
        node("full-a", "zone-a", cpu=1),
        node("full-b", "zone-b", cpu=1),
        pod("web-0", on="full-a"),
        pod("other-0", on="full-b"),
        pod("web-1", **constraint),
    )

    (outcome,) = world.solution.outcomes
    (found,) = bindings(world)
    assert ["zone-a"] == [zone for new in outcome.nodes for zone in new.zones]
    assert ["all-new-1"] == [node.name for node in found.nodes if node.name not in found.placed.values()]
    assert "didn't match pod topology spread constraints" in found.refused["default/web-1"]


def test_one_term_with_both_zones_is_used() -> None:
    """The same zones in one term: Karpenter makes the node where kube-scheduler needs it."""
    constraint = {"topologySpreadConstraints": [spread()], "affinity": terms(("zone-a", "zone-b"))}
    world = World(
        pool(),
        node("full-a", "zone-a", cpu=1),
        node("full-b", "zone-b", cpu=1),
        pod("web-0", on="full-a"),
        pod("other-0", on="full-b"),
        pod("web-1", **constraint),
    )

    (found,) = bindings(world)
    assert {"default/web-1": "all-new-1"} == found.placed
    assert not found.refused


@pytest.mark.parametrize(("policy", "agrees"), [("Ignore", False), ("Honor", True)])
def test_a_zone_that_the_pod_does_not_select_counts_with_ignore(policy: str, agrees: bool) -> None:
    """With nodeAffinityPolicy Ignore kube-scheduler counts zone c, which Karpenter never does."""
    constraint = {
        "topologySpreadConstraints": [spread(nodeAffinityPolicy=policy)],
        "affinity": terms(("zone-a", "zone-b")),
    }
    world = World(pool(), node("empty-c", "zone-c"), *(pod(f"web-{at}", **constraint) for at in range(4)))

    for found in bindings(world):
        assert agrees == (not found.refused)
        assert 2 == len(found.nodes)


@pytest.mark.parametrize(("host", "agrees"), [(False, False), (True, True)])
def test_a_node_without_the_key_is_counted_on(host: bool, agrees: bool) -> None:
    """For Karpenter the name of a node stands in for the missing label; kube-scheduler refuses the node."""
    world = World(pool(), node("old", "zone-a", host=host), pod("web-0", topologySpreadConstraints=[spread(HOSTNAME)]))

    (outcome,) = world.solution.outcomes
    (found,) = bindings(world)
    assert () == outcome.nodes
    assert agrees == (not found.refused)


def test_a_node_without_the_zone_is_not_counted_on() -> None:
    """For any other key Karpenter makes a new node, as kube-scheduler needs it."""
    old = node("old", "zone-a")
    del old["metadata"]["labels"][ZONE]
    world = World(pool(), old, pod("web-0", topologySpreadConstraints=[spread()]))

    for found in bindings(world):
        assert not found.refused
        assert 1 == len(found.nodes)


@pytest.mark.slow
def test_recorded_rounds_agree_but_for_the_known_ones(corpus: Path) -> None:
    """Of the hand-written cases, kube-scheduler binds all pods of the most frequent outcome but in four."""
    found, every = set(), set()
    for plain in replay.plains(corpus):
        if not plain["id"].startswith("hand-"):
            continue
        case = replay.read(plain)
        solution = replay.solution(case)
        ignored = {answer.pod.key: "" for answer in solution.answers if answer.ignored}
        likely = replay.anonymous(case.expected["outcomes"][0])
        for outcome in solution.outcomes:
            if replay.anonymous(replay.as_recorded(case, outcome, ignored)) != likely:
                continue
            every.add(case.id[:8])
            made = prospect.new_nodes(case.cluster, outcome, case.provisioning)
            if any(bound(case.cluster, outcome, nodes).refused for nodes in made):
                found.add(case.id[:8])

    assert {name for name in DISAGREE if name in every} <= found
    assert corpus != replay.RECORDINGS or found <= set(DISAGREE)
