"""Taints: those of a cordon, and evictions under way when a command is given."""

from __future__ import annotations

from typing import Any, Optional

import pytest

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.engine import steps
from kubectl_spread.engine.run import play
from tests.timeline.played import counts
from tests.timeline.test_run import deployment, node, profiles, replica_set, run, running, WEB, ZONE

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
    assert counts(answer.last, WEB, ZONE) == {"a": (2, 2), "b": (2, 2), "c": (0, 0)}


def test_the_taint_goes_with_the_cordon() -> None:
    """A node whose facts have the taint without a cordon takes pods."""
    answer = run([node("a1", "a"), {**node("b1", "b"), "spec": {"taints": [TAINT]}}, honouring(2)])

    assert answer.last.is_complete
    assert counts(answer.last, WEB, ZONE) == {"a": (1, 1), "b": (1, 1)}


def test_uncordoning_a_node_without_the_taint_brings_its_domain_back() -> None:
    cordoned = {**node("b1", "b"), "spec": {"unschedulable": True}}
    answer = run(
        [node("a1", "a"), cordoned, honouring(1)], steps.Cordon(("b1",), is_cordoned=False), steps.Scale(WEB, 2)
    )

    assert counts(answer.last, WEB, ZONE) == {"a": (1, 1), "b": (1, 1)}


UNREACHABLE = {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}
TOLERATED = {"key": UNREACHABLE["key"], "operator": "Exists", "effect": "NoExecute"}


@pytest.mark.parametrize(
    ("seconds", "is_lost_before", "gone"),
    [
        (300, True, (0, 1)),  # Nobody knows how many of the seconds are over.
        (0, True, (0, 1)),
        (None, True, (0, 0)),
        (300, False, (0, 0)),  # The commands follow each other at once.
    ],
)
def test_an_eviction_under_way_may_come_before_the_next_command(
    seconds: Optional[int], is_lost_before: bool, gone: tuple[int, int]
) -> None:
    """The node comes back; its pod may have been evicted before that."""
    pods = [running("web-abc", f"web-abc-{at}", at, template_hash="abc") for at in ("a1", "b1")]
    for pod in pods:
        toleration = {**TOLERATED, **({} if seconds is None else {"tolerationSeconds": seconds})}
        pod["spec"]["tolerations"] = [toleration]
    lost = node("b1", "b")
    if is_lost_before:
        lost["spec"] = {"taints": [UNREACHABLE, {**UNREACHABLE, "effect": "NoSchedule"}]}
    workloads = [deployment(2), replica_set("web-abc", 2, template_hash="abc")]
    for workload in workloads:
        workload["spec"]["template"]["spec"]["tolerations"] = pods[0]["spec"]["tolerations"]
    objects = [node("a1", "a"), lost, node("b2", "b"), *workloads, *pods]
    commands: list[Any] = [steps.NodesUp(("b1",))]
    if not is_lost_before:
        commands = [(steps.NodesDown(("b1",)), *commands)]
    answer = play(cluster_of(objects), profiles(), commands)

    assert answer.last.is_exact
    found = [outcome.restarts[WEB] for outcome in answer.last.outcomes]
    assert (min(found), max(found)) == gone
