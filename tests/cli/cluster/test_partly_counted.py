"""A selector that matches only some of the workload's running pods, in `status` and `check`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.cli.main import run
from tests.cli.running_objects import constraint, deployment, node, pod, replica_set, ZONES

Plain = dict[str, Any]

NEW = {"matchLabels": {"app": "web", "new": "x"}}


def labelled(name: str, on: str, **labels: str) -> Plain:
    """A running pod with more labels."""
    found = pod(name, on)
    found["metadata"]["labels"] |= labels
    return found


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    """Two pods with the label that the selector asks for, and one without, in the zone of one of them."""
    owner = deployment(constraint(labelSelector=NEW))
    owner["spec"]["template"]["metadata"]["labels"]["new"] = "x"
    pods = [labelled("w-1", "a1"), labelled("w-2", "a1", new="x"), labelled("w-3", "b1", new="x")]
    nodes = [node(name, zone) for name, zone in ZONES.items()]
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"kind": "List", "items": [*nodes, owner, replica_set(), *pods]}))
    return str(path)


def test_status_says_that_only_some_pods_are_counted(snapshot: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By the counts alone the constraint would hold."""
    code = run(["status", "-n", "shop", "--snapshot", snapshot])

    expected = """\
NAME             KEY    MAXSKEW   WHEN            DOMAINS   COUNTS        SKEW   STATUS
deployment/web   zone   1         DoNotSchedule   3         a=1 b=1 c=0   1      partly counted
"""
    assert (1, expected) == (code, capsys.readouterr().out)


def test_status_report_names_the_pods_and_the_label(snapshot: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(["status", "-n", "shop", "--snapshot", snapshot, "-o", "json"])
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schemas.load("status-report"))
    (found,) = document["workloads"][0]["constraints"]

    assert ["w-1"] == found["uncounted"]
    assert "the selector matches 2 of the 3 running pods: w-1 lacks `new`" == found["reason"]


def test_check_of_what_runs_has_a_finding(snapshot: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(["check", "-n", "shop", "--snapshot", snapshot, "-o", "concise", "--select", "SPR917"])

    assert (
        "warning SPR917 the selector matches 2 of the 3 running pods: w-1 lacks `new`. So new pods are placed as if 1 "
        "running pod did not exist"
    ) in capsys.readouterr().out


def test_pods_of_another_revision_are_left_out_by_intent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """matchLabelKeys count one revision: that is not a finding."""
    owner = deployment(constraint(matchLabelKeys=["pod-template-hash"]))
    pods = [pod("w-1", "a1", owner="web-0"), pod("w-2", "a1"), pod("w-3", "b1")]
    nodes = [node(name, zone) for name, zone in ZONES.items()]
    path = tmp_path / "facts.json"
    sets = [replica_set("web-0", "1"), replica_set("web-1", "2")]
    path.write_text(json.dumps({"kind": "List", "items": [*nodes, owner, *sets, *pods]}))
    run(["status", "-n", "shop", "--snapshot", str(path)])

    assert "partly counted" not in capsys.readouterr().out


MID_ROLLOUT = str(Path(__file__).parents[2] / "cases" / "explain" / "etcd-mid-rollout.json")


def test_check_says_that_the_rest_of_the_rollout_gets_stuck(capsys: pytest.CaptureFixture[str]) -> None:
    """The last old pod is not counted, and shares zone a with a new one; its volume lets it go nowhere else."""
    code = run(["check", "-n", "shop", "--snapshot", MID_ROLLOUT, "--ignore", "SPR"])
    out, err = capsys.readouterr()

    assert 1 == code
    assert out == (
        "Rollout: statefulset/etcd in shop: the current rollout (1 old pod left) gets stuck in every outcome, because "
        "etcd-0 stays Pending: the zone constraint (topology.kubernetes.io/zone, maxSkew 1) allows only zone b. Its "
        "only node, b1, is refused by the volume of claim d-etcd-1 (volume pv-1 is bound to nodes with "
        "topology.kubernetes.io/zone=a: not b1)\n"
        "    1. Pod etcd-0 (revision 1) on a1 is deleted.\n"
        "    2. Pod etcd-0 finds no node, and stays Pending.\n"
    )
    assert "no pod Pending, 1 rollout stuck" in err


def test_report_has_the_rollout(capsys: pytest.CaptureFixture[str]) -> None:
    run(["check", "-n", "shop", "--snapshot", MID_ROLLOUT, "-o", "json"])
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schemas.load("check-report"))
    (found,) = document["rolloutsUnderWay"]

    assert ("getsStuck", 1, "etcd-0") == (found["end"], found["oldPods"], found["pending"])


def test_rollout_that_completes_is_no_reason_for_an_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without volumes the last pod goes to the empty zone."""
    facts = json.loads(Path(MID_ROLLOUT).read_text())
    for item in facts["items"]:
        if item["kind"] == "Pod":
            item["spec"].pop("volumes", None)
        if item["kind"] == "StatefulSet":
            del item["spec"]["volumeClaimTemplates"]
    path = tmp_path / "facts.json"
    path.write_text(json.dumps(facts))
    code = run(["check", "-n", "shop", "--snapshot", str(path), "--ignore", "SPR"])

    expected = "Rollout: statefulset/etcd in shop: the current rollout (1 old pod left) completes in every outcome\n"
    assert (0, expected) == (code, capsys.readouterr().out)
