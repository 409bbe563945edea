"""`check` simulates the creation and the next rollout of workloads."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.cli.main import run
from tests.cli.running_objects import constraint, deployment, node, pod, replica_set

Plain = dict[str, Any]

ROOT = Path(__file__).parents[3]
REDIS = ROOT / "examples" / "simulations" / "redis" / "manifests"
THREE_ZONES = ["--topology", "zones=3,nodes=2,cpu=4"]
LATIN = ("00", "11", "22", "01", "12", "20", "02", "10", "21")  # rack and row of each pod's volume
OWN = {"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}


def report(capsys: pytest.CaptureFixture[str], *args: str) -> Plain:
    run(["check", *args, "-o", "json"])
    document: Plain = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schemas.load("check-report"))
    return document


def rollouts(capsys: pytest.CaptureFixture[str], *args: str) -> list[tuple[str, str, bool]]:
    found = report(capsys, *args)["rollouts"]
    return [(item["rollout"], item["verdict"], item["exact"]) for item in found]


def written(path: Path, objects: list[Plain]) -> str:
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return str(path)


def test_deadlock_of_three_redis_shards_is_found_with_its_way(capsys: pytest.CaptureFixture[str]) -> None:
    """The printed placement is complete, and another choice among equal nodes leaves a pod without a node."""
    code = run(["check", str(REDIS / "3-zones-3-shards.yaml"), *THREE_ZONES, "--ignore", "SPR"])
    out, err = capsys.readouterr()
    first, *way = out.partition("\n\n")[0].splitlines()

    assert code == 1
    assert "StatefulSet default/redis-2: 2 of 2 replicas placed" in out
    assert first.startswith("In some orders redis-0-1, redis-1-1 or redis-2-1 finds no node (3 of 4 outcomes): ")
    assert "is refused by pod anti-affinity on topology.kubernetes.io/zone" in first
    assert way[0] == "    1. Pod redis-0-0 goes to node-a1, which scores the same as 5 other nodes."
    assert not any(" creates " in line or " becomes ready" in line for line in way)
    assert way[-1].endswith("finds no node, and stays Pending.")
    assert "no findings, no pod Pending, 1 rollout may get stuck" in err


def test_report_says_how_many_outcomes_were_found(capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = report(capsys, str(REDIS / "3-zones-3-shards.yaml"), *THREE_ZONES)["rollouts"]

    assert ("creation", "mayGetStuck", "allOutcomes", True) == tuple(
        found[name] for name in ("rollout", "verdict", "basis", "exact")
    )
    assert ["redis-0", "redis-1", "redis-2"] == [item["name"] for item in found["objects"]]
    assert (4, 3, 0) == tuple(found["search"][name] for name in ("outcomes", "stuckOutcomes", "runs"))
    assert {"redis-0-1", "redis-1-1", "redis-2-1"} == {item["pod"] for item in found["pending"]}


@pytest.mark.slow
def test_relaxed_limits_end_the_deadlock(capsys: pytest.CaptureFixture[str]) -> None:
    manifest = str(REDIS / "3-zones-3-shards-relaxed.yaml")

    assert [("creation", "completes")] == [item[:2] for item in rollouts(capsys, manifest, *THREE_ZONES)]
    assert run(["check", manifest, *THREE_ZONES, "--fail-on", "never"]) == 0


def grid(tmp_path: Path) -> tuple[str, str]:
    """Nine nodes in three racks and three rows, and a StatefulSet with a volume on each of them."""
    nodes = []
    for place in LATIN:
        made = node(f"n{place}", "z")
        made["metadata"]["labels"] |= {"rack": place[0], "row": place[1]}
        nodes.append(made)
    name = {"metadata": {"name": "local"}}
    kind = {"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}
    storage = [{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", **name, **kind}]
    size, modes = {"storage": "1Gi"}, ["ReadWriteOnce"]
    for at, place in enumerate(LATIN):
        claim = {"storageClassName": "local", "accessModes": modes, "volumeName": f"pv-{at}"}
        bound = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}, "namespace": "shop"}
        metadata = {"name": f"d-web-{at}", **bound}
        storage.append({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata,
                        "spec": {**claim, "resources": {"requests": size}}, "status": {"phase": "Bound"}})  # fmt: skip
        term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [f"n{place}"]}]}
        spec = {"storageClassName": "local", "accessModes": modes, "capacity": size}
        spec |= {"nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}, "local": {"path": "/d"}}
        spec |= {"claimRef": {"namespace": "shop", "name": f"d-web-{at}"}}
        storage.append({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"pv-{at}"}, "spec": spec,
                        "status": {"phase": "Bound"}})  # fmt: skip
    web = deployment(constraint(topologyKey="rack"), replicas=len(LATIN), podManagementPolicy="Parallel")
    web["kind"] = "StatefulSet"
    web["spec"]["template"]["spec"]["topologySpreadConstraints"].append(constraint(topologyKey="row"))
    claim = {"storageClassName": "local", "accessModes": modes, "resources": {"requests": size}}
    web["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "d"}, "spec": claim}]
    return written(tmp_path / "web.json", [web]), written(tmp_path / "facts.json", [*nodes, *storage])


def test_grid_of_racks_and_rows_with_pinned_volumes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The pods in order of their names fill the grid; in other orders the cell that is left is another pod's."""
    manifest, facts = grid(tmp_path)
    code = run(["check", manifest, "--snapshot", facts, "--ignore", "SPR"])
    out = capsys.readouterr().out

    assert code == 1
    assert "StatefulSet shop/web: 9 of 9 replicas placed" in out
    assert out.startswith("In some orders web-")
    assert "finds no node, and stays Pending." in out or "find no node, and stay Pending." in out


@pytest.mark.parametrize(
    ("nodes", "spec", "expected"),
    [
        (3, OWN, ("gets stuck in every outcome", 1)),
        (4, OWN, ("completes in every outcome", 0)),
        (3, {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}, ("completes in every outcome", 0)),
        (3, {"strategy": {"type": "Recreate"}}, ("completes in every outcome", 0)),
    ],
)
def test_next_rollout_of_a_new_deployment(
    nodes: int, spec: Plain, expected: tuple[str, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Anti-affinity over the hostname needs a spare node, unless an old pod is deleted first."""
    web = deployment(constraint(), replicas=3, **spec)
    template = web["spec"]["template"]["spec"]
    del template["topologySpreadConstraints"]
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
    template["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    manifest = written(tmp_path / "web.json", [web])
    code = run(["check", manifest, "--topology", f"zones=1,nodes={nodes}", "--fail-on", "warning"])
    out = capsys.readouterr().out

    assert expected == (
        next(line for line in out.splitlines() if "next rollout: " in line).split(": ")[1].partition(", because")[0],
        code,
    )
    assert ("SPR402" in out) == bool(code)


def test_room_in_every_domain_is_a_proof(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A zone constraint always allows the emptiest zone, so no simulation is needed, however many pods there are."""
    manifest = written(tmp_path / "web.json", [deployment(constraint(), replicas=300)])
    found = report(capsys, manifest, "--topology", "zones=3,nodes=10,cpu=64,pods=400")["rollouts"]

    assert [("creation", "enoughRoom", None), ("next", "enoughRoom", None)] == [
        (item["rollout"], item["basis"], item["search"]) for item in found
    ]


def test_running_workloads_are_named_together_if_their_next_rollouts_complete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = [node("a1", "a"), node("b1", "b"), node("c1", "c")]
    objects = [*nodes, deployment(constraint(2), replicas=1), replica_set(), pod("w-1", "a1")]
    code = run(["check", "-n", "shop", "--snapshot", written(tmp_path / "facts.json", objects), "--ignore", "SPR"])

    assert (0, "Next rollout completes in every outcome: deployment/web\n") == (code, capsys.readouterr().out)
    other = json.loads(json.dumps(objects[3:]).replace('"shop"', '"aside"'))
    run(["check", "-A", "--snapshot", written(tmp_path / "facts.json", [*objects, *other]), "--ignore", "SPR"])

    assert ": deployment/web in aside, deployment/web in shop\n" in capsys.readouterr().out


def test_pods_with_unknown_claims_are_not_simulated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web = deployment(constraint(), replicas=2)
    web["spec"]["template"]["spec"]["volumes"] = [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]
    run(["check", written(tmp_path / "web.json", [web]), "--topology", "zones=2", "--ignore", "SPR"])

    why = "claims that are not in the cluster facts (kubectl get pv,pvc,storageclasses -A)"
    assert f"next rollout: is not known (it depends on {why})" in capsys.readouterr().out


@pytest.mark.parametrize("output", ["concise", "github", "gitlab", "sarif", "junit", "html"])
def test_every_format_names_the_deadlock(output: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(["check", str(REDIS / "3-zones-3-shards.yaml"), *THREE_ZONES, "--ignore", "SPR", "-o", output])

    assert "In some orders redis-0-1, redis-1-1 or redis-2-1 finds no node" in capsys.readouterr().out


def test_gitlab_shows_a_stuck_rollout_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As the finding of its rule; without the rule, at the line of the manifest."""
    web = deployment(constraint(), replicas=3)
    template = web["spec"]["template"]["spec"]
    del template["topologySpreadConstraints"]
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
    template["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    manifest = written(tmp_path / "web.json", [web])
    shown = {}
    for ignored in ("SPR9", "SPR402"):
        run(["check", manifest, "--topology", "zones=1,nodes=3", "--ignore", ignored, "-o", "gitlab"])
        found = json.loads(capsys.readouterr().out)
        shown[ignored] = [item for item in found if item["check_name"] in ("SPR402", "rollout")]

    assert [item["check_name"] for item in shown["SPR9"]] == ["SPR402"]
    (entry,) = shown["SPR402"]
    assert entry["description"].startswith("Rollout: deployment/web in shop: the next rollout gets stuck in every ")
    assert entry["location"]["path"].endswith("web.json")
    assert entry["severity"] == "major"


def daemons(surge: int, cpu: str) -> list[Plain]:
    """A DaemonSet with a pod on each of two nodes that have 1 CPU."""
    template = {
        "metadata": {"labels": {"app": "agent"}},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]},
    }
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "u", "controller": True}
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": 1 - surge}}
    workload = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "shop", "uid": "u"},
        "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": template, "updateStrategy": strategy},
    }
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"agent-{name}",
                "namespace": "shop",
                "uid": name,
                "labels": {"app": "agent", "controller-revision-hash": "h"},
                "ownerReferences": [owner],
            },
            "spec": {**template["spec"], "nodeName": name},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        }
        for name in ("a1", "b1")
    ]
    nodes = [node(name, name[0]) for name in ("a1", "b1")]
    for item in nodes:
        item["status"]["allocatable"]["cpu"] = "1"
    return [*nodes, workload, *pods]


DAEMON_ROLLOUTS = pytest.mark.parametrize(
    ("surge", "cpu", "basis", "verdict", "code"),
    [
        (0, "600m", "enoughRoom", "completes", 0),
        (1, "600m", "allOutcomes", "getsStuck", 1),
        (1, "300m", "allOutcomes", "completes", 0),
    ],
    ids=["in the room of the old pod", "a surge on full nodes", "a surge with room"],
)


@DAEMON_ROLLOUTS
def test_next_rollout_of_a_daemon_set(
    surge: int, cpu: str, basis: str, verdict: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A surge needs room for two pods on each node."""
    facts = written(tmp_path / "facts.json", daemons(surge, cpu))
    found = run(["check", "-n", "shop", "--snapshot", facts, "--ignore", "SPR", "-o", "json"])
    (item,) = json.loads(capsys.readouterr().out)["rollouts"]

    assert (found, item["basis"], item["verdict"]) == (code, basis, verdict)


@DAEMON_ROLLOUTS
def test_next_rollout_of_a_new_daemon_set(
    surge: int, cpu: str, basis: str, verdict: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its pods are created first, on the nodes of the cluster."""
    *nodes, workload, _, _ = daemons(surge, cpu)
    facts, manifest = written(tmp_path / "facts.json", nodes), written(tmp_path / "agent.json", [workload])
    found = run(["check", manifest, "-n", "shop", "--snapshot", facts, "--ignore", "SPR", "-o", "json"])
    (item,) = json.loads(capsys.readouterr().out)["rollouts"]

    assert (found, item["rollout"], item["basis"], item["verdict"]) == (code, "next", basis, verdict)


def test_a_changed_daemon_set_that_no_longer_fits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The old pods' room is not enough for the new ones."""
    facts, (_, _, changed, *_) = written(tmp_path / "facts.json", daemons(0, "600m")), daemons(0, "1100m")
    manifest = written(tmp_path / "agent.json", [changed])

    assert [("change", "getsStuck", True)] == rollouts(capsys, manifest, "-n", "shop", "--snapshot", facts)


def test_new_daemon_sets_that_never_replace_pods_have_no_rollout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    *nodes, workload, _, _ = daemons(0, "300m")
    workload["spec"]["updateStrategy"] = {"type": "OnDelete"}
    facts, manifest = written(tmp_path / "facts.json", nodes), written(tmp_path / "agent.json", [workload])

    assert [] == rollouts(capsys, manifest, "-n", "shop", "--snapshot", facts)


ENGINE = ROOT / "tests" / "cases" / "engine"


def test_two_deployments_that_count_each_others_pods_depend_on_the_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`check` called 1 of 3 pods certain; on a real cluster all 3 found a node."""
    facts = tmp_path / "facts.json"
    facts.write_bytes(gzip.decompress((ENGINE / "counted-by-each-other-snapshot.json.gz").read_bytes()))
    args = [str(ENGINE / "counted-by-each-other.yaml"), "--snapshot", str(facts), "--ignore", "SPR"]

    code = run(["check", *args])
    first = capsys.readouterr().out.splitlines()[0]
    placements = report(capsys, *args)["placements"]

    assert code == 1
    assert first == (
        "Deployment default/apin: 1 of 3 replicas placed, 2 Pending; 1 to 3, depending on the order of creation"
    )
    assert [(item["certainty"], item["inAnyOrder"]) for item in placements] == [
        ("possible", {"min": 1, "max": 3}),
        ("possible", None),
    ]


def test_deployments_that_count_each_other_are_summed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only apin gets stuck; all outcomes of free are complete. Their constraints count the pods of both."""
    facts = tmp_path / "facts.json"
    facts.write_bytes(gzip.decompress((ENGINE / "counted-by-each-other-snapshot.json.gz").read_bytes()))
    words = ["simulate", "apply", "-f", str(ENGINE / "counted-by-each-other.yaml"), "--snapshot", str(facts)]
    code = run([*words, "--details"])
    out = capsys.readouterr().out

    assert code == 1
    assert "\n  skew: 0 before, 1 after\n" in out.partition("All of them together")[2]


def test_a_placement_by_preemption_has_a_next_rollout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The pod takes the room of a pod of lower priority, and its successor finds no room beside it."""
    large = [{"name": "c", "image": "web", "resources": {"requests": {"cpu": "5"}}}]
    high = deployment(replicas=1)
    high["spec"]["template"]["spec"].update(priority=10, containers=large)
    low = pod("low-1", "a1", metadata={"ownerReferences": [], "labels": {}}, containers=large)
    facts = written(tmp_path / "facts.json", [node("a1", "a"), low])

    found = report(capsys, written(tmp_path / "high.json", [high]), "--snapshot", facts, "--ignore", "SPR")

    assert [item["pod"] for item in found["placements"][0]["evicted"]] == ["shop/low-1"]
    assert [(item["rollout"], item["verdict"]) for item in found["rollouts"]] == [
        ("creation", "completes"),
        ("next", "getsStuck"),
    ]


def test_the_next_rollout_begins_from_one_revision(capsys: pytest.CaptureFixture[str]) -> None:
    """The pods that were created first have the template of the manifest, and a restart is the second revision."""
    folder = ROOT / "examples" / "scenarios" / "surge-pod-has-no-node"
    run(["check", str(folder / "before.yaml"), "--topology", str(folder / "cluster.yaml"), "-o", "json"])

    assert '"Deployment default/web scales revision 2 to 1 pod."' in capsys.readouterr().out
