"""A rule is never proved if pods or features that are not followed could break it; the answer names them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from tests.guarantee.cases import HOSTNAME, ZONE

Plain = dict[str, Any]
ALL = {"matchLabels": {"group": "all"}}
DB = {"matchLabels": {"app": "db"}}
SHARE, PENDING = "maxShare", "placed"


def pods_of(name: str, kind: str = "Deployment", *, replicas: int = 3, **spec: Any) -> Plain:
    """Return a workload whose pods have the labels `app` and `group`."""
    cpu = spec.pop("cpu", "100m")
    labels = {"app": name, "group": "all"}
    container = {"name": "c", "image": "c", "resources": {"requests": {"cpu": cpu}}}
    version = "batch/v1" if kind == "Job" else "apps/v1"
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container], **spec}}
    plain: Plain = {"template": template, "selector": {"matchLabels": {"app": name}}, "replicas": replicas}
    if kind == "Job":
        template["spec"]["restartPolicy"] = "Never"
        plain = {"template": template, "parallelism": replicas, "completions": replicas}
    if kind == "DaemonSet":
        del plain["replicas"]
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": plain}


def by_zone(selector: Plain, **more: Any) -> Plain:
    constraint = {"topologyKey": ZONE, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    return {"topologySpreadConstraints": [{**constraint, **more}]}


def apart_from(selector: Plain) -> Plain:
    term = {"topologyKey": HOSTNAME, "labelSelector": selector}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


TERMINATING = (
    "Deployment web: Terminating pods do not count. A deleted pod can run for up to 30 s more, and its replacement can "
    "start in the same domain"
)
CLAIMS = (
    "Deployment web: claims can keep pods in the zones of their volumes. Whether the pods find nodes, and "
    "violations that need them in other zones, are not decided"
)
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "single", "labels": {"group": "all"}},
    "spec": {"containers": [{"name": "c", "image": "c"}]},
}
OPEN = {SHARE: "undecided", PENDING: "undecided"}


def quota(pods: int) -> Plain:
    metadata = {"name": "pods", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": {"pods": str(pods)}}}


CASES: dict[str, tuple[list[Plain], Plain, list[str]]] = {
    "a quota with less room than pods": (
        [pods_of("web", **by_zone(ALL)), quota(2)],
        OPEN,
        ["Deployment web: a ResourceQuota may refuse pods"],
    ),
    "a quota with room for all pods": (
        [pods_of("web", **by_zone(ALL)), quota(9)],
        {SHARE: "proved", PENDING: "proved"},
        [],
    ),
    "a neighbour that the constraint counts is followed": (
        [pods_of("web", **by_zone(ALL)), pods_of("db", replicas=9)],
        {SHARE: "refuted", PENDING: "proved"},
        [],
    ),
    "pods of a DaemonSet that the constraint counts": (
        [pods_of("web", **by_zone(ALL)), pods_of("agent", "DaemonSet", nodeSelector={ZONE: "b"})],
        OPEN,
        ["Deployment web: the constraints also count pods of DaemonSet agent, which come and go"],
    ),
    "pods of a Job that the constraint counts": (
        [pods_of("web", **by_zone(ALL)), pods_of("batch", "Job", replicas=9)],
        OPEN,
        ["Deployment web: the constraints also count pods of Job batch, which come and go"],
    ),
    "a single Pod that the constraint counts": (
        [pods_of("web", **by_zone(ALL)), POD],
        OPEN,
        ["Deployment web: the constraints also count pods of Pod single, which come and go"],
    ),
    "a neighbour from which anti-affinity keeps the pods away": (
        [pods_of("web", **by_zone({"matchLabels": {"app": "web"}}) | apart_from(DB)),
         pods_of("db", replicas=6, **apart_from(DB))],
        {SHARE: "proved", PENDING: "refuted"},
        [],
    ),
    "other pods that may take the room": (
        [pods_of("web", cpu="4", **by_zone({"matchLabels": {"app": "web"}})), pods_of("db", replicas=6, cpu="6")],
        {SHARE: "proved", PENDING: "undecided"},
        ["pods of Deployment db have no node yet, and may take the room of the group's pods"],
    ),
    "a node name": (
        [pods_of("web", nodeName="node-a1", **by_zone({"matchLabels": {"app": "web"}}))],
        OPEN,
        ["Deployment web: spec.nodeName sends all pods to node-a1, past the scheduler"],
    ),
    "another scheduler": (
        [pods_of("web", schedulerName="own", **by_zone({"matchLabels": {"app": "web"}}))],
        OPEN,
        ["Deployment web: the scheduler own places the pods, and its rules are unknown"],
    ),
    "required affinity": (
        [pods_of("web", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": ZONE, "labelSelector": DB}]}}, **by_zone({"matchLabels": {"app": "web"}}))],
        {SHARE: "proved", PENDING: "undecided"},
        ["Deployment web: required pod affinity. Whether the pods find nodes, and violations, are not decided"],
    ),
    "preemption": (
        [pods_of("web", cpu="6", replicas=2, priority=1000, **by_zone(ALL)), pods_of("db", replicas=6, cpu="6")],
        {SHARE: "refuted", PENDING: "undecided"},
        ["Deployment web: the pods may preempt pods of lower priority"],
    ),
    "a constraint that counts each pod of a StatefulSet for itself": (
        [pods_of("web", "StatefulSet", **by_zone(ALL, matchLabelKeys=["apps.kubernetes.io/pod-index"]))],
        {SHARE: "refuted", PENDING: "proved"},
        [],
    ),
    "a volume": (
        [pods_of("web", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "v"}}],
                 **by_zone({"matchLabels": {"app": "web"}}))],
        {SHARE: "proved", PENDING: "undecided"},
        [CLAIMS],
    ),
    "affinity that may prevent a violation": (
        [pods_of("web", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": ZONE, "labelSelector": DB}]}})],
        OPEN,
        ["Deployment web: required pod affinity. Whether the pods find nodes, and violations, are not decided"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(CASES))
def test_open_questions_leave_rules_undecided(name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Rules that they cannot break are proved all the same."""
    items, verdicts, notes = CASES[name]
    (tmp_path / "all.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    words = ["-f", str(tmp_path / "all.json"), "--topology", "zones=3,nodes=2,cpu=8", "-l", "app=web"]
    run(["guarantee", *words, "--less-than", "zone=2/3", "--regime", "restarts", "-o", "json"])
    (group,) = json.loads(capsys.readouterr().out)["groups"]

    assert {item["rule"]["kind"]: item["verdict"] for item in group["regimes"][0]["rules"]} == verdicts
    assert group["notes"] == [*notes, *([TERMINATING] if verdicts[SHARE] == "proved" else [])]
