"""Why something does not happen: what `simulate`, `check` and `explain` say first, with the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Optional

import pytest

from kubectl_spread.cli.main import run
from tests.cli.running_objects import constraint, deployment, node, pod, replica_set

Plain = dict[str, Any]
UNREADY = {"conditions": [{"type": "Ready", "status": "False"}], "phase": "Running"}
READY = {"conditions": [{"type": "Ready", "status": "True"}], "phase": "Running"}


@pytest.fixture
def said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def answer(command: str, *items: Plain) -> tuple[int, str]:
        versions = {"Node": "v1", "Pod": "v1", "PodDisruptionBudget": "policy/v1"}
        every = [{"apiVersion": versions.get(str(item["kind"]), "apps/v1"), **item} for item in items]
        path = tmp_path / "facts.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": every}))
        code = run([*command.split(), "-n", "shop", "--snapshot", str(path)])
        return code, " ".join(capsys.readouterr().out.split())

    return answer


def owned(kind: str, name: str, on: str, *, status: Plain) -> Plain:
    made = pod(name, on, topologySpreadConstraints=[])
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": name.rpartition("-")[0], "controller": True}
    made["metadata"] |= {"ownerReferences": [reference], "labels": {"app": "web"}}
    return {**made, "status": status}


def workload(kind: str, name: str, **spec: Any) -> Plain:
    made = deployment(**spec)
    metadata = {"name": name, "namespace": "shop"}
    return {**made, "kind": kind, "metadata": metadata}


NODES = (node("a1", "a"), node("a2", "a"), node("b1", "b"))
PODS = [pod(f"web-1-{at}", on, topologySpreadConstraints=[]) for at, on in enumerate(("a1", "a2", "b1"))]
WEB = (deployment(), replica_set(), *PODS)


def budget(healthy: int) -> Plain:
    spec = {"minAvailable": healthy, "selector": {"matchLabels": {"app": "web"}}}
    return {"kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "shop"}, "spec": spec}


def test_a_daemonset_counts_the_nodes_that_it_wants(said: Any) -> None:
    """Pods stay on two nodes that have got a taint since; they are not Ready, and not wanted."""
    taint = [{"key": "k", "effect": "NoSchedule"}]
    nodes = (node("a1", "a"), node("b1", "b", taints=taint), node("c1", "c", taints=taint))
    states = zip(("a1", "b1", "c1"), (READY, UNREADY, UNREADY), strict=True)
    pods = [owned("DaemonSet", f"agent-{on}", on, status=status) for on, status in states]
    agent = workload("DaemonSet", "agent")
    code, out = said("simulate delete pod agent-a1", *nodes, agent, *pods)
    assert (code, "DaemonSet shop/agent completes: 1 of 1 pod ready" in out) == (0, True)


@pytest.mark.parametrize("status", [UNREADY, {"phase": "Pending"}])
def test_the_ordinal_that_holds_a_statefulset(status: Plain, said: Any) -> None:
    """db-1 runs and is not Ready, or is starting; so db-2 is not created."""
    pods = [owned("StatefulSet", "db-0", "a1", status=READY), owned("StatefulSet", "db-1", "b1", status=status)]
    items = (*NODES, workload("StatefulSet", "db", replicas=3), *pods)
    code, out = said("check", *items)
    assert code == 1
    assert out.startswith(
        "Not created: 1 of 3 pods of statefulset/db: podManagementPolicy OrderedReady creates them only once db-1 is"
    )
    code, out = said("explain sts/db", *items)
    assert code == 1
    assert "The next pod is created when db-1 is Ready (OrderedReady). That pod is not Ready." in out


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_a_name_is_not_free_before_its_pod_is_gone(policy: str, said: Any) -> None:
    """db-2 terminates on a node that does not answer; the next db-2 would find no other node there."""
    down = [{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]
    nodes = (node("a1", "a"), node("b1", "b"), node("c1", "c", taints=down))
    pods = [owned("StatefulSet", f"db-{at}", on, status=READY) for at, on in enumerate(("a1", "b1", "c1"))]
    pods[2]["metadata"]["deletionTimestamp"] = "2026-01-03T00:00:00Z"
    for item in pods:
        item["spec"]["topologySpreadConstraints"] = [constraint()]
    db = workload("StatefulSet", "db", replicas=3, podManagementPolicy=policy)
    db["spec"]["template"]["spec"]["topologySpreadConstraints"] = [constraint()]
    code, out = said("explain sts/db", *nodes, db, *pods)
    assert code == 1
    ends = (
        "is terminating on node c1 since 2026-01-03T00:00:00Z; c1 is unreachable, and the pod ends once c1 is back or"
    )
    assert f"The next pod is created when db-2 is gone. That pod {ends} deleted. The next pod shop/db-2 does not" in out
    assert "Do: wait until node c1 is Ready again; the scheduler then tries again The pod goes to c1" in out
    assert "Or: delete node c1, which takes no pods and counts as a domain" in out
    _, out = said("explain pod/db-2", *nodes, db, *pods)
    assert out.startswith(f"Pod shop/db-2 {ends} deleted. Spread constraints no longer count it")
    code, out = said("check", *nodes, db, *pods)
    text = "they are created only once db-2, which is terminating on c1, is gone"
    assert (code, out.startswith(f"Not created: 1 of 3 pods of statefulset/db: {text}")) == (1, True)
    assert said("simulate delete node c1", *nodes, db, *pods)[0] == 0


def test_an_ordinal_holds_the_next_rollout_and_the_next_pod(said: Any) -> None:
    """All three pods exist."""
    states = zip(("a1", "a2", "b1"), (READY, UNREADY, READY), strict=True)
    pods = [owned("StatefulSet", f"db-{at}", on, status=status) for at, (on, status) in enumerate(states)]
    items = (*NODES, workload("StatefulSet", "db", replicas=3), *pods)
    code, out = said("check", *items)
    assert code == 1
    assert out.startswith(
        "Rollout: statefulset/db in shop: the next rollout gets stuck in every outcome, because db-1 does not become "
        "ready on a2"
    )
    code, out = said("explain sts/db", *items)
    assert code == 0
    assert out.startswith(
        "StatefulSet shop/db wants 3 pods: 3 have a node. The next pod is created when db-1 is Ready (OrderedReady)."
    )


@pytest.mark.parametrize(
    ("command", "note"),
    [
        (
            "simulate lose zone=a zone=b",
            "gets stuck no node answers, so the node lifecycle controller evicts no pod until one does",
        ),
        ("simulate lose zone=a", None),
    ],
)
def test_nothing_is_evicted_once_no_node_answers(command: str, note: Optional[str], said: Any) -> None:
    code, out = said(command, *NODES, *WEB)
    assert (code, "evicts no pod" in out) == (int(note is not None), note is not None)
    assert note is None or f"{command.removeprefix('simulate ')}: {note}" in out


def test_a_drain_that_waits_names_its_pod_and_the_nodes_after_it(said: Any) -> None:
    code, out = said("simulate drain a1 a2 b1", *NODES, *WEB, budget(3))
    assert code == 1
    assert out.startswith(
        "drain a1 a2 b1: gets stuck Pods that do not leave their nodes: web-1-0 on a1: The disruption budget web needs "
        "3 healthy pods and has 3"
    )
    assert "a1 stays cordoned. a2, b1 are cordoned, and not drained, because kubectl waits for a1 first" in out
    code, out = said("simulate drain a1 a2 b1 --timeout=1m", *NODES, *WEB, budget(3))
    assert (code, "not drained" in out) == (1, False)


def test_without_events_there_is_no_way_to_get_stuck(said: Any) -> None:
    """The API server refuses the only new pod; that is the reason, and nothing leads to it."""
    quota = {"kind": "ResourceQuota", "apiVersion": "v1", "metadata": {"name": "few", "namespace": "shop"}}
    quota |= {"spec": {"hard": {"pods": "3"}}, "status": {"hard": {"pods": "3"}, "used": {"pods": "3"}}}
    code, out = said("simulate scale deploy/web --replicas 4", *NODES, *WEB, quota)
    assert (code, "the API server refuses new pods: exceeded quota: few" in out) == (1, True)
    assert "way to get stuck" not in out


def test_a_constraint_that_no_api_server_accepts_is_called_so(said: Any) -> None:
    """No node gets a label without a name."""
    waiting = pod("odd", topologySpreadConstraints=[constraint() | {"topologyKey": ""}])
    waiting["metadata"] |= {"ownerReferences": []}
    waiting["status"] = {"phase": "Pending"}
    code, out = said("explain pod/odd", *NODES, waiting)
    assert (code, "the API server refuses such a constraint" in out) == (1, True)
    assert 'no node has the label "", which the constraint ("", maxSkew 1) asks for' in out
    assert "kubectl label" not in out


def test_a_gated_pod_is_not_unschedulable(said: Any) -> None:
    gated = deployment(replicas=1)
    gated["spec"]["template"]["spec"] |= {"schedulingGates": [{"name": "x/y"}]}
    waiting = pod("web-1-0", schedulingGates=[{"name": "x/y"}], topologySpreadConstraints=[])
    code, out = said("simulate scale deploy/web --replicas=2", *NODES, gated, replica_set(), waiting)
    assert code == 1
    assert "2 pods of Deployment shop/web scheduling gates are not removed: x/y" in out
    assert "1. 2 pods of web wait for their scheduling gates." in out
    assert "no node" not in out


def test_a_restart_counts_against_max_moves(said: Any) -> None:
    """Four pods in zone a: two evictions are needed, and a restart replaces four pods."""
    limit = constraint()
    pods = [pod(f"web-1-{at}", "a1", topologySpreadConstraints=[limit]) for at in range(4)]
    items = (node("a1", "a"), node("b1", "b"), node("c1", "c"), deployment(limit, replicas=4), replica_set(), *pods)
    code, out = said("rebalance --max-moves 1", *items)
    assert code == 1
    assert out.startswith("Deployment shop/web: no plan ")
    assert "- a plan needs at least 2 evictions, more than --max-moves allows" in out
    code, out = said("rebalance --max-moves 2", *items)
    assert (code, out.startswith("Deployment shop/web: 2 evictions repair it")) == (0, True)


def test_a_nominated_pod_takes_the_room_of_a_node(said: Any) -> None:
    def asking(cpu: str) -> list[Plain]:
        return [{"name": "c", "image": "web", "resources": {"requests": {"cpu": cpu}}}]

    first = pod("first", containers=asking("6"), topologySpreadConstraints=[])
    second = pod("second", containers=asking("6"), topologySpreadConstraints=[])
    for item in (first, second):
        item["metadata"]["ownerReferences"] = []
        item["status"] = {"phase": "Pending"}
    first["status"]["nominatedNodeName"] = "a1"
    code, out = said("explain pod second --node a1", node("a1", "a"), first, second)
    assert code == 1
    assert "NodeResourcesFit Insufficient cpu" in out
    assert "cpu 8 6 2 6 no" in out


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("rebalance", "kubectl --context prod rollout status"),
        ("explain deploy/web", "kubectl --context prod uncordon c1"),
        ("simulate drain a1", "kubectl --context prod patch deployment web"),
    ],
)
def test_commands_on_a_page_have_the_flags_of_the_reader(command: str, line: str, said: Any) -> None:
    limit = constraint()
    places = ["a1", "a1", "a1"] if command == "rebalance" else ["a1", "b1", ""]
    pods = [pod(f"web-1-{at}", on, topologySpreadConstraints=[limit]) for at, on in enumerate(places)]
    last = node("c1", "c", unschedulable=command != "rebalance")
    items = [node("a1", "a"), node("b1", "b"), node("b2", "b"), last, deployment(limit), replica_set(), *pods]
    _, out = said(f"{command} -o html --context prod", *items)
    assert line in out
    assert "<pre>kubectl " not in out.replace("<pre>kubectl --context prod", "")
