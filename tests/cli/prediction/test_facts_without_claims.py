"""Facts that lack PersistentVolumeClaims: what depends on them is not known, and no claim is called missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run

UNKNOWN = "claims that are not in the cluster facts (kubectl get pv,pvc,storageclasses -A)"


def facts(tmp_path: Path, *, with_claims: bool) -> str:
    """Write three zones with a node each, and a StatefulSet with a pod and a claim in two of them."""
    labels = {"app": "db"}
    constraint = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": labels},
    }
    spec: dict[str, Any] = {"containers": [{"name": "db", "image": "db"}], "topologySpreadConstraints": [constraint]}
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "disk",
    }
    items: list[dict[str, Any]] = [
        {
            "kind": "Node",
            "metadata": {
                "name": f"node-{zone}",
                "labels": {"topology.kubernetes.io/zone": zone, "kubernetes.io/hostname": f"node-{zone}"},
            },
            "spec": {"unschedulable": zone == "c"},
            "status": {"allocatable": {"cpu": "4", "pods": "110"}},
        }
        for zone in "abc"
    ]
    template = {"metadata": {"labels": labels}, "spec": spec}
    items.append(
        {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "metadata": {"name": "db", "namespace": "shop", "uid": "db"},
            "spec": {
                "replicas": 3,
                "selector": {"matchLabels": labels},
                "template": template,
                "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}],
            },
        }
    )
    for ordinal, node in enumerate(("node-a", "node-b", None)):
        volume = {"name": "data", "persistentVolumeClaim": {"claimName": f"data-db-{ordinal}"}}
        items.append(
            {
                "kind": "Pod",
                "metadata": {
                    "name": f"db-{ordinal}",
                    "namespace": "shop",
                    "uid": f"db-{ordinal}",
                    "labels": {**labels, "apps.kubernetes.io/pod-index": str(ordinal)},
                    "ownerReferences": [{"kind": "StatefulSet", "name": "db", "uid": "db", "controller": True}],
                },
                "spec": {**spec, "volumes": [volume], **({"nodeName": node} if node else {})},
                "status": {"phase": "Running" if node else "Pending"},
            }
        )
        items.append(
            {
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": f"data-db-{ordinal}", "namespace": "shop"},
                "spec": claim,
            }
        )
    kinds = {"Node", "StatefulSet", "Pod", *(["PersistentVolumeClaim"] if with_claims else [])}
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [x for x in items if x["kind"] in kinds]}))
    return str(path)


COMMANDS = (
    "explain pod db-2",
    "explain sts db",
    "simulate rollout restart sts/db",
    "simulate delete pod db-0",
    "simulate scale sts/db --replicas=5",
    "simulate drain node-b",
    "simulate lose zone=a",
    "guarantee sts/db --survive zone --keep 1",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_what_depends_on_unknown_claims_is_not_known(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run([*command.split(), "-n", "shop", "--snapshot", facts(tmp_path, with_claims=False)])
    out = " ".join(capsys.readouterr().out.split())

    assert code == 1
    assert UNKNOWN in out
    assert "does not exist" not in out
    assert "is not bound" not in out
    assert "gets stuck" not in out.partition("A way to get stuck")[0]


@pytest.mark.parametrize("command", COMMANDS)
def test_claims_of_the_facts_are_looked_at(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command.split(), "-n", "shop", "--snapshot", facts(tmp_path, with_claims=True)]) in (0, 1)
    out = " ".join(capsys.readouterr().out.split())

    assert "db" in out
    assert UNKNOWN not in out
