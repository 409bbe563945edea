"""Ways to violations name the pods of StatefulSets as their controller does, and replace them in its order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.engine.search.explore import Limit
from kubectl_spread.guarantee import texts
from kubectl_spread.guarantee.policy import Regime
from kubectl_spread.guarantee.prove import prove
from kubectl_spread.guarantee.verdict import WitnessEvent
from tests.guarantee import cases
from tests.guarantee.engine import compared

Plain = dict[str, Any]


def _workloads(management: str) -> Plain:
    """Return two pods that can only share zone `b`, and two others that go to zone `a`."""
    by_zone = {"key": cases.ZONE, "skew": 1, "all": True, "honor": False}
    by_node = {"key": cases.HOSTNAME, "skew": 2, "all": True, "honor": True}
    db = {"replicas": 2, "stateful": False, "surge": 2, "unavailable": 0, "constraints": [by_zone]}
    web = {"replicas": 2, "stateful": True, "parallel": management == "Parallel", "constraints": [by_node]}
    return {"db": db, "web": web}


def _events(management: str) -> list[WitnessEvent]:
    nodes = {
        "a1": {"labels": {cases.HOSTNAME: "a1", cases.ZONE: "a"}, "taint": False},
        "b1": {"labels": {cases.HOSTNAME: "b1", cases.ZONE: "b"}, "taint": False, "slots": 1},
        "b2": {"labels": {cases.HOSTNAME: "b2", cases.ZONE: "b"}, "taint": False, "slots": 1},
    }
    case = {"nodes": nodes, "workloads": _workloads(management), "rules": []}
    result = prove(
        cases.members(case), cases.cluster(case), cases.profiles(), [texts.at_most("zone=3/4")],
        regimes=[Regime.DISRUPTIONS], limit=Limit(100_000),
    )  # fmt: skip
    (verdict,) = result.results[0].rules
    assert verdict.witness is not None
    return [event for event in verdict.witness.events if event.owner is not None and event.owner.name == "web"]


def _replaced(events: list[WitnessEvent]) -> list[tuple[str, int]]:
    return [(event.kind.value, event.ordinal) for event in events[2:]]


def test_lost_pods_of_an_ordered_set_are_replaced_from_the_lowest_ordinal_up() -> None:
    """The controller creates no pod while one with a lower ordinal is on a lost node."""
    found = _replaced(_events("OrderedReady"))

    assert [item for item in found if item[0] == "placed"] == [("placed", 0), ("placed", 1)]
    assert found.index(("evicted", 0)) < found.index(("placed", 0))


def test_lost_pods_of_a_parallel_set_are_replaced_in_any_order() -> None:
    """Every missing pod is created at once."""
    assert sorted(_replaced(_events("Parallel"))) == [("evicted", 0), ("evicted", 1), ("placed", 0), ("placed", 1)]


def test_the_engine_takes_the_way_of_an_ordered_set() -> None:
    """The first way that a search without ordinals finds replaces pod 1 while pod 0 is still on a lost node."""
    assert compared(7060, "disruptions").differences == ()


def _stateful_set(**spec: Any) -> Plain:
    labels = {"app": "db"}
    constraint = {
        "topologyKey": cases.ZONE, "maxSkew": 2, "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": labels},
    }  # fmt: skip
    pod = {"containers": [{"name": "c", "image": "c"}], "topologySpreadConstraints": [constraint]}
    template = {"metadata": {"labels": labels}, "spec": pod}
    spec = {"replicas": 3, "selector": {"matchLabels": labels}, "template": template, **spec}
    meta = {"name": "db", "namespace": "default", "uid": "u"}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta, "spec": spec}


def _pod(ordinal: int, node: str) -> Plain:
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "u", "controller": True}
    meta = {"name": f"db-{ordinal}", "namespace": "default", "labels": {"app": "db"}, "ownerReferences": [owner]}
    template = _stateful_set()["spec"]["template"]
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {**template["spec"], "nodeName": node},
        "status": status,
    }  # fmt: skip


def _node(name: str, zone: str) -> Plain:
    labels = {cases.HOSTNAME: name, cases.ZONE: zone}
    status = {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def _way(items: list[Plain], folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """Return the numbered events of the only way to a violation."""
    path = folder / "facts.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    run(["guarantee", *words, str(path), "--less-than", "zone=2/3", "--allow-pending", "--regime", "restarts"])
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    return [line for line in lines if line[:1].isdecimal() and line[1] == "."]


def test_names_begin_with_the_first_ordinal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first pod of a set with `ordinals.start: 5` is db-5."""
    words = ["--topology", "zones=3,nodes=1", "-f"]

    assert _way([_stateful_set(ordinals={"start": 5})], tmp_path, capsys, *words) == [
        "1. Pods go to nodes: db-5 to node-a1, db-6 to node-b1, db-7 to node-b1.",
    ]


def test_running_pods_keep_their_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ordinal 1 is missing, and comes back; the pod on b1 is db-2."""
    nodes = [_node("a1", "a"), _node("b1", "b")]
    pods = [_pod(2, "b1"), _pod(0, "a1")]

    assert _way([_stateful_set(), *nodes, *pods], tmp_path, capsys, "sts/db", "--snapshot") == [
        "1. Pod db-1 goes to a1."
    ]


def test_running_pods_have_claims_that_the_facts_may_lack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their volumes keep them in their zones, so that no constraints are recommended as if the volumes were new."""
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    items = [_stateful_set(volumeClaimTemplates=[claim]), _node("a1", "a"), _node("b1", "b"), _pod(0, "a1")]
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    words = ["--snapshot", str(path), "--max-count", "zone=0", "--regime", "restarts", "--recommend", "-o", "json"]
    run(["guarantee", "sts/db", *words])
    (group,) = json.loads(capsys.readouterr().out)["groups"]

    (note,) = group["notes"]
    assert note == (
        "StatefulSet db: claims can keep pods in the zones of their volumes. Whether the pods find nodes, and "
        "violations that need them in other zones, are not decided"
    )
    assert group["recommendation"]["options"] == []
