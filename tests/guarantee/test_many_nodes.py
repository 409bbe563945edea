"""Clusters with many interchangeable nodes have the verdicts of small ones, and as many states."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from tests.guarantee.test_gaps import by_zone, Plain, pods_of

WEB = {"matchLabels": {"app": "web"}}
RULES = ("--max-share", "hostname=1/3", "--max-share", "zone<2/3", "--survive", "zone", "--keep", "50%")


def answer(nodes: int, path: Path, capsys: pytest.CaptureFixture[str]) -> list[Plain]:
    """Return verdict, number of states and length of the way for each rule and regime."""
    words = ["-f", str(path), "--topology", f"zones=3,nodes={nodes}", *RULES, "-o", "json"]
    run(["guarantee", *words])
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    return [
        {
            "regime": regime["regime"],
            "verdict": rule["verdict"],
            "states": rule["states"],
            "events": len((rule["witness"] or {"events": ()})["events"]),
        }
        for regime in group["regimes"]
        for rule in regime["rules"]
    ]


@pytest.mark.parametrize("max_skew", [1, 2])
def test_more_nodes_than_pods_make_no_difference(
    max_skew: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of 300 nodes, as many are searched as three pods can use."""
    path = tmp_path / "web.json"
    path.write_text(json.dumps(pods_of("web", replicas=3, **by_zone(WEB, maxSkew=max_skew))))

    assert answer(100, path, capsys) == answer(7, path, capsys)


def test_nodes_with_pods_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A taken node has less room, so that its place matters."""
    web = pods_of("web", replicas=3, cpu="3", **by_zone(WEB))
    taken = [f"node-{zone}{number:03}" for zone in "ab" for number in range(1, 41)]
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"other-{node}", "namespace": "default"},
            "spec": {"nodeName": node, "containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]},
            "status": {"phase": "Running"},
        }
        for node in taken
    ]
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"node-{zone}{number:03}",
                         "labels": {"kubernetes.io/hostname": f"node-{zone}{number:03}",
                                    "topology.kubernetes.io/zone": zone}},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"}},
        }
        for zone in "abc" for number in range(1, 41)
    ]  # fmt: skip
    (tmp_path / "web.json").write_text(json.dumps(web))
    (tmp_path / "facts.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes, *pods]}))
    words = ["-f", str(tmp_path / "web.json"), "--snapshot", str(tmp_path / "facts.json")]
    run(["guarantee", *words, "--max-share", "zone=1/2", "--regime", "creation", "-o", "json"])
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    (placed,) = [rule for rule in group["regimes"][0]["rules"] if rule["rule"]["kind"] == "placed"]

    assert placed["verdict"] == "refuted"


@pytest.mark.parametrize(
    ("replicas", "cpu", "nodes", "proofs"),
    [
        (100, "500m", 250, {("proved", "bound")}),
        (100, "10", 45, {("proved", "bound")}),
        (100, "10", 25, {("undecided", "none")}),
        (13, "10", 3, {("refuted", "witness")}),
    ],
)
def test_room_for_all_pods_in_each_zone_is_a_proof(
    replicas: int, cpu: str, nodes: int, proofs: set[object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A node takes one pod of 10 cores. 175 pods at a time need 44 such nodes in each of 4 zones."""
    path = tmp_path / "web.json"
    path.write_text(json.dumps(pods_of("web", replicas=replicas, cpu=cpu, **by_zone(WEB))))
    words = ["-f", str(path), "--topology", f"zones=4,nodes={nodes},cpu=16", "--max-share", "zone=1/2"]
    run(["guarantee", *words, "--regime", "rollouts", "--max-states", "2000", "-o", "json"])
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    rules = [rule for rule in group["regimes"][0]["rules"] if rule["rule"]["kind"] == "placed"]

    assert {(rule["verdict"], rule["method"]) for rule in rules} == proofs


def test_a_limit_of_each_revision_holds_once_settled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two revisions are counted apart. Each has at most 34 pods in a zone, and one is left after a rollout."""
    path = tmp_path / "web.json"
    spread = by_zone(WEB, matchLabelKeys=["pod-template-hash"])
    path.write_text(json.dumps(pods_of("web", replicas=100, **spread)))
    words = ["-f", str(path), "--topology", "zones=3,nodes=300", "--max-share", "zone=1/2", "--max-states", "50"]
    run(["guarantee", *words, "--regime", "rollouts", "-o", "json"])
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    (share,) = [rule for rule in group["regimes"][0]["rules"] if rule["rule"]["kind"] == "maxShare"]

    assert share["verdict"] == "undecided"
    assert (share["settled"]["verdict"], share["settled"]["bound"]["most"]) == ("proved", 34)
