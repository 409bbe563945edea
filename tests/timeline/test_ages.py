"""Ages of pods, which decide what a ReplicaSet deletes."""

from __future__ import annotations

from collections import Counter

import pytest

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.engine import steps
from kubectl_spread.engine.loading import age_classes
from kubectl_spread.engine.run import Limits, play
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.scheduler.profiles import profiles
from tests.timeline.test_run import node, Plain

READ_AT = "2026-03-10T12:00:00Z"
LABELS = {"app": "web"}


def replica_set(replicas: int) -> Plain:
    """A ReplicaSet without constraints."""
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "app", "uid": "web"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": LABELS},
            "template": {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": "pause"}]}},
        },
    }


def pod(name: str, since: str, *, on: str, controller: str = "ReplicaSet", ready: str = "True") -> Plain:
    """A running pod of a controller called web, ready (or not) since a time."""
    owner = {"apiVersion": "apps/v1", "kind": controller, "name": "web", "uid": "web", "controller": True}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "app", "uid": name, "labels": LABELS, "ownerReferences": [owner]},
        "spec": {
            "nodeName": on,
            "containers": [{"name": "c", "image": "pause"}],
            "tolerations": [{"operator": "Exists"}],
        },
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": since}],
        },
    }


def left(pods: list[Plain], *, replicas: int, read_at: str = READ_AT) -> set[tuple[tuple[str, int], ...]]:
    """The numbers of pods per node that a scale-down of the ReplicaSet can leave."""
    nodes = [node(name, name[0], cpu=cpu) for name, cpu in (("a1", "6"), ("b1", "7"), ("c1", "8"))]
    cluster = cluster_of([*nodes, replica_set(len(pods)), *pods])._replace(read_at=read_at)
    scaled = (steps.Scale(ObjectKey("ReplicaSet", "app", "web"), replicas),)
    answer = play(cluster, profiles(), [scaled], limits=Limits()).last
    assert answer.is_exact
    return {tuple(sorted(Counter(item.node_name for item in end.cluster().pods).items())) for end in answer.outcomes}


def test_the_youngest_of_three_pods_goes() -> None:
    """Each has been ready for more than twice as long as the next."""
    pods = [
        pod("old", "2026-03-01T12:00:00Z", on="a1"),
        pod("young", "2026-03-10T09:00:00Z", on="b1"),
        pod("middle", "2026-03-08T12:00:00Z", on="c1"),
    ]

    assert left(pods, replicas=2) == {(("a1", 1), ("c1", 1))}
    assert left(pods, replicas=1) == {(("a1", 1),)}


def test_without_the_time_of_reading_each_of_them_may_go() -> None:
    """The output of kubectl does not tell when it was written."""
    pods = [pod("old", "2026-03-01T12:00:00Z", on="a1"), pod("young", "2026-03-10T09:00:00Z", on="b1")]

    assert left(pods, replicas=1, read_at="") == {(("a1", 1),), (("b1", 1),)}


def test_more_pods_on_a_node_decide_before_the_age() -> None:
    """The older pod goes, because its node has two of them."""
    pods = [
        pod("old", "2026-03-01T12:00:00Z", on="a1"),
        pod("older", "2026-02-01T12:00:00Z", on="a1"),
        pod("young", "2026-03-10T09:00:00Z", on="b1"),
    ]

    assert left(pods, replicas=2) == {(("a1", 1), ("b1", 1))}


@pytest.mark.parametrize(
    ("since", "expected"),
    [
        pytest.param(("11:30", "10:01", "09:00"), [0, 0, 0], id="none twice as old an hour later"),
        pytest.param(("11:00", "09:00"), [1, 2], id="an hour and three hours"),
        pytest.param(("11:00", "09:01"), [1, 1], id="a minute less than three hours"),
        pytest.param(("12:05", "11:59"), [0, 0], id="a clock that is late"),
    ],
)
def test_an_order_is_certain_if_it_will_hold_for_an_hour(since: tuple[str, ...], expected: list[int]) -> None:
    """A pod that is created now is compared, too: it has number 0."""
    pods = [pod(str(at), f"2026-03-10T{time}:00Z", on="a1") for at, time in enumerate(since)]
    found = age_classes(cluster_of([node("a1", "a"), replica_set(len(pods)), *pods]).pods, READ_AT)

    assert [found.get(str(at), 0) for at in range(len(since))] == expected


@pytest.mark.parametrize(
    ("controller", "ready", "since"),
    [
        pytest.param("StatefulSet", "True", "2026-03-01T12:00:00Z", id="a StatefulSet deletes by ordinal"),
        pytest.param("ReplicaSet", "False", "2026-03-01T12:00:00Z", id="a pod that is not ready"),
        pytest.param("ReplicaSet", "True", "yesterday", id="no time"),
        pytest.param("ReplicaSet", "True", "2026-03-01", id="a date without a time zone"),
    ],
)
def test_other_pods_have_no_age(controller: str, ready: str, since: str) -> None:
    """Their number is 0, so every choice among them is possible."""
    pods = cluster_of([node("a1", "a"), pod("web-0", since, on="a1", controller=controller, ready=ready)]).pods

    assert age_classes(pods, READ_AT) == {}


def test_a_pod_that_was_lost_in_between_is_young_again() -> None:
    """The pod tolerates the loss of its node, and is ready from the return of the node on."""
    pods = [pod("old", "2026-03-01T12:00:00Z", on="a1"), pod("young", "2026-03-10T09:00:00Z", on="b1")]
    nodes = [node(name, name[0], cpu="8") for name in ("a1", "b1")]
    cluster = cluster_of([*nodes, replica_set(2), *pods])._replace(read_at=READ_AT)
    scaled = (steps.Scale(ObjectKey("ReplicaSet", "app", "web"), 1),)
    restored = [(steps.NodesDown(("a1",)),), (steps.NodesUp(("a1",)),), scaled]
    answer = play(cluster, profiles(), restored, limits=Limits()).last

    assert {end.cluster().pods[0].node_name for end in answer.outcomes} == {"b1"}
