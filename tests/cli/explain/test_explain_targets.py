"""Several targets of one `explain`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.cli.main import run

FACTS = str(Path(__file__).parents[3] / "examples" / "shop" / "cluster.yaml")


def test_a_target_that_does_not_exist_does_not_hide_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["explain", "pod/nope", "pod/web-6d4f9c7b58-9pdlw", "-n", "shop", "--snapshot", FACTS])
    out, err = capsys.readouterr()

    assert code == 1
    assert out.startswith("Pod shop/web-6d4f9c7b58-9pdlw stays Pending: ")
    assert err == 'error: pods "nope" not found in namespace "shop" of the cluster facts\n'


def test_every_target_that_does_not_exist_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["explain", "pod/nope", "pod/nor", "-n", "shop", "--snapshot", FACTS])
    out, err = capsys.readouterr()

    assert (code, out) == (1, "")
    assert ['pods "nope"', 'pods "nor"'] == [line.split(": ")[1].split(" not")[0] for line in err.splitlines()]


def test_a_manifest_that_holds_nothing_to_explain_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    listed = tmp_path / "list.yaml"
    listed.write_text("{apiVersion: v1, kind: List, items: null}", encoding="utf-8")

    for path in (tmp_path / "empty", listed):
        assert 3 == run(["explain", "-f", str(path), "--topology", "zones=3"])
        assert ("", f"error: {path}: no workload in it to explain\n") == tuple(capsys.readouterr())


@pytest.mark.parametrize(
    ("fields", "pod_fields"),
    [
        ({"apiVersion": []}, {}),
        ({}, {"topologySpreadConstraints": [None]}),
        ({}, {"topologySpreadConstraints": [{"topologyKey": "zone", "whenUnsatisfiable": "Never", "maxSkew": 1}]}),
    ],
)
def test_what_no_api_server_stores_is_explained_as_far_as_it_goes(
    fields: dict[str, Any], pod_fields: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = tmp_path / "facts.json"
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "db"}], **pod_fields}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "db"}}, "template": template}
    labelled = {"kind": "StatefulSet", "metadata": {"name": "db"}, "spec": spec, **fields}
    node = {"kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"pods": "10"}}}
    facts.write_text(json.dumps({"kind": "List", "items": [node, labelled]}), encoding="utf-8")

    assert 1 == run(["explain", "sts/db", "--snapshot", str(facts)])
    assert "once created, it fits on 1 node (n1)." in " ".join(capsys.readouterr().out.split())
    assert 1 == run(["explain", "sts/db", "--snapshot", str(facts), "-o", "json"])
    jsonschema.validate(json.loads(capsys.readouterr().out), schemas.load("explanation"))


def test_a_type_that_there_is_not_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "dploy/web", "--topology", "zones=1"]) == 2
    assert "error: `dploy` is not a resource type with pods. Types: pod, " in capsys.readouterr().err


GONE = "no kubelet will run it. The pod garbage collector deletes it; nothing creates it again."


@pytest.mark.parametrize(
    ("node", "code", "said"),
    [
        ("node-a1", 0, "node-a1."),
        ("gone", 1, f"gone, which does not exist: {GONE}"),
    ],
)
def test_a_manifest_that_names_a_node_is_checked_against_the_nodes(
    node: str, code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "pod.yaml"
    spec = {"nodeName": node, "containers": [{"name": "c", "image": "c"}]}
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}))

    assert code == run(["explain", "-f", str(path), "--topology", "zones=1,nodes=1"])
    assert f"Pod default/p is bound to node {said}" == " ".join(capsys.readouterr().out.split())


def test_a_node_is_asked_about_for_a_pod_that_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """As if the pod were scheduled now, with all others in place."""
    running = str(Path(__file__).parents[3] / "examples/shop/running.yaml")
    for node, answer in (("c-1", "Node c-1 refuses the pod: cordon"), ("a-1", "Node a-1 ")):
        run(["explain", "pod", "db-0", "-n", "shop", "--node", node, "--snapshot", running])
        out = capsys.readouterr().out
        assert out.startswith("Pod shop/db-0 is bound to node a-2.")
        assert answer in out


def test_pods_that_wait_in_other_namespaces_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    running = str(Path(__file__).parents[3] / "examples/shop/running.yaml")
    run(["explain", "-n", "default", "--snapshot", running])
    assert "no pod is Pending in namespace default; 1 in other namespaces: -A" in capsys.readouterr().err


@pytest.mark.parametrize(("limit", "told"), [("3", 1), ("1", 1), ("0", 0)])
def test_pods_that_the_api_server_refuses_are_told(
    limit: str, told: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A quota has room for all, for some or for none of two pods."""
    spec = {"hard": {"pods": limit}}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "d"}, "spec": spec}
    labels = {"kubernetes.io/hostname": "n1"}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": labels}}
    node["status"] = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}
    facts, manifest = tmp_path / "facts.json", tmp_path / "web.yaml"
    facts.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node, quota]}))
    manifest.write_text(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: d}\nspec:\n  replicas: 2\n"
        "  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n"
        "    spec: {containers: [{name: c, image: c}]}\n"
    )
    code = run(["explain", "-f", str(manifest), "--snapshot", str(facts)])
    out, err = capsys.readouterr()

    refused = 2 - min(2, int(limit))
    assert (code, out.count("can be scheduled")) == (int(refused > 0), told)
    expected = f"error: Deployment d/web: the API server refuses {refused} of 2 pods: pods "
    assert err.startswith(expected) if refused else not err


@pytest.mark.parametrize("kind", ["Deployment", "Job"])
@pytest.mark.parametrize("replicas", [1, 9])
def test_a_quota_that_refuses_pods_is_told_without_a_name(
    kind: str, replicas: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The limit that all pods need is only proposed if they then find a node: the only node takes four."""
    container = {"name": "c", "image": "c", "resources": {"requests": {"cpu": "1"}}}
    labels = {"app": "web"}
    spec: dict[str, Any] = {"replicas": replicas, "selector": {"matchLabels": labels}}
    if kind == "Job":
        spec = {"parallelism": replicas, "completions": 2 * replicas}
    spec["template"] = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    version = "batch/v1" if kind == "Job" else "apps/v1"
    web = {"apiVersion": version, "kind": kind, "metadata": {"name": "web", "namespace": "d"}, "spec": spec}
    quota: dict[str, Any] = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "d"}}
    quota["spec"] = {"hard": {"requests.cpu": "500m"}}
    node: dict[str, Any] = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
    node["status"] = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}
    facts = tmp_path / "facts.json"
    facts.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node, quota, web]}))
    code = run(["explain", "-A", "--snapshot", str(facts)])
    out, err = capsys.readouterr()

    assert (code, err) == (1, "")
    assert f"0 have a node, {replicas} {'is' if replicas == 1 else 'are'} not created." in out
    command = """kubectl patch resourcequota q -n d --type=merge -p '{"spec":{"hard":{"requests.cpu":"1"}}}'"""
    assert out.count(command) == out.count("Do: raise the limits of ResourceQuota q") == int(replicas == 1)


@pytest.mark.parametrize(
    ("kind", "cpu", "code"), [("Deployment", "1", 0), ("Deployment", "5", 1), ("StatefulSet", "5", 1)]
)
def test_a_changed_template_of_pods_that_run_is_judged(
    kind: str, cpu: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A rollout replaces them, and its pods find no node: the only one has four cores."""

    def workload(cpu: str) -> dict[str, Any]:
        container = {"name": "c", "image": "c", "resources": {"requests": {"cpu": cpu}}}
        labels = {"app": "web"}
        spec: dict[str, Any] = {"replicas": 1, "selector": {"matchLabels": labels}}
        spec["template"] = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web", "namespace": "d"}, "spec": spec}

    node: dict[str, Any] = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
    node["status"] = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}
    running = workload("500m")
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": "web", "controller": True}
    metadata = {"name": "web-0", "namespace": "d", "labels": {"app": "web"}, "ownerReferences": [owner]}
    if kind == "Deployment":
        owner |= {"kind": "ReplicaSet", "name": "web-5f8c"}
        metadata |= {"name": "web-5f8c-x2x4v", "labels": {"app": "web", "pod-template-hash": "5f8c"}}
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": status}
    pod["spec"] = {**running["spec"]["template"]["spec"], "nodeName": "n1"}
    facts, manifest = tmp_path / "facts.json", tmp_path / "web.yaml"
    facts.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node, running, pod]}))
    manifest.write_text(json.dumps(workload(cpu)))
    assert run(["explain", "-f", str(manifest), "--snapshot", str(facts)]) == code
    out, err = capsys.readouterr()

    assert err == ("" if code else f"{kind} d/web: its 1 pod already runs\n")
    assert out.count("The manifest changes the template of the pods, and its rollout gets stuck.") == code
    who = "Pod d/web-0" if kind == "StatefulSet" else "A new pod of Deployment d/web"
    assert out.count(f"{who} stays Pending: every node is refused by the cpu request (needs 5") == code
    assert run(["check", str(manifest), "--snapshot", str(facts), "--ignore", "SPR"]) == code
    assert capsys.readouterr().out.count(f"$ kubectl spread explain -f {manifest} --snapshot {facts}") == code
    assert out.count(": lower the cpu request") == (code and kind == "Deployment")


def test_the_pod_of_a_manifest_is_the_one_that_waited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The other replicas have the other nodes in any case; each zone could have the new node."""
    container = {"name": "web", "image": "web", "resources": {"requests": {"cpu": "1"}}}
    selector = {"matchLabels": {"app": "web"}}
    constraint = {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    keys = ("topology.kubernetes.io/zone", "kubernetes.io/hostname")
    spec = {
        "containers": [container],
        "topologySpreadConstraints": [{**constraint, "topologyKey": key} for key in keys],
    }
    template = {"metadata": {"labels": {"app": "web"}}, "spec": spec}
    path = tmp_path / "web.yaml"
    deployment = {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "web"}}
    path.write_text(json.dumps({**deployment, "spec": {"replicas": 7, "selector": selector, "template": template}}))
    run(["explain", "-f", str(path), "--topology", "zones=3,nodes=2,cpu=1,memory=4Gi"])
    out = " ".join(capsys.readouterr().out.split())

    assert "The pod goes to new-node-1; then all 7 pods run." in out
    assert "equally good: add a node to zone b with cpu 1 free or add a node to zone c with cpu 1 free" in out


def test_copies_of_a_workload_are_explained_one_by_one_with_their_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Copies are for different clusters, as in `check`: the pods of one do not count for the other."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web"}]}}
    spread = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}
    template["spec"]["topologySpreadConstraints"] = [{**spread, "labelSelector": {"matchLabels": {"app": "web"}}}]
    files = []
    for name in ("dev", "prod"):
        files.append(str(tmp_path / f"{name}.yaml"))
        spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}
        web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
        Path(files[-1]).write_text(json.dumps(web), encoding="utf-8")
    asked = ["explain", "-f", files[0], "-f", files[1], "--topology", "zones=2,nodes=1"]

    assert run(asked) == 0
    fits = "A new pod of Deployment default/web can be scheduled: it fits on 2 nodes (node-a1, node-b1)."
    blocks = capsys.readouterr().out.split("\n\n")[:2]
    assert [f"Deployment default/web ({file}): 2 of 2 replicas placed. {fits}" for file in files] == [
        " ".join(block.split()) for block in blocks
    ]
    assert run([*asked, "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schemas.load("explanation"))
    assert [item["file"] for item in document["items"]] == files


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]},
            (
                "Do: check the controller of kueue.x-k8s.io, which has to remove the gates; to go on without it, "
                "remove them Without the gates, it can be scheduled: it fits on 1 node (n1). "
                '$ kubectl patch pod web -n shop --type=json -p \'[{"op":"remove","path":"/spec/schedulingGates"}]\''
            ),
        ),
        (
            {"schedulerName": "volcano"},
            (
                "Do: check that the scheduler volcano runs, and read its logs; the events of the pod may say why it "
                "waits $ kubectl describe pod web -n shop"
            ),
        ),
        (
            {},
            (
                "Do: wait for the next attempt of the scheduler; if the pod still waits then, its events may say why "
                "$ kubectl describe pod web -n shop"
            ),
        ),
    ],
)
def test_a_waiting_pod_that_no_change_helps_has_a_next_step(
    fields: dict[str, Any], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = tmp_path / "facts.json"
    spec = {"containers": [{"name": "web"}], **fields}
    pod = {"kind": "Pod", "metadata": {"name": "web", "namespace": "shop"}, "spec": spec}
    node = {"kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"pods": "10"}}}
    facts.write_text(json.dumps({"kind": "List", "items": [node, pod]}), encoding="utf-8")
    run(["explain", "pod", "web", "-n", "shop", "--snapshot", str(facts)])

    assert expected in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(("replicas", "headline"), [(3, "Deployment default/web: 3 of 3 replicas placed. "), (1, "")])
def test_a_manifest_of_several_pods_says_that_all_are_placed(
    replicas: int, headline: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
    (tmp_path / "web.json").write_text(json.dumps(web), encoding="utf-8")

    assert run(["explain", "-f", str(tmp_path / "web.json"), "--topology", "zones=2,nodes=1"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith(f"{headline}A new pod of Deployment default/web can be scheduled: it fits on 2 nodes ")


def test_of_many_manifests_the_stuck_one_is_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those with the same answer have one, and a file of the directory without a workload is no error."""
    (tmp_path / "values.yaml").write_text("a: 1\n", encoding="utf-8")
    for name in "abcde":
        container = {"name": "web", "resources": {"requests": {"cpu": "50" if name == "d" else "1"}}}
        template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
        spec = {"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": template}
        web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}
        (tmp_path / f"{name}.json").write_text(json.dumps(web), encoding="utf-8")
    asked = ["explain", "-f", str(tmp_path), "--topology", "zones=1,nodes=1,cpu=9", "--suggestions", "0"]

    assert run(asked) == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("Deployment default/d: 0 of 1 replica placed, 1 Pending.\n")
    assert "\n3 more workloads are in the same state: Deployment default/b, Deployment default/c, " in out
    assert out.count("can be scheduled") == 1
    assert run([*asked, "-o", "json"]) == 1
    names = [item["pod"]["name"][0] for item in json.loads(capsys.readouterr().out)["items"]]
    assert names == [*"abcde"]


def test_a_change_of_a_replicaset_that_the_api_server_refuses_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Also if the ReplicaSet is one of a Deployment of the manifest, which creates its pods."""
    scenario = Path(FACTS).parents[1] / "scenarios" / "rollout-ends-uneven"
    files = [str(scenario / name) for name in ("snapshot-after.yaml", "snapshot.yaml")]

    assert run(["explain", "-f", files[0], "--snapshot", files[1]]) == 1
    assert 'The ReplicaSet "web-0ld" is invalid: spec.selector: Invalid value' in capsys.readouterr().err
