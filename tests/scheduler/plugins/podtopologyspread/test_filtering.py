"""The filter of PodTopologySpread, tables of cases: `matching + self - minimum <= maxSkew`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.naive.builders import HOSTNAME, node, pod, terminating, ZONE
from tests.scheduler.plugins.asking import Answer, filtered, FITS, SKIP, U, UU

Plain = dict[str, Any]

SKEW = U("node(s) didn't match pod topology spread constraints")
NO_KEY = UU("node(s) didn't match pod topology spread constraints (missing required label)")
WEB = {"app": "web"}


def constraint(key: str = ZONE, skew: int = 1, **more: Any) -> Plain:
    return {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": WEB},
        **more,
    }


def asking(*constraints: Plain, labels: Any = None, **spec: Any) -> Plain:
    return pod("p", labels=WEB if labels is None else labels, topologySpreadConstraints=list(constraints), **spec)


def zone(name: str, value: str, **more: Any) -> Plain:
    return node(name, labels={ZONE: value, HOSTNAME: name}, **more)


def web(on: str, count: int, **labels: str) -> list[Plain]:
    return [pod(f"{on}-{at}", on=on, labels=labels or WEB) for at in range(count)]


ZONES = [zone("a", "A"), zone("b", "B"), zone("c", "C")]
COUNTS_2_1_0 = [*ZONES, *web("a", 2), *web("b", 1)]


@pytest.mark.parametrize(
    ("incoming", "expected"),
    [
        # A 2 + 1 - 0 = 3, B 1 + 1 - 0 = 2, C 0 + 1 - 0 = 1.
        pytest.param(asking(constraint()), "c", id="maxSkew 1: only the emptiest zone"),
        pytest.param(asking(constraint(skew=2)), "bc", id="maxSkew 2"),
        pytest.param(asking(constraint(skew=3)), "abc", id="maxSkew 3"),
        # Without self-match: A 2 - 0 = 2, B 1 - 0 = 1, C 0.
        pytest.param(asking(constraint(), labels={"app": "db"}), "bc", id="a pod that does not match itself"),
        # Three domains, minDomains 3: the minimum stays 0. With 4 it is 0 as well.
        pytest.param(asking(constraint(minDomains=4)), "c", id="minDomains above the domains"),
        # Without a selector nothing matches, not even the pod: 0 + 0 - 0.
        pytest.param(asking(constraint(labelSelector=None)), "abc", id="no selector counts nothing"),
        # An empty selector counts no pods, and matches the pod itself: 0 + 1 - 0.
        pytest.param(asking(constraint(labelSelector={})), "abc", id="an empty selector counts nothing"),
        pytest.param(
            asking(constraint(matchLabelKeys=["rev"]), labels={**WEB, "rev": "2"}), "abc", id="another revision"
        ),
        pytest.param(asking(constraint(matchLabelKeys=["rev"])), "c", id="a match key that the pod lacks"),
    ],
)
def test_a_zone_is_refused_above_max_skew(incoming: Plain, expected: str) -> None:
    """Zones A, B and C hold 2, 1 and 0 matching pods."""
    answers = {name: FITS if name in expected else SKEW for name in "abc"}

    assert answers == filtered("PodTopologySpread", incoming, *COUNTS_2_1_0)


def test_only_soft_constraints_are_skipped() -> None:
    """ScheduleAnyway never refuses a node."""
    soft = constraint(whenUnsatisfiable="ScheduleAnyway")

    assert SKIP == filtered("PodTopologySpread", asking(soft), *COUNTS_2_1_0)


A_AND_B_HOLD_1 = [*ZONES, *web("a", 1), *web("b", 1)]


@pytest.mark.parametrize(
    ("changed", "more", "expected"),
    [
        # The minimum is 0, in C: A and B 1 + 1 - 0 = 2.
        pytest.param({}, [], {"a": SKEW, "b": SKEW, "c": FITS}, id="zone C is empty"),
        # C: 1. The minimum is 1: 1 + 1 - 1 = 1 in A and B, 2 - 1 = 1 in C.
        pytest.param({}, web("c", 1), {"a": FITS, "b": FITS, "c": FITS}, id="a pod in zone C"),
        pytest.param({}, web("c", 1, app="db"), {"a": SKEW, "b": SKEW, "c": FITS}, id="a pod of another app"),
        pytest.param(
            {}, [terminating(item) for item in web("c", 1)], {"a": SKEW, "b": SKEW, "c": FITS}, id="it is terminating"
        ),
        # Zone C only has a cordoned or a full node: it counts all the same.
        pytest.param({"spec": {"unschedulable": True}}, [], {"a": SKEW, "b": SKEW, "c": FITS}, id="c is cordoned"),
        pytest.param({"allocatable": {"pods": "0"}}, [], {"a": SKEW, "b": SKEW, "c": FITS}, id="c is full"),
    ],
)
def test_the_minimum_is_that_of_all_counted_zones(changed: Plain, more: list[Plain], expected: Any) -> None:
    """Zones A and B hold one pod each; what zone C holds decides."""
    objects = [*A_AND_B_HOLD_1, *more]
    objects[2] = zone("c", "C", **changed)

    assert expected == filtered("PodTopologySpread", asking(constraint()), *objects)


def test_pods_of_other_namespaces_are_not_counted() -> None:
    """A matching pod of another namespace in zone C leaves its count at 0."""
    foreign = web("c", 1)[0]
    foreign["metadata"]["namespace"] = "other"

    answers = filtered("PodTopologySpread", asking(constraint()), *A_AND_B_HOLD_1, foreign)

    assert {"a": SKEW, "b": SKEW, "c": FITS} == answers


TAINT = {"taints": [{"key": "t", "value": "", "effect": "NoSchedule"}]}
ONE_TAINTED = [zone("a", "A"), zone("b", "B", spec=TAINT), *web("a", 1)]


@pytest.mark.parametrize(
    ("incoming", "expected"),
    [
        pytest.param(asking(constraint()), {"a": SKEW, "b": FITS}, id="taints are ignored by default"),
        # Zone B does not count: the minimum is that of A, 1 + 1 - 1. B itself has no count: 0 + 1 - 1 = 0.
        pytest.param(asking(constraint(nodeTaintsPolicy="Honor")), {"a": FITS, "b": FITS}, id="taints are honored"),
        pytest.param(
            asking(constraint(nodeTaintsPolicy="Honor"), tolerations=[{"operator": "Exists"}]),
            {"a": SKEW, "b": FITS},
            id="a tolerated taint counts",
        ),
        # Node affinity is honored by default: zone B does not count.
        pytest.param(
            asking(constraint(), nodeSelector={ZONE: "A"}), {"a": FITS, "b": FITS}, id="affinity is honored by default"
        ),
        pytest.param(
            asking(constraint(nodeAffinityPolicy="Ignore"), nodeSelector={ZONE: "A"}),
            {"a": SKEW, "b": FITS},
            id="affinity is ignored",
        ),
        # One domain that is its own minimum never refuses; with minDomains 2 the minimum is 0.
        pytest.param(
            asking(constraint(minDomains=2), nodeSelector={ZONE: "A"}),
            {"a": SKEW, "b": FITS},
            id="minDomains looks at counted domains",
        ),
    ],
)
def test_inclusion_policies_choose_the_nodes_that_count(incoming: Plain, expected: dict[str, Answer]) -> None:
    """Zone A holds one pod; the node of zone B is tainted."""
    assert expected == filtered("PodTopologySpread", incoming, *ONE_TAINTED)


RACKS = [
    node("full", labels={ZONE: "A", "rack": "1"}),
    node("free", labels={ZONE: "B", "rack": "2"}),
    node("bare", labels={ZONE: "B"}),
    *web("full", 1),
]


@pytest.mark.parametrize(
    ("constraints", "expected"),
    [
        pytest.param(
            [constraint(), constraint("rack")], {"full": SKEW, "free": FITS, "bare": NO_KEY}, id="the rack is missing"
        ),
        pytest.param(
            [constraint("rack"), constraint()],
            {"full": SKEW, "free": FITS, "bare": NO_KEY},
            id="in the other order",
        ),
        pytest.param(
            [constraint(), constraint("rack", whenUnsatisfiable="ScheduleAnyway")],
            {"full": SKEW, "free": FITS, "bare": FITS},
            id="the key of a soft constraint is not needed",
        ),
        # No node has the key: no domain, minimum 0.
        pytest.param([constraint("row")], {"full": NO_KEY, "free": NO_KEY, "bare": NO_KEY}, id="no node has the key"),
    ],
)
def test_a_node_without_a_key_is_refused_for_good(constraints: list[Plain], expected: dict[str, Answer]) -> None:
    """It does not count for any hard constraint either."""
    assert expected == filtered("PodTopologySpread", asking(*constraints), *RACKS)


def test_the_first_failing_constraint_decides_the_reason() -> None:
    """Zone A is too full before the missing rack is looked at, so the reason is the skew."""
    objects = [
        node("bare", labels={ZONE: "A"}),
        node("a", labels={ZONE: "A", "rack": "1"}),
        node("b", labels={ZONE: "B", "rack": "2"}),
        *web("a", 1),
    ]

    answers = filtered("PodTopologySpread", asking(constraint(), constraint("rack")), *objects)

    assert {"bare": SKEW, "a": SKEW, "b": FITS} == answers


def test_nodes_that_share_a_hostname_are_one_domain() -> None:
    """Two pods on x1 and x2 together: 2 + 1 - 0 = 3 for both."""
    objects = [
        node("x1", labels={HOSTNAME: "x"}),
        node("x2", labels={HOSTNAME: "x"}),
        node("y", labels={HOSTNAME: "y"}),
        *web("x1", 1),
        *web("x2", 1),
    ]

    answers = filtered("PodTopologySpread", asking(constraint(HOSTNAME, skew=2)), *objects)

    assert {"x1": SKEW, "x2": SKEW, "y": FITS} == answers
