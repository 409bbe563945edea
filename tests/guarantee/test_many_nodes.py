"""Clusters with many interchangeable nodes have the verdicts of small ones, and as many states."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from tests.guarantee.test_gaps import by_zone, Plain, pods_of

WEB = {"matchLabels": {"app": "web"}}
RULES = ("--at-most", "hostname=1/3", "--less-than", "zone=2/3", "--survive", "zone", "--keep", "50%")


def answer(nodes: int, path: Path, capsys: pytest.CaptureFixture[str], rules: tuple[str, ...] = RULES) -> list[Plain]:
    """Return verdict, number of states and length of the way for each rule and regime."""
    words = ["-f", str(path), "--topology", f"zones=3,nodes={nodes}", *rules, "-o", "json"]
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


def test_sets_of_lost_nodes_are_told_apart_by_what_runs_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Any two of 300 nodes can be lost, which are 44,850 sets."""
    path = tmp_path / "web.json"
    path.write_text(json.dumps(pods_of("web", replicas=2, **by_zone(WEB))))
    rules = ("--survive", "hostname=2", "--keep", "1", "--regime", "disruptions")
    many, few = (answer(nodes, path, capsys, rules) for nodes in (100, 5))

    assert [item["verdict"] for item in many] == [item["verdict"] for item in few] == ["refuted", "proved", "proved"]
    assert [item["events"] for item in many] == [item["events"] for item in few]


def answer_beside_pods(
    each: int, taken: str, folder: Path, capsys: pytest.CaptureFixture[str], *, regime: str, step_m: int = 0
) -> list[Plain]:
    """Return the rules of a regime. Nodes have 4 cores, and those of `taken` zones have a pod of 2 cores or less.

    step_m: by so many milli-CPU, each next pod requests less.
    """
    names = [f"node-{zone}{number:03}" for zone in "abc" for number in range(1, each + 1)]
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"other-{node}", "namespace": "default"},
            "spec": {
                "nodeName": node,
                "containers": [{"name": "c", "resources": {"requests": {"cpu": f"{2000 - at * step_m}m"}}}],
            },
            "status": {"phase": "Running"},
        }
        for at, node in enumerate(names)
        if node[5] in taken
    ]
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": name[5]},
            },
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"}},
        }
        for name in names
    ]
    cpu = "3" if regime == "creation" else "2"
    (folder / "web.json").write_text(json.dumps(pods_of("web", replicas=3, cpu=cpu, **by_zone(WEB))))
    (folder / "facts.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes, *pods]}))
    words = ["-f", str(folder / "web.json"), "--snapshot", str(folder / "facts.json")]
    run(["guarantee", *words, "--at-most", "zone=1/2", "--regime", regime, "-o", "json"])
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    rules: list[Plain] = group["regimes"][0]["rules"]
    return rules


def test_nodes_with_less_room_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A taken node has less room, so that its place matters."""
    rules = answer_beside_pods(40, "ab", tmp_path, capsys, regime="creation")
    (placed,) = [rule for rule in rules if rule["rule"]["kind"] == "placed"]

    assert placed["verdict"] == "refuted"


def test_other_pods_on_equal_nodes_make_no_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All nodes have one pod of another workload, and room for one more."""
    many, few = (answer_beside_pods(each, "abc", tmp_path, capsys, regime="rollouts") for each in (40, 7))

    assert [(rule["verdict"], rule["states"]) for rule in many] == [(rule["verdict"], rule["states"]) for rule in few]
    assert any(rule["states"] for rule in many)


def test_room_that_no_pod_can_use_makes_no_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On each node, another part of a core is left besides the room for one more pod."""
    equal, unequal = (answer_beside_pods(40, "abc", tmp_path, capsys, regime="rollouts", step_m=m) for m in (0, 5))

    assert [rule["states"] for rule in equal] == [rule["states"] for rule in unequal]
    assert any(rule["states"] for rule in equal)


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
    words = ["-f", str(path), "--topology", f"zones=4,nodes={nodes},cpu=16", "--at-most", "zone=1/2"]
    run(["guarantee", *words, "--regime", "rollouts", "--effort", "quick", "-o", "json"])
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    rules = [rule for rule in group["regimes"][0]["rules"] if rule["rule"]["kind"] == "placed"]

    assert {(rule["verdict"], rule["method"]) for rule in rules} == proofs


def test_a_limit_of_each_revision_holds_once_settled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two revisions are counted apart. Each has at most 34 pods in a zone, and one is left after a rollout."""
    path = tmp_path / "web.json"
    spread = by_zone(WEB, matchLabelKeys=["pod-template-hash"])
    path.write_text(json.dumps(pods_of("web", replicas=100, **spread)))
    words = ["-f", str(path), "--topology", "zones=3,nodes=300", "--at-most", "zone=1/2", "--effort", "quick"]
    run(["guarantee", *words, "--regime", "rollouts", "-o", "json"])
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    (share,) = [rule for rule in group["regimes"][0]["rules"] if rule["rule"]["kind"] == "maxShare"]

    assert share["verdict"] == "undecided"
    assert (share["settled"]["verdict"], share["settled"]["bound"]["most"]) == ("proved", 34)
