"""What several commands say of one cluster: the same numbers, and what the facts lack."""

from __future__ import annotations

import json
import random
import re
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
    lacking = "The facts hold no PodDisruptionBudget of shop, so none refuses an eviction here"
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
    facts = saved(tmp_path, *shop(2, node("a1", "a"), node("b1", "b")), *wrong)
    assert run(["status", *facts]) == 3
    errors = capsys.readouterr().err.splitlines()
    assert len([line for line in errors if line.startswith("error: ")]) == 5
    assert "and 4 more errors; -o json lists all" in errors
    everywhere = [word for word in facts if word not in ("-n", "shop")]
    for command in (["status", "-A", "-o", "json"], ["snapshot"]):
        run([*command, *everywhere])
        assert "and 4 more errors" in capsys.readouterr().err.splitlines()


def canary(number: int, on: str, **more: Any) -> list[Plain]:
    """Pods of another workload, which the selector of `web` matches."""
    made = [pod(f"web-canary-2-{at}", on, owner="web-canary-2", **more) for at in range(number)]
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web-canary", "controller": True}
    second = replica_set("web-canary-2")
    second["metadata"]["ownerReferences"] = [owner]
    workload = deployment(replicas=number, labels={})
    workload["metadata"]["name"] = "web-canary"
    return [workload, second, *made]


def test_a_canary_is_counted_in_every_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """web has 2 of 2 pods spread, and its constraint counts two more in zone a."""
    nodes = (node("a1", "a"), node("b1", "b"), node("c1", "c", unschedulable=True))
    facts = saved(tmp_path, *shop(2, *nodes), *canary(2, "a1"))
    assert run(["status", *facts]) == 1
    assert "a=3 b=1 c=0   3  " in capsys.readouterr().out
    assert run(["simulate", "scale", "deploy/web", "--replicas=1", *facts]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith("scale deploy/web --replicas=1: completes")
    assert "skew: 3 before, " in out
    assert "(pods of Deployment web-canary are counted, too)" in out
    run(["rebalance", *facts])
    assert "skew 3, maxSkew 1; pods of Deployment web-canary are counted, too" in " ".join(
        capsys.readouterr().out.split()
    )


@pytest.mark.parametrize("seed", range(12))
def test_one_skew_for_constraints_of_every_kind(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(seed)
    more: Plain = chance.choice(
        [{}, {"minDomains": 4}, {"matchLabelKeys": ["pod-template-hash"]}, {"nodeTaintsPolicy": "Honor"}]
    )
    when = "DoNotSchedule" if "minDomains" in more else chance.choice(["DoNotSchedule", "ScheduleAnyway"])
    limit = constraint(chance.randint(1, 2), when, **more)
    taint = [{"key": "only", "value": "gpu", "effect": "NoSchedule"}]
    nodes = [node("a1", "a"), node("b1", "b"), node("c1", "c", **chance.choice([{}, {"taints": taint}]))]
    names = [item["metadata"]["name"] for item in nodes]
    own = [pod(f"web-1-{at}", chance.choice(names), topologySpreadConstraints=[limit]) for at in range(4)]
    there = {"namespace": chance.choice(["shop", "other"])}
    bare = [pod(f"old-{at}", chance.choice(names), metadata={**there, "ownerReferences": []}) for at in range(3)]
    items = [*nodes, deployment(limit, replicas=4), replica_set(), *own, *bare, *canary(2, chance.choice(names))]
    facts = saved(tmp_path, *items)
    run(["status", *facts, "-o", "json"])
    (web,) = (item for item in json.loads(capsys.readouterr().out)["workloads"] if item["object"]["name"] == "web")
    run(["simulate", "rollout", "restart", "deploy/web", *facts, "-o", "json"])
    (step,) = json.loads(capsys.readouterr().out)["steps"]
    (simulated,) = (item for item in step["workloads"] if item["object"]["name"] == "web")
    before = simulated["domains"][0]["skew"]["before"]
    assert [before["min"], before["max"]] == [web["constraints"][0]["skew"]] * 2


@pytest.mark.parametrize(
    ("command", "verdict", "code", "sentence"),
    [
        (
            "drain b1",
            "no worse than before, 1 pod stays Pending",
            0,
            "was not complete before, and stays so: 2 of 3 pods ready (2 before)",
        ),
        (
            "delete pod web-1-0",
            "no worse than before, 1 pod stays Pending",
            0,
            "was not complete before, and stays so: 2 of 3 pods ready",
        ),
        ("drain a1", "gets stuck, 2 pods stay Pending", 1, "gets stuck: 1 of 3 pods ready (2 before)"),
        (
            "scale deploy/web --replicas=4",
            "gets stuck, 2 pods stay Pending",
            1,
            "gets stuck: 2 of 4 pods ready (2 before), 2 Pending",
        ),
        (
            "rollout restart deploy/web",
            "gets stuck, 2 pods stay Pending",
            1,
            "gets stuck: 2 of 3 pods ready (2 before), 2 Pending",
        ),
        ("scale deploy/web --replicas=2", "completes", 0, "completes: 2 of 2 pods ready"),
        ("uncordon c1", "completes", 0, "completes: 3 of 3 pods ready"),
        ("cordon b2", "completes", 0, "Not affected by this step, but already incomplete: Deployment shop/web"),
    ],
)
def test_a_step_that_makes_nothing_worse(
    command: str, verdict: str, code: int, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of three pods waits for zone c, whose node is cordoned."""
    nodes = (node("a1", "a"), node("b1", "b"), node("b2", "b"), node("c1", "c", unschedulable=True))
    facts = saved(tmp_path, *shop(3, *nodes))
    assert run(["simulate", *command.split(), *facts]) == code
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith(f"{command}: {verdict} ")
    assert sentence in out


def test_a_part_of_a_step_has_no_skew_of_other_pods(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The rollout has too many states, and is answered without the canary's pods, which its soft constraint counts."""
    limit = constraint(1, "ScheduleAnyway")
    nodes = [node(f"{zone}{at}", zone) for zone in "abc" for at in range(10)]
    names = [item["metadata"]["name"] for item in nodes]
    own = [pod(f"web-1-{at}", names[at % 30], topologySpreadConstraints=[limit]) for at in range(40)]
    items = [*nodes, deployment(limit, replicas=40), replica_set(), *own]
    assert run(["simulate", "rollout", "restart", "deploy/web", *saved(tmp_path, *items)]) == 0
    assert "skew: in the sampled runs 10 before" in capsys.readouterr().out
    assert run(["simulate", "rollout", "restart", "deploy/web", *saved(tmp_path, *items, *canary(9, "a1"))]) == 0
    out = capsys.readouterr().out
    assert "topology.kubernetes.io/zone   before   after (sampled)" in out
    assert "skew" not in out


def test_each_outcome_has_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Room is left for one of two evicted pods. Each change is for one of the workloads, and says so."""
    small = node("b1", "b")
    small["status"]["allocatable"]["pods"] = "1"
    own = [deployment(replicas=1), replica_set(), pod("web-1-0", "a1", topologySpreadConstraints=[])]
    facts = saved(tmp_path, node("a1", "a"), small, *own, *canary(1, "a1", topologySpreadConstraints=[]))
    assert run(["simulate", "drain", "a1", *facts]) == 1
    out = capsys.readouterr().out
    assert out.startswith("drain a1: gets stuck, 1 pod stays Pending\n")
    assert out.count(", in 1 of 2 outcomes\n") == 2
    assert "nodes are available" not in out
    assert re.search(r"^Do, for Deployment web-canary: .*\n(?:  .*\n)*And, for Deployment web: ", out, re.MULTILINE)


def test_a_policy_is_about_the_pods_that_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A proof judges these rules only where all pods have a node; now one pod waits, and they are violated."""
    facts = saved(tmp_path, *shop(3, node("a1", "a"), node("b1", "b"), minDomains=3))
    (tmp_path / "ha.yaml").write_text(
        "apiVersion: kubectl-spread/v1\nkind: Policy\nname: ha\ngroups:\n- minDomains: {zone: 3}\n"
    )
    assert run(["status", "--policy", str(tmp_path / "ha.yaml"), *facts]) == 1
    assert re.search(r"pods in at least 3 zones +violated", capsys.readouterr().out)


def test_a_constraint_without_a_domain_has_no_number_of_minimum_domains(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = saved(tmp_path, *shop(2, node("a1", "a"), node("b1", "b"), topologyKey="rack"))
    run(["status", *facts])
    assert re.search(r"DoNotSchedule +0 +<none>", capsys.readouterr().out)
