"""`snapshot`: one file that leads to the same answers, with or without names."""

from __future__ import annotations

import errno
import gzip
import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from kubectl_spread import schemas
from kubectl_spread.cli.main import run

Plain = dict[str, Any]

EXAMPLES = Path(__file__).parents[3] / "examples"
SHOP = EXAMPLES / "shop" / "cluster.yaml"
FACTS = sorted([SHOP, SHOP.with_name("running.yaml"), *EXAMPLES.glob("*/*/snapshot*.yaml")])


def document(path: Path) -> Plain:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    loaded = json.loads(text) if text.startswith("{") else YAML(typ="safe", pure=True).load(text)
    found: Plain = json.loads(json.dumps(loaded))
    jsonschema.validate(found, schemas.load("snapshot"))
    return found


def answers(facts: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What the commands print of cluster facts."""
    found = []
    for args in (
        ["status", "-A", "-a"],
        ["status", "-A", "-a", "-o", "json"],
        ["check", str(EXAMPLES / "shop/web.yaml")],
    ):
        run([*args, "--snapshot", str(facts)])
        found.append(capsys.readouterr().out.replace(str(facts), "FACTS"))
    return found


@pytest.mark.parametrize("name", ["s.json", "s.yaml", "s.yml", "s.json.gz", "s.yaml.gz", "s.gz"])
def test_a_snapshot_leads_to_the_same_answers(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / name

    assert run(["snapshot", "--snapshot", str(SHOP), "-o", str(target)]) == 0
    assert not document(target)["redacted"]
    assert answers(SHOP, capsys) == answers(target, capsys)


def test_the_same_facts_are_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.json.gz", "b.json.gz"):
        run(["snapshot", "--snapshot", str(SHOP), "-o", str(tmp_path / name), "--redact"])

    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()


def test_standard_output_gets_json(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["snapshot", "--snapshot", str(SHOP)]) == 0
    assert json.loads(capfdbinary.readouterr().out)["kind"] == "Snapshot"


def counted(facts: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What `status` says but for names."""
    run(["status", "-A", "-a", "-o", "json", "--snapshot", str(facts)])
    found = []
    for workload in json.loads(capsys.readouterr().out)["workloads"]:
        constraints = [
            (
                item["index"],
                item["skew"],
                item["status"],
                item["reason"],
                [each["matching"] for each in item["domains"]],
            )
            for item in workload["constraints"]
        ]
        found.append(repr((workload["running"], len(workload["pending"]), constraints)))
    return sorted(found)


@pytest.mark.parametrize("facts", FACTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_redacted_one_leads_to_the_same_counts(
    facts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "facts.json"
    run(["snapshot", "--snapshot", str(facts), "--redact", "-o", str(target)])

    assert document(target)["redacted"]
    assert counted(facts, capsys) == counted(target, capsys)


def test_a_redacted_explanation_is_the_same_but_for_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "facts.yaml"
    run(["snapshot", "--snapshot", str(SHOP), "--redact", "-o", str(target)])
    run(["explain", "pod", "web-6d4f9c7b58-9pdlw", "-n", "shop", "-o", "json", "--snapshot", str(SHOP)])
    plain = json.loads(capsys.readouterr().out)
    waiting = [item for item in document(target)["items"] if item["kind"] == "Pod" and "nodeName" not in item["spec"]]
    metadata = waiting[0]["metadata"]
    run(["explain", "pod", metadata["name"], "-n", metadata["namespace"], "-o", "json", "--snapshot", str(target)])
    redacted = json.loads(capsys.readouterr().out)

    assert (plain["verdict"], plain["message"]) == (redacted["verdict"], redacted["message"])
    assert [len(item["requirements"]) for item in plain["conflicts"]] == [
        len(item["requirements"]) for item in redacted["conflicts"]
    ]


def test_a_version_that_is_named_goes_with_the_snapshot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "facts.json"
    run(["snapshot", "--snapshot", str(SHOP), "--kubernetes-version", "v1.24.1", "-o", str(target)])
    run(["explain", "deploy/web", "--details", "-n", "shop", "--snapshot", str(target)])

    assert document(target)["kubernetesVersion"] == "1.24.1"
    assert "had untolerated taint {node-role.kubernetes.io/control-plane: }" in " ".join(
        capsys.readouterr().out.split()
    )


SECRET = "hunter2"


def everything() -> list[Plain]:
    """Objects with a word in every place where somebody may have written one, and in every name."""
    word = SECRET
    labels = {
        "app": f"{word}-app",
        "topology.kubernetes.io/zone": f"{word}-zone",
        "kubernetes.io/hostname": f"{word}-n",
    }
    selector = {
        "matchLabels": {"app": f"{word}-app"},
        "matchExpressions": [{"key": "tier", "operator": "In", "values": [f"{word}-tier"]}],
    }
    container = {
        "name": f"{word}-c",
        "image": f"{word}.example.com/{word}:1",
        "command": [word],
        "args": [word],
        "env": [{"name": word, "value": word}],
        "envFrom": [{"secretRef": {"name": word}}],
        "volumeMounts": [{"name": f"{word}-v", "mountPath": f"/{word}"}],
        "ports": [{"name": word, "containerPort": 80, "hostPort": 80, "hostIP": "10.66.0.1"}],
        "resources": {"requests": {"cpu": "1"}},
    }
    spec = {
        "nodeName": f"{word}-n",
        "serviceAccountName": word,
        "hostname": word,
        "subdomain": word,
        "imagePullSecrets": [{"name": word}],
        "priorityClassName": f"{word}-p",
        "containers": [container],
        "initContainers": [container],
        "nodeSelector": {"tier": f"{word}-tier"},
        "schedulingGates": [{"name": f"{word}/gate"}],
        "tolerations": [{"key": "team", "operator": "Equal", "value": f"{word}-team", "effect": "NoSchedule"}],
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": selector,
            }
        ],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [{"key": "tier", "operator": "NotIn", "values": [f"{word}-x"]}],
                            "matchFields": [{"key": "metadata.name", "operator": "In", "values": [f"{word}-n"]}],
                        }
                    ]
                }
            },
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "topologyKey": "kubernetes.io/hostname",
                        "namespaces": [f"{word}-ns"],
                        "labelSelector": selector,
                        "namespaceSelector": selector,
                    }
                ]
            },
        },
        "volumes": [
            {"name": f"{word}-v", "persistentVolumeClaim": {"claimName": f"{word}-claim"}},
            {"name": f"{word}-s", "secret": {"secretName": word}},
            {"name": f"{word}-cm", "configMap": {"name": word}},
            {"name": f"{word}-e", "ephemeral": {"volumeClaimTemplate": {"metadata": {"labels": {"a": word}}}}},
            {"name": f"{word}-ebs", "awsElasticBlockStore": {"volumeID": f"aws://{word}/vol-{word}"}},
            {"name": f"{word}-rbd", "rbd": {"monitors": [f"{word}:1"], "image": word, "pool": word, "user": word}},
            {"name": f"{word}-iscsi", "iscsi": {"iqn": f"iqn.{word}", "targetPortal": word}},
            {"name": f"{word}-nfs", "nfs": {"server": word, "path": word}},
        ],
    }
    message = f'pods "{word}-app-1" is forbidden: exceeded quota: {word}-quota, by {word}-user@{word}.example.com'
    about = {"kind": "Pod", "namespace": f"{word}-ns", "name": f"{word}-app-1", "uid": f"{word}-uid"}
    metadata = {
        "name": f"{word}-app",
        "namespace": f"{word}-ns",
        "uid": f"{word}-uid",
        "labels": labels,
        "annotations": {"note": word, "spread.kubectl.io/ignore": f"SPR304 {word}"},
        "finalizers": [f"{word}.example.com/keep"],
        "managedFields": [{"manager": word}],
    }
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{word}-app-abc", "uid": word, "controller": True}
    status = {
        "phase": "Pending",
        "nominatedNodeName": f"{word}-n",
        "hostIP": "10.66.0.2",
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}],
        "containerStatuses": [{"name": f"{word}-c", "image": word, "containerID": word}],
    }
    pod = {"kind": "Pod", "metadata": {**metadata, "ownerReferences": [owner]}, "spec": spec, "status": status}
    pod["metadata"] = {**metadata, "name": f"{word}-app-1", "ownerReferences": [owner]}
    waiting = {**pod, "spec": {key: item for key, item in spec.items() if key != "nodeName"}}
    workload = {
        "replicas": 2,
        "serviceName": word,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels, "annotations": {"a": word}}, "spec": spec},
        "volumeClaimTemplates": [
            {"metadata": {"name": f"{word}-data", "labels": labels}, "spec": {"storageClassName": f"{word}-sc"}}
        ],
    }
    failed = {
        "conditions": [{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message}]
    }
    named = {**metadata, "name": f"{word}-n"}
    claim = {"storageClassName": f"{word}-sc", "volumeName": f"{word}-pv", "selector": selector}
    return [
        {
            "kind": "Node",
            "metadata": {key: item for key, item in named.items() if key != "namespace"},
            "spec": {
                "providerID": word,
                "podCIDR": "10.66.1.0/24",
                "taints": [{"key": "team", "value": f"{word}-team"}],
            },
            "status": {
                "addresses": [{"type": "Hostname", "address": word}],
                "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
                "images": [{"names": [f"{word}.example.com/{word}:1"], "sizeBytes": 1}],
                "nodeInfo": {"machineID": word, "kubeletVersion": "v1.36.2"},
            },
        },
        pod,
        {**waiting, "metadata": {**pod["metadata"], "name": f"{word}-app-2"}},
        {"kind": "Namespace", "metadata": {**metadata, "name": f"{word}-ns"}},
        {"kind": "Service", "metadata": metadata, "spec": {"selector": {"app": f"{word}-app"}, "externalName": word}},
        {"kind": "Deployment", "metadata": metadata, "spec": workload, "status": failed},
        {"kind": "StatefulSet", "metadata": metadata, "spec": workload, "status": {"updateRevision": f"{word}-app-x1"}},
        {"kind": "ReplicationController", "metadata": metadata, "spec": {"selector": labels}},
        {
            "kind": "PodDisruptionBudget",
            "metadata": metadata,
            "spec": {"selector": selector},
            "status": {"disruptedPods": {f"{word}-app-1": "2026-01-01T00:00:00Z"}},
        },
        {
            "kind": "Event",
            "metadata": {**metadata, "name": f"{word}.1"},
            "involvedObject": {**about, "name": f"{word}-app-2"},
            "reason": "FailedScheduling",
            "message": message,
            "source": {"component": f"{word}-scheduler", "host": word},
        },
        {"kind": "PersistentVolumeClaim", "metadata": {**metadata, "name": f"{word}-claim"}, "spec": claim},
        {
            "kind": "PersistentVolume",
            "metadata": {**metadata, "name": f"{word}-pv"},
            "spec": {
                "storageClassName": f"{word}-sc",
                "claimRef": {"namespace": f"{word}-ns", "name": f"{word}-claim", "uid": word},
                "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": f"vol-{word}", "volumeAttributes": {"a": word}},
                "nodeAffinity": {
                    "required": spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
                },
            },
        },
        {
            "kind": "StorageClass",
            "metadata": {"name": f"{word}-sc"},
            "provisioner": "ebs.csi.aws.com",
            "parameters": {"a": word},
            "allowedTopologies": [
                {"matchLabelExpressions": [{"key": "topology.kubernetes.io/zone", "values": [f"{word}-zone"]}]}
            ],
        },
        {
            "kind": "CSIStorageCapacity",
            "metadata": {"name": word, "namespace": word},
            "storageClassName": f"{word}-sc",
            "nodeTopology": selector,
        },
        {
            "kind": "VolumeAttachment",
            "metadata": {"name": word},
            "spec": {"attacher": word, "nodeName": f"{word}-n", "source": {"persistentVolumeName": f"{word}-pv"}},
        },
        {"kind": "PriorityClass", "metadata": {"name": f"{word}-p"}, "value": 5, "description": word},
        {"kind": "Secret", "metadata": {"name": word}, "data": {"password": word}},
        {"kind": "ConfigMap", "metadata": {"name": word}, "data": {"a": word}},
    ]


def written(tmp_path: Path, *args: str, objects: list[Plain] | None = None) -> Path:
    facts, target = tmp_path / "facts.json", tmp_path / "snapshot.json"
    facts.write_text(json.dumps({"kind": "List", "items": everything() if objects is None else objects}))
    assert run(["snapshot", "--snapshot", str(facts), "-o", str(target), *args]) == 0
    return target


def test_no_name_is_left_in_a_redacted_one(tmp_path: Path) -> None:
    target = written(tmp_path, "--redact")
    text = target.read_text()
    kinds = [item["kind"] for item in document(target)["items"]]

    assert SECRET not in text
    assert "10.66" not in text
    assert len(everything()) - 2 == len(kinds)
    assert not {"Secret", "ConfigMap"} & set(kinds)


def composed_pod(name: str, prefix: str = "", claim: str = "") -> Plain:
    metadata = {"name": name, "namespace": "shop", **({"generateName": prefix} if prefix else {})}
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}] if claim else []
    conditions = [
        {"type": "acme.example/LoadBalancerReady", "status": "False", "reason": "AcmeSaysNo"},
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"},
    ]
    return {"kind": "Pod", "metadata": metadata, "spec": {"volumes": volumes}, "status": {"conditions": conditions}}


def test_names_that_are_made_of_others_stay_so(tmp_path: Path) -> None:
    """Also where the workload that made them is not in the facts."""
    objects = [
        composed_pod("acme-6d4f9c7b58-9pdlw", "acme-6d4f9c7b58-"),
        composed_pod("acme-6d4f9c7b58-x7k2p", "acme-6d4f9c7b58-"),
        composed_pod("etcd-2", "etcd-", "data-etcd-2"),
        {"kind": "PersistentVolumeClaim", "metadata": {"name": "data-etcd-2", "namespace": "shop"}},
    ]
    node = {"kind": "Node", "metadata": {"name": "n"}}
    _, one, two, member, claim = document(written(tmp_path, "--redact", objects=[node, *objects]))["items"]
    prefix = one["metadata"]["generateName"]

    assert prefix == two["metadata"]["generateName"]
    assert one["metadata"]["name"] != two["metadata"]["name"]
    for pod in (one, two, member):
        assert pod["metadata"]["name"].startswith(pod["metadata"]["generateName"])
    assert member["metadata"]["name"].endswith("-2")
    assert claim["metadata"]["name"].endswith(f"-{member['metadata']['name']}")
    assert member["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    assert not [word for word in ("acme", "etcd", "6d4f", "9pdlw") if word in json.dumps([one, two, member, claim])]


def test_conditions_and_reasons_of_others_are_replaced(tmp_path: Path) -> None:
    node = {"kind": "Node", "metadata": {"name": "n"}}
    _, pod = document(written(tmp_path, "--redact", objects=[node, composed_pod("p")]))["items"]
    own, scheduled = pod["status"]["conditions"]

    assert ("condition-1", "reason-1") == (own["type"], own["reason"])
    assert ("PodScheduled", "Unschedulable") == (scheduled["type"], scheduled["reason"])


def test_nothing_that_containers_are_told_is_written(tmp_path: Path) -> None:
    """Names stay where nobody asks for redaction; environment, arguments and Secrets are never there."""
    text = written(tmp_path).read_text()

    assert '"command"' not in text
    assert '"args"' not in text
    assert '"env' not in text
    assert "password" not in text
    assert "managedFields" not in text
    assert "externalName" not in text
    assert '"note"' not in text


def test_relations_stay(tmp_path: Path) -> None:
    items = document(written(tmp_path, "--redact"))["items"]
    by_kind = {item["kind"]: item for item in items}
    node, pod, claim = by_kind["Node"], items[1], by_kind["PersistentVolumeClaim"]
    volume, stateful = by_kind["PersistentVolume"], by_kind["StatefulSet"]

    assert node["metadata"]["name"] == node["metadata"]["labels"]["kubernetes.io/hostname"] == pod["spec"]["nodeName"]
    assert node["spec"]["taints"][0]["value"] == pod["spec"]["tolerations"][0]["value"]
    assert node["status"]["images"][0]["names"] == [pod["spec"]["containers"][0]["image"]]
    assert pod["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    assert volume["metadata"]["name"] == claim["spec"]["volumeName"]
    assert volume["spec"]["csi"]["volumeHandle"] != volume["metadata"]["name"]
    assert by_kind["Service"]["spec"]["selector"]["app"] == pod["metadata"]["labels"]["app"]
    assert stateful["status"]["updateRevision"].startswith(f"{stateful['metadata']['name']}-revision-")
    assert pod["metadata"]["name"] == f"{stateful['metadata']['name']}-1"
    assert pod["metadata"]["namespace"] == by_kind["Namespace"]["metadata"]["name"]
    assert pod["metadata"]["annotations"] == {"spread.kubectl.io/ignore": "SPR304 redacted"}


def test_messages_keep_what_kubernetes_says(tmp_path: Path) -> None:
    items = document(written(tmp_path, "--redact"))["items"]
    (event,) = (item for item in items if item["kind"] == "Event")
    pod = items[1]["metadata"]["name"]

    assert f'pods "{pod}" is forbidden: exceeded quota: redacted, by redacted' == event["message"]


def test_names_are_in_the_order_that_they_were_in(tmp_path: Path) -> None:
    """Ten and two as well, and whatever they look like."""
    names = [*(f"n{number}" for number in range(12)), "Z", "_", "0"]
    nodes = [{"kind": "Node", "metadata": {"name": name}} for name in names]
    items = document(written(tmp_path, "--redact", objects=nodes))["items"]
    stand_ins = dict(zip(names, (item["metadata"]["name"] for item in items), strict=True))

    assert sorted(stand_ins.values()) == [stand_ins[name] for name in sorted(names)]


def test_numbers_that_are_compared_stay(tmp_path: Path) -> None:
    term = {"matchExpressions": [{"key": "memory", "operator": "Gt", "values": ["131072"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    objects = [
        {"kind": "Node", "metadata": {"name": "a", "labels": {"memory": "262144", "account": "123456789012"}}},
        {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"affinity": {"nodeAffinity": required}, "containers": []}},
    ]
    node, pod = document(written(tmp_path, "--redact", objects=objects))["items"]

    assert {"memory": "262144", "account": "value-1"} == node["metadata"]["labels"]
    assert "131072" in json.dumps(pod)


def test_events_of_pods_that_run_are_left_out(tmp_path: Path) -> None:
    def event(name: str, reason: str, kind: str = "Pod") -> Plain:
        return {
            "kind": "Event",
            "metadata": {"name": f"{name}.{reason}"},
            "reason": reason,
            "involvedObject": {"kind": kind, "name": name},
        }

    objects = [
        {"kind": "Node", "metadata": {"name": "a"}},
        {"kind": "Pod", "metadata": {"name": "on"}, "spec": {"nodeName": "a"}},
        {"kind": "Pod", "metadata": {"name": "off"}},
        event("on", "FailedScheduling"),
        event("off", "FailedScheduling"),
        event("web", "FailedCreate", "ReplicaSet"),
        event("web", "ScalingReplicaSet", "Deployment"),
    ]
    items = document(written(tmp_path, objects=objects))["items"]

    assert ["off.FailedScheduling", "web.FailedCreate"] == [
        item["metadata"]["name"] for item in items if item["kind"] == "Event"
    ]


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        ([], 3, "error: no cluster is configured: "),
        (
            ["--snapshot", str(SHOP), "-o", "facts.txt"],
            2,
            "error: the file name must end in .json, .yaml or .gz: facts.txt",
        ),
        (["--topology", "zones=3"], 2, "error: a made-up cluster needs no snapshot"),
        (["--snapshot", "nope.yaml"], 3, "error: nope.yaml: the path does not exist"),
        (
            ["--snapshot", str(SHOP), "-o", "nope/facts.json"],
            3,
            "error: nope/facts.json: cannot be written: no such file",
        ),
    ],
)
def test_what_cannot_be_done_is_said(
    args: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)

    assert code == run(["snapshot", *args])
    assert capsys.readouterr().err.startswith(message)
    assert [] == list(tmp_path.iterdir())


def test_without_a_cluster_the_hint_names_what_the_command_takes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A made-up cluster is refused, so that the hint does not name it."""
    monkeypatch.setenv("KUBECONFIG", "nope")

    assert run(["snapshot"]) == 3
    assert capsys.readouterr().err == (
        "error: no cluster is configured: nope does not exist. Use --kubeconfig or --snapshot\n"
    )


@pytest.mark.parametrize("step", ["os.fsync", "os.chmod", "os.replace"])
def test_a_file_that_cannot_be_replaced_stays_as_it_was(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whichever step of writing is refused, to root too; nothing half written is left beside it."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    target = tmp_path / "facts.json"
    target.write_text("mine")
    monkeypatch.setattr(step, refuse)
    code = run(["snapshot", "--snapshot", str(SHOP), "-o", str(target)])

    assert (3, "mine") == (code, target.read_text())
    assert [target] == list(tmp_path.iterdir())
    assert "cannot be written" in capsys.readouterr().err


def test_what_does_not_decode_is_told_and_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts, target = tmp_path / "facts.json", tmp_path / "out.json"
    broken = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeName": 7}}
    facts.write_text(json.dumps({"kind": "List", "items": [{"kind": "Node", "metadata": {"name": "a"}}, broken]}))

    assert run(["snapshot", "--snapshot", str(facts), "-o", str(target)]) == 3
    assert "Pod p is left out: spec.nodeName" in capsys.readouterr().err
    assert ["Node"] == [item["kind"] for item in document(target)["items"]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(b"kind: List\n")[:-9], "not a whole gzip file: it ends too early"),
        (b"\x1f\x8bnonsense", "not a gzip file: "),
        (gzip.compress(b"\xff"), "not UTF-8: byte 0xff"),
    ],
    ids=["cut", "nonsense", "bytes"],
)
def test_a_broken_gzip_file_is_one_message(
    content: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = tmp_path / "facts.json.gz"
    facts.write_bytes(content)

    assert run(["status", "--snapshot", str(facts)]) == 3
    assert message in capsys.readouterr().err


def test_several_gzip_pieces_are_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = SHOP.read_bytes()
    facts = tmp_path / "facts.yaml.gz"
    facts.write_bytes(gzip.compress(text[:1000]) + gzip.compress(text[1000:]) + b"\0" * 8)

    assert answers(SHOP, capsys) == answers(facts, capsys)


def test_hostile_names_cannot_reach_the_terminal(tmp_path: Path) -> None:
    evil = 'x\x1b[31m\x9b\u202e"\\\n'
    nodes = [{"kind": "Node", "metadata": {"name": evil, "labels": {"zone": evil}}}]
    for name in ("out.json", "out.yaml"):
        facts, target = tmp_path / "facts.json", tmp_path / name
        facts.write_text(json.dumps(nodes[0]))
        run(["snapshot", "--snapshot", str(facts), "-o", str(target)])

        assert target.read_text().replace("\n", "").isprintable()
        assert document(target)["items"][0]["metadata"]["name"] == evil
