"""What the API server adds to new pods, and which of them it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.explain.placement import Placement
from kubectl_spread.explain.replicas import place
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.scheduler.profiles import profiles
from tests.explain.test_replicas import node, running, workload

Plain = dict[str, Any]


def limits(**item: Any) -> Plain:
    return {"kind": "LimitRange", "metadata": {"name": "l"}, "spec": {"limits": [{"type": "Container", **item}]}}


def quota(hard: Plain, used: Plain | None = None, **spec: Any) -> Plain:
    found: Plain = {"kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard, **spec}}
    return found if used is None else {**found, "status": {"used": used}}


def bare(**more: Any) -> Workload:
    """A workload whose container requests nothing."""
    owner = workload(replicas=3, **more)
    spec = {**owner.template["spec"], "containers": [{"name": "c"}]}
    return owner._replace(template={**owner.template, "spec": spec})


def placed(owner: Workload, *objects: Plain, complete: frozenset[str] = frozenset()) -> Placement:
    cluster: Cluster = cluster_of([node("n1", "4"), *objects])._replace(complete=complete)
    (found,) = place([owner], cluster, profiles())
    return found


def refusals(placement: Placement) -> list[str]:
    return [item.message for item in placement.refused]


def test_limit_range_gives_containers_their_default_request() -> None:
    """4 cores take two pods of 2; the default limit stands for a request that is missing."""
    found = [placed(bare(), limits(defaultRequest={"cpu": "2"})), placed(bare(), limits(default={"cpu": "2"}))]

    assert [(2, 1), (2, 1)] == [(len(item.placed), len(item.pending)) for item in found]


def test_limit_range_leaves_what_is_written() -> None:
    found = placed(workload(replicas=3, cpu="1"), limits(defaultRequest={"cpu": "2"}))

    assert 3 == len(found.placed)


def test_limit_range_of_another_namespace_does_not_count() -> None:
    other = limits(defaultRequest={"cpu": "4"})
    other["metadata"]["namespace"] = "other"

    assert 3 == len(placed(bare(), other).placed)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"max": {"cpu": "500m"}}, "maximum cpu usage per Container is 500m, but request is 1"),
        ({"min": {"cpu": "2"}}, "minimum cpu usage per Container is 2, but request is 1"),
    ],
)
def test_limit_range_refuses_what_is_beyond_its_bounds(item: Plain, message: str) -> None:
    found = placed(workload(cpu="1"), limits(**item))

    assert [f'pods "web-1" is forbidden: {message}'] == refusals(found)
    assert ((), ()) == (found.placed, found.pending)


def test_quota_refuses_pods_beyond_it() -> None:
    """Two of three pods are created; what is used already counts."""
    found = placed(workload(replicas=3), quota({"pods": "3"}, {"pods": "1"}))

    assert 2 == len(found.placed)
    assert [
        'pods "web-3" is forbidden: exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3'
    ] == refusals(found)


def test_quota_of_requests_counts_what_runs_where_nobody_counted_yet() -> None:
    found = placed(workload(replicas=2), running("db-0", "n1"), quota({"requests.cpu": "2"}))

    assert 1 == len(found.placed)
    assert refusals(found)[0].endswith(
        "exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=2, limited: requests.cpu=2"
    )


def test_quota_asks_every_container_for_what_it_counts() -> None:
    found = placed(bare(), quota({"requests.cpu": "9", "limits.memory": "9Gi"}))

    assert refusals(found)[0].endswith("failed quota: q: must specify limits.memory for: c; requests.cpu for: c")


def test_quota_counts_only_pods_in_its_scopes() -> None:
    of_best_effort = quota({"pods": "0"}, scopes=["BestEffort"])

    assert [0, 3] == [
        len(placed(workload(replicas=3), of_best_effort).refused),
        len(placed(bare(), of_best_effort).refused),
    ]


def test_limit_range_comes_before_the_quota() -> None:
    """The default limit is what the quota counts."""
    found = placed(bare(), limits(default={"cpu": "1"}), quota({"limits.cpu": "2"}))

    assert (2, 1) == (len(found.placed), len(found.refused))


def test_ordered_set_creates_nothing_after_a_pod_that_is_refused() -> None:
    owner = workload("StatefulSet", replicas=3)._replace(is_ordered=True)
    found = placed(owner, quota({"pods": "1"}))

    assert (["web-1"], ("web-2",)) == ([item.pod for item in found.refused], found.not_created)


def test_runtime_class_adds_its_overhead_and_its_nodes() -> None:
    kata = {
        "kind": "RuntimeClass",
        "metadata": {"name": "kata"},
        "overhead": {"podFixed": {"cpu": "1"}},
        "scheduling": {"nodeSelector": {"kubernetes.io/hostname": "n1"}},
    }
    found = placed(workload(replicas=4, runtimeClassName="kata"), kata, node("n2", "9"))

    assert ["n1", "n1"] == [pod.node for pod in found.placed]
    assert 2 == len(found.pending)


def test_runtime_class_that_does_not_exist_is_refused_and_one_that_may_is_not_predictable() -> None:
    owner = workload(runtimeClassName="kata")
    known, unknown = placed(owner, complete=frozenset({"RuntimeClass"})), placed(owner)

    assert ['pods "web-1" is forbidden: pod rejected: RuntimeClass "kata" not found'] == refusals(known)
    assert ("the runtime class kata, which is not in the cluster facts",) == unknown.not_predictable
