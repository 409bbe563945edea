"""Pods without a controller: the nodes that they may go to, and the outcomes in which they are gone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run

NODES = ("a1", "a2", "b1", "b2")


def _node(name: str, **spec: Any) -> dict[str, Any]:
    labels = {"topology.kubernetes.io/zone": name[0], "kubernetes.io/hostname": name}
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": status,
    }


def _pod(node: str = "") -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "c"}], **({"nodeName": node} if node else {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "solo", "namespace": "default"}, "spec": spec}


class Asked:
    """`simulate` of steps on a cluster of four equal nodes."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder = folder
        self._capsys = capsys

    def file(self, name: str, *items: dict[str, Any]) -> str:
        path = self._folder / name
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(items)}))
        return str(path)

    def steps(self, *commands: str, items: tuple[dict[str, Any], ...] = ()) -> list[dict[str, Any]]:
        facts = self.file("facts.json", *(items or map(_node, NODES)))
        first, *more = commands
        then = [word for command in more for word in ("--then", command)]
        run(["simulate", *first.split(), *then, "--snapshot", facts, "-o", "json"])
        found: list[dict[str, Any]] = json.loads(self._capsys.readouterr().out)["steps"]
        return found


@pytest.fixture
def asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Asked:
    return Asked(tmp_path, capsys)


def test_all_equal_nodes_are_named(asked: Asked) -> None:
    (step,) = asked.steps(f"create -f {asked.file('pod.json', _pod())}")

    assert [{"pod": "solo", "nodes": list(NODES)}] == step["scheduledPods"]


def test_a_pod_is_gone_only_where_it_ran(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = asked.file("pod.json", _pod())
    *_, step = asked.steps(f"create -f {manifest}", "drain a1 --force")
    facts = asked.file("facts.json", *map(_node, NODES))
    run(["simulate", "create", "-f", manifest, "--then", "drain a1 --force", "--snapshot", facts])

    assert (["solo"], 2) == (step["lostPods"], step["outcomeCount"])
    assert "no controller creates them again: solo, in 1 of 2 outcomes\n" in capsys.readouterr().out


@pytest.mark.parametrize(("node", "nodes"), [("b1", ["b1"]), ("nope", None)])
def test_a_pod_that_names_its_node_bypasses_the_scheduler(asked: Asked, node: str, nodes: list[str] | None) -> None:
    (step,) = asked.steps(f"create -f {asked.file('pod.json', _pod(node))}")

    assert ([] if nodes is None else [{"pod": "solo", "nodes": nodes}]) == step["scheduledPods"]
    assert any("bypasses the scheduler, because nodeName is set" in note for note in step["notes"])


@pytest.mark.parametrize("seconds", [None, 300])
def test_a_taint_of_the_facts_evicts_whatever_the_step_is(asked: Asked, seconds: int | None) -> None:
    """The step is about another node."""
    taint = {"key": "maint", "effect": "NoExecute"}
    pod = _pod("a1")
    if seconds is not None:
        pod["spec"]["tolerations"] = [{"key": "maint", "operator": "Exists", "tolerationSeconds": seconds}]
    items = (_node("a1", taints=[taint]), _node("a2"), _node("b1"), pod)
    (step,) = asked.steps("cordon b1", items=items)

    assert ["solo"] == step["lostPods"]


def test_a_tolerated_taint_evicts_nothing(asked: Asked) -> None:
    pod = _pod("a1")
    pod["spec"]["tolerations"] = [{"key": "maint", "operator": "Exists"}]
    items = (_node("a1", taints=[{"key": "maint", "effect": "NoExecute"}]), _node("b1"), pod)
    (step,) = asked.steps("cordon b1", items=items)

    assert [] == step["lostPods"]


def test_a_generated_name_is_created_and_not_applied(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    pod = _pod()
    pod["metadata"] = {"generateName": "solo-", "namespace": "default"}
    manifest = asked.file("pod.json", pod)
    (step,) = asked.steps(f"create -f {manifest}")

    assert [{"pod": "solo-*", "nodes": list(NODES)}] == step["scheduledPods"]
    assert 1 == run(["simulate", "apply", "-f", manifest, "--snapshot", asked.file("facts.json", _node("a1"))])
    assert capsys.readouterr().err == "error: from solo-: cannot use generate name with apply\n"


def test_nodes_that_an_earlier_step_told_apart_are_named(asked: Asked) -> None:
    """The first pod is on one of four equal nodes, and the second has no room beside it."""
    pods = []
    for name in ("one", "two"):
        pod = _pod()
        pod["metadata"]["name"] = name
        pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "3" if name == "one" else "2500m"}}
        pods.append(asked.file(f"{name}.json", pod))
    *_, step = asked.steps(*(f"create -f {path}" for path in pods))

    assert [{"pod": "two", "nodes": list(NODES)}] == step["scheduledPods"]


def test_pods_of_one_name_in_two_namespaces_are_told_apart(asked: Asked) -> None:
    pods = []
    for namespace, node in (("x", "a1"), ("y", "b1")):
        pod = _pod(node)
        pod["metadata"]["namespace"] = namespace
        pods.append(pod)
    items = (*map(_node, NODES), *pods)
    (step,) = asked.steps("drain a1 --force", items=items)

    assert ["solo"] == step["lostPods"]
