"""kustomize downloads nothing without --allow-remote: it is not even started."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run

FACTS = ["--topology", "zones=2"]
LETS = "--allow-remote lets it"
URL = "https://github.com/a/b//base?ref=v1"


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with the environment of each start of a kubectl that prints a manifest."""
    calls = tmp_path / "calls"
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "kubectl").write_text(
        f"""#!/bin/sh
echo "$3 ${{GIT_ALLOW_PROTOCOL-any}} ${{https_proxy-none}}" >> {calls}
printf 'apiVersion: v1\\nkind: Pod\\nmetadata: {{name: web}}\\nspec: {{containers: [{{name: c, image: i}}]}}\\n'
"""
    )
    (programs / "kubectl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("https_proxy", raising=False)
    monkeypatch.delenv("GIT_ALLOW_PROTOCOL", raising=False)
    monkeypatch.chdir(tmp_path)
    return calls


REMOTES = [
    *(URL, "HTTPS://x.example/a.yaml", "http://127.0.0.1:8080/a.yaml", "github.com/a/b", "git@github.com:a/b"),
    *("gh:a/b", "git::https://x.example/b", "ssh://git@x.example/a/b", "file:///srv/b.git", "user@x.example:a/b"),
    *("x.example/a/b.git", "x.example/a/b.git/base", "x.example/_git/b", "oci://x.example/a"),
]


@pytest.mark.parametrize("remote", REMOTES)
def test_a_remote_directory_is_not_fetched(remote: str, started: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (
        ["check", "-k", remote],
        ["simulate", *FACTS, "apply", "-k", remote],
        ["simulate", *FACTS, "-k", remote, "drain", "node-a1"],
        ["explain", *FACTS, "-k", remote],
        ["guarantee", *FACTS, "--at-most", "zone=1/2", "-k", remote],
        ["rebalance", *FACTS, "-k", remote],
    ):
        assert 3 == run(command), command
        errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
        assert f"error: {remote}: kustomize would download it; {LETS}" in errors, command
    assert not started.exists()


@pytest.mark.parametrize("remote", REMOTES)
@pytest.mark.parametrize(
    "text",
    [
        "resources: [REMOTE]",
        "bases:\n- REMOTE",
        "components: [REMOTE]",
        "crds: [REMOTE]",
        "patches: [{path: REMOTE}]",
        "replacements: [{path: REMOTE}]",
        "openapi: {path: REMOTE}",
        "configMapGenerator: [{name: a, files: [REMOTE]}]",
        "x: &a [REMOTE]\nresources: *a",
        "resources: [base]",
        "transformers: [patch.yaml]",
        "transformers:\n- |\n  apiVersion: builtin\n  kind: PatchTransformer\n  path: REMOTE",
    ],
)
def test_a_kustomization_with_a_remote_part_is_not_rendered(
    text: str, remote: str, started: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "over" / "base").mkdir(parents=True)
    (tmp_path / "over" / "kustomization.yaml").write_text(text.replace("REMOTE", remote))
    (tmp_path / "over" / "base" / "kustomization.yml").write_text(f"resources: [{remote}]")
    (tmp_path / "over" / "patch.yaml").write_text(f"kind: PatchTransformer\npath: {remote}\n")

    assert 3 == run(["check", "-k", "over"])
    err = capsys.readouterr().err
    assert err.startswith("error: over/")
    assert f"kustomize would download `{remote}`; {LETS}\n" in err
    assert not started.exists()


@pytest.mark.parametrize(
    "text",
    [
        "resources: [web.yaml, ../other]",
        f"commonAnnotations: {{source: {URL}}}",
        "labels: [{pairs: {docs: https://x.example}}]",
        "images: [{name: web, newName: user@x.example/web}]",
        f"configMapGenerator: [{{name: a, literals: [url={URL}]}}]",
        f"patches:\n- patch: |\n    metadata: {{annotations: {{a: '{URL}'}}}}\n",
    ],
)
def test_a_local_kustomization_is_rendered_without_a_network(text: str, started: Path, tmp_path: Path) -> None:
    (tmp_path / "over").mkdir()
    (tmp_path / "over" / "kustomization.yaml").write_text(text)
    (tmp_path / "over" / "web.yaml").write_text(f"metadata: {{annotations: {{source: '{URL}'}}}}\n")

    assert 0 == run(["check", "-k", "over"])
    assert "over none http://127.0.0.1:9" == started.read_text().splitlines()[0]


def test_the_command_line_may_allow_it(started: Path) -> None:
    assert 0 == run(["check", "--allow-remote", "-k", URL])
    assert f"{URL} any none" == started.read_text().splitlines()[0]


def test_a_step_of_a_scenario_downloads_nothing(
    started: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.yaml").write_text(
        f"apiVersion: kubectl-spread/v1\nkind: Scenario\ntopology: zones=1\nsteps: ['apply -k {URL}']\n"
    )

    assert 3 == run(["simulate", "run", "one.yaml"])
    assert "one.yaml:4:9: " in capsys.readouterr().out
    assert not started.exists()


def test_a_url_is_no_file(started: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """kubectl would download it, this program never does."""
    assert 3 == run(["simulate", *FACTS, "apply", "-f", "https://x.example/web.yaml"])
    assert capsys.readouterr().err.startswith("error: https://x.example/web.yaml: the path does not exist")
    assert not started.exists()
