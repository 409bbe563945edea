"""Pods that a ReplicaSet adopted are replaced by pods of its template."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.engine import steps
from kubectl_spread.engine.run import Limits, Mode, play
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.scheduler.profiles import profiles
from tests.timeline.played import steps_to
from tests.timeline.test_run import node, THREE_ZONES, ZONE

Plain = dict[str, Any]
SET = ObjectKey("ReplicaSet", "app", "web")
_ON_SSD: Plain = {"nodeSelector": {"disk": "ssd"}}


def _spec(**fields: Any) -> Plain:
    return {"containers": [{"name": "c", "image": "pause", "resources": {"requests": {"cpu": "1"}}}], **fields}


def _replica_set(spec: Plain, *, replicas: int = 1) -> Plain:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "app"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }


def _pod(name: str, spec: Plain, **labels: str) -> Plain:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "controller": True}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "app",
            "uid": name,
            "labels": {"app": "web", **labels},
            "ownerReferences": [owner],
        },
        "spec": {**spec, "nodeName": "a1"},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _nodes_after_deletion(objects: list[Plain]) -> set[str]:
    """Delete pod `old`, and return where its replacement runs; empty for a Pending one."""
    written = [(), steps.DeletePods(("old",))]
    answer = play(cluster_of(objects), profiles(), written, limits=Limits(mode=Mode.ALL))
    assert answer.last.is_exact
    return {pod.node for outcome in answer.last.outcomes for pod in outcome.pods if not pod.is_original}


@pytest.mark.parametrize(
    "running",
    [
        pytest.param(_spec(), id="node selector"),
        pytest.param(_spec(**_ON_SSD, tolerations=[]), id="labels"),
        pytest.param({**_spec(**_ON_SSD), "containers": [{"name": "c", "image": "pause"}]}, id="requests"),
    ],
)
def test_a_pod_unlike_the_template_is_replaced_by_one_of_the_template(running: Plain) -> None:
    """No node has the disk that the template asks for, or room for its host port: the new pod stays Pending."""
    template = _spec(**_ON_SSD)
    template["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]

    assert _nodes_after_deletion([*THREE_ZONES, _replica_set(template), _pod("old", running)]) == {""}


def test_what_admission_added_stays() -> None:
    """A running pod has a node selector beside what the template says; a new pod gets it too."""
    ssd = node("b2", "b")
    ssd["metadata"]["labels"]["disk"] = "ssd"

    assert _nodes_after_deletion([*THREE_ZONES, ssd, _replica_set(_spec()), _pod("old", _spec(**_ON_SSD))]) == {"b2"}


def test_of_several_running_pods_those_like_the_template_count() -> None:
    """An adopted pod has a node selector that pods of the template do not have."""
    ssd = node("b2", "b")
    ssd["metadata"]["labels"]["disk"] = "ssd"
    pods = [_pod("old", _spec(**_ON_SSD)), _pod("own", _spec())]

    assert "c1" in _nodes_after_deletion([*THREE_ZONES, ssd, _replica_set(_spec(), replicas=2), *pods])


def test_a_replica_set_keeps_pods_of_the_template_it_had_before() -> None:
    """Only pods that are created after the change are made of the new template."""
    objects = [*THREE_ZONES, _replica_set(_spec(), replicas=2), _pod("old", _spec())]
    changed = cluster_of([*THREE_ZONES, _replica_set(_spec(**_ON_SSD), replicas=2), _pod("old", _spec())])
    answer = play(cluster_of(objects), profiles(), [(), steps_to(cluster_of(objects), changed)])

    assert {len(outcome.pods) for outcome in answer.last.outcomes} == {2}
    assert {outcome.restarts.get(SET, 0) for outcome in answer.last.outcomes} == {0}
    assert answer.last.is_complete


def test_a_zone_that_a_node_joins_is_unlike_other_zones() -> None:
    """Only the two zones that no step changes are interchangeable."""
    changed = cluster_of([*THREE_ZONES, node("a2", "a")])
    answer = play(cluster_of(THREE_ZONES), profiles(), [(), steps_to(cluster_of(THREE_ZONES), changed)])

    for step in answer.steps:
        alike = step.symmetry.alike(ZONE)
        assert alike["a"] != alike["b"]
        assert alike["b"] == alike["c"]


def test_tolerated_taints_of_the_start_may_remove_pods_before_a_command() -> None:
    """The start does not say how long ago the taint came: the node may be Ready again before tolerationSeconds end."""
    down = node("a1", "a")
    down["spec"] = {"taints": [{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}]}
    seconds = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "tolerationSeconds": 300}
    spec = _spec(tolerations=[{**seconds, "effect": "NoExecute"}])
    rest = [*THREE_ZONES[1:], _replica_set(spec), _pod("old", spec)]
    lost, ready = cluster_of([down, *rest]), cluster_of([node("a1", "a"), *rest])
    answer = play(lost, profiles(), [steps_to(lost, ready)])

    assert {outcome.restarts.get(SET, 0) for outcome in answer.last.outcomes} == {0, 1}
    assert answer.last.is_complete


def test_commands_follow_each_other_before_tolerated_taints_remove_pods() -> None:
    """A taint that a command brings is gone with the next command, long before tolerationSeconds are over."""
    down = node("a1", "a")
    down["spec"] = {"taints": [{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}]}
    seconds = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "tolerationSeconds": 300}
    spec = _spec(tolerations=[{**seconds, "effect": "NoExecute"}])
    rest = [*THREE_ZONES[1:], _replica_set(spec), _pod("old", spec)]
    ready, lost = cluster_of([node("a1", "a"), *rest]), cluster_of([down, *rest])
    answer = play(ready, profiles(), [(*steps_to(ready, lost), *steps_to(lost, ready))])

    assert [outcome.restarts.get(SET, 0) for outcome in answer.last.outcomes] == [0]
