"""Scale-down of an OrderedReady StatefulSet: an unready pod that is too many waits for lower ones."""

from __future__ import annotations

import pytest

from kubectl_spread.engine import steps
from kubectl_spread.kubectl.situation import controller_of
from kubectl_spread.objects.keys import ObjectKey
from tests.timeline.test_run import run, THREE_ZONES

DB = ObjectKey("StatefulSet", "app", "db")


def created(**more: object) -> steps.Apply:
    pod = {"containers": [{"name": "c", "image": "db"}]}
    spec = {
        "replicas": 4,
        "serviceName": "db",
        "selector": {"matchLabels": {"app": "db"}},
        "template": {"metadata": {"labels": {"app": "db"}}, "spec": pod},
        **more,
    }
    return steps.Apply(
        controller_of({"kind": "StatefulSet", "metadata": {"name": "db", "namespace": "app"}, "spec": spec})
    )


@pytest.mark.parametrize(
    ("unready", "left"),
    [
        ((), {0, 1}),
        ((3,), {0, 1}),
        ((2,), {0, 1}),
        ((2, 3), {0, 1, 2, 3}),
        ((1,), {0, 1, 2, 3}),
    ],
    ids=["all are ready", "the highest is not", "the lower one is not", "two are not", "one that stays is not"],
)
def test_which_pods_go(unready: tuple[int, ...], left: set[int]) -> None:
    """The highest pod may be unready only if every other pod is ready; upstream looks for the lowest unready pod."""
    broken = tuple(steps.PatchSome(steps.PodMatch(DB, ordinals=(at,)), is_unready=True) for at in unready)
    answer = run(list(THREE_ZONES), created(), broken, steps.Scale(DB, 2))

    assert {frozenset(pod.ordinal for pod in outcome.pods) for outcome in answer.last.outcomes} == {frozenset(left)}


def test_a_pending_pod_that_is_too_many_leaves_no_claim() -> None:
    """With whenScaled Delete its claim goes with it, as that of a running pod does, also with a grace period of 0."""
    template = {"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}
    policy = {"whenScaled": "Delete"}
    parallel = created(
        volumeClaimTemplates=[template], persistentVolumeClaimRetentionPolicy=policy, podManagementPolicy="Parallel"
    )
    answer = run(list(THREE_ZONES), parallel, steps.Scale(DB, 2))

    assert {name for outcome in answer.last.outcomes for _, name, value in outcome.state.claims if value == "new"} == {
        "data-db-0",
        "data-db-1",
    }
