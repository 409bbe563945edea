"""Workloads with more pods than are simulated: one limit for manifests, commands and cluster facts."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_spread.cli.main import run

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 150000
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web}]
      topologySpreadConstraints:
        - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule,
           labelSelector: {matchLabels: {app: web}}}
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: web, namespace: default}
spec:
  parallelism: 150000
  template: {spec: {restartPolicy: Never, containers: [{name: web, image: web}]}}
"""
LIMIT = "150,000 pods of one workload; at most 100,000 are simulated"
FACTS = ("--topology", "zones=3,nodes=1")


@pytest.mark.parametrize(
    "command",
    [
        ("check", "FILE"),
        ("explain", "-f", "FILE"),
        ("guarantee", "-f", "FILE", "--max-count", "zone=3"),
        ("simulate", "create", "-f", "FILE"),
        ("simulate", "apply", "-f", "FILE"),
        ("simulate", "-f", "FILE", "scale", "deploy/web", "--replicas=3"),
        ("simulate", "-f", "FILE", "cordon", "node-a1"),
    ],
    ids=" ".join,
)
def test_a_manifest(command: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The answer names the line, at once, as for other input that cannot be used."""
    path = tmp_path / "web.yaml"
    path.write_text(DEPLOYMENT)

    assert run([str(path) if word == "FILE" else word for word in (*command, *FACTS)]) == 3
    assert f"{path}:5:13: Deployment web: {LIMIT}" in capsys.readouterr().err


def test_a_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The limit is of pods, whichever field names their number."""
    path = tmp_path / "job.yaml"
    path.write_text(JOB)

    assert run(["explain", "-f", str(path), *FACTS]) == 3
    assert f"Job web: {LIMIT}" in capsys.readouterr().err


def test_without_facts_a_manifest_is_only_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its pods are not simulated then."""
    path = tmp_path / "web.yaml"
    path.write_text(DEPLOYMENT)

    assert run(["check", str(path), "--fail-on", "error"]) == 0
    assert LIMIT not in capsys.readouterr().err


@pytest.mark.parametrize("text", [DEPLOYMENT, JOB], ids=["Deployment", "Job"])
def test_cluster_facts(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A snapshot's other objects are used."""
    path = tmp_path / "facts.yaml"
    path.write_text(f"{text}---\napiVersion: v1\nkind: Node\nmetadata: {{name: a}}\n")

    assert run(["simulate", "--snapshot", str(path), "cordon", "a"]) == 3
    out, err = capsys.readouterr()
    assert "cordon a: " in out
    assert f"{path}:5:" in err
    assert LIMIT in err


@pytest.mark.parametrize(
    "step",
    [
        ("patch", "deploy/web", "-p", '{"spec": {"replicas": 150000}}'),
        ("scale", "deploy/web", "--replicas=150000"),
        ("create", "deployment", "web2", "--image=x", "--replicas=150000"),
    ],
    ids=lambda words: words[0],
)
def test_a_command(step: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "web.yaml"
    path.write_text(DEPLOYMENT.replace("150000", "3"))

    assert run(["simulate", "-f", str(path), *FACTS, *step]) == 2
    assert LIMIT in capsys.readouterr().err
