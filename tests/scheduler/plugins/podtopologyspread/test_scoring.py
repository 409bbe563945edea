"""The score of PodTopologySpread, a table of cases.

A node's raw score is the rounded sum of `count * ln(size + 2) + maxSkew - 1` over the soft constraints, where size is
the number of domains. The result is `100 * (highest + lowest - raw) // highest`, over the raw scores of all nodes.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.naive.builders import HOSTNAME, node, pod, ZONE
from tests.scheduler.plugins.asking import scored

Plain = dict[str, Any]

WEB = {"app": "web"}


def soft(key: str = ZONE, skew: int = 1, **more: Any) -> Plain:
    return {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": WEB},
        **more,
    }


def asking(*constraints: Plain, **spec: Any) -> Plain:
    return pod("p", labels=WEB, topologySpreadConstraints=list(constraints), **spec)


def web(on: str, count: int) -> list[Plain]:
    return [pod(f"{on}-{at}", on=on, labels=WEB) for at in range(count)]


def zone(name: str, value: str, **more: Any) -> Plain:
    return node(name, labels={ZONE: value, HOSTNAME: name}, **more)


TAINT = {"taints": [{"key": "t", "value": "", "effect": "NoSchedule"}]}
NODES = [zone("a1", "A"), zone("a2", "A"), zone("b1", "B"), *web("a1", 2), *web("b1", 1)]


@pytest.mark.parametrize(
    ("incoming", "expected"),
    [
        # Two zones, ln 4 = 1.386: A 2 * 1.386 = 2.77 -> 3, B 1.39 -> 1. 100 * (3 + 1 - 3) // 3 = 33.
        pytest.param(asking(soft()), {"a1": 33, "a2": 33, "b1": 100}, id="the emptier zone scores 100"),
        # The offset is 4: A 6.77 -> 7, B 5.39 -> 5. 100 * (7 + 5 - 7) // 7 = 71.
        pytest.param(asking(soft(skew=5)), {"a1": 71, "a2": 71, "b1": 100}, id="maxSkew dilutes differences"),
        # Three nodes, ln 5 = 1.609: a1 3.22 -> 3, a2 0, b1 1.61 -> 2. b1: 100 * (3 + 0 - 2) // 3 = 33.
        pytest.param(asking(soft(HOSTNAME)), {"a1": 0, "a2": 100, "b1": 33}, id="nodes instead of zones"),
        # Sums: a1 2.77 + 3.22 = 5.99 -> 6, a2 2.77 -> 3, b1 1.39 + 1.61 = 3.00 -> 3. a1: 100 * 3 // 6.
        pytest.param(asking(soft(), soft(HOSTNAME)), {"a1": 50, "a2": 100, "b1": 100}, id="constraints add up"),
        pytest.param(asking(soft(labelSelector={})), {"a1": 100, "a2": 100, "b1": 100}, id="an empty selector"),
        pytest.param(asking(soft(labelSelector=None)), {"a1": 100, "a2": 100, "b1": 100}, id="no selector"),
        # No node has the key: every node is ignored.
        pytest.param(asking(soft("row")), {"a1": 0, "a2": 0, "b1": 0}, id="no node has the key"),
        pytest.param(asking({**soft(), "whenUnsatisfiable": "DoNotSchedule"}), None, id="a hard one is not scored"),
        pytest.param(pod("p", labels={"app": "db"}), None, id="no constraint, and no Service for a default"),
    ],
)
def test_nodes_of_emptier_domains_score_higher(incoming: Plain, expected: Any) -> None:
    """a1 holds two matching pods and b1 one; a1 and a2 share zone A."""
    assert expected == scored("PodTopologySpread", incoming, *NODES)


def test_a_node_without_the_key_scores_0() -> None:
    """It is not normalized: A 2 * ln 4 = 2.77 -> 3 and B 0; A gets 0, B 100."""
    nodes = [node("bare"), zone("a", "A"), zone("b", "B"), *web("a", 2)]

    assert {"bare": 0, "a": 0, "b": 100} == scored("PodTopologySpread", asking(soft()), *nodes)


def test_only_zones_of_feasible_nodes_are_counted() -> None:
    """Zone C has no feasible node: the size is 2, so A 3 * ln 4 = 4.16 -> 4, B 1.39 -> 1. A: 100 * 1 // 4."""
    nodes = [zone("a", "A"), zone("b", "B"), zone("c", "C"), *web("a", 3), *web("b", 1), *web("c", 9)]

    assert {"a": 25, "b": 100} == scored("PodTopologySpread", asking(soft()), *nodes, feasible=("a", "b"))


def test_pods_on_infeasible_nodes_of_a_feasible_zone_are_counted() -> None:
    """a2 does not fit, and its 2 pods count for zone A: 2 * ln 4 = 2.77 -> 3, B 0."""
    nodes = [zone("a1", "A"), zone("a2", "A"), zone("b", "B"), *web("a2", 2)]

    assert {"a1": 0, "b": 100} == scored("PodTopologySpread", asking(soft()), *nodes, feasible=("a1", "b"))


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        # A 1 * ln 4 = 1.39 -> 1, B 2 * ln 4 = 2.77 -> 3: A 100, B 100 * 1 // 3.
        pytest.param("Ignore", {"a": 100, "b": 33}, id="Ignore"),
        # The pods on b2 do not count: A 1, B 0.
        pytest.param("Honor", {"a": 0, "b": 100}, id="Honor"),
    ],
)
def test_honored_taints_leave_pods_out_of_the_count(policy: str, expected: dict[str, int]) -> None:
    """The two pods of zone B run on a tainted node."""
    nodes = [zone("a", "A"), zone("b", "B"), zone("b2", "B", spec=TAINT), *web("a", 1), *web("b2", 2)]

    incoming = asking(soft(nodeTaintsPolicy=policy))

    assert expected == scored("PodTopologySpread", incoming, *nodes, feasible=("a", "b"))


def test_nodes_that_share_a_hostname_are_scored_by_their_own_pods() -> None:
    """The size is the number of nodes, 3: x1 2 * ln 5 = 3.22 -> 3, x2 0, y 1.61 -> 2."""
    nodes = [
        node("x1", labels={HOSTNAME: "x"}),
        node("x2", labels={HOSTNAME: "x"}),
        node("y", labels={HOSTNAME: "y"}),
        *web("x1", 2),
        *web("y", 1),
    ]

    assert {"x1": 0, "x2": 100, "y": 33} == scored("PodTopologySpread", asking(soft(HOSTNAME)), *nodes)


SERVICE = {"kind": "Service", "metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": WEB}}


def test_default_constraints_take_their_selector_from_a_service() -> None:
    """Hostname with maxSkew 3 and zone with maxSkew 5, by ln 5 and ln 4.

    a1: 2 * 1.609 + 2 + 2 * 1.386 + 4 = 11.99 -> 12. a2: 0 + 2 + 2.77 + 4 = 8.77 -> 9.
    b1: 1.61 + 2 + 1.39 + 4 = 9.00 -> 9. a1: 100 * (12 + 9 - 12) // 12 = 75.
    """
    assert {"a1": 75, "a2": 100, "b1": 100} == scored("PodTopologySpread", pod("p", labels=WEB), *NODES, SERVICE)


def test_defaults_form_a_domain_of_the_nodes_without_the_key() -> None:
    """Five nodes, and the zones A, B and none.

    By ln 7 = 1.946 and ln 5 = 1.609: a1 13, a2 9, b1 11, u1 4 (only the hostname counts), nh 7 (only the zone counts).
    `100 * (13 + 4 - raw) // 13` is 30, 61, 46, 100 and 76.
    """
    nodes = [
        zone("a1", "A"),
        zone("a2", "A"),
        zone("b1", "B"),
        node("u1", labels={HOSTNAME: "u1"}),
        node("nh", labels={ZONE: "B"}),
        *web("a1", 2),
        *web("b1", 1),
        *web("u1", 1),
        *web("nh", 1),
    ]

    answers = scored("PodTopologySpread", pod("p", labels=WEB), *nodes, SERVICE)

    assert {"a1": 30, "a2": 61, "b1": 46, "u1": 100, "nh": 76} == answers
