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


@pytest.mark.parametrize(
    ("namespaces", "named", "is_told"),
    [
        (("kube-system", "shop"), "shop", False),
        (("kube-system", "shop"), "shpo", True),
        (("kube-system",), "default", False),
        ((), "shpo", False),  # the facts have no list of namespaces
    ],
)
def test_a_namespace_that_does_not_exist_is_named(
    namespaces: tuple[str, ...], named: str, is_told: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    metadata = [{"kind": "Namespace", "metadata": {"name": name}} for name in namespaces]
    node = {"kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"pods": "10"}}}
    facts, manifest = tmp_path / "facts.json", tmp_path / "web.yaml"
    items = [{"apiVersion": "v1", **item} for item in (node, *metadata)]
    facts.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    manifest.write_text(f"apiVersion: v1\nkind: Pod\nmetadata: {{name: web, namespace: {named}}}\n{POD}")
    note = f"the cluster facts have no namespace {named}: kubectl creates no object there until it exists"
    for words in (["explain", "-n", named], ["explain", "-f", str(manifest)], ["check", str(manifest)]):
        assert run([*words, "--snapshot", str(facts)]) == 0
        assert (note in capsys.readouterr().err) == is_told


POD = "spec: {containers: [{name: c, image: c}]}\n"


def test_a_namespace_of_the_manifests_exists(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    node = {"kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"pods": "10"}}}
    items = [
        {"apiVersion": "v1", **item} for item in (node, {"kind": "Namespace", "metadata": {"name": "kube-system"}})
    ]
    facts, manifest = tmp_path / "facts.json", tmp_path / "web.yaml"
    facts.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: new}\n---\n"
    manifest.write_text(f"{namespace}apiVersion: v1\nkind: Pod\nmetadata: {{name: web, namespace: new}}\n{POD}")
    for words in (["explain", "-f", str(manifest)], ["check", str(manifest)]):
        assert run([*words, "--snapshot", str(facts)]) == 0
        assert "no namespace" not in capsys.readouterr().err
