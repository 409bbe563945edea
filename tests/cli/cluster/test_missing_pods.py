"""Pods on nodes that were deleted, and pods that could not be created, in `status` and `check` of what runs."""

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

FORBIDDEN = 'pods "web-1-x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2'


def written(folder: Path, *objects: Plain) -> str:
    path = folder / "facts.json"
    nodes = [node(name, zone) for name, zone in ZONES.items()]
    path.write_text(json.dumps({"kind": "List", "items": [*nodes, *objects]}))
    return str(path)


@pytest.fixture
def lost(tmp_path: Path) -> str:
    """A Deployment with a pod on a node that does not exist."""
    pods = [pod("w-1", "a1"), pod("w-2", "b1"), pod("w-3", "gone")]
    return written(tmp_path, deployment(constraint()), replica_set(), *pods)


@pytest.fixture
def refused(tmp_path: Path) -> str:
    """A Deployment whose third pod a quota refuses."""
    owner, made = deployment(constraint()), replica_set()
    condition = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": FORBIDDEN}
    owner["status"] = made["status"] = {"conditions": [condition]}
    return written(tmp_path, owner, made, pod("w-1", "a1"), pod("w-2", "b1"))


def test_status_counts_pods_on_missing_nodes(lost: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["status", "-n", "shop", "--snapshot", lost])

    expected = """\
NAME             KEY    MAXSKEW   WHEN            DOMAINS   COUNTS        SKEW   STATUS
deployment/web   zone   1         DoNotSchedule   3         a=1 b=1 c=0   1      on missing nodes 1
"""
    assert (1, expected) == (code, capsys.readouterr().out)


def test_check_names_the_node_that_does_not_exist(lost: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["check", "-n", "shop", "--snapshot", lost, "--ignore", "SPR"])
    out, err = capsys.readouterr()

    assert 1 == code
    assert out == (
        "Lost: pod w-3 of deployment/web: node gone does not exist, so no kubelet runs it; "
        "the pod garbage collector deletes it\n"
    )
    assert "no pod Pending, 1 pod on missing nodes" in err


def test_status_counts_pods_that_could_not_be_created(refused: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["status", "-n", "shop", "--snapshot", refused])

    assert 1 == code
    assert capsys.readouterr().out.splitlines()[1].endswith("not created 1")


def test_check_tells_why_pods_could_not_be_created(refused: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["check", "-n", "shop", "--snapshot", refused, "--ignore", "SPR"])
    out, err = capsys.readouterr()

    assert (1, f"Not created: 1 of 3 pods of deployment/web: {FORBIDDEN}\n") == (code, out)
    assert "no pod Pending, 1 pod not created" in err


@pytest.mark.parametrize("facts", ["lost", "refused"])
@pytest.mark.parametrize(("command", "schema"), [("check", "check-report"), ("status", "status-report")])
def test_documents_hold_them(
    facts: str, command: str, schema: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    run([command, "-n", "shop", "--snapshot", request.getfixturevalue(facts), "-o", "json"])
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schemas.load(schema))
    found = document if command == "check" else document["workloads"][0]
    names = ("onMissingNodes", "notCreated")

    assert [facts == "lost", facts == "refused"] == [bool(found[name]) for name in names]


def test_a_quota_that_is_used_up_forbids_the_missing_pods(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also if the facts hold no event and no condition about it."""
    quota = {
        "kind": "ResourceQuota",
        "metadata": {"name": "few", "namespace": "shop"},
        "spec": {"hard": {"pods": "3"}},
        "status": {"hard": {"pods": "3"}, "used": {"pods": "3"}},
    }
    pods = [pod(f"web-1-{at}", f"{at}1") for at in "abc"]
    web = deployment(constraint(), replicas=5)
    asked = ["-n", "shop", "--snapshot", written(tmp_path, *pods, web, replica_set(), quota)]

    assert run(["status", *asked]) == 1
    assert capsys.readouterr().out.splitlines()[1].endswith("not created 2")
    assert run(["check", *asked, "--ignore", "SPR"]) == 1
    assert capsys.readouterr().out.splitlines()[0] == (
        "Not created: 2 of 5 pods of deployment/web: exceeded quota: few, requested: pods=1, used: pods=3, "
        "limited: pods=3"
    )


OWNER = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "controller": True}


def test_an_ordered_set_is_held_by_a_pod_that_is_not_ready(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is said what holds it, and a StatefulSet has no ReplicaSet."""
    held = pod("db-0", "a1", metadata={"ownerReferences": [OWNER]})
    held["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    template = {"metadata": {"labels": {"app": "web"}}, "spec": held["spec"]}
    db = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": "shop"},
        "spec": {"replicas": 4, "serviceName": "db", "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }
    asked = ["-n", "shop", "--snapshot", written(tmp_path, held, db)]

    run(["explain", "sts/db", *asked])
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("StatefulSet shop/db wants 4 pods: 1 has a node, 3 are not created.")
    assert "The next pod is created when db-0 is Ready (OrderedReady). That pod is not Ready." in said
    assert "ReplicaSet" not in said
    assert run(["status", *asked]) == 1
    assert run(["check", *asked, "--ignore", "SPR"]) == 1
    assert "3 of 4 pods of statefulset/db: podManagementPolicy OrderedReady creates" in capsys.readouterr().out


def test_an_ordered_set_is_held_by_a_pod_with_gates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """That the pod waits for its gates is no fault, but the next pods are missing."""
    held = pod("db-0", "a1", metadata={"ownerReferences": [OWNER]})
    template = {"metadata": {"labels": {"app": "web"}}, "spec": dict(held["spec"])}
    held["spec"] = {**held["spec"], "schedulingGates": [{"name": "example.com/wait"}]}
    held["spec"].pop("nodeName")
    held["status"] = {"phase": "Pending"}
    spec = {"replicas": 3, "serviceName": "db", "selector": {"matchLabels": {"app": "web"}}, "template": template}
    db = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": "shop"}, "spec": spec}
    asked = ["-n", "shop", "--snapshot", written(tmp_path, held, db)]

    assert run(["check", *asked, "--ignore", "SPR"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == (
        "Not created: 2 of 3 pods of statefulset/db: podManagementPolicy OrderedReady creates them only once db-0 is "
        "Ready"
    )


def test_running_pods_that_no_constraint_counts_say_so_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing else reports it: the pods run, and all of them may be in one zone."""
    wrong = constraint()
    wrong["labelSelector"] = {"matchLabels": {"app": "other"}}
    pods = [pod(f"web-1-{at}", "a1", topologySpreadConstraints=[wrong]) for at in "abc"]
    facts = written(tmp_path, *pods, deployment(wrong), replica_set())

    run(["explain", "pod/web-1-a", "-n", "shop", "--snapshot", facts])

    assert " ".join(capsys.readouterr().out.split()).startswith(
        "Pod shop/web-1-a is bound to node a1. But the zone constraint (topology.kubernetes.io/zone, maxSkew 1) "
        "does not spread pods like this one: it does not count them."
    )


def test_a_pending_pod_that_its_constraint_does_not_count_is_told_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another reason keeps it Pending. The numbers of the constraint would be 0 in any case."""
    wrong = constraint()
    wrong["labelSelector"] = {"matchLabels": {"app": "wbe"}}
    waiting = pod("web-1-a", "", topologySpreadConstraints=[wrong])
    waiting["spec"]["containers"] = [{"name": "c", "resources": {"requests": {"cpu": "99"}}}]
    facts = written(tmp_path, waiting, deployment(wrong), replica_set())
    run(["explain", "pod/web-1-a", "-n", "shop", "--snapshot", facts])
    out = " ".join(capsys.readouterr().out.split())

    assert "it does not count them. Correct its selector app=wbe." in out
    assert "Do: add a node" in out
    assert "Pods per zone" not in out
