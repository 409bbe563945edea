"""Command lines of kubectl on the slow model: what they change, and what the API server refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.naive.controllers import explore, kubectl, patching
from tests.naive.controllers.world import World
from tests.naive.test_controllers import nodes_in, workload, world_of

Plain = dict[str, Any]


def ended(world: World, *commands: str) -> World:
    """The only way in which things end."""
    world = world.copy()
    world.script = kubectl.script(list(commands))
    (end,) = explore.explore([world]).steady
    return end


def settled(*items: Plain) -> World:
    return ended(world_of(*nodes_in("a", allocatable={"cpu": "16"}), *items))


def test_a_patch_of_a_template_is_rolled_out() -> None:
    """All pods are made anew."""
    before = settled(workload("Deployment", 2))
    ops = [{"op": "add", "path": "/spec/template/spec/priority", "value": 5}]
    after = ended(before, f"kubectl patch deployment web --type=json -p '{json.dumps(ops)}'")

    assert {pod["spec"]["priority"] for pod in after.pods()} == {5}
    assert len(list(after.pods())) == 2


def test_a_paused_deployment_is_not_rolled_out_until_it_goes_on() -> None:
    """`rollout resume` is part of such a change."""
    before = settled({**workload("Deployment", 2, paused=True)})
    patch = 'kubectl patch deployment web -p \'{"spec":{"template":{"spec":{"priority":5}}}}\''

    assert list(before.pods()) == []
    assert list(ended(before, patch).pods()) == []
    assert len(list(ended(before, patch, "kubectl rollout resume deploy/web").pods())) == 2


def job() -> Plain:
    item = workload("Job", 0, parallelism=2, completions=2)
    del item["spec"]["replicas"], item["spec"]["selector"]
    return item


EDIT = "kubectl patch --local -f - --type=json -o json -p '{}'"
PIPE = f"kubectl get job web -o json | {EDIT} | kubectl replace --force -f -"
OF_THE_CONTROLLER = [
    "controller-uid",
    "batch.kubernetes.io~1controller-uid",
    "job-name",
    "batch.kubernetes.io~1job-name",
]


def test_a_job_created_again_keeps_the_labels_of_its_user() -> None:
    """Only the selector and the controller's labels must go."""
    ops = [{"op": "remove", "path": f"/spec/template/metadata/labels/{name}"} for name in OF_THE_CONTROLLER]
    ops.append({"op": "remove", "path": "/spec/selector"})
    after = ended(settled(job()), PIPE.replace("{}", json.dumps(ops)))

    assert [pod["metadata"]["labels"]["app"] for pod in after.pods()] == ["web", "web"]


def test_a_job_created_again_with_its_old_labels_is_refused() -> None:
    """They are those of another UID."""
    ops = [{"op": "add", "path": "/spec/template/spec/priority", "value": 5}]

    with pytest.raises(patching.PatchError, match="those of another"):
        ended(settled(job()), PIPE.replace("{}", json.dumps(ops)))


def test_a_pod_with_a_finalizer_goes_when_it_is_forced_and_let_go() -> None:
    """Force deletion alone does not remove it."""
    pod = {
        "kind": "Pod",
        "metadata": {"name": "p", "finalizers": ["x/y"]},
        "spec": {"containers": [], "nodeName": "n0"},
    }
    before = settled(pod)
    force = "kubectl delete pod p --grace-period=0 --force --wait=false"
    letting_go = 'kubectl patch pod p --type=merge -p \'{"metadata":{"finalizers":null}}\''

    assert len(list(ended(before, force).pods())) == 1
    assert list(ended(before, force, letting_go).pods()) == []


def test_labels_taints_and_cordons_of_nodes() -> None:
    """What is written ends in -, is removed."""
    before = settled()
    after = ended(
        before,
        "kubectl label node n0 a=b zone- --overwrite",
        "kubectl taint node n0 k=v:NoExecute",
        "kubectl cordon n0",
    )
    (node,) = after.list("Node")

    assert node["metadata"]["labels"]["a"] == "b"
    assert [taint["key"] for taint in node["spec"]["taints"]] == ["k", "node.kubernetes.io/unschedulable"]
    (node,) = ended(after, "kubectl taint node n0 k=v:NoExecute-", "kubectl uncordon n0").list("Node")
    assert node["spec"]["taints"] == []


def test_undo_takes_the_template_before() -> None:
    """Its ReplicaSet is used again."""
    before = settled(workload("Deployment", 2))
    changed = ended(before, "kubectl rollout restart deploy/web")
    after = ended(changed, "kubectl rollout undo deploy/web")

    assert {pod["metadata"]["labels"]["pod-template-hash"] for pod in after.pods()} == {
        pod["metadata"]["labels"]["pod-template-hash"] for pod in before.pods()
    }
    assert len(after.list("ReplicaSet")) == 2


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("StatefulSet", "/spec/serviceName"),
        ("Deployment", "/spec/selector/matchLabels/x"),
        ("Job", "/spec/completions"),
    ],
)
def test_fields_that_cannot_change_are_refused(kind: str, path: str) -> None:
    """As the API server does."""
    before = settled(job() if kind == "Job" else workload(kind, 1))
    ops = json.dumps([{"op": "add", "path": path, "value": "7"}])

    with pytest.raises(patching.PatchError):
        ended(before, f"kubectl patch {kind.lower()} web --type=json -p '{ops}'")


def test_an_unknown_command_is_an_error() -> None:
    """Nothing is taken for done that is not."""
    with pytest.raises(kubectl.UnknownCommandError):
        ended(settled(), "kubectl autoscale deploy/web --max=3")
