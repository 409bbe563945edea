"""Constraints outside the pod specs of known kinds: custom resources, values, patches, and YAML inside texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_spread.cli.main import run

CASES = Path(__file__).parents[2] / "cases" / "lint"
NAMES = ("json6902", "kustomization", "cm", "values", "argoapp", "helmrelease", "ostemplate", "list")


def checked(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str = "a.yaml") -> list[str]:
    """Each finding as its place and its message."""
    file = tmp_path / name
    file.write_text(text)
    run(["check", str(file), "-o", "concise"])
    return [line.removeprefix(f"{file}:") for line in capsys.readouterr().out.splitlines()]


def codes(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Each finding as its place and its code."""
    found = (line.split() for line in checked(text, tmp_path, capsys))
    return [f"{words[0].rstrip(':')} {words[2]}" for words in found]


@pytest.mark.parametrize("name", NAMES)
def test_a_case_has_its_whole_output(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every finding has its own line and column, also inside of texts."""
    monkeypatch.chdir(CASES)
    exit_code = run(["check", f"{name}.yaml", "-o", "concise"])
    output = capsys.readouterr()

    assert ((CASES / f"{name}.txt").read_text(), 1) == (output.out + output.err, exit_code)


def test_a_platform_repository_has_true_findings_and_no_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Custom resources of operators, GitOps tools with patches and values, an Ansible playbook: each at its place."""
    monkeypatch.chdir(CASES.parent)
    exit_code = run(["check", "platform", "-o", "concise"])
    output = capsys.readouterr()

    assert ((CASES.parent / "platform.txt").read_text(), 1) == (output.out + output.err, exit_code)


BASE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: web}]
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, labelSelector: SELECTOR}
"""
PATCH = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  template:
    spec:
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: KEY, whenUnsatisfiable: ScheduleAnyway}
"""
NIL = (
    "patch.yaml:8:10: error SPR201 labelSelector is missing, also in Deployment `web`, so the constraint counts no "
    "pods and does not spread them"
)


@pytest.mark.parametrize(
    ("name", "key", "expected"),
    [
        ("web", "topology.kubernetes.io/zone", [NIL]),
        ("web", "kubernetes.io/hostname", []),
        ("other", "topology.kubernetes.io/zone", []),
    ],
)
def test_a_patch_without_a_selector_is_held_against_its_targets(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    key: str,
    expected: list[str],
) -> None:
    """The list is merged by topologyKey; where no workload of the run is the target, nothing is known."""
    monkeypatch.chdir(tmp_path)
    Path("base.yaml").write_text(BASE.replace("SELECTOR", "{matchLabels: {app: web}}"))
    Path("patch.yaml").write_text(PATCH.replace("NAME", name).replace("KEY", key))
    run(["check", "base.yaml", "patch.yaml", "-o", "concise", "--select", "SPR201"])

    assert expected == capsys.readouterr().out.splitlines()


def test_a_patch_inside_a_kustomization_is_held_against_its_targets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """At its place in the text."""
    patch = PATCH.replace("NAME", "web").replace("KEY", "topology.kubernetes.io/zone").replace("\n", "\n    ")
    monkeypatch.chdir(tmp_path)
    Path("base.yaml").write_text(BASE.replace("SELECTOR", "{matchLabels: {app: web}}"))
    Path("patch.yaml").write_text(
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [base.yaml]\n"
        f"patches:\n- patch: |-\n    {patch.rstrip()}\n"
    )
    run(["check", "base.yaml", "patch.yaml", "-o", "concise", "--select", "SPR201"])

    assert [NIL.replace(":8:10:", ":13:14:")] == capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("kind", "directory"),
    [("ConfigMap", "app/overlays/production"), ("Kustomization", "other/overlays/production")],
)
def test_what_is_no_patch_of_it_is_not_held_against_a_workload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str, directory: str
) -> None:
    """A part of a Deployment in a ConfigMap, and a patch in the directory of another application."""
    patch = PATCH.replace("NAME", "web").replace("KEY", "topology.kubernetes.io/zone").replace("\n", "\n    ")
    monkeypatch.chdir(tmp_path)
    for folder in ("app/base", directory):
        Path(folder).mkdir(parents=True)
    Path("app/base/web.yaml").write_text(BASE.replace("SELECTOR", "{matchLabels: {app: web}}"))
    Path(directory, "patch.yaml").write_text(
        f"apiVersion: v1\nkind: {kind}\ndata:\n  patch: |-\n    {patch.rstrip()}\n"
    )
    run(["check", "-R", ".", "-o", "concise", "--select", "SPR201"])

    assert [] == capsys.readouterr().out.splitlines()
