"""`apply` merges three ways: the live object, the manifest, and the manifest that was applied before."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, Optional

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.cluster.shapes import LAST_APPLIED, prune_object
from kubectl_spread.kubectl.merging import last_applied, three_way_merge
from tests.timeline.test_run import node

Plain = dict[str, Any]
TWICE = [
    {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"},
    {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"},
]


@pytest.mark.parametrize(
    ("live", "manifest", "before", "after"),
    [
        ({"a": 1, "b": 2}, {"a": 3}, {"a": 1, "b": 2}, {"a": 3}),
        ({"a": 1, "b": 2}, {"a": 3}, {"a": 1}, {"a": 3, "b": 2}),
        ({"a": 1, "b": 2}, {"a": 3}, None, {"a": 3, "b": 2}),
        ({"a": 1, "b": 2}, {"a": None}, None, {"b": 2}),
        ({"m": {"x": 1, "y": 2}}, {"m": {"x": 1}}, {"m": {"x": 1, "y": 2}}, {"m": {"x": 1}}),
        ({"tolerations": [{"key": "a"}]}, {"tolerations": []}, None, {"tolerations": []}),
        (
            {"containers": [{"name": "side", "image": "s"}, {"name": "c", "image": "1", "cpu": 1}]},
            {"containers": [{"name": "c", "image": "2"}]},
            {"containers": [{"name": "c", "image": "1"}]},
            {"containers": [{"name": "c", "image": "2", "cpu": 1}, {"name": "side", "image": "s"}]},
        ),
        (
            {"containers": [{"name": "c", "image": "1"}, {"name": "old", "image": "o"}]},
            {"containers": [{"name": "c", "image": "1"}]},
            {"containers": [{"name": "c", "image": "1"}, {"name": "old", "image": "o"}]},
            {"containers": [{"name": "c", "image": "1"}]},
        ),
        (
            {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}},
            {"spec": {"strategy": {"type": "Recreate"}}},
            None,
            {"spec": {"strategy": {"type": "Recreate"}}},
        ),
        (
            {"topologySpreadConstraints": TWICE, "a": 1},
            {"topologySpreadConstraints": TWICE, "a": 2},
            None,
            {"topologySpreadConstraints": TWICE, "a": 2},
        ),
        (
            {"topologySpreadConstraints": TWICE},
            {"topologySpreadConstraints": [{**TWICE[0], "maxSkew": 3}, TWICE[1]]},
            None,
            {"topologySpreadConstraints": [{**TWICE[0], "maxSkew": 3}, TWICE[1]]},
        ),
        (
            {"topologySpreadConstraints": TWICE},
            {"topologySpreadConstraints": [TWICE[0], {**TWICE[1], "maxSkew": 3}]},
            None,
            {"topologySpreadConstraints": [{**TWICE[0], "maxSkew": 3}, TWICE[1]]},
        ),
    ],
    ids=[
        "a field left out goes",
        "a field of another tool stays",
        "without a record nothing goes",
        "null removes",
        "maps are merged",
        "a list without keys is replaced",
        "an injected container stays, behind the manifest's",
        "a container left out goes",
        "a changed strategy keeps no other field",
        "two constraints of one key stay two",
        "the first of them changes",
        "a change of the second is made in the first",
    ],
)
def test_three_objects_are_merged(live: Plain, manifest: Plain, before: Optional[Plain], after: Plain) -> None:
    assert three_way_merge(live, manifest, before) == after


def test_a_record_that_is_no_object_is_none() -> None:
    assert [last_applied({LAST_APPLIED: text}) for text in ("", "{", "[]", '"x"', '{"a": 1}')] == [
        *[None] * 4,
        {"a": 1},
    ]


def web(*, constraint: bool, replicas: Optional[int] = 2) -> Plain:
    """A manifest; its constraint leaves room for one pod on each of two zones."""
    hard = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    pod: Plain = {"containers": [{"name": "c", "image": "i", "env": [{"name": "TOKEN", "value": "hunter2"}]}]}
    if constraint:
        pod["topologySpreadConstraints"] = [hard]
    spec: Plain = {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod},
    }
    if replicas is not None:
        spec["replicas"] = replicas
    metadata = {"name": "web", "namespace": "default"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def recorded(manifest: Plain) -> Plain:
    """The object in a cluster after `kubectl apply`."""
    live = copy.deepcopy(manifest)
    live["metadata"]["annotations"] = {LAST_APPLIED: json.dumps(manifest)}
    return live


def answer(live: Plain, manifest: Plain, folder: Path, capsys: pytest.CaptureFixture[str], *steps: str) -> Plain:
    """What `simulate apply` says of a cluster with two zones and one object."""
    facts, file = folder / "facts.json", folder / "web.json"
    facts.write_text(json.dumps({"kind": "List", "items": [node("a1", "a"), node("b1", "b"), live]}))
    file.write_text(json.dumps(manifest))
    run(["simulate", *steps, "apply", "-f", str(file), "--snapshot", str(facts), "-o", "json"])
    found: Plain = json.loads(capsys.readouterr().out)["steps"][-1]
    return found


def test_an_unrecorded_object_keeps_what_the_manifest_leaves_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As kubectl does after its warning: without the annotation, it cannot know what to remove."""
    step = answer(web(constraint=True), web(constraint=False, replicas=3), tmp_path, capsys)

    (note,) = step["notes"]
    assert note == (
        "deployment.apps/web has no annotation kubectl.kubernetes.io/last-applied-configuration in the cluster facts, "
        "so fields that the manifest leaves out stay as they are"
    )
    assert step["workloads"][0]["domains"][0]["skew"]["worst"] is not None
    assert step["workloads"][0]["replicas"] == 3


def test_a_recorded_object_loses_what_the_manifest_leaves_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The number of replicas, too: it goes back to 1, a known trap with autoscalers."""
    step = answer(recorded(web(constraint=True)), web(constraint=False, replicas=None), tmp_path, capsys)

    assert step["notes"] == [
        "deployment.apps/web goes back to 1 replica: the manifest leaves out spec.replicas, which the last one had"
    ]
    (workload,) = step["workloads"]
    assert workload["replicas"] == 1


def test_a_manifest_without_a_difference_needs_no_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(web(constraint=True), web(constraint=True), tmp_path, capsys)["notes"] == []


def test_a_snapshot_keeps_the_record_without_the_environment() -> None:
    """Of the recorded manifest, it holds the fields that it holds of the object."""
    found = prune_object(recorded(web(constraint=True)))

    assert found is not None
    text = found["metadata"]["annotations"][LAST_APPLIED]
    assert "hunter2" not in text
    assert json.loads(text) == prune_object(web(constraint=True))


def test_the_claims_of_a_stateful_set_cannot_be_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the API server's words."""
    live = web(constraint=False)
    live |= {"kind": "StatefulSet"}
    live["spec"] |= {"serviceName": "web", "volumeClaimTemplates": [claim("1Gi")]}
    manifest = copy.deepcopy(live)
    manifest["spec"]["volumeClaimTemplates"] = [claim("2Gi")]
    facts, file = tmp_path / "facts.json", tmp_path / "web.json"
    facts.write_text(json.dumps({"kind": "List", "items": [node("a1", "a"), live]}))
    file.write_text(json.dumps(manifest))

    assert run(["simulate", "apply", "-f", str(file), "--snapshot", str(facts)]) == 1
    assert capsys.readouterr().err.startswith('The StatefulSet "web" is invalid: spec: Forbidden: updates to stateful')


def claim(size: str) -> Plain:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    return {"metadata": {"name": "data"}, "spec": spec}
