"""The change that `simulate` advises does what it says when it is the next step."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from kubectl_spread.advice import judge
from kubectl_spread.advice.change import Suggestion
from kubectl_spread.engine.results.summary import PlayedStep, WorkloadSummary
from kubectl_spread.engine.run import Answer, Limits, Mode, play
from kubectl_spread.kubectl.parsing import parse
from kubectl_spread.operations.cluster_facts import ClusterSource
from kubectl_spread.operations.simulate import simulate_commands, SimulateRequest
from tests.bench import clusters as bench
from tests.judge import pending_families

Plain = dict[str, Any]
_SHOP = Path(__file__).parents[2] / "examples" / "shop" / "running.yaml"
_WITHOUT_ADVICE = {"volumes_at_the_limit"}  # how many volumes a new node takes is not known
_STEPS = (
    "scale {name} --replicas={more}",
    "rollout restart {name}",
    "set resources {name} --requests=cpu=2",
    "set resources {name} --requests=cpu=5",
    "set image {name} *=y:2",
    "drain {node} --ignore-daemonsets --delete-emptydir-data --force",
    "lose zone=a",
)


def _played(path: Path, *commands: str, has_advice: bool = False) -> tuple[PlayedStep, ...]:
    written = tuple(parse([*shlex.split(command), "-n", "shop"]) for command in commands)
    request = SimulateRequest(written, source=ClusterSource(snapshot=(str(path),)), namespace="shop")
    return simulate_commands(request, has_advice=has_advice).simulation.steps


def _of(step: PlayedStep, kind: str, name: str) -> WorkloadSummary:
    return next(item for item in step.summary.workloads if (item.key.kind, item.key.name) == (kind, name))


def _commands(advice: Suggestion, directory: Path) -> list[str]:
    """Return the advice as steps; none if it has no command, or one that is not simulated."""
    path = directory / "nodes.json"
    added = [node for change in advice.changes if change["kind"] == "Node" for node in change.get("added", ())]
    if added:
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": added}))
    commands = [item.removeprefix("kubectl ").replace(" -n shop", "") for item in advice.commands]
    return [] if any("|" in item for item in commands) else [*([f"apply -f {path}"] if added else ()), *commands]


def _assert_kept(path: Path, command: str, kind: str, name: str, *, directory: Path) -> bool:
    """Return whether there was advice that could be tried."""
    every = list(_played(path, command, has_advice=True)[-1].advice.values())
    advice = every[0] if len(every) == 1 else None  # of several workloads, each has its own
    commands = [] if advice is None else _commands(advice, directory)
    if advice is None or not commands:
        return False
    after = _of(_played(path, command, *commands)[-1], kind, name)
    effect = advice.effect
    title = f"{command}: {advice.title}"

    assert after.pending.most <= effect.pending_after, title
    assert after.desired.most == effect.placed_after + effect.pending_after, title
    assert effect.lost == _gone(path, command, *commands), title
    if len(commands) > 1:
        return True
    if effect.is_exact and effect.restarts:
        gone = after.restarted.most
        assert min(gone, effect.running) >= effect.restarts >= gone - effect.pending_before, title
    for spread in effect.spreads:
        found = next((item for item in after.spreads if item.topology_key == spread.topology_key), None)
        if found is not None and not found.also_counted and found.is_balanced:
            pods = {item.value: tuple(item.after) for item in found.domains if item.value in spread.ranges}
            is_inside = all(
                pods[key][0] <= least and most <= pods[key][1] for key, (least, most) in spread.ranges.items()
            )
            assert is_inside if not effect.is_exact else pods == spread.ranges, title
    return True


_NOT_TRIED = {
    ("Deployment", "lose zone=a"),  # it stops both, and what helps one of them is advised
    ("StatefulSet", "lose zone=a"),
    ("StatefulSet", "drain {node} --ignore-daemonsets --delete-emptydir-data --force"),  # it goes on elsewhere
    ("StatefulSet", "set resources {name} --requests=cpu=5"),  # no node has room, and its volumes stay where they are
}


def _gone(path: Path, *commands: str) -> tuple[str, ...]:
    """The pods without a controller that the last step takes away."""
    return tuple(sorted(_played(path, *commands)[-1].summary.lost))


@pytest.mark.parametrize("step", _STEPS)
@pytest.mark.parametrize("name", ["Deployment/web", "StatefulSet/db"])
def test_shop(step: str, name: str, tmp_path: Path) -> None:
    kind, _, of = name.partition("/")
    has_advice = _assert_kept(_SHOP, step.format(name=name, more=8, node="a-1"), kind, of, directory=tmp_path)

    assert has_advice or (kind, step) in _NOT_TRIED


def test_pods_that_take_no_part_do_not_end(tmp_path: Path) -> None:
    """A pod without a controller runs in another namespace, as static pods and others do in kube-system."""
    running = json.loads(json.dumps(YAML(typ="safe").load(_SHOP.read_text())))
    lonely = {"nodeName": "b-1", "containers": [{"name": "c", "image": "c"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "lonely", "namespace": "other"}, "spec": lonely}
    running["items"].append({**pod, "status": {"phase": "Running"}})
    path = tmp_path / "running.json"
    path.write_text(json.dumps(running))
    (advice,) = _played(path, "scale deployment/web --replicas=8", has_advice=True)[-1].advice.values()

    assert advice.effect.lost == ()


@pytest.mark.parametrize("family", sorted(pending_families.FAMILIES))
def test_family(family: str, tmp_path: Path) -> None:
    items = next(filter(None, (pending_families.generated(family, seed) for seed in range(10))))
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    owner = next(item for item in items if item["kind"] in ("Deployment", "StatefulSet"))
    kind, name = owner["kind"], owner["metadata"]["name"]
    node = next(item["metadata"]["name"] for item in items if item["kind"] == "Node")
    more = owner["spec"]["replicas"] + 3
    tried = 0
    at = sorted(pending_families.FAMILIES).index(family)
    for step in (*_STEPS[at % 3 :: 3], _STEPS[0]):
        tried += _assert_kept(
            path, step.format(name=f"{kind.lower()}/{name}", more=more, node=node), kind, name, directory=tmp_path
        )

    assert tried or family in _WITHOUT_ADVICE


def test_one_run_refutes_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six pods in zones of three, two and one nodes: of two changes, all outcomes are visited of the one that helps."""
    cluster = bench.cluster(6, 6, 6, is_apart=True)
    nodes, pods = cluster["items"][:6], cluster["items"][8:]
    zones = "aaabbc"
    for node, zone in zip(nodes, zones, strict=True):
        node["metadata"]["labels"][bench.ZONE] = zone
    for item in cluster["items"][6:]:
        item["metadata"]["namespace"] = "shop"
        item["spec"].get("template", item)["spec"].pop("affinity")
    for pod, at in zip(pods, (0, 1, 3, 4, 5, 5), strict=True):
        pod["spec"]["nodeName"] = nodes[at]["metadata"]["name"]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(cluster))
    searched: list[Mode] = []

    def counted(*args: Any, limits: Limits, **facts: Any) -> Answer:
        searched.append(limits.mode)
        return play(*args, limits=limits, **facts)

    monkeypatch.setattr(judge, "play", counted)
    (advice,) = _played(path, "rollout restart deployment/web-0", has_advice=True)[-1].advice.values()

    assert advice.title.startswith("set maxSkew: 2")
    # The states without a change; a run that refutes matchLabelKeys; a run with maxSkew: 2, and then all its outcomes.
    assert searched == [Mode.ALL, Mode.FIRST, Mode.FIRST, Mode.ALL]
