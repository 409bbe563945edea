"""The slow controllers, one fact at a time: what the sources say that recordings show too rarely."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.naive.builders import node, ZONE
from tests.naive.controllers import (
    actions,
    admission,
    controller_utils,
    deployment,
    disruption,
    explore,
    nodes,
    replicaset,
)
from tests.naive.controllers.world import delete_pod, is_ready, owner_reference, Settings, terminated, World

Plain = dict[str, Any]

NEVER = {"test.kubelet/ready": "never"}


def world_of(*items: Plain) -> World:
    world = World(Settings())
    for item in items:
        admission.create(world, item)
    return world


def nodes_in(zones: str, **fields: Any) -> list[Plain]:
    return [node(f"n{at}", labels={ZONE: zone}, **fields) for at, zone in enumerate(zones)]


def workload(kind: str, replicas: int, *, annotations: Any = None, spec: Any = None, **fields: Any) -> Plain:
    """A workload called `web`, whose pods request one CPU."""
    container = {"name": "c", "resources": {"requests": {"cpu": "1"}}}
    metadata = {"labels": {"app": "web"}, "annotations": annotations or {}}
    template = {"metadata": metadata, "spec": {"containers": [container], **(spec or {})}}
    own = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template, **fields}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web"}, "spec": own}


def rolling(surge: Any, unavailable: Any) -> Plain:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


def steady(world: World, *script: actions.Action) -> list[World]:
    """All moments at which nothing moves any more, once the script is done."""
    world = world.copy()
    world.script = script
    space = explore.explore([world])
    assert space.is_complete
    return space.steady


def on_nodes(world: World) -> Counter[str]:
    return Counter(pod["spec"].get("nodeName", "") for pod in world.pods())


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable"),
    [(1, 1, 0), (2, 1, 0), (3, 1, 0), (4, 1, 1), (6, 2, 1), (10, 3, 2), (0, 0, 0)],
)
def test_a_quarter_rounds_up_for_surge_and_down_for_unavailable(replicas: int, surge: int, unavailable: int) -> None:
    """The defaults of a Deployment."""
    assert deployment.fenceposts(workload("Deployment", replicas)) == (surge, unavailable)


def test_nothing_may_be_too_many_or_too_few_means_one_too_few() -> None:
    """Both 0: one pod may be missing, or no rollout would ever begin."""
    item = workload("Deployment", 3, strategy=rolling(0, "10%"))

    assert deployment.fenceposts(item) == (0, 1)


@pytest.mark.parametrize(
    ("replicas", "strategy", "old", "new"),
    [(4, rolling("25%", "25%"), 3, 2), (3, rolling(1, 0), 3, 1), (6, rolling(2, 1), 5, 3), (3, rolling(0, 1), 2, 1)],
)
def test_a_rollout_whose_pods_are_never_ready_stands_still(replicas: int, strategy: Plain, old: int, new: int) -> None:
    """Old pods: replicas less what may be missing; new ones: surge and what may be missing."""
    (before,) = steady(
        world_of(*nodes_in("a", allocatable={"cpu": "16"}), workload("Deployment", replicas, strategy=strategy))
    )
    bad = workload("Deployment", replicas, annotations=NEVER, strategy=strategy)
    (after,) = steady(before, ("apply", bad))

    assert Counter(map(is_ready, after.pods())) == {True: old, False: new}


def test_scaling_a_rollout_shares_the_replicas_among_revisions() -> None:
    """10 to 15 replicas while 8 old and 5 new pods are there: 11 and 7."""
    item = workload("Deployment", 15, strategy=rolling(3, 2))
    sets = []
    for at, (name, size) in enumerate((("old", 8), ("new", 5))):
        metadata = {"name": name, "annotations": {deployment.MAX: "13"}, "creationTimestamp": f"2026-01-0{at + 1}"}
        sets.append({"metadata": metadata, "spec": {"replicas": size}})
    found = deployment.Sets(sets[1], sets[:1], {})

    assert deployment.proportional(world_of(), item, found, sets) == {"old": 11, "new": 7}


def placed_pods(owner: Plain, placement: str, **fields: Any) -> list[Plain]:
    """Ready pods of an owner on the nodes named."""
    made = []
    for at, name in enumerate(placement.split()):
        pod = controller_utils.pod_from_template(owner, owner["spec"]["template"])
        pod["metadata"]["name"] = f"p{at}"
        pod["spec"]["nodeName"] = name
        pod["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        made.append(pod)
    return made


def replicas_on(placement: str, replicas: int) -> World:
    world = world_of(*nodes_in("abc"), workload("ReplicaSet", replicas))
    (owner,) = world.list("ReplicaSet")
    for pod in placed_pods(owner, placement):
        admission.create(world, pod)
    return world


@pytest.mark.parametrize(
    ("before", "replicas", "after"),
    [
        ("n0 n0 n0 n1 n1 n2", 3, {(("n1", 2), ("n2", 1))}),
        ("n0 n0 n1", 2, {(("n0", 1), ("n1", 1))}),
        ("n0 n0 n1 n1", 2, {(("n0", 2),), (("n1", 2),), (("n0", 1), ("n1", 1))}),
    ],
)
def test_the_fullest_node_loses_its_pods_first(before: str, replicas: int, after: set[Any]) -> None:
    """Ranks are taken once, before any pod is deleted; among equal ones any pods go."""
    found = steady(replicas_on(before, replicas))

    assert {tuple(sorted(on_nodes(world).items())) for world in found} == after


def test_a_pod_that_is_not_ready_goes_before_one_on_a_fuller_node() -> None:
    """Readiness comes before the number of pods on the node."""
    world = replicas_on("n0 n0 n1", 2)
    pod = next(pod for pod in world.pods() if pod["spec"]["nodeName"] == "n1")
    world.put({**pod, "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}})

    assert [on_nodes(found) for found in steady(world)] == [{"n0": 2}]


def test_a_low_deletion_cost_goes_before_one_on_a_fuller_node() -> None:
    """The annotation comes before the number of pods on the node."""
    world = replicas_on("n0 n0 n1", 2)
    pod = next(pod for pod in world.pods() if pod["spec"]["nodeName"] == "n1")
    metadata = {**pod["metadata"], "annotations": {controller_utils.DELETION_COST: "-5"}}
    world.put({**pod, "metadata": metadata})

    assert [on_nodes(found) for found in steady(world)] == [{"n0": 2}]


def test_a_pod_whose_labels_change_is_let_go_and_replaced() -> None:
    """It keeps running without an owner."""
    world = replicas_on("n0 n1", 2)
    pod = next(iter(world.pods()))
    world.put({**pod, "metadata": {**pod["metadata"], "labels": {"app": "other"}}})
    (owner,) = world.list("ReplicaSet")

    assert all(len(list(found.pods())) == 3 for found in steady(world))
    assert all(len(replicaset.active_pods(found, owner)) == 2 for found in steady(world))


def test_an_ordered_set_that_is_broken_is_not_repaired_by_the_old_template() -> None:
    """The pod that is not ready blocks before the update; of a parallel set it is replaced."""
    for policy, ready in (("OrderedReady", 2), ("Parallel", 3)):
        good = workload("StatefulSet", 3, podManagementPolicy=policy)
        bad = workload("StatefulSet", 3, podManagementPolicy=policy, annotations=NEVER)
        (before,) = steady(world_of(*nodes_in("a"), good))
        (broken,) = steady(before, ("apply", bad))
        (after,) = steady(broken, ("apply", good))

        assert sum(map(is_ready, broken.pods())) == 2
        assert sum(map(is_ready, after.pods())) == ready


def test_a_pod_created_again_keeps_its_claim_and_its_zone() -> None:
    """The volume is made where the first pod is put, and stays there."""
    late = {
        "kind": "StorageClass",
        "metadata": {"name": "late"},
        "provisioner": "disk",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    claim = {"metadata": {"name": "data"}, "spec": {"storageClassName": "late", "accessModes": ["ReadWriteOnce"]}}
    item = workload("StatefulSet", 1, volumeClaimTemplates=[claim])
    for before in steady(world_of(*nodes_in("ab"), late, item)):
        (pod,) = before.pods()
        (after,) = steady(before, ("delete", {"kind": "Pod", "name": "web-0"}))

        assert on_nodes(after) == {pod["spec"]["nodeName"]: 1}


def test_a_budget_counts_the_replicas_of_the_workload() -> None:
    """A pod that waits is a disruption that was used."""
    budget = {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    }
    world = world_of(*nodes_in("a", allocatable={"cpu": "3"}), workload("Deployment", 4), budget)
    (after,) = steady(world)

    assert disruption.budget_of(after, budget) == disruption.Budget(4, 3, 3)
    assert disruption.budget_of(after, budget).allowed == 0


def test_pods_stay_on_dead_nodes_while_most_of_a_small_zone_is_dead() -> None:
    """More than two nodes and 55 in 100 of a zone: nobody is evicted from it."""
    world = world_of(*nodes_in("aaaab"))
    for name in ("n0", "n1", "n2"):
        nodes.go_down(world, name)

    assert explore.is_steady(world)
    nodes.come_up(world, "n2")
    assert not explore.is_steady(world)


def job(count: int, **fields: Any) -> Plain:
    item = workload("Job", 0)
    del item["spec"]["replicas"], item["spec"]["selector"]
    item["spec"] |= {"parallelism": count, "completions": count, **fields}
    return {**item, "apiVersion": "batch/v1"}


_IGNORED = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}


@pytest.mark.parametrize(
    ("fields", "left"),
    [
        ({"backoffLimit": 0}, 0),
        ({"backoffLimit": 1}, 3),
        ({}, 3),
        ({"backoffLimit": 0, "podFailurePolicy": _IGNORED}, 3),
    ],
)
def test_a_drain_ends_a_job_beyond_its_backoff_limit(fields: Plain, left: int) -> None:
    """An evicted pod has failed, unless a policy ignores disruptions; then the others are deleted, too."""
    world = world_of(*nodes_in("ab", allocatable={"cpu": "16"}), job(3, **fields))
    after = steady(world)
    one = next(moment for moment in after if on_nodes(moment)["n0"] == 1)

    assert {len(list(end.pods())) for end in steady(one, ("drain", ["n0"]))} == {left}


def test_revisions_that_shrink_together_rank_pods_as_each_saw_them() -> None:
    """Whether the second one saw the deletions of the first decides on which node it deletes."""
    item = workload("Deployment", 2)
    world = world_of(*nodes_in("ab", allocatable={"cpu": "16"}))
    for name in ("old", "new"):
        own = {"metadata": {"uid": "web-uid", "name": "web"}, "kind": "Deployment"}
        labels = {"app": "web", "pod-template-hash": name}
        revision = workload("ReplicaSet", 1, selector={"matchLabels": labels})
        revision["metadata"] = {"name": name, "ownerReferences": [owner_reference(own)]}
        revision["spec"]["template"]["metadata"]["labels"] = labels
        stored = admission.create(world, revision)
        for at, pod in enumerate(placed_pods(stored, "n0 n1")):
            pod["metadata"]["name"] = f"{name}{at}"
            admission.create(world, pod)
    assert item["spec"]["replicas"] == 2

    assert {tuple(sorted(on_nodes(end).items())) for end in steady(world)} == {
        (("n0", 1), ("n1", 1)),
        (("n0", 2),),
        (("n1", 2),),
    }


@pytest.mark.parametrize(
    ("kind", "spec", "pods"),
    [
        ("ResourceQuota", {"hard": {"pods": "2"}}, 2),
        ("ResourceQuota", {"hard": {"requests.cpu": "3500m"}}, 3),
        ("ResourceQuota", {"hard": {"limits.memory": "1Gi"}}, 0),
        ("LimitRange", {"limits": [{"type": "Container", "max": {"cpu": "500m"}}]}, 0),
        ("LimitRange", {"limits": [{"type": "Container", "min": {"cpu": "500m"}}]}, 5),
    ],
)
def test_a_namespace_admits_as_many_pods_as_its_bounds_allow(kind: str, spec: Plain, pods: int) -> None:
    """Pods of one CPU; the controller creates those that are not refused."""
    bound = {"kind": kind, "metadata": {"name": "bound"}, "spec": spec}
    (after,) = steady(world_of(*nodes_in("a", allocatable={"cpu": "16"}), bound, workload("ReplicaSet", 5)))

    assert len(list(after.pods())) == pods


@pytest.mark.parametrize(("replicas", "wanted"), [(0, 0), (1, 2), (3, 3), (9, 4)])
def test_an_autoscaler_keeps_replicas_between_its_bounds(replicas: int, wanted: int) -> None:
    """It does nothing about a workload without replicas."""
    target = {"kind": "ReplicaSet", "name": "web"}
    spec = {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 4}
    autoscaler = {"kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"}, "spec": spec}
    found = steady(world_of(*nodes_in("a", allocatable={"cpu": "16"}), workload("ReplicaSet", replicas), autoscaler))

    assert {len(list(end.pods())) for end in found} == {wanted}


@pytest.mark.parametrize(
    ("fields", "sets"), [({}, 1), ({"terminationGracePeriodSeconds": 30}, 1), ({"hostname": "a"}, 2)]
)
def test_a_deployment_adopts_its_orphans(fields: Plain, sets: int) -> None:
    """A ReplicaSet whose template differs by defaults only is the new one; any other is an old one."""
    (before,) = steady(world_of(*nodes_in("a", allocatable={"cpu": "16"}), workload("Deployment", 2)))
    before.remove(before.list("Deployment")[0])
    for other in before.list("ReplicaSet"):
        before.edit(other)["metadata"].pop("ownerReferences")
    again = workload("Deployment", 2, spec=fields)
    for end in steady(before, ("apply", again)):
        assert len(end.list("ReplicaSet")) == sets
        assert len(list(end.pods())) == 2


def test_a_pod_without_grace_is_gone_at_once() -> None:
    """No kubelet has to answer for it."""
    item = workload("StatefulSet", 1, spec={"terminationGracePeriodSeconds": 0})
    (before,) = steady(world_of(*nodes_in("a"), item))
    nodes.go_down(before, "n0")
    (pod,) = before.pods()
    delete_pod(before, pod)

    assert list(before.pods()) == []


def test_a_cordoned_node_has_its_taint() -> None:
    """Also where somebody wrote down the node without it."""
    world = world_of({**node("n0"), "spec": {"unschedulable": True}})
    (after,) = steady(world)

    assert [taint["key"] for taint in after.list("Node")[0]["spec"]["taints"]] == [nodes.UNSCHEDULABLE]


def test_a_terminating_pod_without_a_node_is_collected() -> None:
    """`gcUnscheduledTerminating`."""
    world = world_of(*nodes_in("a"))
    pod = admission.create(
        world, {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"schedulingGates": [{"name": "g"}]}}
    )
    world.put(terminated(pod))
    (after,) = steady(world)

    assert list(after.pods()) == []
