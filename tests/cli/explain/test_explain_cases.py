"""The first sentence and the exit code of `explain` for clusters on which they were wrong once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.advice.change import Effect, Suggestion, Suggestions
from kubectl_spread.cli.main import run
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.report.explain.suggestions import alternatives, effect_sentence
from kubectl_spread.report.table import Style
from tests.cli import running_objects as running

CASES = Path(__file__).parents[2] / "cases" / "explain"
ZONE = "the zone constraint (topology.kubernetes.io/zone, maxSkew 1)"
NODE = "the node constraint (kubernetes.io/hostname, maxSkew 1)"
ONLY_C = f"stays Pending: {ZONE} allows only zone c. Its only node, c1,"


class Case(NamedTuple):
    """What is asked of a snapshot, and the answer."""

    file: str
    target: str
    code: int
    sentence: str
    namespace: str = "shop"


def pod(file: str, name: str, code: int, sentence: str) -> Case:
    """A case about one pod, named in the sentence."""
    return Case(f"{file}.yaml", f"pod/{name}", code, f"Pod shop/{name} {sentence}")


ANSWERS = (
    pod(
        "P105b", "etcd-0", 1,
        f"stays Pending: {ZONE} allows only zone b. Its only node, b1, is refused by the volume of claim d0 "
        "(volume pv-d0 is bound to nodes with topology.kubernetes.io/zone=a: not b1).",
    ),
    pod(
        "P22", "web-abc12-p0", 1,
        f"stays Pending: {ZONE} allows only zone c. Its only node, w1, has the untolerated taint "
        "os=windows:NoSchedule.",
    ),
    pod(
        "P56-md3", "web-abc12-p0", 1,
        f"stays Pending: {ZONE} allows no domain: there are 2 domains, fewer than minDomains 3, so the minimum "
        "counts as 0, and each of them already has 1 or more matching pods. c does not count. Its only node, c1, "
        "has the untolerated taint node.kubernetes.io/unreachable:NoSchedule,NoExecute.",
    ),
    pod(
        "P67", "web-4", 1,
        f"stays Pending: {ZONE} allows only zones b and c. Every node there is refused by the volume of claim "
        "data-web-4 (volume pv-4 is bound to nodes with topology.kubernetes.io/zone=a: not b1, c1).",
    ),
    pod(
        "cc", "web-abc12-p0", 1,
        f"{ONLY_C} is cordoned and is refused by the cpu request (needs 100m; c1 has 50m in all).",
    ),
    pod("cronjob", "j-3", 1, f"{ONLY_C} has the untolerated taint x=z:NoSchedule."),
    Case(
        "i1.yaml", "deploy/web", 1,
        "Deployment shop/web wants 6 pods: 2 have a node, 4 are Pending, of which 3 find a node and 1 stays Pending.",
    ),
    pod(
        "i1", "web-abc12-p0", 1,
        "may stay Pending: it fits on 1 node (c1), but the cluster does not have room for all Pending pods. The "
        "outcome depends on the scheduler's order; it may place shop/web-abc12-p1, shop/web-abc12-p2, "
        f"shop/web-abc12-p3 first. Then {ZONE} allows only zone c. Its only node, c1, is refused by the limit of "
        "pods per node (1 node with as many pods as allowed: c1 1 of 1).",
    ),
    pod("job", "j-3", 1, f"{ONLY_C} has the untolerated taint x=z:NoSchedule."),
    pod(
        "k1", "pt", 1,
        "has been terminating since 2026-11-22T00:00:00Z, and the scheduler ignores terminating pods.",
    ),
    pod(
        "k1", "t", 0,
        "is terminating on node a1 since 2026-11-22T00:00:00Z. Spread constraints no longer count it, but "
        "its resource requests stay reserved until it has ended.",
    ),
    pod("k1", "f", 0, "has finished (Failed); the scheduler ignores it."),
    Case(
        "l1.yaml", "deploy/api", 1,
        "Deployment shop/api wants 2 pods: 0 have a node, 2 are Pending, of which 0 to 1 find a node.",
    ),
    pod(
        "l1", "web-abc12-p0", 1,
        "may stay Pending: it fits on 1 node (b1), but the cluster does not have room for all Pending pods. The "
        f"outcome depends on the scheduler's order; it may place shop/api-z-p0 first. Then {ZONE} allows only "
        "zone b. Its only node, b1, is refused by the cpu request (needs 300m; b1 has 0 of 1 free).",
    ),
    pod(
        "n1", "web-2", 1,
        f"stays Pending: {NODE} allows only n3, which has the untolerated taint q=w:NoSchedule and is refused by "
        "the volume of claim data-web-2 (volume pv2 is bound to nodes with kubernetes.io/hostname=n2: not n3).",
    ),
    pod(
        "o02", "green-g1-p0", 1,
        f"{ONLY_C} is refused by the cpu request (needs 100m; c1 has 50m of 300m free). Pods of Deployment blue are "
        "counted, too.",
    ),
    pod(
        "o04", "web-new-1", 1,
        "stays Pending: every node is refused by the cpu request (needs 1500m; of 3 nodes n1 has the most free, "
        "1 of 2; all would have enough if empty).",
    ),
    pod(
        "o05", "web-new-1", 1,
        "stays Pending: every node is refused by pod anti-affinity on kubernetes.io/hostname against app=web "
        "(matching pods already run: web-old-1 on n1, web-old-2 on n2, web-old-3 on n3).",
    ),
    pod(
        "o07", "w1", 1,
        f"waits for preemption to evict shop/batch-abc12-r0 on b1: until then, {ZONE} allows only zone b. Its "
        "only node, b1, is refused by the cpu request (needs 500m; b1 has 200m of 1 free).",
    ),
    pod(
        "o08", "web-abc12-p0", 1,
        f"stays Pending: {ZONE} allows only zone us-east1b. Its only node, n3, has the untolerated taint "
        "x=y:NoSchedule.",
    ),
    pod("o11", "web-abc12-p0", 0, "can be scheduled: it fits on 2 nodes (a1, b1)."),
    pod(
        "o14", "web-abc12-p0", 1,
        f"stays Pending: {ZONE} allows only zone c. Every node there has the untolerated taint "
        "node.kubernetes.io/not-ready:NoSchedule,NoExecute.",
    ),
    pod(
        "o15", "web-abc12-p0", 1,
        f"stays Pending: {ZONE} allows only zone c. Every node there is cordoned.",
    ),
    pod(
        "o17", "agent-b1", 1,
        "stays Pending: its DaemonSet created it for node b1, which is refused by the cpu request (needs 500m; b1 has "
        "200m of 1 free).",
    ),
    Case("o18.yaml", "deploy/web", 0, "Deployment shop/web wants 4 pods: 4 have a node."),
    pod("o26b", "x", 1, "stays Pending: PersistentVolumeClaim nope does not exist in namespace shop."),
    pod(
        "o26c", "n", 1,
        "stays Pending: PersistentVolumeClaim data-web-1 is not bound yet, and its StorageClass imm binds it before a "
        "node is chosen (volumeBindingMode Immediate).",
    ),
    pod(
        "o27", "web-abc12-p0", 1,
        "stays Pending: every node is refused by host port 80 (taken by web-abc12-r0 on a1, web-abc12-r1 on b1).",
    ),
    pod(
        "o28", "gpu-abc12-p0", 1,
        f"stays Pending: {ZONE} allows only zone a. Its only node, a1, is refused by the nvidia.com/gpu request "
        "(needs 1; a1 has 0 in all).",
    ),
    pod(
        "o32", "web-abc12-p0", 1,
        "stays Pending: every node is refused by the cpu request (needs 800m; of 2 nodes a1 has the most free, "
        "200m of 1; all would have enough if empty).",
    ),
    pod(
        "o33", "web-abc12-p0", 1,
        "stays Pending: every node is refused by nodeSelector diskType=ssd (diskType is missing on a1, b1).",
    ),
    pod(
        "o41", "x", 1,
        "is bound to node gone, which does not exist: no kubelet will run it. The pod garbage collector deletes it; "
        "nothing creates it again.",
    ),
    pod("o43", "web-abc12-p0", 0, "can be scheduled: it fits on 2 nodes (a1, b1)."),
    pod(
        "o45", "x", 1,
        "stays Pending: every node is refused by claim c1, which one pod at a time may use (used by u on a1).",
    ),
    pod(
        "o48", "web-abc12-p0", 1,
        f"{ONLY_C} has the untolerated taint ToBeDeletedByClusterAutoscaler=1700000000:NoSchedule.",
    ),
    pod("paused", "web-abc12-p0", 1, f"{ONLY_C} has the untolerated taint x=z:NoSchedule."),
    Case(
        "csi.json.gz", "pod/web", 1,
        "Pod csi/web waits for its volume: the scheduler has chosen node a1, and PersistentVolumeClaim d has no volume "
        "there yet; ebs.csi.aws.com of StorageClass dyn2 has to create it.",
        "csi",
    ),
    Case(
        "nominated.json.gz", "pod/web-6d9db8d7fb-s2klq", 1,
        "Pod nom/web-6d9db8d7fb-s2klq waits for pod nom/lowa (finalizer x/y) to end on node a1. The scheduler evicted "
        "it to make room, and the pod goes to a1 once it has ended.",
        "nom",
    ),
    Case(
        "deadlock.json.gz", "pod/web-7557d7d7cc-nh9r8", 1,
        f"Pod dl/web-7557d7d7cc-nh9r8 stays Pending: {ZONE} allows only zone c. Its only node, cp, has the "
        "untolerated taint node-role.kubernetes.io/control-plane:NoSchedule.",
        "dl",
    ),
    Case(
        "uneven.json.gz", "pod/web-56bbb56c99-nwdcf", 1,
        f"Pod un/web-56bbb56c99-nwdcf stays Pending: {ZONE} allows no domain: there are 2 domains, fewer than "
        "minDomains 3, so the minimum counts as 0, and each of them already has 1 or more matching pods.",
        "un",
    ),
)  # fmt: skip


def explained(case: Case, *more: str) -> list[str]:
    """The command about a case, without suggestions: other tests look at them."""
    facts = ["--snapshot", str(CASES / case.file), "--suggestions", "0"]
    return ["explain", case.target, "-n", case.namespace, *facts, *more]


@pytest.mark.parametrize("case", ANSWERS, ids=lambda case: f"{case.file}-{case.target}")
def test_the_first_sentence_and_the_exit_code(
    case: Case, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    code = run(explained(case))
    paragraph = capsys.readouterr().out.split("\n\n")[0]

    assert (case.code, case.sentence) == (code, " ".join(paragraph.split()))


# The title of the best suggestion. No other case has any: nothing is to be done there but to wait.
FIRST = {
    ("P105b.yaml", "pod/etcd-0"): "set maxSkew: 2 in the constraint on topology.kubernetes.io/zone",
    ("P22.yaml", "pod/web-abc12-p0"): (
        "add kubernetes.io/os: linux to nodeSelector, as only nodes with linux can run these pods"
    ),
    ("P56-md3.yaml", "pod/web-abc12-p0"): ("wait until node c1 is Ready again; the scheduler then tries again"),
    ("P67.yaml", "pod/web-4"): "set maxSkew: 2 in the constraint on topology.kubernetes.io/zone",
    ("cc.yaml", "pod/web-abc12-p0"): "add a node to zone c with cpu 100m free",
    ("cronjob.yaml", "pod/j-3"): "add a node to zone c with cpu 100m free",
    ("i1.yaml", "deploy/web"): "add a node to zone c with cpu 100m free",
    ("i1.yaml", "pod/web-abc12-p0"): "add a node to zone c with cpu 100m free",
    ("job.yaml", "pod/j-3"): "add a node to zone c with cpu 100m free",
    ("l1.yaml", "deploy/api"): "add a node with cpu 700m free",
    ("l1.yaml", "pod/web-abc12-p0"): "add a node to zone b with cpu 1 free",
    ("n1.yaml", "pod/web-2"): "set nodeTaintsPolicy: Honor in the constraint on kubernetes.io/hostname",
    ("o02.yaml", "pod/green-g1-p0"): (
        "add track: green to the selector of the constraint on topology.kubernetes.io/zone"
    ),
    ("o04.yaml", "pod/web-new-1"): "add a node with cpu 1500m free",
    ("o05.yaml", "pod/web-new-1"): (
        "set maxSurge: 0 and maxUnavailable: 1, so that an old pod is deleted before a new one is created"
    ),
    ("o07.yaml", "pod/w1"): "only wait: preemption evicts batch-abc12-r0 from b1, and this pod takes its place",
    ("o08.yaml", "pod/web-abc12-p0"): (
        "correct the label topology.kubernetes.io/zone of node n3: us-east-1b instead of us-east1b"
    ),
    ("o14.yaml", "pod/web-abc12-p0"): (
        "wait until node c1 (1 of 2 equal nodes) is Ready again; the scheduler then tries again"
    ),
    ("o15.yaml", "pod/web-abc12-p0"): "uncordon nodes nc000, nc001 (2 of 334 equal nodes)",
    ("o17.yaml", "pod/agent-b1"): "lower the cpu request of container c to 200m",
    ("o26b.yaml", "pod/x"): "create the missing claim nope",
    ("o26c.yaml", "pod/n"): (
        "set volumeBindingMode: WaitForFirstConsumer in the StorageClass imm, and create the claims again: data-web-1"
    ),
    ("o27.yaml", "pod/web-abc12-p0"): "drop hostPort 80, so that a node takes more than one of these pods",
    ("o28.yaml", "pod/gpu-abc12-p0"): (
        "add nvidia.com/gpu.present: true to nodeSelector, as only such nodes have nvidia.com/gpu, and give b1 this "
        "label, and set maxSurge: 0 and maxUnavailable: 1, so that an old pod is deleted before a new one is created"
    ),
    ("o32.yaml", "pod/web-abc12-p0"): (
        "wait for pod web-abc12-old (terminating since 2026-11-22T00:00:00Z) to end on b1: then its place is free"
    ),
    ("o33.yaml", "pod/web-abc12-p0"): "write nodeSelector disktype: ssd instead of diskType: ssd, which no node has",
    ("o45.yaml", "pod/x"): "stop pod u on a1, which holds claim c1: one pod at a time may use it",
    ("o48.yaml", "pod/web-abc12-p0"): "wait until node c1 is removed, as the taint says",
    ("paused.yaml", "pod/web-abc12-p0"): (
        "set nodeTaintsPolicy: Honor in the constraint on topology.kubernetes.io/zone"
    ),
    ("deadlock.json.gz", "pod/web-7557d7d7cc-nh9r8"): (
        "set nodeTaintsPolicy: Honor in the constraint on topology.kubernetes.io/zone"
    ),
    ("uneven.json.gz", "pod/web-56bbb56c99-nwdcf"): (
        "set minDomains: 2 in the constraint on topology.kubernetes.io/zone, the number of existing domains"
    ),
}


@pytest.mark.parametrize("case", ANSWERS, ids=lambda case: f"{case.file}-{case.target}")
def test_the_first_suggestion(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    facts = ["--snapshot", str(CASES / case.file), "--suggestions", "1"]
    assert run(["explain", case.target, "-n", case.namespace, *facts, "-o", "json"]) == case.code
    told = json.loads(capsys.readouterr().out)
    titles = [item["title"] for part in told.get("items", [told]) for item in part["suggestions"]]

    assert titles[:1] == [FIRST[key] for key in [(case.file, case.target)] if key in FIRST]


def document(case: Case, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The JSON document of a case, which is as its schema says."""
    run(explained(case, "-o", "json"))
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    jsonschema.validate(told, schemas.load("explanation"))
    return told


def answer(file: str, target: str) -> Case:
    """The case with a name."""
    return next(case for case in ANSWERS if (case.file, case.target) == (file, target))


def test_one_outage_is_one_conflict(capsys: pytest.CaptureFixture[str]) -> None:
    """Its taints NoSchedule and NoExecute come together."""
    told = document(answer("o14.yaml", "pod/web-abc12-p0"), capsys)
    (conflict,) = told["conflicts"]

    assert [item["text"] for item in conflict["requirements"]] == [
        "taint node.kubernetes.io/not-ready:NoSchedule,NoExecute",
        "topologySpreadConstraints[0] (topology.kubernetes.io/zone, maxSkew 1)",
    ]
    assert conflict["requirements"][0]["parts"] == [
        "taint/node.kubernetes.io/not-ready:NoSchedule",
        "taint/node.kubernetes.io/not-ready:NoExecute",
    ]


def test_the_two_sides_of_one_anti_affinity_are_one_conflict(capsys: pytest.CaptureFixture[str]) -> None:
    told = document(answer("o05.yaml", "pod/web-new-1"), capsys)
    (conflict,) = told["conflicts"]
    (requirement,) = conflict["requirements"]

    assert [requirement["text"], requirement["parts"]] == [
        "pod anti-affinity on kubernetes.io/hostname against app=web",
        [
            "antiAffinity/0/kubernetes.io/hostname",
            "othersAntiAffinity/Deployment web/kubernetes.io/hostname",
        ],
    ]


def test_the_headline_and_the_conflict_agree(capsys: pytest.CaptureFixture[str]) -> None:
    """Both say that zone c is the only one, and that an outage keeps the pod out of it."""
    told = document(answer("P56-md3.yaml", "pod/web-abc12-p0"), capsys)
    (cause,) = told["causes"]

    assert [cause["narrowedBy"], cause["nodes"], [item["id"] for item in cause["refusedBy"]]] == [
        ["constraint/0/topology.kubernetes.io/zone"],
        ["c1"],
        ["taint/node.kubernetes.io/unreachable:NoSchedule+taint/node.kubernetes.io/unreachable:NoExecute"],
    ]
    assert 1 == len(told["conflicts"])


def test_a_claim_that_is_waited_for_is_a_fact(capsys: pytest.CaptureFixture[str]) -> None:
    told = document(answer("csi.json.gz", "pod/web"), capsys)

    assert told["verdict"] == "WaitsForVolume"
    assert told["claims"] == [
        {
            "problem": "provisioning",
            "namespace": "csi",
            "name": "d",
            "storageClass": "dyn2",
            "provisioner": "ebs.csi.aws.com",
            "volume": "",
            "selectedNode": "a1",
            "event": None,
        }
    ]


def test_the_last_event_of_a_claim_is_in_the_first_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also after a snapshot was written: events of claims without a volume are kept."""
    event = {
        "kind": "Event",
        "metadata": {"name": "d.1", "namespace": "csi"},
        "involvedObject": {"kind": "PersistentVolumeClaim", "namespace": "csi", "name": "d"},
        "reason": "ProvisioningFailed",
        "message": "rpc error: no capacity.",
        "lastTimestamp": "2026-11-22T01:48:00Z",
        "type": "Warning",
    }
    events, written = tmp_path / "events.json", tmp_path / "all.json"
    events.write_text(json.dumps({"kind": "List", "items": [event]}), encoding="utf-8")
    facts = ["--snapshot", str(CASES / "csi.json.gz"), "--snapshot", str(events)]
    assert 0 == run(["snapshot", *facts, "-o", str(written)])
    for given in (facts, ["--snapshot", str(written)]):
        capsys.readouterr()
        run(["explain", "pod/web", "-n", "csi", *given])
        assert (
            "ebs.csi.aws.com of StorageClass dyn2 has to create it (its last event: ProvisioningFailed: rpc error: no "
            "capacity)."
        ) in " ".join(capsys.readouterr().out.split())


def test_a_node_beside_the_chosen_one_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """The pod names no node; the scheduler has chosen one."""
    run(explained(answer("csi.json.gz", "pod/web"), "--node", "b1"))
    out = " ".join(capsys.readouterr().out.split())

    assert (
        "Node b1 is not considered: the scheduler has chosen node a1 for the pod. It would also be refused by a volume "
        "for claim d."
    ) in out


def test_a_preemptor_names_its_victim_and_its_node(capsys: pytest.CaptureFixture[str]) -> None:
    told = document(answer("nominated.json.gz", "pod/web-6d9db8d7fb-s2klq"), capsys)

    assert [told["verdict"], told["nominatedNode"], told["victims"]] == ["WaitsForPreemption", "a1", ["nom/lowa"]]
    assert [told["lastMessage"]["comparison"], told["lastMessage"]["changed"]] == [
        "outdated",
        ["pod nom/lowa was evicted to make room"],
    ]


def test_a_message_of_another_number_of_nodes_is_outdated(capsys: pytest.CaptureFixture[str]) -> None:
    told = document(answer("o43.yaml", "pod/web-abc12-p0"), capsys)

    assert [told["verdict"], told["lastMessage"]["comparison"], told["lastMessage"]["changed"]] == [
        "Schedulable",
        "outdated",
        ["the number of nodes changed from 1 to 2"],
    ]


def test_a_soft_constraint_does_not_say_that_no_node_fits(capsys: pytest.CaptureFixture[str]) -> None:
    """A hard one refuses the nodes, and without it they would do."""
    told = document(answer("o18.yaml", "deploy/web"), capsys)
    soft = told["constraints"][1]

    assert [(item["value"], item["usableNodes"], item["whyNot"]) for item in soft["domains"]] == [
        ("a1", 1, "a hard constraint refuses its nodes, and only nodes that fit count"),
        ("b1", 1, "a hard constraint refuses its nodes, and only nodes that fit count"),
        ("c1", 1, ""),
    ]
    assert soft["notes"] == ["the pod fits into no domain other than c1, so the constraint does not affect it"]


def test_pods_that_come_first_are_named_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """The first answer is about the pod that finds no node, the second about those that do."""
    run(explained(answer("i1.yaml", "deploy/web"), "-o", "json"))
    told = json.loads(capsys.readouterr().out)
    jsonschema.validate(told, schemas.load("explanation"))
    waits, placed = told["items"]

    assert [waits["workload"]["schedulable"], waits["pod"]["name"], waits["verdict"]] == [
        {"least": 3, "most": 3},
        "web-abc12-p3",
        "Pending",
    ]
    assert [item["pod"] for item in waits["assumed"]] == [f"shop/web-abc12-p{at}" for at in range(3)]
    assert [placed["pod"]["name"], placed["verdict"], placed["others"]] == [
        "web-abc12-p0",
        "Schedulable",
        ["web-abc12-p1", "web-abc12-p2"],
    ]


def test_a_workload_with_a_pod_on_a_node_that_is_gone_is_not_fine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = tmp_path / "facts.yaml"
    text = (CASES / "cc.yaml").read_text(encoding="utf-8")
    facts.write_text(text.replace("nodeName: b1", "nodeName: gone"), encoding="utf-8")
    code = run(["explain", "deploy/web", "-n", "shop", "--snapshot", str(facts), "--suggestions", "0", "-o", "json"])
    told = json.loads(capsys.readouterr().out)
    jsonschema.validate(told, schemas.load("explanation"))

    assert 1 == code
    assert [item["verdict"] for item in told["items"]] == ["Schedulable", "NodeGone"]
    assert (2, 1) == (told["items"][0]["workload"]["running"], len(told["items"][0]["workload"]["onMissingNodes"]))


def test_a_manifest_on_a_cluster_without_nodes_is_answered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = tmp_path / "nodes.yaml"
    facts.write_text("{apiVersion: v1, kind: NodeList, items: []}", encoding="utf-8")
    code = run(["explain", "-f", str(CASES / "m06md.yaml"), "--snapshot", str(facts)])
    out, err = capsys.readouterr()

    assert [1, ""] == [code, err]
    assert out.startswith(
        "Deployment shop/web: 0 of 4 replicas placed, 4 Pending.\n\n"
        "A new pod of Deployment shop/web stays Pending: the cluster has no nodes.\n"
        "3 more pods are Pending for the same reason.\n"
    )


def test_a_topology_given_as_a_snapshot_is_read_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = tmp_path / "topology.yaml"
    facts.write_text("{apiVersion: kubectl-spread/v1, kind: Topology, nodeGroups: [{zones: 2}]}", encoding="utf-8")
    answers = []
    for option in ("--snapshot", "--topology"):
        code = run(["explain", "-f", str(CASES / "m06md.yaml"), option, str(facts)])
        answers.append((code, *capsys.readouterr()))

    assert answers[0] == answers[1]
    assert answers[0][1].startswith(
        "Deployment shop/web: 4 of 4 replicas placed.\n\n"
        "A new pod of Deployment shop/web can be scheduled: it fits on 2 nodes (node-a1, node-b1).\n"
    )


def facts_of_refused(tmp_path: Path, *, constraints: str, nodes: int = 2) -> str:
    """A pod that fits on both nodes, and that the scheduler refused for spread; the message names `nodes` of them."""
    message = (
        f"0/{nodes} nodes are available: {nodes} node(s) didn't match pod topology spread constraints. no new claims "
        f"to deallocate, preemption: 0/{nodes} nodes are available: {nodes} No preemption victims found for incoming "
        "pod."
    )
    waiting = {
        "metadata": {"name": "x", "namespace": "shop", "labels": {"app": "web"}},
        "kind": "Pod",
        "spec": {"containers": [{"name": "c"}], **json.loads(constraints)},
        "status": {
            "phase": "Pending",
            "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}],
        },
    }
    both = [
        {"kind": "Node", "metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": name}},
         "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}}
        for name in ("a", "b")
    ]  # fmt: skip
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"kind": "List", "items": [*both, waiting]}), encoding="utf-8")
    return str(path)


HARD = (
    '{"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", '
    '"whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "web"}}}]}'
)


@pytest.mark.parametrize(
    ("constraints", "differs"),
    [
        (
            "{}",
            (
                "The pod has no constraint of its own, so the scheduler's configuration must have a hard default "
                "constraint that is not known: name its file with --scheduler-config."
            ),
        ),
        (HARD, "It must count other pods or other domains than the facts show."),
    ],
    ids=["without", "hard"],
)
def test_the_schedulers_newer_word_wins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], constraints: str, differs: str
) -> None:
    facts = facts_of_refused(tmp_path, constraints=constraints)
    code = run(["explain", "pod/x", "-n", "shop", "--snapshot", facts, "-o", "json"])
    told = json.loads(capsys.readouterr().out)
    jsonschema.validate(told, schemas.load("explanation"))

    assert (1, "Refused", []) == (code, told["verdict"], told["suggestions"])
    assert told["summary"] == (
        "Pod shop/x stays Pending: the scheduler refuses it on every node (2 node(s) didn't match pod topology spread "
        f"constraints), although by the cluster facts it fits on 2 nodes (a, b). {differs}"
    )
    assert told["refusedFor"] == [
        {"count": 2, "reason": "node(s) didn't match pod topology spread constraints", "kind": "constraint"}
    ]


def facts_with_a_tainted_node(tmp_path: Path, *, tainted: int) -> str:
    """The same with a control-plane node; the message names `tainted` nodes with taints, and two in all for spread."""
    path = Path(facts_of_refused(tmp_path, constraints="{}"))
    facts = json.loads(path.read_text(encoding="utf-8"))
    taint = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
    facts["items"].append({
        "kind": "Node", "metadata": {"name": "cp"}, "spec": {"taints": [taint]},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}},
    })  # fmt: skip
    facts["items"][2]["status"]["conditions"][0]["message"] = (
        f"0/3 nodes are available: {tainted} node(s) had untolerated taint(s), {3 - tainted} node(s) didn't match pod "
        "topology spread constraints."
    )
    path.write_text(json.dumps(facts), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(("tainted", "is_told"), [(1, False), (2, True)], ids=["explained", "one too many"])
def test_a_taint_that_the_facts_show_explains_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tainted: int, is_told: bool
) -> None:
    facts = facts_with_a_tainted_node(tmp_path, tainted=tainted)
    code = run(["explain", "pod/x", "-n", "shop", "--snapshot", facts])
    sentence = " ".join(capsys.readouterr().out.split("\n\n", maxsplit=1)[0].split())
    more = " A node must have a taint or a cordon that the facts do not show." if is_told else ""

    assert code == 1
    assert sentence == (
        f"Pod shop/x stays Pending: the scheduler refuses it on every node ({tainted} node(s) had untolerated "
        f"taint(s), {3 - tainted} node(s) didn't match pod topology spread constraints), although by the cluster "
        "facts it fits on 2 nodes (a, b). The pod has no constraint of its own, so the scheduler's configuration must "
        f"have a hard default constraint that is not known: name its file with --scheduler-config.{more}"
    )


def test_an_outdated_refusal_wins_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = facts_of_refused(tmp_path, constraints=HARD, nodes=1)
    code = run(["explain", "pod/x", "-n", "shop", "--snapshot", facts])

    assert 0 == code
    assert capsys.readouterr().out.startswith("Pod shop/x can be scheduled: it fits on 2 nodes (a, b).\n")


def suggested(capsys: pytest.CaptureFixture[str], name: str, title: str) -> tuple[dict[str, Any], str]:
    """One of the suggestions for a case, as JSON and the text of all."""
    arguments = ["explain", "pod/web-abc12-p0", "-n", "shop", "--snapshot", str(CASES / f"{name}.yaml")]
    arguments += ["--suggestions", "10"]
    run([*arguments, "-o", "json"])
    told = json.loads(capsys.readouterr().out)
    jsonschema.validate(told, schemas.load("explanation"))
    run([*arguments, "--details"])
    text = " ".join(capsys.readouterr().out.split())
    return next(item for item in told["suggestions"] if item["title"].startswith(title)), text


@pytest.mark.slow
def test_a_search_that_saw_all_outcomes_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    item, text = suggested(capsys, "o14", "set nodeTaintsPolicy: Honor")
    (domains,) = item["effect"]["domains"]

    assert (True, "possible", 7) == (item["rollout"]["exhaustive"], item["certainty"], item["rollout"]["outcomes"])
    assert ({"a": [2, 4], "b": [2, 4]}, [0, 2]) == (domains["range"], domains["skewRange"])
    assert item["rollout"]["text"] == "Restarts 4 running pods. Afterwards all 6 pods run, in every simulated order."
    assert f"{item['rollout']['text']} Pods per zone: 2 to 4 in a, b; skew 0 to 2 (was 2)." in text


def test_a_search_that_did_not_see_all_outcomes_says_so() -> None:
    effect = Effect(4, 6, 2, 0, ("a1",), outcomes=4, basis=Basis.SAMPLE, restarts=4, running=4)
    item = Suggestion("t", (), (), (), effect, "", (), is_of_manifest=False)

    assert effect_sentence(item) == (
        "Restarts 4 running pods. Afterwards all 6 pods run (in 4 sampled outcomes; there may be others)."
    )


def test_the_skew_of_different_outcomes_is_a_range(capsys: pytest.CaptureFixture[str]) -> None:
    item, text = suggested(capsys, "o08", "tolerate the taint")
    (domains,) = item["effect"]["domains"]

    assert [0, 2] == domains["skewRange"]
    assert "Pods per zone: 1 to 2 in us-east1b; 0 to 2 in us-east-1a, us-east-1b; skew 0 to 2 (was 1)." in text


def told_of(capsys: pytest.CaptureFixture[str], name: str, pod: str) -> str:
    """The suggestions of a case as text, on one line."""
    run(["explain", f"pod/{pod}", "-n", "shop", "--snapshot", str(CASES / f"{name}.yaml"), "--details"])
    return " ".join(capsys.readouterr().out.partition("Suggestions")[2].split())


def test_what_was_not_simulated_to_its_end_has_its_own_heading(capsys: pytest.CaptureFixture[str]) -> None:
    """The facts do not have the StatefulSet, and its pods do not tell it."""
    text = told_of(capsys, "P105b", "etcd-0")

    assert text.startswith("that were not simulated to the end: 1. Set maxSkew: 2")
    assert "2 more changes, which may end or restart running pods, or lose data" in text


def test_a_rollout_under_way_is_not_the_effect_of_a_new_node(capsys: pytest.CaptureFixture[str]) -> None:
    text = told_of(capsys, "o04", "web-new-1")

    assert "The rollout replaces 2 running pods. Afterwards all 3 pods run" in text
    assert "Replaces 2 running pods, as the rollout does anyway. Afterwards all 3 pods run" in text


def test_pods_that_are_yet_to_be_created_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    text = told_of(capsys, "o15", "web-abc12-p0")

    assert "All 3 Pending pods find a node, and 197 pods that the controller then creates" in text


@pytest.mark.slow
def test_pods_that_contend_get_a_node_for_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    """The one that is asked about may find a node, and then another does not."""
    text = told_of(capsys, "i1", "web-abc12-p0")

    assert text.startswith(", each simulated: 1. Add a node to zone c with cpu 100m free")
    assert "All 4 Pending pods find a node. Pods per zone: 2 in a, b, c; skew 0 (was 1)." in text


@pytest.mark.slow
def test_a_new_node_has_room_for_the_rival_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    """A node of 300m would do for the pod, and leave that of the other workload Pending in one of the two orders."""
    text = told_of(capsys, "l1", "web-abc12-p0")

    assert text.startswith(", each simulated: 1. Add a node to zone b with cpu 1 free")


def test_the_first_sentence_names_the_domains_that_the_table_allows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The scheduler's constraint does not refuse a node that it does not count; the table says `not eligible`."""
    term = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}
    hard = {**running.constraint(nodeTaintsPolicy="Honor"), "topologyKey": "kubernetes.io/hostname"}
    spec = {
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
        "topologySpreadConstraints": [hard],
    }
    taint = {"key": "db", "effect": "NoSchedule"}
    items = [
        *(running.node(name, "a", **more) for name, more in (("a1", {}), ("a2", {}), ("c1", {"taints": [taint]}))),
        running.pod("db", "a1", metadata={"labels": {"app": "db"}}),
        running.pod("w-1", "a2", **spec),
        running.pod("w-2", **spec),
    ]
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    run(["explain", "pod", "w-2", "-n", "shop", "--snapshot", str(path), "--suggestions", "0"])
    out = " ".join(capsys.readouterr().out.split())

    assert "(kubernetes.io/hostname, maxSkew 1) allows only a1, which is refused by pod anti-affinity" in out
    assert "c1 1 0 - not eligible" in out


def test_an_unbound_claim_is_to_be_looked_at_before_its_class_is_changed(capsys: pytest.CaptureFixture[str]) -> None:
    """A provisioner that fails would fail with another binding mode, too."""
    run(["explain", "pod/n", "-n", "shop", "--snapshot", str(CASES / "o26c.yaml")])

    assert "Note: `kubectl describe pvc data-web-1 -n shop` says why it has no volume" in capsys.readouterr().out


EXAMPLES = Path(__file__).parents[3] / "examples"
_BEFORE = [
    pytest.param(folder / "before.yaml", folder / "snapshot.yaml", id=folder.name)
    for folder in sorted((EXAMPLES / "scenarios").iterdir())
    if (folder / "snapshot.yaml").exists() and (folder / "before.yaml").exists()
]
_COUNTS_OTHERS = {"selector-counts-a-daemonset", "selector-counts-another-component", "terminating-pod-does-not-count"}


@pytest.mark.parametrize(
    ("manifest", "facts"),
    [pytest.param(EXAMPLES / "shop" / "web.yaml", EXAMPLES / "shop" / "cluster.yaml", id="shop"), *_BEFORE],
)
def test_a_change_of_a_manifest_leaves_as_many_pods_as_it_wants(
    manifest: Path, facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where the facts have pods of the workload and lack the workload itself."""
    run(["explain", "-f", str(manifest), "--snapshot", str(facts), "-o", "json"])
    written = json.loads(capsys.readouterr().out or '{"items": []}')  # nothing about a manifest that is refused

    for item in (item for document in written.get("items", [written]) for item in document["suggestions"]):
        placed = item["effect"]["placed"]["after"]
        for domains in item["effect"]["domains"]:
            counted = sum(domains["after"].values())
            assert counted >= placed if manifest.parent.name in _COUNTS_OTHERS else counted == placed


def test_pods_with_other_constraints_are_of_another_revision(capsys: pytest.CaptureFixture[str]) -> None:
    """A manifest with matchLabelKeys counts none of the pods that run without them, as `simulate apply` does."""
    shop = EXAMPLES / "shop"
    run(["explain", "-f", str(shop / "web-fixed.yaml"), "--snapshot", str(shop / "cluster.yaml"), "-o", "json"])
    zones, hosts = json.loads(capsys.readouterr().out)["constraints"]

    assert [0, 0] == [domain["matching"] for domain in zones["domains"][:2]]
    assert zones["originText"] == hosts["originText"] == "the template of Deployment web"


def test_restarts_of_a_rollout_that_goes_on_are_not_those_of_the_change() -> None:
    """The rollout would replace its old pods anyway; the change restarts the new ones, too."""
    effect = Effect(5, 6, 1, 0, ("n1",), without_node=1, restarts=5, under_way=3, is_new=True, running=5)
    item = Suggestion("t", (), (), (), effect, "", (), is_of_manifest=False)

    assert effect_sentence(item).startswith("Restarts 5 running pods, of which the rollout replaces 3 anyway. ")


def test_the_last_pod_of_a_stateful_set_holds_no_other_up(capsys: pytest.CaptureFixture[str]) -> None:
    run(["explain", "-A", "--snapshot", str(CASES / "P67.yaml")])

    assert "The next pod" not in capsys.readouterr().out


def test_the_trade_off_names_the_domains_of_the_constraint(capsys: pytest.CaptureFixture[str]) -> None:
    run(["explain", "-A", "--snapshot", str(EXAMPLES / "scenarios" / "surge-pod-has-no-node" / "snapshot.yaml")])

    assert "if an outage taints a node, its pods move to the other nodes" in capsys.readouterr().out


def test_what_the_best_change_does_too_is_not_repeated() -> None:
    """`Or:` names the part that differs."""
    effect = Effect(0, 1, 1, 0, ("a",), outcomes=1, basis=Basis.SAMPLE, restarts=0, running=0)
    titles = ("set a: 1, and set b: 2", "uncordon node c, and set b: 2", "set d: 4")
    items = tuple(Suggestion(title, (), (), (), effect, "", (), is_of_manifest=False) for title in titles)

    assert ["Or: uncordon node c, instead of the first change above", "Or: set d: 4"] == alternatives(
        Suggestions(items), Style(None)
    )


def test_a_change_that_helps_only_some_pods_says_so() -> None:
    """In the line of an alternative, too."""
    effects = {"a": Effect(0, 3, 3, 0, ("n",)), "b": Effect(0, 1, 3, 2, ("n",), restarts=1)}
    items = tuple(
        Suggestion(title, (), (), (), effect, "", (), is_of_manifest=True) for title, effect in effects.items()
    )

    assert alternatives(Suggestions(items), Style(None)) == [
        "Or: b (restarts 1 running pod; 2 other pods of the workload still wait)"
    ]
