"""Every step of every printed way is possible: named cases, and broken ways that the replay refuses."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from kubectl_spread.cli.main import run
from tests.guarantee.cases import HOSTNAME, ZONE
from tests.guarantee.replay import recommended, replayed, witnesses

Plain = dict[str, Any]
ROOT = Path(__file__).parents[2]
REDIS = ROOT / "examples/simulations/redis/manifests"
MANIFESTS = ROOT / "examples/simulations/manifests"
WEB = ROOT / "tests/cases/policy/web.yaml"
SHARES = ("--less-than", "hostname=1/3", "--less-than", "zone=1/2", "--separate", "zone")
CASES: dict[str, tuple[Path, int, int, tuple[str, ...]]] = {
    "surge": (WEB, 3, 2, ("--at-most", "zone=1/2")),
    "shards of a Deployment": (WEB, 3, 2, ("--at-most", "zone=1/2", "--shards", "3..5")),
    "range of replicas": (WEB, 3, 2, ("--at-most", "zone=1/2", "--min-domains", "zone=2", "--replicas", "2..5")),
    "redis": (REDIS / "3-zones-3-shards.yaml", 3, 2, SHARES),
    "shards of redis": (REDIS / "3-zones-3-shards.yaml", 3, 4, (*SHARES, "--shards", "3..5", "--regime", "scaling")),
    "web": (MANIFESTS / "web.yaml", 3, 2, ("--less-than", "zone=1/2", "--min-domains", "zone=3")),
    "anti-affinity": (MANIFESTS / "web-anti-affinity.yaml", 3, 1, ("--max-count", "zone=9")),
}  # fmt: skip


def nodes(zones: int, each: int) -> list[Plain]:
    """Return the nodes of a topology `zones=Z,nodes=N`."""
    made = []
    for zone in "abcdef"[:zones]:
        for number in range(1, each + 1):
            name = f"node-{zone}{number}"
            status = {"allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110"}}
            metadata = {"name": name, "labels": {HOSTNAME: name, ZONE: zone}}
            made.append({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status, "spec": {}})
    return made


def judged(name: str, capsys: pytest.CaptureFixture[str]) -> tuple[Plain, list[Plain], list[Plain]]:
    """Return the group of a case in the report, its workloads and its nodes."""
    path, zones, each, words = CASES[name]
    run(["guarantee", "-f", str(path), "--topology", f"zones={zones},nodes={each}", *words, "-o", "json"])
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    written = [part for item in YAML(typ="safe").load_all(path.read_text()) for part in item.get("items", [item])]
    return group, [item for item in written if item["kind"] in ("Deployment", "StatefulSet")], nodes(zones, each)


@pytest.mark.parametrize("name", CASES)
def test_each_step_of_each_way_can_happen(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    number, impossible = replayed(*judged(name, capsys))

    assert impossible == []
    assert number > 0


RECOMMENDED = {
    "shares": ("--at-most", "zone=1/2", "--less-than", "hostname=2/3"),
    "domains": ("--less-than", "zone=2/3", "--min-domains", "zone=3"),
    "losses": ("--max-count", "zone=2", "--survive", "zone", "--keep", "50%"),
}


@pytest.mark.parametrize("name", RECOMMENDED)
def test_ways_that_refute_candidates_of_a_recommendation(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """With the constraints of the candidate, or of the option whose cost they are."""
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "c"}]}}
    spec = {"replicas": 4, "selector": {"matchLabels": labels}, "template": template}
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
    (tmp_path / "web.json").write_text(json.dumps(web))
    words = ("-f", str(tmp_path / "web.json"), "--topology", "zones=3,nodes=2", *RECOMMENDED[name])
    run(["guarantee", *words, "--recommend", "-o", "json"])
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    found = [replayed(part, [plain], nodes(3, 2)) for part, plain in recommended(group, web)]

    assert [text for _, impossible in found for text in impossible] == []
    assert sum(number for number, _ in found) > 1


def test_rollout_of_18_pods_on_12_nodes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Each rule gets a search of its own: 20,000 states are enough for the crowd that only one order of events makes.

    The sixth new pod of a node needs all 18 old pods and 14 new ones at once.
    """
    labels = {"app": "web"}
    selector = {"matchLabels": labels}
    spreads = [
        {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
        for key, skew in ((HOSTNAME, 4), (ZONE, 2))
    ]
    pod = {"containers": [{"name": "c", "image": "c"}], "topologySpreadConstraints": spreads}
    template = {"metadata": {"labels": labels}, "spec": pod}
    spec = {"replicas": 18, "selector": selector, "template": template}
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
    (tmp_path / "web.json").write_text(json.dumps(web))
    rules = ("--less-than", "hostname=1/3", "--less-than", "zone=1/2", "--survive", "zone", "--keep", "50%")
    words = ("-f", str(tmp_path / "web.json"), "--topology", "zones=3,nodes=4", *rules, "--regime", "rollouts")
    code = run(["guarantee", *words, "-o", "json"])
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    number, impossible = replayed(group, [web], nodes(3, 4))
    (regime,) = group["regimes"]

    assert code == 1
    assert [rule["verdict"] for rule in regime["rules"]] == ["refuted", "refuted", "refuted", "notApplicable", "proved"]
    assert [rule.get("settled", rule)["verdict"] for rule in regime["rules"]][:2] == ["refuted", "refuted"]
    assert (number, impossible) == (5, [])


def test_a_way_from_the_running_pods(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Ordinal 1 is missing; all three pods end in one zone."""
    labels = {"app": "db"}
    pod = {"containers": [{"name": "c", "image": "c"}]}
    template = {"metadata": {"labels": labels}, "spec": pod}
    spec = {"replicas": 3, "selector": {"matchLabels": labels}, "template": template}
    meta = {"name": "db", "namespace": "default", "uid": "u"}
    workload = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta, "spec": spec}
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "u", "controller": True}
    running = [
        {
            "apiVersion": "v1", "kind": "Pod", "spec": {**pod, "nodeName": node}, "status": {"phase": "Running"},
            "metadata": {"name": name, "namespace": "default", "labels": labels, "ownerReferences": [owner]},
        }
        for name, node in (("db-0", "node-a1"), ("db-2", "node-a1"))
    ]  # fmt: skip
    made = nodes(2, 1)
    items = {"apiVersion": "v1", "kind": "List", "items": [workload, *made, *running]}
    (tmp_path / "facts.json").write_text(json.dumps(items))
    run(["guarantee", "sts/db", "--snapshot", str(tmp_path / "facts.json"), "--max-count", "zone=2", "-o", "json"])
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    number, impossible = replayed(group, [workload], made, running)

    assert (number, impossible) == (1, [])
    assert next(witnesses(group))[2]["fromRunning"]


def test_impossible_ways_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """An event that is left out, another node and a smaller rollout are noticed."""
    group, items, made = judged("surge", capsys)
    (way,) = [witness for where, _, witness in witnesses(group) if "once settled" in where]
    refused = []
    for at, event in enumerate(way["events"]):
        for changed in ([], [{**event, "kept": 0, "nodes": [], "node": "node-a1", "newRevision": True}]):
            broken = copy.deepcopy(group)
            (other,) = [witness for where, _, witness in witnesses(broken) if "once settled" in where]
            other["events"][at : at + 1] = changed
            refused.append(bool(replayed(broken, items, made)[1]))

    assert refused.count(True) > len(refused) * 3 // 4
