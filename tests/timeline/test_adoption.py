"""Controllers adopt ReplicaSets and pods that match their selector and have no controller."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run as run_command
from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.snapshot import Controller
from kubectl_spread.engine import steps
from kubectl_spread.engine.run import Answer
from kubectl_spread.objects.keys import ObjectKey
from tests.timeline.played import counts
from tests.timeline.test_run import deployment, replica_set, run, running, THREE_ZONES, WEB, ZONE

Plain = dict[str, Any]
CASES = Path(__file__).parents[1] / "cases" / "engine"
LABELS = {"app": "web", "pod-template-hash": "abc"}


def orphan(replicas: int = 3, **labels: str) -> Plain:
    """A ReplicaSet whose Deployment was deleted; the API server has stored it with default fields."""
    found = copy.deepcopy(replica_set("web-abc", replicas, template_hash="abc"))
    del found["metadata"]["ownerReferences"]
    found["metadata"]["labels"] = {**LABELS, **labels}
    return found


PODS = [running("web-abc", f"web-abc-{at}", at, template_hash="abc") for at in ("a1", "b1", "c1")]


def bare(name: str, at: str, **labels: str) -> Plain:
    found = copy.deepcopy(running("none", name, at, template_hash="abc"))
    del found["metadata"]["ownerReferences"]
    found["metadata"]["labels"] = {"app": "web", **labels}
    return found


def controller(plain: Plain) -> Controller:
    (found,) = cluster_of([plain]).controllers.values()
    return found


def kept(answer: Answer) -> set[int]:
    """The number of pods from the start that are left at the end."""
    return {sum(pod.is_original and not pod.is_terminating for pod in item.pods) for item in answer.last.outcomes}


def test_a_new_deployment_adopts_the_replicaset_of_its_template() -> None:
    answer = run([*THREE_ZONES, orphan(), *PODS], steps.Apply(controller(deployment(5))))

    assert answer.last.is_exact
    assert answer.last.is_complete
    assert kept(answer) == {3}
    assert {len(item.pods) for item in answer.last.outcomes} == {5}
    assert counts(answer.last, WEB, ZONE) == {"a": (1, 2), "b": (1, 2), "c": (1, 2)}


def test_a_new_deployment_replaces_the_pods_of_another_template() -> None:
    answer = run([*THREE_ZONES, orphan(), *PODS], steps.Apply(controller(deployment(3, cpu="200m"))))

    assert answer.last.is_complete
    assert kept(answer) == {0}
    assert {len(item.pods) for item in answer.last.outcomes} == {3}


@pytest.mark.parametrize("objects", [[orphan(app="other"), *PODS], [*PODS]])
def test_other_pods_stay_beside_those_of_a_new_deployment(objects: list[Plain]) -> None:
    """The labels of the ReplicaSet do not match, or it is missing."""
    answer = run([*THREE_ZONES, *objects], steps.Apply(controller(deployment(3))))

    assert {item.workloads[WEB].ready for item in answer.last.outcomes} == {3}
    assert all(not item.restarts.get(WEB) for item in answer.last.outcomes)


def test_a_deployment_of_the_facts_adopts_at_once() -> None:
    answer = run([*THREE_ZONES, deployment(3), orphan(2), *PODS[:2]])

    assert kept(answer) == {2}
    assert answer.last.is_complete


def test_until_then_the_replicaset_keeps_its_pods() -> None:
    """A deleted pod is created again by the ReplicaSet, which the second step gives an owner."""
    first = steps.DeletePods(("web-abc-a1",))
    answer = run([*THREE_ZONES, orphan(), *PODS], first, steps.Apply(controller(deployment(3))))

    assert all(len(item.pods) == 3 and item.is_complete for step in answer.steps[1:] for item in step.outcomes)
    assert kept(answer) == {3}


def test_whether_the_first_replicaset_adopts_pods_is_not_known() -> None:
    """Their hash decides, and the hash of the Deployment's template is not computed here."""
    pods = [bare("one", "a1", **{"pod-template-hash": "abc"})]
    hashed = run([*THREE_ZONES, deployment(1), *pods], steps.Scale(WEB, 2)).last
    plain = run([*THREE_ZONES, deployment(1), bare("one", "a1")], steps.Scale(WEB, 2)).last

    assert list(hashed.gaps) == ["Deployment app/web: whether its new ReplicaSet adopts pod one"]
    assert not plain.gaps


def test_a_statefulset_adopts_pods_by_name() -> None:
    workload = {**deployment(3), "kind": "StatefulSet"}
    hashed = {"controller-revision-hash": "web-1"}
    pods = [bare("web-0", "a1", **hashed), bare("web-2", "c1", **hashed), bare("web-x", "b1", **hashed)]
    answer = run([*THREE_ZONES, *pods], steps.Apply(controller(workload)))

    key = WEB._replace(kind="StatefulSet")
    assert {item.workloads[key].ready for item in answer.last.outcomes} == {3}
    assert kept(answer) == {2}
    names = {tuple(sorted(pod.name for pod in item.pods)) for item in answer.last.outcomes}
    assert names == {("web-0", "web-1", "web-2")}  # web-x takes no part.


@pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController"])
def test_a_replicaset_adopts_pods_and_deletes_those_beyond_its_size(kind: str) -> None:
    workload = {**deployment(1), "kind": kind}
    if kind == "ReplicationController":
        workload = copy.deepcopy({**workload, "apiVersion": "v1"})
        workload["spec"]["selector"] = {"app": "web"}
    answer = run([*THREE_ZONES, bare("one", "a1"), bare("two", "b1")], steps.Apply(controller(workload)))

    assert {len(item.pods) for item in answer.last.outcomes} == {1}
    assert kept(answer) == {1}
    assert all(item.workloads[ObjectKey(kind, "app", "web")].is_complete for item in answer.last.outcomes)


def test_a_daemonset_adopts_pods_on_their_nodes() -> None:
    """The pods of the old revision are replaced, and no node runs two."""
    workload = copy.deepcopy({**deployment(0), "kind": "DaemonSet"})
    workload["spec"] = {name: workload["spec"][name] for name in ("selector", "template")}
    hashed = {"controller-revision-hash": "web-1"}
    pods = [bare("web-x", "a1", **hashed), bare("web-y", "b1", **hashed)]
    answer = run([*THREE_ZONES, *pods], steps.Apply(controller(workload)))

    assert {len(item.pods) for item in answer.last.outcomes} == {3}
    assert {item.workloads[WEB._replace(kind="DaemonSet")].ready for item in answer.last.outcomes} == {3}


def test_a_replicaset_with_a_revision_has_its_pods() -> None:
    """The annotation with the number of the revision is left over from its Deployment."""
    answer = run([*THREE_ZONES, orphan(), *PODS], steps.Delete(ObjectKey("ReplicaSet", "app", "web-abc")))

    assert [item.pods for item in answer.last.outcomes] == [()]


def test_a_deployment_beside_an_orphaned_replicaset(capsys: pytest.CaptureFixture[str]) -> None:
    """Three of its five pods run already."""
    paths = [str(CASES / f"orphaned-{name}.yaml") for name in ("deployment", "replicaset")]
    code = run_command(["simulate", "create", "-f", paths[0], "--snapshot", paths[1]])

    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    assert lines[0] == f"create -f {paths[0]}: completes"
    assert [line.split() for line in lines[7:10]] == [[zone, "1", "1", "to", "2"] for zone in "abc"]


def test_a_template_with_written_defaults_is_the_same() -> None:
    again = deployment(3)
    again["spec"]["template"]["spec"] |= {"restartPolicy": "Always", "terminationGracePeriodSeconds": 30}
    again["spec"]["template"]["spec"]["containers"][0] |= {
        "imagePullPolicy": "Always",
        "terminationMessagePolicy": "File",
    }
    answer = run([*THREE_ZONES, orphan(), *PODS], steps.Apply(controller(again)))
    changed = copy.deepcopy(again)
    changed["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"] = "IfNotPresent"  # the image has no tag
    other = run([*THREE_ZONES, orphan(), *PODS], steps.Apply(controller(changed)))

    assert (kept(answer), kept(other)) == ({3}, {0})


@pytest.mark.parametrize(("cpu", "left"), [("100m", 2), ("200m", 0)])
def test_a_statefulset_replaces_the_pods_of_another_template(cpu: str, left: int) -> None:
    workload = {**deployment(2, cpu=cpu), "kind": "StatefulSet"}
    pods = [bare(f"web-{at}", name, **{"controller-revision-hash": "web-1"}) for at, name in enumerate(("a1", "b1"))]
    for pod in pods:
        pod["spec"] |= deployment(2)["spec"]["template"]["spec"]
    answer = run([*THREE_ZONES, *pods], steps.Apply(controller(workload)))

    assert kept(answer) == {left}
    assert answer.last.is_complete


def test_a_released_pod_keeps_its_name_from_its_statefulset() -> None:
    """The API server refuses another pod of the name (AlreadyExists)."""
    workload = {**deployment(2), "kind": "StatefulSet"}
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "controller": True}
    pods = [bare(f"web-{at}", name, **{"controller-revision-hash": "web-1"}) for at, name in enumerate(("a1", "b1"))]
    for pod in pods:
        pod["metadata"]["ownerReferences"] = [owner]
    answer = run([*THREE_ZONES, workload, *pods], steps.LabelPods(("web-0",), (("app", "other"),)))

    key = WEB._replace(kind="StatefulSet")
    assert {item.workloads[key].ready for item in answer.last.outcomes} == {1}
    assert {item.workloads[key].not_created for item in answer.last.outcomes} == {1}


def test_the_pods_of_a_deleted_replicaset_keep_their_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The way to get stuck names the pods that the garbage collector deletes."""
    nodes = [{**item, "spec": {"unschedulable": True}} for item in THREE_ZONES]
    items = [*nodes, deployment(3), replica_set("web-abc", 3, template_hash="abc"), *PODS]
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    code = run_command(["simulate", "delete", "rs", "web-abc", "-n", "app", "--snapshot", str(path)])
    out = capsys.readouterr().out.splitlines()

    assert (code, out[0]) == (1, "delete rs web-abc: gets stuck, 3 pods stay Pending")
    pods = [f"web-abc-{node} on {node}" for node in ("a1", "b1", "c1")]
    assert f"  1. Pods {pods[0]}, {pods[1]} and {pods[2]} are deleted." in out


@pytest.mark.parametrize(("replicas", "end"), [(5, "5 of 5 pods ready"), (1, "1 of 1 pod ready, 2 old pods deleted")])
def test_an_orphaned_replicaset_is_scaled(
    replicas: int, end: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*THREE_ZONES, orphan(), *PODS]}))
    words = ["scale", "rs", "web-abc", f"--replicas={replicas}", "-n", "app", "--snapshot", str(path)]

    assert run_command(["simulate", *words]) == 0
    assert capsys.readouterr().out.splitlines()[2] == f"ReplicaSet app/web-abc completes: {end}"
