"""Places that set the replicas of a workload: its manifest, a kustomization, or a patch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: NUMBER
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web}]
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: ScheduleAnyway
        labelSelector: {matchLabels: {app: web}}
"""
PATCH = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 1\n"
JSON = "- {op: replace, path: /spec/replicas, value: 1}\n"


@pytest.mark.parametrize(
    ("overlay", "patch", "where"),
    [
        ("resources: [../base]\nreplicas:\n- {name: web, count: 1}\n", "", "overlay/kustomization.yaml:3:22"),
        ("resources: [../base]\npatches: [{path: patch.yaml}]\n", PATCH, "overlay/patch.yaml:5:13"),
        ("resources: [../base]\npatchesStrategicMerge: [patch.yaml]\n", PATCH, "overlay/patch.yaml:5:13"),
        (
            "resources: [../base]\npatches:\n- target: {kind: Deployment}\n  path: patch.yaml\n",
            JSON,
            "overlay/patch.yaml:1:46",
        ),
        (
            f"resources: [../base]\npatches:\n- target: {{kind: Deployment}}\n  patch: |\n    {JSON}",
            "",
            "overlay/kustomization.yaml:4:10",
        ),
        ("resources: [../base]\n", "", "base/web.yaml:5:13"),
    ],
)
def test_the_number_of_replicas_is_named_where_it_is_set(
    overlay: str,
    patch: str,
    where: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A kustomization or its patch, or else the manifest."""
    monkeypatch.chdir(tmp_path)
    for name, content in {
        "base/kustomization.yaml": "resources: [web.yaml]\n",
        "base/web.yaml": WEB.replace("NUMBER", "1" if where.startswith("base") else "3"),
        "overlay/kustomization.yaml": overlay,
        "overlay/patch.yaml": patch,
    }.items():
        if content:
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_text(content)
    run(["check", "-R", "base", "overlay", "-o", "json", "--select", "SPR205"])
    finding = json.loads(capsys.readouterr().out)["findings"][0]

    (related,) = finding["related"]
    assert (where, "the number of replicas") == (
        f"{related['file']}:{related['line']}:{related['column']}",
        related["message"],
    )
