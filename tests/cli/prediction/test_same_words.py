"""What several commands say of one cluster: the same numbers, and what the facts lack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from tests.cli.running_objects import constraint, deployment, node, pod, replica_set

Plain = dict[str, Any]


def saved(tmp_path: Path, *items: Plain) -> list[str]:
    versions = {"Deployment": "apps/v1", "ReplicaSet": "apps/v1"}
    every = [{"apiVersion": versions.get(str(item.get("kind")), "v1"), **item} for item in items]
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": every}))
    return ["-n", "shop", "--snapshot", str(path)]


def shop(replicas: int, *nodes: Plain, **more: Any) -> list[Plain]:
    """A Deployment with a pod on a1 and one on b1, and as many Pending pods as it wants more."""
    hard = constraint(**more)
    pods = [pod(f"web-1-{at}", on, topologySpreadConstraints=[hard]) for at, on in enumerate(("a1", "b1"))]
    pods += [pod(f"web-1-{at}", topologySpreadConstraints=[hard]) for at in range(2, replicas)]
    return [*nodes, deployment(hard, replicas=replicas), replica_set(), *pods]


def test_one_skew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With fewer domains than minDomains the global minimum is 0, in every command."""
    facts = saved(tmp_path, *shop(3, node("a1", "a"), node("b1", "b"), minDomains=3))
    run(["status", *facts])
    assert "a=1 b=1   1  " in capsys.readouterr().out
    run(["explain", "deploy/web", *facts])
    assert " (was 1)." in " ".join(capsys.readouterr().out.split())
    run(["simulate", "cordon", "a1", "--then", "rollout restart deploy/web", *facts])
    assert "skew: 1 before" in capsys.readouterr().out


def test_one_more_pod_of_a_complete_workload_may_wait(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The workload is healthy, so that the exit code is 0; the answer says what the next pod does."""
    facts = saved(tmp_path, *shop(2, node("a1", "a"), node("b1", "b"), minDomains=3))
    assert run(["explain", "deploy/web", *facts]) == 0
    assert "A new pod of Deployment shop/web stays Pending" in capsys.readouterr().out
    facts = saved(tmp_path, *shop(3, node("a1", "a"), node("b1", "b"), minDomains=3))
    assert run(["explain", "deploy/web", *facts]) == 1


def test_a_drain_says_that_no_budget_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = shop(2, node("a1", "a"), node("b1", "b"), maxSkew=2)
    lacking = "the facts hold no PodDisruptionBudget of shop, so none refuses an eviction here"
    facts = saved(tmp_path, *items)
    run(["simulate", "drain", "a1", *facts])
    assert lacking in capsys.readouterr().out
    run(["simulate", "drain", "a1", "--disable-eviction", *facts])
    assert lacking not in capsys.readouterr().out
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    budget = {"kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "shop"}, "spec": spec}
    run(["simulate", "drain", "a1", *saved(tmp_path, *items, {**budget, "apiVersion": "policy/v1"})])
    assert lacking not in capsys.readouterr().out


def test_many_errors_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = [{"kind": "Node", "metadata": {"name": f"n{at}", "labels": {"x": True}}} for at in range(9)]
    assert run(["status", *saved(tmp_path, *shop(2, node("a1", "a"), node("b1", "b")), *wrong)]) == 3
    errors = capsys.readouterr().err.splitlines()
    assert len([line for line in errors if line.startswith("error: ")]) == 5
    assert "and 4 more errors; -o json lists all" in errors
