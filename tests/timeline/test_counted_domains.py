"""A skew covers the domains that the constraint counts, without those excluded by node affinity, taints or labels."""

from __future__ import annotations

from typing import Any

import pytest

from tests.timeline.test_run import deployment, node, run, THREE_ZONES, WEB, ZONE

Plain = dict[str, Any]
TAINT = {"taints": [{"key": "only", "value": "gpu", "effect": "NoSchedule"}]}


def web(replicas: int, *, constraint: Plain, **spec: Any) -> Plain:
    made = deployment(replicas)
    pod = made["spec"]["template"]["spec"]
    pod["topologySpreadConstraints"][0].update(constraint)
    pod.update(spec)
    return made


@pytest.mark.parametrize(
    ("workload", "last", "skew"),
    [
        (web(4, constraint={}, nodeSelector={"disk": "ssd"}), {}, 0),
        (web(4, constraint={"nodeTaintsPolicy": "Honor"}), TAINT, 0),
        (web(4, constraint={"maxSkew": 2}), TAINT, 2),
        (web(4, constraint={"maxSkew": 2, "nodeAffinityPolicy": "Ignore"}, nodeSelector={"disk": "ssd"}), {}, 2),
    ],
    ids=["affinity", "honored taint", "ignored taint", "ignored affinity"],
)
def test_a_zone_that_is_not_counted_does_not_make_a_skew(workload: Plain, last: Plain, skew: int) -> None:
    """Two pods in each of the first two zones, and none in the third."""
    nodes = [node("a1", "a"), node("b1", "b"), node("c1", "c")]
    for item in nodes[:2]:
        item["metadata"]["labels"]["disk"] = "ssd"
    nodes[2]["spec"] = last

    (outcome,) = run([*nodes, workload]).last.outcomes

    assert outcome.counts([WEB], ZONE) == {"a": 2, "b": 2, "c": 0}
    assert outcome.skew([WEB], ZONE) == skew


def test_without_a_constraint_every_domain_counts() -> None:
    """One pod, three zones."""
    outcomes = run([*THREE_ZONES, deployment(1, hard=None)]).last.outcomes

    assert {outcome.skew([WEB], ZONE) for outcome in outcomes} == {1}
