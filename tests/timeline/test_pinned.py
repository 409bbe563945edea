"""Pods whose template names a node bypass the scheduler."""

from __future__ import annotations

from typing import Any

from kubectl_spread.engine import steps
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.results.summary import summarize, Verdict
from kubectl_spread.kubectl.situation import controller_of
from tests.timeline.played import counts
from tests.timeline.test_run import deployment, run, THREE_ZONES, WEB, ZONE

Plain = dict[str, Any]


def pinned(node: str) -> steps.Apply:
    """A Deployment with a hard zone constraint and a node name is created."""
    web = deployment(3)
    web["spec"]["template"]["spec"]["nodeName"] = node
    return steps.Apply(controller_of(web))


def test_all_pods_are_on_the_named_node() -> None:
    """Whatever the constraint says; and so they are after a restart."""
    answer = run(list(THREE_ZONES), pinned("b1"), steps.Restart(WEB))

    for step in answer.steps[1:]:
        assert step.is_complete
        assert counts(step, WEB, ZONE) == {"a": (0, 0), "b": (3, 3), "c": (0, 0)}
    (note,) = answer.notes
    assert note == (
        "Deployment app/web: its pods bypass the scheduler, because nodeName is set; whether the kubelet of b1 accepts "
        "them is not simulated"
    )
    summary = summarize(answer.last, [WEB])
    assert (summary.verdict, summary.basis, summary.gaps) == (Verdict.NOT_KNOWN, Basis.NOT_SIMULATED, (note,))


def test_a_node_that_does_not_exist_runs_nothing() -> None:
    answer = run(list(THREE_ZONES), pinned("nope"))

    (outcome,) = answer.last.outcomes
    assert not outcome.is_complete
    assert [pod.node for pod in outcome.pods] == [""] * 3
    (note,) = answer.notes
    assert note.endswith("because nodeName is set; nope does not exist, so they never run")
    assert summarize(answer.last, [WEB]).verdict is Verdict.GETS_STUCK
