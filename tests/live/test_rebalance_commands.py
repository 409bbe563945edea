"""The commands of `rebalance`, carried out by kubectl on a cluster that answers and reacts."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.objects.keys import ObjectKey
from tests.live.slow_cluster import SlowCluster
from tests.naive.controllers import admission
from tests.naive.controllers.world import World
from tests.rebalance import executing, generated

Plain = dict[str, Any]
needs_kubectl = [
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on PATH"),
    pytest.mark.skipif(sys.platform == "win32", reason="the commands are for a POSIX shell"),
]
pytestmark = needs_kubectl


class Terminal:
    """A shell and the program, both with a kubeconfig that leads to a cluster."""

    def __init__(self, cluster: SlowCluster, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._config = config
        self._capsys = capsys
        plain = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "here",
            "clusters": [{"name": "here", "cluster": {"server": cluster.url}}],
            "users": [{"name": "me", "user": {}}],
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        }
        config.write_text(json.dumps(plain))

    def plan(self) -> Plain:
        """Return the only repair."""
        run(["rebalance", "-A", "--kubeconfig", str(self._config), "-o", "json"])
        (repair,) = json.loads(self._capsys.readouterr().out)["repairs"]
        return dict(repair)

    def text(self) -> str:
        run(["rebalance", "-A", "--kubeconfig", str(self._config)])
        return self._capsys.readouterr().out

    def script(self) -> str:
        """Return the commands as they are printed."""
        return self.text().partition("Commands:\n")[2].rpartition("\nIf a command fails")[0]

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "KUBECONFIG": str(self._config)}
        return subprocess.run(
            script, shell=True, env=environment, capture_output=True, text=True, timeout=120, check=False
        )


Opened = Callable[[World], tuple[SlowCluster, Terminal]]


@pytest.fixture
def opened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Serve a world."""
    running = []

    def serve(world: World) -> tuple[SlowCluster, Terminal]:
        cluster = SlowCluster(world)
        manager = cluster.running()
        running.append(manager)
        manager.__enter__()
        return cluster, Terminal(cluster, tmp_path / "config", capsys)

    yield serve
    for manager in running:
        manager.__exit__(None, None, None)


def key_of(world: World) -> ObjectKey:
    (item,) = [*world.list("Deployment"), *world.list("StatefulSet")] or world.list("ReplicaSet")
    return ObjectKey(item["kind"], "default", "web")


def budgeted(world: World, **rule: Any) -> World:
    """Return a world with one budget over the pods of `web`; with none, if there is no rule."""
    world = world.copy()
    for item in world.list("PodDisruptionBudget"):
        world.remove(item)
    if not rule:
        return world
    spec = {"selector": {"matchLabels": {"app": "web"}}, **rule}
    item = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"}, "spec": spec}
    admission.create(world, item)
    return world


SEEDS = {"Deployment": 13, "ordered StatefulSet": 1, "parallel StatefulSet": 6, "ReplicaSet": 9}
RULES: dict[str, Plain] = {"without a budget": {}, "with a budget": {"maxUnavailable": 1}}


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS.values(), ids=SEEDS)
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_kubectl_carries_out_a_plan(seed: int, rule: Plain, opened: Opened) -> None:
    """Every command succeeds, and no constraint is violated then; with a budget, each pod is evicted, not deleted."""
    world = budgeted(generated.world(seed), **rule)
    cluster, terminal = opened(world)
    plan = terminal.plan()
    done = terminal.run(terminal.script())
    cluster.settle()

    assert done.returncode == 0, done.stderr
    assert not executing.is_violated(executing.cluster_in(cluster.world), key_of(world))
    names = [item["pod"] for item in plan["plan"]["evictions"]]
    evicted = [(body["metadata"]["name"], code) for body, code in cluster.evictions]
    assert evicted == ([(name, 201) for name in names] if rule else [])


def test_nothing_is_evicted_after_a_refusal(opened: Opened) -> None:
    """A budget that came after the plan refuses the first eviction; no other command runs."""
    world = budgeted(generated.world(SEEDS["Deployment"]), maxUnavailable=1)
    cluster, terminal = opened(world)
    script = terminal.script()
    cluster.world = budgeted(cluster.world, maxUnavailable=0)
    done = terminal.run(script)

    assert done.returncode == 1
    assert "Cannot evict pod as it would violate the pod's disruption budget." in done.stderr
    assert [code for _, code in cluster.evictions] == [429]
    assert executing.places(cluster.world) == executing.places(world)


@pytest.mark.slow
def test_a_plan_that_was_carried_out_evicts_no_new_pod_of_the_same_name(opened: Opened) -> None:
    """The names of a StatefulSet's pods come back, so the request names the uid."""
    world = budgeted(generated.world(SEEDS["ordered StatefulSet"]), maxUnavailable=1)
    cluster, terminal = opened(world)
    script = terminal.script()
    terminal.run(script)
    cluster.settle()
    before = executing.places(cluster.world)
    again = terminal.run(script)

    assert again.returncode == 1
    assert "the UID in the precondition does not match" in again.stderr
    assert cluster.evictions[-1][1] == 409
    assert executing.places(cluster.world) == before


def test_kubectl_waits_for_a_paused_deployment(opened: Opened) -> None:
    """`rollout status` would wait for the new template forever; the number of ready pods tells enough."""
    world = budgeted(generated.world(SEEDS["Deployment"]))
    (item,) = world.list("Deployment")
    paused = copy.deepcopy(item)
    paused["spec"] |= {"paused": True}
    paused["spec"]["template"]["spec"]["containers"][0]["image"] = "other"
    world.put(paused)
    cluster, terminal = opened(world)
    script = terminal.script()
    done = terminal.run(script)
    cluster.settle()

    assert "rollout status" not in script
    assert done.returncode == 0, done.stderr
    assert not executing.is_violated(executing.cluster_in(cluster.world), key_of(world))
