"""What is said of pods is what the cluster's scheduler does with them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from typing import Any, NamedTuple

import jsonschema
import pytest

from kubectl_spread import schemas
from tests.live.cluster import condition_of, HOSTNAME, PATIENCE_S, Scene, ZONE
from tests.live.conftest import Said, Spread

pytestmark = pytest.mark.slow

Plain = dict[str, Any]


def constraint(key: str = ZONE, max_skew: int = 1, **more: Any) -> Plain:
    selector = {"matchLabels": {"app": "web"}}
    when = "DoNotSchedule"
    return {"maxSkew": max_skew, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": selector, **more}


def anti_affinity() -> Plain:
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": HOSTNAME}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def node_affinity() -> Plain:
    term = {"matchExpressions": [{"key": "kubectl-spread.test/tier", "operator": "In", "values": ["gold"]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


class Trouble(NamedTuple):
    """Nodes, a workload, and how many of its pods find a node; `wanted` are all."""

    nodes: dict[str, tuple[str, Plain]]  # by name: zone and the rest
    bound: int
    wanted: int
    spec: Plain
    constraints: tuple[Plain, ...] = (constraint(),)


_THREE: dict[str, tuple[str, Plain]] = {"a1": ("a", {}), "b1": ("b", {}), "c1": ("c", {})}
_CORDONED = {**_THREE, "c1": ("c", {"unschedulable": True})}
_SMALL: Plain = {"cpu": "250m"}  # two pods
_DEDICATED = {"key": "kubectl-spread.test/dedicated", "value": "db", "effect": "NoSchedule"}

TROUBLES = {
    "a zone is cordoned": Trouble(_CORDONED, 2, 4, {}),
    "a zone is tainted": Trouble({**_THREE, "c1": ("c", {"taints": [_DEDICATED]})}, 2, 4, {}),
    "fewer domains than minDomains": Trouble(_THREE, 3, 5, {}, (constraint(minDomains=4),)),
    "a node without the label": Trouble({"a1": ("a", _SMALL), "b1": ("b", _SMALL), "x1": ("", {})}, 4, 5, {}),
    "no room in a zone": Trouble({**_THREE, "c1": ("c", {"cpu": "150m"})}, 5, 6, {}),
    "two constraints": Trouble(
        {"a1": ("a", {}), "a2": ("a", {}), "b1": ("b", {"cpu": "150m"})}, 3, 4, {}, (constraint(), constraint(HOSTNAME))
    ),
    "anti-affinity": Trouble(_THREE, 3, 4, {"affinity": anti_affinity()}),
    "the revision in matchLabelKeys": Trouble(_CORDONED, 2, 4, {}, (constraint(matchLabelKeys=["pod-template-hash"]),)),
    "taints are honoured": Trouble(
        {"a1": ("a", _SMALL), "b1": ("b", _SMALL), "c1": ("c", {"unschedulable": True})},
        4,
        5,
        {},
        (constraint(nodeTaintsPolicy="Honor"),),
    ),
    "affinity is ignored": Trouble(
        {**_THREE, "c1": ("c", {"labels": {"kubectl-spread.test/tier": "gold"}})},
        1,
        3,
        {"affinity": node_affinity()},
        (constraint(nodeAffinityPolicy="Ignore"),),
    ),
    "host ports": Trouble(
        _THREE, 3, 4, {"ports": [{"containerPort": 8080, "hostPort": 8080}]}, (constraint(max_skew=2),)
    ),
    "no node at all": Trouble(_THREE, 0, 2, {"affinity": node_affinity()}),
}
MENDED = ("a zone is cordoned", "a zone is tainted", "fewer domains than minDomains", "taints are honoured")


def prepare(scene: Scene, trouble: Trouble) -> list[Plain]:
    """Bring the trouble about, and give back the pods that were refused."""
    for name, (zone, more) in trouble.nodes.items():
        scene.node(name, zone, **more)
    more = {"constraints": trouble.constraints, **trouble.spec}
    scene.apply(scene.workload("Deployment", "web", replicas=trouble.wanted, **more))
    return scene.wait("web", bound=trouble.bound, refused=trouble.wanted - trouble.bound)


def explained_alike(scene: Scene, name: str, spread: Spread) -> tuple[str, Said]:
    """The condition of a pod and what `explain` says, once they agree; or else the last of each.

    A real scheduler looks at a pod again some seconds after something has changed, and writes its message anew.
    """
    end = time.monotonic() + PATIENCE_S
    while True:
        said = spread("explain", f"pod/{name}", "--kubeconfig", scene.kubeconfig, "-o", "json")
        (pod,) = [pod for pod in scene.pods() if pod["metadata"]["name"] == name]
        if said.document["message"] == condition_of(pod) or time.monotonic() > end:
            return condition_of(pod), said
        time.sleep(1)


@pytest.mark.parametrize("trouble", TROUBLES.values(), ids=TROUBLES)
def test_the_message_of_a_pending_pod_is_the_schedulers(trouble: Trouble, scene: Scene, spread: Spread) -> None:
    """Character for character."""
    for pod in prepare(scene, trouble):
        name = pod["metadata"]["name"]
        condition, said = explained_alike(scene, name, spread)
        text = spread("explain", f"pod/{name}", "--details", "--kubeconfig", scene.kubeconfig)
        jsonschema.validate(said.document, schemas.load("explanation"))

        assert condition == said.document["message"]
        assert condition == said.document["reportedMessage"]
        assert re.search(r"^This is the message in the pod's (status|last event) \(", text.out, re.MULTILINE)
        assert (1, 1, "Pending") == (text.code, said.code, said.document["verdict"])


@pytest.mark.parametrize("trouble", TROUBLES.values(), ids=TROUBLES)
def test_what_check_predicts_comes_to_pass(trouble: Trouble, scene: Scene, spread: Spread, tmp_path: Any) -> None:
    """Of a manifest that is not applied yet: as many pods find a node, and the others get that message."""
    for name, (zone, more) in trouble.nodes.items():
        scene.node(name, zone, **more)
    web = scene.workload("Deployment", "web", replicas=trouble.wanted, constraints=trouble.constraints, **trouble.spec)
    manifest = tmp_path / "web.json"
    manifest.write_text(json.dumps(web))
    said = spread("check", "-f", str(manifest), "--live", "--kubeconfig", scene.kubeconfig, "-o", "json")
    jsonschema.validate(said.document, schemas.load("check-report"))
    (placement,) = said.document["placements"]
    scene.apply(web)
    refused = scene.wait("web", bound=trouble.bound, refused=trouble.wanted - trouble.bound)

    assert 1 == said.code
    assert trouble.bound == placement["placed"]
    assert sorted(map(condition_of, refused)) == sorted(item["message"] for item in placement["pending"])
    if placement["certainty"] == "certain" and ZONE in placement["domains"]:
        assert {zone: count for zone, count in scene.domains("web").items() if count} == {
            zone: count for zone, count in placement["domains"][ZONE].items() if count
        }


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on PATH")
@pytest.mark.skipif(sys.platform == "win32", reason="the commands are for a POSIX shell")
@pytest.mark.parametrize("trouble", [TROUBLES[name] for name in MENDED], ids=MENDED)
def test_the_first_suggestion_done_by_kubectl_mends_it(trouble: Trouble, scene: Scene, spread: Spread) -> None:
    pod, *_ = prepare(scene, trouble)
    said = spread("explain", f"pod/{pod['metadata']['name']}", "--kubeconfig", scene.kubeconfig, "-o", "json")
    first = next(item for item in said.document["suggestions"] if item["commands"])
    environment = {**os.environ, "KUBECONFIG": scene.kubectl_config}
    for command in first["commands"]:
        done = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True, timeout=60)
        assert 0 == done.returncode, f"{command}: {done.stderr}"
    effect = first["effect"]
    came = effect["placed"]["after"] - effect["placed"]["before"]
    bound = trouble.wanted if first["complete"] else trouble.bound + came
    scene.wait("web", bound=bound, refused=trouble.wanted - bound)
    after = spread("explain", "deploy/web", "--kubeconfig", scene.kubeconfig)

    assert (0 if first["complete"] else 1) == after.code, after.out


def test_pods_held_back_by_gates_are_told_as_such(scene: Scene, spread: Spread) -> None:
    scene.node("a1", "a")
    gates = [{"name": "kubectl-spread.test/wait"}]
    scene.apply(scene.workload("Deployment", "web", replicas=1, constraints=[constraint()], schedulingGates=gates))
    (pod,) = scene.wait("web", bound=0, refused=1)
    name = f"pod/{pod['metadata']['name']}"
    said = spread("explain", name, "--kubeconfig", scene.kubeconfig, "-o", "json")
    text = spread("explain", name, "--details", "--kubeconfig", scene.kubeconfig)

    assert condition_of(pod) == said.document["message"]
    assert ("SchedulingGated", "same") == (said.document["verdict"], said.document["lastMessage"]["comparison"])
    assert "This is the message in the pod's status (" in text.out
    assert 1 == said.code


def test_counts_of_status_are_those_of_the_cluster(scene: Scene, spread: Spread) -> None:
    for zone in "abc":
        for at in (1, 2):
            scene.node(f"{zone}{at}", zone)
    scene.apply(scene.workload("Deployment", "web", replicas=7, constraints=[constraint(), constraint(HOSTNAME)]))
    scene.wait("web", bound=7)
    said = spread("status", "deploy/web", "--kubeconfig", scene.kubeconfig, "-o", "json")
    jsonschema.validate(said.document, schemas.load("status-report"))
    (web,) = said.document["workloads"]
    by_zone, by_host = web["constraints"]
    counts = scene.domains("web")

    assert 0 == said.code
    assert (7, 7, []) == (web["replicas"], web["running"], web["pending"])
    assert [2, 2, 3] == sorted(counts.values())
    assert counts == {item["value"]: item["matching"] for item in by_zone["domains"]}
    assert scene.domains("web", HOSTNAME) == {item["value"]: item["matching"] for item in by_host["domains"]}
    assert ("ok", 1) == (by_zone["status"], by_zone["skew"])


def test_a_constraint_that_no_longer_holds_is_told(scene: Scene, spread: Spread) -> None:
    """Two nodes take all pods, then a third domain comes."""
    for zone in "ab":
        scene.node(f"{zone}1", zone)
    scene.apply(scene.workload("Deployment", "web", replicas=4, constraints=[constraint()]))
    scene.wait("web", bound=4)
    before = spread("status", "--kubeconfig", scene.kubeconfig)
    scene.node("c1", "c")
    after = spread("status", "--kubeconfig", scene.kubeconfig, "-o", "json")
    (web,) = after.document["workloads"]
    checked = spread("check", "--kubeconfig", scene.kubeconfig)

    assert (0, 1) == (before.code, after.code)
    assert ("violated", 2) == (web["constraints"][0]["status"], web["constraints"][0]["skew"])
    assert "SPR908 running-skew-exceeded" in checked.out
