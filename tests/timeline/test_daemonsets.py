"""DaemonSets of the facts create pods on nodes that join, or that they tolerate from now on."""

from __future__ import annotations

from typing import Any

from kubectl_spread.cluster.building.build import cluster_of
from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.objects.reading import read
from kubectl_spread.scheduler.configuration.profiles import profiles
from kubectl_spread.timeline import steps
from kubectl_spread.timeline.run import Limits, play, StepAnswer
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
    nodes = [node("a1", "a", cpu="1500m"), node("b1", "b", cpu="500m"), node("c1", "c", cpu="1500m")]
    workload, *_ = agents()
    workload["spec"]["updateStrategy"] = {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0},
    }
    key = OwnerKey("DaemonSet", "app", "agent")
    answer = play(cluster_of([*nodes, workload]), profiles(), [(), steps.Restart(key)], limits=Limits()).last

    updated = {
        tuple(sorted(pod.node for pod in outcome.pods if pod.number == 2 and pod.node)) for outcome in answer.outcomes
    }
    assert answer.is_exact
    assert updated == {("a1",), ("c1",)}
