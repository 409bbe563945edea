"""DaemonSets of the facts create pods on nodes that join, or that they tolerate from now on."""

from __future__ import annotations

import math
from typing import Any

import pytest

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.engine import steps
from kubectl_spread.engine.controllers import replicaset
from kubectl_spread.engine.run import Limits, play, StepAnswer
from kubectl_spread.engine.state import P, Stage
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.reading import read
from kubectl_spread.scheduler.profiles import profiles
from tests.timeline.test_run import HOSTNAME, node, WEB

Plain = dict[str, Any]
TAINT = {"key": "gpu", "effect": "NoSchedule"}


def agents(*nodes: str) -> list[Plain]:
    """A DaemonSet with its pods on some nodes."""
    template = {
        "metadata": {"labels": {"app": "agent"}},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "600m"}}}]},
    }
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "u", "controller": True}
    workload = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "app", "uid": "u"},
        "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": template},
    }
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"agent-{name}",
                "namespace": "app",
                "uid": name,
                "labels": {"app": "agent", "controller-revision-hash": "h"},
                "ownerReferences": [owner],
            },
            "spec": {**template["spec"], "nodeName": name},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        }
        for name in nodes
    ]
    return [workload, *pods]


def after(objects: list[Plain], op: steps.Op) -> StepAnswer:
    return play(cluster_of(objects), profiles(), [op], limits=Limits()).last


def places(answer: StepAnswer, kind: str) -> set[tuple[str, ...]]:
    """The nodes of the pods of a kind, in each outcome."""
    return {
        tuple(sorted(pod.node for pod in outcome.pods if pod.owner is not None and pod.owner.kind == kind))
        for outcome in answer.outcomes
    }


def test_a_node_that_joins_gets_its_pod() -> None:
    new = read.node(node("b1", "b", cpu="1"))

    assert places(after([node("a1", "a"), *agents("a1")], steps.ChangeNodes((new,))), "DaemonSet") == {("a1", "b1")}


def test_its_pod_and_a_waiting_one_race_for_the_room() -> None:
    """The new node has room for one of them; in some order web finds no node."""
    web = {
        "apiVersion": "apps/v1",
        "kind": WEB.kind,
        "metadata": {"name": WEB.name, "namespace": WEB.namespace},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "500m"}}}]},
            },
        },
    }
    answer = after(
        [node("a1", "a", cpu="1"), *agents("a1"), web], steps.ChangeNodes((read.node(node("b1", "b", cpu="1")),))
    )

    assert places(answer, "Deployment") == {("",), ("b1",)}


def test_a_taint_that_goes_lets_its_pod_come() -> None:
    tainted = {**node("b1", "b"), "spec": {"taints": [TAINT]}}
    answer = after([node("a1", "a"), tainted, *agents("a1")], steps.Untaint(("b1",), "gpu"))

    assert places(answer, "DaemonSet") == {("a1", "b1")}


def test_other_changes_of_nodes_move_nothing() -> None:
    """Another label, which the DaemonSet does not select by."""
    labelled = read.node(node("a1", "a"))._replace(labels={HOSTNAME: "a1", "disk": "ssd"})

    assert places(after([node("a1", "a"), *agents("a1")], steps.ChangeNodes((labelled,))), "DaemonSet") == {("a1",)}


def test_a_surge_beside_an_unavailable_pod_is_one_more() -> None:
    """One node has no room: it gets its new pod at once, and maxSurge still allows one on another node."""
    nodes = [node("a1", "a", cpu="1500m"), node("b1", "b", cpu="500m"), node("c1", "c", cpu="1600m")]
    workload, *_ = agents()
    workload["spec"]["updateStrategy"] = {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0},
    }
    key = ObjectKey("DaemonSet", "app", "agent")
    answer = play(cluster_of([*nodes, workload]), profiles(), [(), steps.Restart(key)], limits=Limits()).last

    updated = {
        tuple(sorted(pod.node for pod in outcome.pods if pod.number == 2 and pod.node)) for outcome in answer.outcomes
    }
    assert answer.is_exact
    assert updated == {("a1",), ("c1",)}


def pinned(pods: list[Plain]) -> list[Plain]:
    """Running pods with the node affinity that the DaemonSet controller gives them."""
    for pod in pods:
        field = {"key": "metadata.name", "operator": "In", "values": [pod["spec"]["nodeName"]]}
        required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
        pod["spec"]["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    return pods


def outcomes(nodes: list[Plain], pods: list[Plain], workload: Plain, ops: list[Any]) -> tuple[Any, StepAnswer]:
    """The nodes of new and of old pods in each outcome, the fewest ready pods, and the answer."""
    answer = play(cluster_of([*nodes, workload, *pods]), profiles(), ops, limits=Limits()).last
    assert answer.is_exact
    ends = {tuple(sorted((pod.number, pod.node) for pod in outcome.pods)) for outcome in answer.outcomes}
    return (ends, answer.fewest_ready), answer


@pytest.mark.parametrize("is_new", [True, False], ids=["new", "running"])
@pytest.mark.parametrize(
    "rolling", [{"maxUnavailable": 2}, {"maxSurge": 2, "maxUnavailable": 0}], ids=["down", "surge"]
)
@pytest.mark.parametrize("ports", [[], [{"containerPort": 80, "hostPort": 80}]], ids=["plain", "host port"])
def test_equal_nodes_give_the_result_of_different_ones(is_new: bool, rolling: Plain, ports: list[Plain]) -> None:
    """Pods follow their nodes when equal nodes are exchanged; fewer states are visited."""
    names = ("a1", "a2", "b1", "b2")
    workload, *pods = agents(*(() if is_new else names))
    template = workload["spec"]["template"]
    for spec in (template["spec"], *(pod["spec"] for pod in pods)):
        spec["containers"] = [{"name": "c", "image": "i", "ports": ports}]
    workload["spec"]["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": rolling}
    ops = [(), steps.Restart(ObjectKey("DaemonSet", "app", "agent"))]
    equal = [node(name, name[0]) for name in names]
    different = [node(name, name[0], cpu=str(8 + at)) for at, name in enumerate(names)]

    merged, answer = outcomes(equal, pinned(pods), workload, ops)
    separate, full = outcomes(different, pinned(pods), workload, ops)

    assert merged == separate
    assert answer.states < full.states


def test_a_daemonset_that_is_created_fills_all_equal_nodes() -> None:
    """No pod is without a node, and none is on the node of another one."""
    workload, *_ = agents()
    nodes = [node(f"{zone}{at}", zone, cpu="1") for zone in "abc" for at in range(3)]
    controller = cluster_of([*nodes, workload]).controllers[ObjectKey("DaemonSet", "app", "agent")]
    answer = play(cluster_of(nodes), profiles(), [steps.Apply(controller)], limits=Limits()).last

    assert answer.is_exact
    assert places(answer, "DaemonSet") == {tuple(sorted(item["metadata"]["name"] for item in nodes))}
    assert answer.states < 100


def test_a_condition_on_labels_keeps_nodes_apart() -> None:
    """Only nodes with the label get a pod of the new DaemonSet."""
    workload, *_ = agents()
    terms = [{"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    workload["spec"]["template"]["spec"]["affinity"] = {"nodeAffinity": required}
    nodes = [node(f"a{at}", "a", cpu="1") for at in range(4)]
    for item in nodes[1:3]:
        item["metadata"]["labels"]["disk"] = "ssd"
    controller = cluster_of([*nodes, workload]).controllers[ObjectKey("DaemonSet", "app", "agent")]
    answer = play(cluster_of(nodes), profiles(), [steps.Apply(controller)], limits=Limits()).last

    assert answer.is_exact
    assert places(answer, "DaemonSet") == {("a1", "a2")}


@pytest.mark.parametrize("count", range(5))
def test_choices_of_distinct_pods_come_as_those_of_equal_ones_do(count: int) -> None:
    """The choice without the first pods comes first."""
    pods = [P(0, 0, at, 0, at, Stage.READY) for at in range(4)]
    twice = [*pods, pods[0]]

    found = list(replicaset.choices(pods, count))
    assert found == [item for item in replicaset.choices(twice, count) if len({*item}) == len(item)]
    assert len(found) == math.comb(4, count)
