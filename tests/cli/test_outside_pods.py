"""Constraints outside the pod specs of known kinds: custom resources, values, patches, and YAML inside texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_spread.cli.main import run

CASES = Path(__file__).parents[1] / "cases" / "lint"
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
