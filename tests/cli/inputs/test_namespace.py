"""-n is the namespace of all that names none, workloads and what is around them alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run

WORKLOAD = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, WORKLOAD}
spec:
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
      - maxSkew: 5
        topologyKey: zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: web}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, AUTOSCALER}
spec: {scaleTargetRef: {kind: StatefulSet, name: web}, maxReplicas: 5}
"""
SHOP = "namespace: shop"
OTHER = "namespace: other"
UNNAMED = "labels: {}"


@pytest.mark.parametrize(
    ("workload", "autoscaler", "flags", "expected"),
    [
        (UNNAMED, UNNAMED, [], True),
        (UNNAMED, UNNAMED, ["-n", "shop"], True),
        (SHOP, SHOP, ["-n", "other"], True),
        (UNNAMED, SHOP, ["-n", "shop"], True),
        (SHOP, UNNAMED, ["-n", "shop"], True),
        (UNNAMED, SHOP, [], False),
        (SHOP, UNNAMED, [], False),
        (UNNAMED, OTHER, ["-n", "shop"], False),
        (OTHER, UNNAMED, ["-n", "shop"], False),
        (UNNAMED, "namespace: default", [], True),
        (UNNAMED, "namespace: default", ["-n", "shop"], False),
    ],
)
def test_an_autoscaler_is_that_of_its_namespace(
    workload: str,
    autoscaler: str,
    flags: list[str],
    expected: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its maximum makes a maxSkew of 5 one that never binds."""
    text = WORKLOAD.replace("WORKLOAD", workload).replace("AUTOSCALER", autoscaler)
    (tmp_path / "all.yaml").write_text(text)
    run(["check", str(tmp_path / "all.yaml"), "-o", "json", "--select", "SPR204", *flags])
    findings = json.loads(capsys.readouterr().out)["findings"]

    assert expected == bool(findings)
    assert all(finding["object"]["namespace"] == ("" if workload == UNNAMED else workload[11:]) for finding in findings)


def test_workloads_of_one_namespace_are_counted_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One that names it, and one that -n gives it."""
    first = WORKLOAD.partition("---")[0]
    text = (
        f"{first.replace('WORKLOAD', UNNAMED)}---\n{first.replace('WORKLOAD', SHOP).replace('name: web', 'name: api')}"
    )
    (tmp_path / "all.yaml").write_text(text)
    counts = []
    for flags in ([], ["-n", "shop"]):
        run(["check", str(tmp_path / "all.yaml"), "-o", "json", "--select", "SPR502", *flags])
        counts.append(len(json.loads(capsys.readouterr().out)["findings"]))

    assert [0, 2] == counts
