"""Pods that are tried again, pods that are not created, and pods that are evicted."""

from __future__ import annotations

from typing import Any

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.explain.placement import Placement
from kubectl_spread.explain.replicas import place
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.scheduler.profiles import profiles
from tests.explain.test_replicas import node, nodes_of, running, workload

Plain = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
BY_ZONE = {
    "maxSkew": 1,
    "topologyKey": ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"tier": "front"}},
}


def fronted(owner: Workload) -> Workload:
    """A workload whose pods the constraint counts."""
    template = {**owner.template, "metadata": {"labels": {"app": owner.name, "tier": "front"}}}
    return owner._replace(template=template)


def pending(placement: Placement) -> list[str]:
    return [item.pod.name for item in placement.pending]


def evicting(objects: list[Plain], *owners: Workload) -> list[Placement]:
    return place(owners, cluster_of(objects), profiles(), evicts=True)


def test_ordered_set_creates_no_pod_after_one_that_waits() -> None:
    """There is room for one pod: the second waits, and the others do not exist."""
    owner = workload("StatefulSet", replicas=4)._replace(is_ordered=True)
    (web,) = place([owner], cluster_of([node("n1")]), profiles())

    assert (["n1"], ["web-1"], ("web-2", "web-3")) == (nodes_of(web), pending(web), web.not_created)
    assert web.replicas == 4


def test_parallel_set_creates_all_pods_at_once() -> None:
    """podManagementPolicy Parallel does not wait."""
    owner = workload("StatefulSet", replicas=3)
    (web,) = place([owner], cluster_of([node("n1")]), profiles())

    assert (["web-1", "web-2"], ()) == (pending(web), web.not_created)


def test_gated_pod_of_an_ordered_set_keeps_the_others_from_being_created() -> None:
    owner = workload("StatefulSet", replicas=2, schedulingGates=[{"name": "x"}])._replace(is_ordered=True)
    (web,) = place([owner], cluster_of([node("n1")]), profiles())

    assert (["web-0"], ("web-1",)) == ([pod.pod for pod in web.gated], web.not_created)


def test_ordered_set_goes_on_once_a_later_workload_makes_room() -> None:
    """The set's second pod waits for zone b to get a pod; then it is placed, and the third is created."""
    nodes = [node("a1", "9", "a"), node("b1", "9", "b")]
    in_a = {"nodeSelector": {ZONE: "a"}}
    ordered = fronted(workload("StatefulSet", "set", replicas=3, topologySpreadConstraints=[BY_ZONE], **in_a))
    other = fronted(workload(replicas=2, nodeSelector={ZONE: "b"}))
    first, second = place([ordered._replace(is_ordered=True), other], cluster_of(nodes), profiles())

    assert (["a1", "a1", "a1"], ()) == (nodes_of(first), first.not_created)
    assert ["b1", "b1"] == nodes_of(second)


def test_refused_pod_is_tried_again_after_a_later_workload() -> None:
    """The later workload fills the emptiest domain, which raises the minimum."""
    nodes = [node("a1", "9", "a"), node("b1", "9", "b"), running("web-x", "a1")]
    nodes[2]["metadata"]["labels"]["tier"] = "front"
    stuck = fronted(workload("Pod", "stuck", topologySpreadConstraints=[BY_ZONE], nodeSelector={ZONE: "a"}))
    helper = fronted(workload("Pod", "helper", nodeSelector={ZONE: "b"}))
    first, second = place([stuck, helper], cluster_of(nodes), profiles())

    assert (["a1"], ["b1"]) == (nodes_of(first), nodes_of(second))


def test_preemption_evicts_a_bare_pod_that_does_not_come_back() -> None:
    (web,) = evicting([node("n1"), running("old", "n1")], workload(priority=10))
    (eviction,) = web.evictions

    assert (["n1"], ()) == (nodes_of(web), web.pending)
    assert ("default/old", "web-1", None) == (eviction.pod.key, eviction.by, eviction.again)


def test_evicted_pod_with_a_controller_is_created_again() -> None:
    """The new pod finds the other node; where there is none it stays Pending, with the scheduler's message."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "old"}
    facts = [node("n1"), running("old-x", "n1", owner=owner)]
    (alone,) = evicting(facts, workload(priority=10))
    (roomy,) = evicting([*facts, node("n2", unschedulable=True)], workload(priority=10))
    tolerating = [*facts, node("n2", taints=[{"key": "gpu", "effect": "NoSchedule"}])]
    tolerating[1]["spec"]["tolerations"] = [{"key": "gpu", "operator": "Exists"}]
    (moved,) = evicting(tolerating, workload(priority=10))

    told = [item.evictions[0].again for item in (alone, roomy, moved)]
    assert ["", "", "n2"] == [again.node for again in told if again is not None]
    assert [True, True, False] == [bool(again.message) for again in told if again is not None]


def test_workload_of_the_same_run_loses_the_pods_that_preemption_evicts() -> None:
    """Its pod ran already on the only node; now it is Pending."""
    replicaset = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "low-1"}
    deployment = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "low", "controller": True}]
    facts = [
        node("n1"),
        {"kind": "ReplicaSet", "metadata": {"name": "low-1", "ownerReferences": deployment}},
        running("low-1-x", "n1", owner=replicaset),
    ]
    low, high = evicting(facts, workload(name="low"), workload(name="high", priority=10))

    assert ([], ["n1"]) == (nodes_of(low), nodes_of(high))
    assert 1 == len(low.pending)


def test_without_eviction_a_preemptor_stays_pending_with_its_nominated_node() -> None:
    """`explain` asks for the moment before the eviction."""
    (web,) = place([workload(priority=10)], cluster_of([node("n1"), running("old", "n1")]), profiles())

    assert ["n1"] == [item.explanation.nominated_node for item in web.pending]
    assert () == web.evictions
