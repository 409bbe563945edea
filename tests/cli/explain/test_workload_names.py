"""`status`, `explain TYPE/NAME` and `explain pod` name the same workload, and suggestions change that object."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Optional

import pytest

from kubectl_spread.cli.main import run
from tests.naive.builders import node, pod, ZONE

Plain = dict[str, Any]

HASHED = {"app": "web", "pod-template-hash": "5d4f"}
KNATIVE = {**HASHED, "serving.knative.dev/service": "web"}


def controlled(plain: Plain, owner: str) -> Plain:
    """An object with a controller, given as `Kind name`."""
    kind, name = owner.split()
    plain["metadata"]["ownerReferences"] = [{"apiVersion": "a/v1", "kind": kind, "name": name, "controller": True}]
    return plain


def made(kind: str, name: str, owner: Optional[str]) -> Plain:
    """A controller of two pods with a hard constraint on zones."""
    template = {"metadata": {"labels": HASHED}, "spec": spread({})}
    spec: Plain = {
        "replicas": 2,
        "parallelism": 2,
        "completions": 2,
        "selector": {"matchLabels": HASHED},
        "template": template,
    }
    if kind == "CronJob":
        spec = {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": template}}}
    version = "batch/v1" if kind in ("Job", "CronJob") else "apps/v1"
    plain = {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec}
    return plain if owner is None else controlled(plain, owner)


def spread(spec: Plain) -> Plain:
    """A pod spec with the constraint."""
    selector = {"matchLabels": {"app": "web"}}
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    return {**spec, "topologySpreadConstraints": [constraint]}


@pytest.mark.parametrize(
    ("objects", "owner", "labels", "named", "workload"),
    [
        (
            [("Deployment", "web", None), ("ReplicaSet", "web-5d4f", "Deployment web")],
            "ReplicaSet web-5d4f",
            HASHED,
            "deploy/web",
            "Deployment web",
        ),
        ([], "ReplicaSet web-5d4f", HASHED, "deploy/web", "Deployment web"),
        (
            [("Deployment", "web-1", "Revision web-1"), ("ReplicaSet", "web-1-5d4f", "Deployment web-1")],
            "ReplicaSet web-1-5d4f",
            KNATIVE,
            "ksvc/web",
            "Service web",
        ),
        (
            [("ReplicaSet", "web-5d4f", "Rollout web")],
            "ReplicaSet web-5d4f",
            {"app": "web"},
            "rollout/web",
            "Rollout web",
        ),
        (
            [("CronJob", "web", None), ("Job", "web-1", "CronJob web")],
            "Job web-1",
            {"app": "web"},
            "cj/web",
            "CronJob web",
        ),
        ([("StatefulSet", "web", "Prometheus web")], "StatefulSet web", {"app": "web"}, "sts/web", "StatefulSet web"),
    ],
    ids=["Deployment", "no ReplicaSet", "Knative", "Argo Rollout", "CronJob", "operator"],
)
def test_every_command_names_one_workload(
    objects: list[tuple[str, str, Optional[str]]],
    owner: str,
    labels: Plain,
    named: str,
    workload: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The second pod finds no node: zone b has too little CPU, and maxSkew keeps it out of zone a."""
    pods = [
        controlled(pod("web-a", on="a1", labels=labels, requests={"cpu": "2"}), owner),
        controlled(pod("web-b", labels=labels, requests={"cpu": "2"}), owner),
    ]
    for item in pods:
        item["spec"] = spread(item["spec"])
    nodes = [node(f"{zone}1", labels={ZONE: zone}, allocatable={"cpu": cpu}) for zone, cpu in (("a", "4"), ("b", "1"))]
    items = [*nodes, *(made(*item) for item in objects), *pods]
    (tmp_path / "facts.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    facts = ["--snapshot", str(tmp_path / "facts.json"), "-o", "json"]
    kind, name = workload.split()

    run(["status", *facts])
    statuses = json.loads(capsys.readouterr().out)["workloads"]
    run(["explain", "pod", "web-b", "--suggestions", "20", *facts])
    of_pod = json.loads(capsys.readouterr().out)
    run(["explain", named, *facts])
    of_workload = json.loads(capsys.readouterr().out)

    assert [(item["object"]["kind"], item["object"]["name"]) for item in statuses] == [(kind, name)]
    (constraint,) = of_pod["constraints"]
    assert [pods["owner"] for domain in constraint["domains"] for pods in domain["pods"]] == [workload]
    assert workload in constraint["originText"]
    assert (of_workload["workload"]["kind"], of_workload["workload"]["name"]) == (kind, name)
    assert of_workload["pod"] == of_pod["pod"]
    changed = {(change["kind"], change["name"]) for item in of_pod["suggestions"] for change in item["changes"]}
    assert changed & {(kind, name)}
    assert not {item for item in changed if item[0] in ("Deployment", "ReplicaSet")} - {(kind, name)}
