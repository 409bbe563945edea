"""Preemption of pods that no controller creates again."""

from __future__ import annotations

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.engine.results.answer import Outcome
from kubectl_spread.engine.run import Limits, play
from kubectl_spread.engine.state import EventKind
from kubectl_spread.scheduler.profiles import profiles
from tests.timeline.test_run import node, Plain


def bare(name: str, *, on: str = "", cpu: str = "600m", priority: int = 0) -> Plain:
    """A pod without a controller."""
    container = {"name": "c", "image": "pause", "resources": {"requests": {"cpu": cpu}}}
    bound = {"nodeName": on} if on else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "app", "uid": name},
        "spec": {"containers": [container], "priority": priority, **bound},
        "status": {"phase": "Running" if on else "Pending"},
    }


def end(objects: list[Plain]) -> Outcome:
    """What becomes of a cluster that is left alone."""
    (outcome,) = play(cluster_of(objects), profiles(), [()], limits=Limits()).last.outcomes
    return outcome


def where(outcome: Outcome) -> list[tuple[int, str]]:
    """The priority and the node of each pod of the end."""
    return sorted((pod.cls.priority, pod.node_name) for pod in outcome.cluster().pods)


def test_a_victim_without_a_controller_is_gone_for_good() -> None:
    """The preemptor takes its place, and nothing is Pending."""
    outcome = end([node("a1", "a", cpu="1"), bare("low", on="a1"), bare("high", priority=10)])

    assert where(outcome) == [(10, "a1")]
    assert outcome.pending == ()
    assert [event.pod for event in outcome.trace() if event.kind is EventKind.PREEMPTED] == ["low"]


def test_a_pod_of_the_same_priority_is_no_victim() -> None:
    """Preemption takes pods of a lower priority only."""
    outcome = end([node("a1", "a", cpu="1"), bare("one", on="a1"), bare("other")])

    assert where(outcome) == [(0, ""), (0, "a1")]
    assert [pod.name for pod in outcome.pending] == ["other"]


def test_only_as_many_victims_end_as_make_room() -> None:
    """The node with one victim is chosen before the one with two."""
    nodes = [node("a1", "a", cpu="1"), node("b1", "b", cpu="1")]
    victims = [bare("a-low", on="a1"), bare("b-low", on="b1", cpu="300m"), bare("b-lower", on="b1", cpu="300m")]
    outcome = end([*nodes, *victims, bare("high", priority=10, cpu="800m")])

    assert where(outcome) == [(0, "b1"), (0, "b1"), (10, "a1")]


def test_a_bare_pod_that_waits_takes_no_place_of_a_higher_one() -> None:
    """The victim's node has room for the preemptor alone; a waiting pod of the victim's priority stays Pending."""
    outcome = end([node("a1", "a", cpu="1"), bare("low", on="a1"), bare("waits"), bare("high", priority=10)])

    assert where(outcome) == [(0, ""), (10, "a1")]
    assert [pod.name for pod in outcome.pending] == ["waits"]
