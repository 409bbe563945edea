"""The files that rendered objects come from, with a program that stands in for kubectl and adds the annotations."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run

# Renders what `rendered` holds; where the kustomization asks for it, with the annotations of `origins`.
KUBECTL = f"""\
#!{sys.executable}
import os, sys
directory = sys.argv[3]
asked = os.path.join(directory, "kustomization.yaml")
user = os.environ["RENDERED"]
is_asked = os.path.exists(asked) and "originAnnotations" in open(asked).read()
if is_asked:
    resource = open(asked).read().split("- ")[1].splitlines()[0]
    assert os.path.samefile(os.path.join(directory, resource), os.path.join(user, "overlay"))
if is_asked and os.path.exists(os.path.join(user, "too-old")):
    sys.exit(1)
text = open(os.path.join(user, "rendered")).read()
for line in text.splitlines():
    print(line)
    path = {{"  name: prod-web": "base/web.yaml", "  name: extra": "overlay/extra.yaml"}}.get(line)
    if path and is_asked:
        print("  annotations:\\n    config.kubernetes.io/origin: |")
        print("      path: " + os.path.relpath(os.path.join(user, path), directory))
    if line == "  name: far" and is_asked:
        print("  annotations:\\n    config.kubernetes.io/origin: |\\n      path: far.yaml\\n"
              "      repo: https://git.example/far\\n      ref: v1")
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {}
spec:
  template:
    spec:
      topologySpreadConstraints:
      - {{maxSkew: 0, topologyKey: example.com/rack, whenUnsatisfiable: ScheduleAnyway}}
"""
SERVICE = "# The web tier.\napiVersion: v1\nkind: Service\nmetadata: {name: web}\n---\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A base with an overlay that prefixes names, what kustomize makes of them, and a kubectl that prints it."""
    for folder in ("base", "overlay", "bin"):
        (tmp_path / folder).mkdir()
    (tmp_path / "base" / "web.yaml").write_text(SERVICE + DEPLOYMENT.format("web"))
    (tmp_path / "overlay" / "extra.yaml").write_text(DEPLOYMENT.format("extra"))
    (tmp_path / "rendered").write_text("---\n".join(DEPLOYMENT.format(name) for name in ("prod-web", "extra", "far")))
    kubectl = tmp_path / "bin" / "kubectl"
    kubectl.write_text(KUBECTL)
    kubectl.chmod(0o755)
    monkeypatch.setenv("PATH", str(kubectl.parent))
    monkeypatch.setenv("RENDERED", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def places(capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str]]:
    """The place in the rendered stream, and where that comes from."""
    run(["check", "-k", "overlay", "-o", "concise", "--select", "SPR101"])
    lines = capsys.readouterr().out.splitlines()
    return [(line.partition(": ")[0], line.rpartition("zero")[2].strip()) for line in lines]


def test_a_finding_names_the_file_of_its_object(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the line there, also where a prefix was added to the name; a file of another repository has none."""
    assert [
        ("overlay (kustomize):9:19", f"(from {os.path.join('base', 'web.yaml')}:6)"),
        ("overlay (kustomize):19:19", f"(from {os.path.join('overlay', 'extra.yaml')}:1)"),
        ("overlay (kustomize):29:19", "(from https://git.example/far//far.yaml?ref=v1)"),
    ] == places(capsys)


def test_an_older_kustomize_tells_nothing(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The findings are the same."""
    (repository / "too-old").touch()

    assert [("overlay (kustomize):9:19", ""), ("overlay (kustomize):19:19", "")] == places(capsys)[:2]


def test_nothing_is_left_behind(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The temporary kustomization is removed."""
    (repository / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(repository / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    places(capsys)

    assert [] == os.listdir(repository / "tmp")
