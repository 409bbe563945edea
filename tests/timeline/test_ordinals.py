"""Ordinals of StatefulSets from one step to the next: which of them are on which nodes."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.engine import steps
from kubectl_spread.engine.run import Answer, Mode
from kubectl_spread.objects.keys import ObjectKey
from tests.timeline.test_overtaking import apart, spread, workload
from tests.timeline.test_run import HOSTNAME, node, run, THREE_ZONES, ZONE

WEB = ObjectKey("StatefulSet", "app", "web")


def after(policy: str, replicas: int, *written: steps.Op, **limits: Any) -> Answer:
    """Create a StatefulSet over three zones, and then carry out steps."""
    spec = {"replicas": replicas, "podManagementPolicy": policy}
    pod = {"topologySpreadConstraints": [spread("web", ZONE)]}
    return run([*THREE_ZONES, workload("StatefulSet", "web", spec, pod)], *written, **limits)


def zones(answer: Answer) -> set[tuple[int, ...]]:
    """Return how many pods the three zones have in the outcomes, in no order."""
    assert answer.last.is_exact
    return {tuple(sorted(outcome.counts([WEB], ZONE).values())) for outcome in answer.last.outcomes}


@pytest.mark.parametrize(
    ("policy", "replicas", "left", "expected"),
    [
        ("OrderedReady", 5, 4, {(1, 1, 2)}),
        ("OrderedReady", 5, 3, {(1, 1, 1)}),
        ("OrderedReady", 6, 3, {(1, 1, 1)}),
        ("Parallel", 4, 3, {(1, 1, 1), (0, 1, 2)}),
        ("Parallel", 5, 3, {(1, 1, 1), (0, 1, 2)}),
        ("Parallel", 6, 3, {(1, 1, 1), (0, 1, 2)}),
        ("Parallel", 6, 2, {(0, 1, 1), (0, 0, 2)}),
        ("Parallel", 6, 0, {(0, 0, 0)}),
    ],
)
def test_the_highest_pods_leave(policy: str, replicas: int, left: int, expected: set[tuple[int, ...]]) -> None:
    """Pods that are created one by one fill one zone after the other; of those created at once, any is the highest."""
    assert zones(after(policy, replicas, steps.Scale(WEB, left))) == expected


def test_ordinals_are_remembered_over_several_steps() -> None:
    """The step between changes no pod, so that the scale-down finds the ordinals of the creation."""
    node = ("a1",)
    answer = after("OrderedReady", 5, steps.Cordon(node), steps.Cordon(node, is_cordoned=False), steps.Scale(WEB, 3))

    assert zones(answer) == {(1, 1, 1)}


def test_an_ordinal_belongs_to_one_pod_after_it_has_mattered() -> None:
    """A scale-down decides which pods were the highest; the other pods stay interchangeable for the next one."""
    assert zones(after("Parallel", 4, steps.Scale(WEB, 3), steps.Scale(WEB, 2))) == {(0, 1, 1), (0, 0, 2)}


def test_one_run_keeps_the_order_of_names() -> None:
    """Without a search, the pod that was tried last has the highest ordinal."""
    answer = after("Parallel", 5, steps.Scale(WEB, 3), mode=Mode.FIRST)

    (outcome,) = answer.last.outcomes
    assert sorted(outcome.counts([WEB], ZONE).values()) == [1, 1, 1]


def test_a_pod_that_is_deleted_by_name_is_any_of_those_created_at_once() -> None:
    """web-3 may be the second pod of a zone, or the only one of its zone, where alone it may return."""
    nodes = [node(name, name[0]) for name in ("a1", "b1", "c1", "c2")]
    pod = {"topologySpreadConstraints": [spread("web", ZONE)], "affinity": apart("web", HOSTNAME)}
    created = workload("StatefulSet", "web", {"replicas": 4, "podManagementPolicy": "Parallel"}, pod)
    deleted = steps.DeleteSome(steps.PodMatch(WEB, ordinals=(3,)))
    answer = run([*nodes, created], deleted)

    assert answer.last.is_exact
    homes = {item.node for outcome in answer.last.outcomes for item in outcome.pods if item.ordinal == 3}
    assert {name[0] for name in homes} == {"a", "b", "c"}
