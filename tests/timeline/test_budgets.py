"""Budgets count the replicas of the controllers of their pods, as the disruption controller does."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.engine import steps
from kubectl_spread.engine.budgets import SEVERAL
from kubectl_spread.kubectl.situation import controller_of
from tests.timeline.test_run import deployment, HOSTNAME, run, THREE_ZONES

Plain = dict[str, Any]
DRAIN = steps.Drain(("a1",))


def budget(**spec: Any) -> Plain:
    selector = {"matchLabels": {"app": "web"}}
    metadata = {"name": "web", "namespace": "app"}
    spec = {"selector": selector, **spec}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": spec}


def agents() -> steps.Apply:
    """A DaemonSet with the same label as the pods of web is created."""
    template = {**deployment(1, hard=None)["spec"]["template"], "metadata": {"labels": {"app": "web", "role": "a"}}}
    metadata = {"name": "agent", "namespace": "app"}
    spec = {"selector": {"matchLabels": {"role": "a"}}, "template": template}
    return steps.Apply(controller_of({"kind": "DaemonSet", "metadata": metadata, "spec": spec}))


AGENTS = agents()


def bare(name: str) -> Plain:
    """A running pod without a controller."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "app", "labels": {"app": "web"}, "uid": name},
        "spec": {"nodeName": "c1", "containers": [{"name": "c", "image": "pause"}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


@pytest.mark.parametrize("limit", [{"maxUnavailable": 1}, {"minAvailable": "50%"}])
def test_a_controller_without_scale_makes_the_count_fail(limit: Plain) -> None:
    """A DaemonSet has no scale subresource: the budget allows no eviction at all."""
    answer = run([*THREE_ZONES, deployment(3, hard=HOSTNAME), budget(**limit)], AGENTS, DRAIN)

    assert answer.last.is_exact
    assert all(len(outcome.blocked) == 1 for outcome in answer.last.outcomes)


def test_a_number_of_available_pods_needs_no_count() -> None:
    """`minAvailable: 3` counts the pods themselves: three of web, and one agent on each of three nodes."""
    answer = run([*THREE_ZONES, deployment(3, hard=None), budget(minAvailable=3)], AGENTS, DRAIN)

    assert answer.last.is_complete


def test_pods_without_a_controller_are_healthy_and_not_expected() -> None:
    """A bare pod in the selector adds a healthy pod, so that one pod more may be evicted."""
    objects = [*THREE_ZONES, deployment(3, hard=HOSTNAME), budget(maxUnavailable=0)]
    blocked = run(objects, DRAIN).last.outcomes[0].blocked
    allowed = run([*objects, bare("extra")], DRAIN).last.outcomes[0].blocked

    assert [item.cause for item in blocked] == ["The disruption budget web needs 3 healthy pods and has 3 currently"]
    assert allowed == ()


def _drained(*added: Plain, drain: steps.Drain) -> tuple[set[tuple[str, str]], set[str]]:
    """Return the pods that do not leave their nodes, with the reasons, and the nodes with pods of web at the end."""
    (outcome,) = run([*THREE_ZONES, deployment(3, hard=HOSTNAME), *added], drain).last.outcomes
    blocked = {(item.pod.node, item.cause) for item in outcome.blocked}
    return blocked, {pod.node for pod in outcome.pods if not pod.is_terminating}


TIMED = steps.Drain(("a1", "b1"), is_timed=True)
NEEDS_3 = "The disruption budget web needs 3 healthy pods and has 3 currently"


@pytest.mark.parametrize(("drain", "tried"), [(TIMED, "a1 b1"), (TIMED._replace(is_timed=False), "a1")])
def test_only_a_drain_with_a_timeout_goes_on_after_a_refusal(drain: steps.Drain, tried: str) -> None:
    blocked, nodes = _drained(budget(maxUnavailable=0), drain=drain)

    assert {(node, NEEDS_3) for node in tried.split()} == blocked
    assert {"a1", "b1", "c1"} == nodes


def test_a_drain_goes_on_after_an_eviction_that_fails() -> None:
    """The API server answers 500 if several budgets select a pod, and kubectl retries only 429."""
    other = {**budget(maxUnavailable=2), "metadata": {"name": "other", "namespace": "app"}}
    blocked, _ = _drained(budget(maxUnavailable=2), other, drain=TIMED._replace(is_timed=False))

    assert {("a1", SEVERAL), ("b1", SEVERAL)} == blocked
