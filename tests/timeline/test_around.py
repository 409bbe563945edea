"""Objects around workloads are changed by name: Services, claims, volumes, classes, autoscalers, namespaces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from tests.timeline.test_run import node, ZONE

Plain = dict[str, Any]
LABELS = {"app": "db"}
CLAIM = {"storageClassName": "ssd", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def claimed(template: Plain) -> list[Plain]:
    """A StatefulSet with one pod on a1, whose volume is in zone a; an HPA and a Service."""
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "u", "controller": True}
    in_a = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["a"]}]}
    bound = {"pv.kubernetes.io/bind-completed": "yes"}
    return [
        node("a1", "a"),
        node("b1", "b"),
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "ssd"},
            "provisioner": "csi.example.com",
            "volumeBindingMode": "WaitForFirstConsumer",
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "pv0"},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "ssd",
                "claimRef": {"namespace": "default", "name": "data-db-0", "uid": "c0"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [in_a]}},
                "csi": {"driver": "csi.example.com", "volumeHandle": "x"},
            },
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data-db-0", "namespace": "default", "uid": "c0", "annotations": bound},
            "spec": {**CLAIM, "volumeName": "pv0"},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "metadata": {"name": "db", "namespace": "default", "uid": "u"},
            "spec": {
                "replicas": 1,
                "serviceName": "db",
                "selector": {"matchLabels": LABELS},
                "template": template,
                "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": CLAIM}],
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "db-0", "namespace": "default", "labels": LABELS, "ownerReferences": [owner]},
            "spec": {
                **template["spec"],
                "nodeName": "a1",
                "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}],
            },
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "db", "namespace": "default"},
            "spec": {"selector": LABELS},
        },
        {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "db", "namespace": "default"},
            "spec": {
                "minReplicas": 1,
                "maxReplicas": 3,
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db"},
            },
        },
    ]


_RETENTION = "persistentVolumeClaimRetentionPolicy"


@pytest.fixture
def facts(tmp_path: Path) -> str:
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": "db"}]}}
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": claimed(template)}))
    return str(path)


def simulated(capsys: pytest.CaptureFixture[str], facts: str, *steps: str) -> tuple[int, list[Plain], str]:
    """Run some steps: exit code, steps, standard error."""
    first, *rest = steps
    args = [*first.split(" ", 3), *(word for step in rest for word in ("--then", step))]
    code = run(["simulate", "--snapshot", facts, "-o", "json", *args])
    out, err = capsys.readouterr()
    return code, json.loads(out)["steps"] if out else [], err


def test_a_claim_stays_until_its_pod_is_gone(facts: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Then the StatefulSet makes a new claim, whose volume can be in another zone; the data is lost."""
    code, steps, _ = simulated(capsys, facts, "cordon a1", "delete pvc data-db-0 --wait=false", "delete pod db-0")

    assert code == 0
    assert steps[1]["notes"] == [
        "claim data-db-0 stays until db-0, which uses it, is gone",
        "the data in volume pv0 is lost with its claim, unless its reclaim policy is Retain",
    ]
    assert steps[2]["outcomes"][0]["workloads"][0]["domains"][ZONE] == {"a": 0, "b": 1}


@pytest.mark.parametrize(
    ("kind", "change", "step", "zones"),
    [
        ("PersistentVolumeClaim", {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, "delete pod db-0", "ab"),
        ("StatefulSet", {"spec": {_RETENTION: {"whenScaled": "Delete"}}}, "scale sts/db --replicas=0", ""),
        ("StatefulSet", {"spec": {_RETENTION: {"whenDeleted": "Delete"}}}, "delete sts/db", ""),
    ],
)
def test_data_that_is_lost_on_the_way_is_told(
    kind: str, change: Plain, step: str, zones: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A claim goes with a pod if somebody deleted it before, or if its StatefulSet deletes it."""
    items = claimed({"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": "db"}]}})
    for item in items:
        if item["kind"] == kind:
            for part, fields in change.items():
                item[part] |= fields
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    code, answers, _ = simulated(capsys, str(path), step)

    assert code == 0
    assert "the data in volume pv0 is lost with its claim, unless its reclaim policy is Retain" in answers[0]["notes"]
    found = {
        zone
        for outcome in answers[0]["outcomes"]
        for workload in outcome["workloads"]
        for zone, number in workload["domains"][ZONE].items()
        if number
    }
    assert found == set(zones)


def test_with_its_claim_a_pod_cannot_leave_the_zone(facts: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, steps, _ = simulated(capsys, facts, "cordon a1", "delete pod db-0")

    assert code == 1
    assert "didn't match PersistentVolume's node affinity" in steps[1]["pending"][0]["message"]


def test_an_unused_claim_goes_at_once(facts: str, capsys: pytest.CaptureFixture[str]) -> None:
    """After the scale-down, so that the pod of the next scale-up can be in the other zone."""
    steps = ["scale sts/db --replicas=0", "delete pvc data-db-0", "cordon a1", "scale sts/db --replicas=1"]
    code, answers, _ = simulated(capsys, facts, *steps)

    assert code == 0
    assert answers[3]["outcomes"][0]["workloads"][0]["domains"][ZONE] == {"a": 0, "b": 1}


@pytest.mark.parametrize(
    ("step", "notes"),
    [
        ("delete svc db", []),
        ("delete service/db", []),
        ("delete sc ssd", []),
        ("delete pv pv0", ["volume pv0 stays until its claim is gone"]),
        ("delete hpa db", ["without autoscaler db, the workload keeps the replicas that it has"]),
        (
            "delete ns default",
            [
                "namespace default is deleted with all its objects, also those outside the simulation, such as Secrets",
                "the data in volume pv0 is lost with its claim, unless its reclaim policy is Retain",
            ],
        ),
        ('patch svc db -p={"spec":{"selector":null}}', []),
        ('patch sc ssd -p={"metadata":{"annotations":{"storageclass.kubernetes.io/is-default-class":"true"}}}', []),
        ('patch pv pv0 -p={"spec":{"claimRef":null}}', []),
        (
            'patch hpa db -p={"spec":{"maxReplicas":5}}',
            ["autoscaler db keeps 1 to 5 replicas; which of them its metrics ask for is not simulated"],
        ),
        ('patch pvc data-db-0 -p={"spec":{"resources":null}}', ["a change of claim data-db-0 moves no pod"]),
        ("label ns default team=a", []),
    ],
)
def test_other_objects(step: str, notes: list[str], facts: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, steps, err = simulated(capsys, facts, step)

    assert (code, err) == (0, "")
    assert steps[0]["notes"] == notes


@pytest.mark.parametrize(
    ("step", "code", "message"),
    [
        ("delete pvc x", 1, 'Error from server (NotFound): persistentvolumeclaims "x" not found in namespace "default'),
        ("delete svc x", 1, 'Error from server (NotFound): services "x" not found in namespace "default"\n'),
        ("delete pv x", 1, 'Error from server (NotFound): persistentvolumes "x" not found\n'),
        ("delete sc x", 1, 'Error from server (NotFound): storageclasses.storage.k8s.io "x" not found\n'),
        ("delete hpa x", 1, 'Error from server (NotFound): horizontalpodautoscalers.autoscaling "x" not found in name'),
        ("delete ns x", 1, 'Error from server (NotFound): namespaces "x" not found\n'),
        ("delete svc -l app=x", 2, "error: labels of services are not read; name the objects\n"),
        (
            'patch svc db -p={"spec":{"selector":3}}',
            1,
            "Error from server (BadRequest): spec.selector: ",
        ),
        (
            'patch hpa db -p={"spec":{"maxReplicas":0}}',
            1,
            'The HorizontalPodAutoscaler "db" is invalid: spec.maxReplicas: Invalid value: 0: ',
        ),
    ],
)
def test_mistakes(step: str, code: int, message: str, facts: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In kubectl's words."""
    found, steps, err = simulated(capsys, facts, step)

    assert (found, steps) == (code, [])
    assert err.startswith(message)


@pytest.mark.parametrize("step", ["delete all --all", "delete all -l x!=y"])
def test_the_category_all(step: str, facts: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Pods go with their workloads; claims and nodes are not part of it."""
    code, steps, err = simulated(capsys, facts, step)

    assert (code, err) == (0, "")
    assert [(item["object"]["name"], item["deleted"]) for item in steps[0]["workloads"]] == [("db", True)]


def test_a_deleted_namespace_takes_its_workloads(facts: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, steps, _ = simulated(capsys, facts, "delete ns default")

    assert [(item["object"]["name"], item["deleted"]) for item in steps[0]["workloads"]] == [("db", True)]
