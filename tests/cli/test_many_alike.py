"""Many workloads wait for the same reason: the answer is given once, with the names of the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run

ZONE = "topology.kubernetes.io/zone"
DEAD = {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}


def _node(name: str, zone: str) -> dict[str, Any]:
    labels = {ZONE: zone, "kubernetes.io/hostname": name}
    status = {"allocatable": {"cpu": "32", "memory": "64Gi", "pods": "110"}}
    spec = {"taints": [DEAD]} if zone == "c" else {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": status,
    }


def _service(name: str) -> list[dict[str, Any]]:
    """A Deployment of 3 pods, of which one waits for zone c, and its ReplicaSet."""
    labels = {"app": name, "pod-template-hash": "5d8f"}
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": name}},
    }
    pod = {"containers": [{"name": "c", "image": "c"}], "topologySpreadConstraints": [constraint]}
    spec = {
        "replicas": 3,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }

    def of(kind: str, name: str, uid: str) -> list[dict[str, Any]]:
        return [{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid, "controller": True}]

    meta = {"namespace": "shop", "labels": labels}
    items = [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {**meta, "name": name, "uid": f"d-{name}"},
            "spec": spec,
        },
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {
                **meta,
                "name": f"{name}-5d8f",
                "uid": f"r-{name}",
                "ownerReferences": of("Deployment", name, f"d-{name}"),
            },
            "spec": spec,
        },
    ]
    for at, node in enumerate(("a1", "b1", "")):
        owner = of("ReplicaSet", f"{name}-5d8f", f"r-{name}")
        own = {**meta, "name": f"{name}-5d8f-{at}", "uid": f"p-{name}-{at}", "ownerReferences": owner}
        status = (
            {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]} if node else {"phase": "Pending"}
        )
        spread = {**pod, "nodeName": node} if node else pod
        items.append({"apiVersion": "v1", "kind": "Pod", "metadata": own, "spec": spread, "status": status})
    return items


@pytest.fixture
def facts(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """A cluster whose zone c is gone, and some services."""
    nodes = [_node(f"{zone}1", zone) for zone in "abc"]
    items = [*nodes, *(item for at in range(request.param) for item in _service(f"svc-{at}"))]
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return str(path)


def _told(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert 1 == run([*words])
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("facts", [8], indirect=True)
def test_one_answer_is_for_all(facts: str, capsys: pytest.CaptureFixture[str]) -> None:
    """At most 30 lines, the first of which name the reason and the others."""
    explained = _told(capsys, "explain", "-A", "--snapshot", facts)
    checked = _told(capsys, "check", "-A", "--snapshot", facts)
    lost = _told(capsys, "simulate", "lose", "zone=b", "--snapshot", facts)

    assert explained[0] == "Deployment shop/svc-0 wants 3 pods: 2 have a node, 1 is Pending."
    assert any(line.startswith("7 more workloads are Pending for the same reason: ") for line in explained[:6])
    assert explained.count("Do: wait until node c1 is Ready again; the scheduler then tries again") == 1
    assert [1] == [number for number, line in enumerate(checked) if line.startswith("  also 7 more workloads: ")]
    assert sum(line.startswith("  also 7 more workloads: Deployment shop/svc-1, ") for line in lost) == 1
    assert sum("Its only node" in line or "Every node there has the" in line or "taint" in line for line in lost) >= 1
    assert any(line.startswith("  2 pods each of Deployment shop/svc-0, Deployment shop/svc-1, ") for line in lost)
    assert sum("of 8 workloads find no node, and stay Pending." in line for line in lost) == 1
    assert max(map(len, (explained, checked, lost))) <= 30


@pytest.mark.parametrize("facts", [3], indirect=True)
def test_each_of_a_few_has_an_answer(facts: str, capsys: pytest.CaptureFixture[str]) -> None:
    explained = _told(capsys, "explain", "-A", "--snapshot", facts)
    checked = _told(capsys, "check", "-A", "--snapshot", facts)

    lost = _told(capsys, "simulate", "lose", "zone=b", "--snapshot", facts)

    assert sum(line.startswith("Do: ") for line in explained) == 3
    assert sum(line.startswith(("Do, for Deployment svc-", "And, for Deployment svc-")) for line in lost) == 3
    assert sum(line.startswith("  $ kubectl patch deployment svc-") for line in lost) == 3
    assert sum(line.startswith("Pending: ") for line in checked) == 3


@pytest.mark.parametrize("facts", [4], indirect=True)
def test_details_and_documents_are_about_each(facts: str, capsys: pytest.CaptureFixture[str]) -> None:
    detailed = _told(capsys, "explain", "-A", "--snapshot", facts, "--details", "--suggestions", "1")
    assert 1 == run(["explain", "-A", "--snapshot", facts, "-o", "json", "--suggestions", "1"])
    documents = json.loads(capsys.readouterr().out)["items"]

    assert sum(line.startswith("Deployment shop/svc-") for line in detailed) == 4
    assert [1] * 4 == [len(item["suggestions"]) for item in documents]


@pytest.mark.parametrize("facts", [4], indirect=True)
def test_two_of_many_with_one_reason_have_one_answer(facts: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Two wait for a zone, and the other two for a label."""
    objects = json.loads(Path(facts).read_text())
    for item in objects["items"]:
        if item["kind"] == "Pod" and item["metadata"]["name"][:5] in ("svc-2", "svc-3"):
            item["spec"]["nodeSelector"] = {"disk": "ssd"}
    Path(facts).write_text(json.dumps(objects))
    explained = _told(capsys, "explain", "-A", "--snapshot", facts)
    others = [line for line in explained if line.startswith("1 more workload is Pending for the same reason: ")]

    assert [line.rpartition("svc-")[2][0] for line in others] == ["1", "3"]
    assert sum(line.startswith("Do: ") for line in explained) == 2
