"""Taints that the node controller keeps in step with a cordon."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.engine import steps
from tests.timeline.test_run import deployment, node, run, WEB, ZONE

Plain = dict[str, Any]
TAINT = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def honouring(replicas: int) -> Plain:
    """A Deployment whose constraint leaves out nodes with a taint that its pods do not tolerate."""
    workload = deployment(replicas)
    workload["spec"]["template"]["spec"]["topologySpreadConstraints"][0]["nodeTaintsPolicy"] = "Honor"
    return workload


@pytest.mark.parametrize("spec", [{"unschedulable": True}, {"unschedulable": True, "taints": [TAINT]}])
def test_a_cordoned_node_has_its_taint_although_the_facts_lack_it(spec: Plain) -> None:
    """Zone c is no domain of a constraint with nodeTaintsPolicy Honor, so that the other zones take all pods."""
    answer = run([node("a1", "a"), node("b1", "b"), {**node("c1", "c"), "spec": spec}, honouring(4)])

    assert answer.last.is_complete
    assert answer.last.counts(WEB, ZONE) == {"a": (2, 2), "b": (2, 2), "c": (0, 0)}


def test_the_taint_goes_with_the_cordon() -> None:
    """A node whose facts have the taint without a cordon takes pods."""
    answer = run([node("a1", "a"), {**node("b1", "b"), "spec": {"taints": [TAINT]}}, honouring(2)])

    assert answer.last.is_complete
    assert answer.last.counts(WEB, ZONE) == {"a": (1, 1), "b": (1, 1)}


def test_uncordoning_a_node_without_the_taint_brings_its_domain_back() -> None:
    cordoned = {**node("b1", "b"), "spec": {"unschedulable": True}}
    answer = run(
        [node("a1", "a"), cordoned, honouring(1)], steps.Cordon(("b1",), is_cordoned=False), steps.Scale(WEB, 2)
    )

    assert answer.last.counts(WEB, ZONE) == {"a": (1, 1), "b": (1, 1)}
