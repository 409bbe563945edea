"""The limit of a directed search is never larger than the events that are left on a shortest way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kubectl_spread.cluster.snapshot import Cluster, OwnerKey
from kubectl_spread.guarantee.distance import distance_of
from kubectl_spread.guarantee.prove import prove, space_of
from kubectl_spread.guarantee.search import explore, ProofLimits
from kubectl_spread.guarantee.setup.member import Member
from kubectl_spread.guarantee.states.space import Space
from kubectl_spread.guarantee.verdict import Effort, Method
from kubectl_spread.policy import parse
from kubectl_spread.policy.policy import Regime, REGIMES
from kubectl_spread.policy.rule import PolicyRule
from kubectl_spread.sources import topology
from kubectl_spread.timeline.commands.situation import controller_of
from tests.guarantee import cases

RULES: tuple[PolicyRule, ...] = (
    parse.max_share("hostname<1/2"),
    parse.max_share("hostname<=1/2"),
    parse.max_share("zone<=1/2"),
    parse.max_share("zone<2/3"),
    parse.survive("zone", "50%"),
    parse.survive("hostname", "50%"),
)
SHAPES: tuple[dict[str, Any], ...] = (
    {"pods": 4, "skews": {cases.HOSTNAME: 1, cases.ZONE: 1}, "surge": 2, "unavailable": 0},
    {"pods": 4, "skews": {cases.HOSTNAME: 2, cases.ZONE: 1}, "surge": 1, "unavailable": 1},
    {"pods": 5, "skews": {cases.HOSTNAME: 1}, "surge": 1, "unavailable": 0},
    {"pods": 5, "skews": {cases.ZONE: 1}, "surge": 2, "unavailable": 1},
    {"pods": 3, "skews": {cases.HOSTNAME: 2, cases.ZONE: 2}, "surge": 3, "unavailable": 0},
)  # constraints of a Deployment, whose surge pods crowd a domain


def _deployment(shape: dict[str, Any]) -> list[Member]:
    constraints = [{"key": key, "skew": skew, "all": False, "honor": False} for key, skew in shape["skews"].items()]
    spec = {"replicas": shape["pods"], "stateful": False, "constraints": constraints}
    spec |= {"surge": shape["surge"], "unavailable": shape["unavailable"]}
    return [Member(OwnerKey("Deployment", "default", "web"), controller_of(cases.manifest("web", spec)))]


def _too_far(space: Space) -> Iterator[str]:
    """Yield the states of shortest ways for which the limit is larger than the events that are left."""
    found = explore(space, range(len(space.rules)), ProofLimits(20_000))
    for rule, way in found.witness.items():
        limit = distance_of(space, space.rules[rule])
        for left, state in zip(range(len(way) - 1, -1, -1), way, strict=True):
            if limit(state) > left:
                yield f"{space.rules[rule]}: {limit(state)} events, but {left} are left in {state}"


@pytest.mark.parametrize("regime", REGIMES)
def test_the_limit_holds_on_random_cases(regime: Regime) -> None:
    """The cases have one or two workloads, Deployments and StatefulSets."""
    found: list[str] = []
    for seed in (*range(30), 56, 127):  # The last two have nodes without a zone.
        case = cases.case(seed, regime.value)
        space = space_of(cases.members(case), cases.cluster(case), cases.profiles(), cases.rules(case), regime)
        found += _too_far(space)

    assert found == []


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("regime", [Regime.RESTARTS, Regime.ROLLOUTS])
def test_the_limit_holds_for_surge_pods_in_two_kinds_of_domains(shape: dict[str, Any], regime: Regime) -> None:
    """Each zone has two nodes, so that the pods of a zone follow from those of its nodes."""
    cluster: Cluster = topology.load("zones=2,nodes=2")

    assert list(_too_far(space_of(_deployment(shape), cluster, cases.profiles(), RULES, regime))) == []


def test_a_rollout_of_many_pods_is_refuted_by_few_states() -> None:
    """All states would be 191,353; the lengths of the ways are those of a search through all of them."""
    shape = {"pods": 18, "skews": {cases.HOSTNAME: 4, cases.ZONE: 2}, "surge": "25%", "unavailable": "25%"}
    rules = (parse.max_share("hostname<1/3"), parse.max_share("zone<1/2"), parse.survive("zone", "50%"))

    result = prove(
        _deployment(shape), topology.load("zones=3,nodes=4"), cases.profiles(), rules,
        regimes=[Regime.ROLLOUTS], effort=Effort(4_000),
    )  # fmt: skip

    verdicts = result.results[0].rules
    assert [item.method for item in verdicts] == [Method.WITNESS] * 3
    assert [len(item.witness.events) for item in verdicts if item.witness is not None] == [47, 29, 36]
    assert max(item.states for item in verdicts) < 1_000
