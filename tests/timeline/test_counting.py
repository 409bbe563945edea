"""A rollout that is searched by counts of pods per node has the outcomes that a search of all states finds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.engine import steps
from kubectl_spread.engine.results.answer import PodState
from kubectl_spread.engine.run import Answer, Limits, play, StepAnswer
from kubectl_spread.engine.search import explore
from kubectl_spread.engine.search.symmetry import Arrangement
from kubectl_spread.engine.state import State
from kubectl_spread.scheduler.profiles import profiles
from tests.timeline.played import counts
from tests.timeline.test_run import HOSTNAME, node, WEB, ZONE

Plain = dict[str, Any]
MOST_STATES = 1_500
SETTLE: tuple[steps.Op, ...] = ()
ROLLING = [(1, 0), (0, 1), (1, 1), (2, 1), ("25%", "25%"), ("50%", "50%"), (0, 2), (3, 0)]


def constraint(key: str, chance: random.Random) -> Plain:
    found: Plain = {
        "maxSkew": chance.choice([1, 1, 2]),
        "topologyKey": key,
        "whenUnsatisfiable": chance.choice(["DoNotSchedule", "ScheduleAnyway"]),
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    if chance.random() < 0.25:
        found["matchLabelKeys"] = ["pod-template-hash"]
    return found


def deployment(name: str, replicas: int, constraints: list[Plain], *, cpu: str = "100m", **spec: Any) -> Plain:
    """Its pods have the label app=web, so that the constraints of all Deployments count them."""
    container = {"name": "c", "image": "pause", "resources": {"requests": {"cpu": cpu}}}
    pod: Plain = {"containers": [container]}
    if constraints:
        pod["topologySpreadConstraints"] = constraints
    template = {"metadata": {"labels": {"app": "web", "name": name}}, "spec": pod}
    selector = {"matchLabels": {"name": name}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "app"},
        "spec": {"replicas": replicas, "selector": selector, "template": template, **spec},
    }


def scenario(seed: int) -> tuple[list[Plain], list[Any]]:
    """Return nodes and Deployments, and steps that begin rollouts."""
    chance = random.Random(seed)
    room = chance.choice(["16", "16", "1", "400m"])
    nodes = [
        node(f"{zone}{at}", zone, cpu=room if chance.random() < 0.8 else "300m")
        for zone in "abc"[: chance.choice([1, 2, 3, 3])]
        for at in range(chance.choice([1, 1, 2]))
    ]
    surge, unavailable = chance.choice(ROLLING)
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}
    constraints = [constraint(key, chance) for key in (ZONE, HOSTNAME) if chance.random() < 0.65]
    objects = [deployment("web", chance.choice([2, 3, 3]), constraints, strategy=strategy)]
    if chance.random() < 0.25:
        objects.append(deployment("db", 1, [], cpu="200m"))
    restart, scale = steps.Restart(WEB), steps.Scale(WEB, chance.choice([1, 2, 4]))
    step = chance.choice([restart, restart, scale, (restart, scale), (restart, restart)])
    return [*nodes, *objects], [SETTLE, step]


def answer(objects: Iterable[Plain], written: Iterable[Any], *, by_counts: bool) -> Answer:
    limits = Limits(max_states=MOST_STATES, samples=1, by_counts=by_counts)
    return play(cluster_of(objects), profiles(), written, limits=limits)


def result(step: StepAnswer) -> tuple[Any, ...]:
    outcomes = {item.state for item in step.outcomes}
    return outcomes, step.is_exact, step.fewest_ready, step.worst_skew


def per_node(pods: Iterable[PodState]) -> list[tuple[str, int]]:
    """Return the numbers of running pods of each revision on one node, up to the names of nodes."""
    counts = Counter((pod.node, pod.revision) for pod in pods if not pod.is_terminating)
    return sorted((revision, count) for (_, revision), count in counts.items())


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 24, 8))
def test_both_searches_agree(first: int) -> None:
    """Random clusters, constraints, strategies and steps: outcomes, extremes, and a way to each outcome."""
    compared, fewer = 0, 0
    for seed in range(first, first + 8):
        objects, written = scenario(seed)
        counted, full = (answer(objects, written, by_counts=by_counts) for by_counts in (True, False))
        if not full.last.is_exact:
            continue
        assert result(counted.last) == result(full.last), seed
        for item in counted.last.outcomes[:3]:
            *_, (_, (pods, *_)) = item.run()
            assert per_node(pods) == per_node(item.pods), seed
        compared += 1
        fewer += counted.last.states < full.last.states
    assert compared > 2
    assert fewer


def test_terminating_pods_that_take_the_room_are_not_ignored() -> None:
    """A full node takes a new pod only when the old one is gone, so that the new pod may be bound elsewhere before."""
    nodes = [node("a1", "a", pods="1"), node("a2", "a", pods="1"), node("b1", "b")]
    objects = [*nodes, deployment("web", 3, [])]
    counted, full = (answer(objects, [SETTLE, steps.Restart(WEB)], by_counts=by_counts) for by_counts in (True, False))

    assert full.last.is_exact
    assert result(counted.last) == result(full.last)
    assert counted.last.states == full.last.states


def test_equivalent_contents_have_one_order() -> None:
    """Two zones of two nodes each: contents move with their zone, and nodes inside it are sorted."""
    places = Arrangement((((((1, 2),)), (((3, 4),))),))

    assert places.sort((3, 0, 0, 1)) == ((0, 1, 0, 3), (2, 3, 1, 0))
    assert places.sort((1, 0, 3, 0))[0] == (0, 1, 0, 3)
    assert places.variants((0, 1, 0, 3)) == 8
    assert places.swaps((0, 0, 0, 1)) == [(1, 0, 2, 3)]
    assert places.swaps((0, 1, 0, 1)) == [(2, 3, 0, 1)]


def test_nodes_with_different_pods_at_the_start_stay_different() -> None:
    """One zone starts with two pods. Outcomes name the zones as they are, not up to an exchange."""
    nodes = [node("a1", "a"), node("b1", "b"), node("c1", "c")]
    hard = [{**constraint(ZONE, random.Random(1)), "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]
    objects = [*nodes, deployment("web", 4, hard)]
    counted, full = (answer(objects, [SETTLE, steps.Restart(WEB)], by_counts=by_counts) for by_counts in (True, False))

    assert full.last.is_exact
    # Zone c has two pods at the start. Three new ones in b: an old pod ends before its ReplicaSet deletes others.
    assert counts(full.last, WEB, ZONE) == {"a": (0, 3), "b": (0, 3), "c": (0, 2)}
    assert counts(counted.last, WEB, ZONE) == counts(full.last, WEB, ZONE)
    assert {_by_node(item.state) for item in counted.last.outcomes} == {
        _by_node(item.state) for item in full.last.outcomes
    }


def _by_node(state: State) -> tuple[int, ...]:
    return tuple(sorted(pod.node for pod in state.pods))


def test_the_way_through_a_rollout_of_very_many_pods_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """To find it, whole states are compared; the outcomes are the same without it."""
    objects = [node("a1", "a"), node("b1", "b"), deployment("web", 2, [])]
    way, *same = _way_and_result(objects)
    monkeypatch.setattr(explore, "_MOST_COUNTED", 0)

    assert way
    assert [(), *same] == list(_way_and_result(objects))


def _way_and_result(objects: list[Plain]) -> tuple[Any, ...]:
    """The events that lead to the one outcome of more replicas, and the result."""
    _, step = answer(objects, [SETTLE, steps.Scale(WEB, 4)], by_counts=True).steps
    (outcome,) = step.outcomes
    return outcome.trace(), result(step)
