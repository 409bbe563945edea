"""`play` with the bound pods of a cluster counted beforehand: the same answer, and the columns stay as they are."""

from __future__ import annotations

import pytest

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine import steps
from kubectl_spread.engine.run import Answer, Limits, play
from kubectl_spread.scheduler.profiles import profiles
from tests.timeline.test_run import snapshot, WEB

STEPS: dict[str, steps.Op] = {
    "scale": steps.Scale(WEB, 5),
    "restart": steps.Restart(WEB),
    "drain": steps.Drain(("a1",)),
    "lose a node": steps.DeleteNodes(("a1",)),
}


def played(cluster: Cluster, op: steps.Op, bound: Columns | None) -> Answer:
    """What becomes of a step."""
    return play(cluster, profiles(), [op], limits=Limits(), bound=bound)


def ends(answer: Answer) -> list[list[tuple[str, str, str]]]:
    """The pods of every outcome: name, node and message."""
    return [sorted((pod.name, pod.node, pod.message) for pod in item.pods) for item in answer.last.outcomes]


@pytest.mark.parametrize("name", STEPS)
def test_the_answer_is_the_same(name: str) -> None:
    """Whether `play` counts the bound pods itself, or is handed the counts."""
    cluster = snapshot(with_replica_sets=True)

    counted = played(cluster, STEPS[name], Columns(cluster))

    assert ends(counted) == ends(played(cluster, STEPS[name], None))
    assert counted.last.is_exact


@pytest.mark.parametrize("name", STEPS)
def test_the_columns_stay_as_they_are(name: str) -> None:
    """What is bound and unbound on the way is bound to a copy."""
    cluster = snapshot(with_replica_sets=True)
    columns = Columns(cluster)
    before = (columns.requested_of("cpu").tolist(), [pod.uid for pod in columns.bound_pods], columns.n)

    played(cluster, STEPS[name], columns)

    assert before == (columns.requested_of("cpu").tolist(), [pod.uid for pod in columns.bound_pods], columns.n)


def test_columns_with_pods_that_are_gone_are_corrected() -> None:
    """A pod that the cluster has no more, as one that has been deleted, takes no room."""
    cluster = snapshot(with_replica_sets=True)
    columns = Columns(cluster)
    fewer = cluster._replace(pods=cluster.pods[1:])

    assert ends(played(fewer, STEPS["restart"], columns)) == ends(played(fewer, STEPS["restart"], None))
