"""Files that a setting of a repository names: regular files inside its root, of a limited size, and never printed."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from tests.manifests import POD

SECRET = "root:x:0:0:root:/root:/bin/bash " * 30
OUTSIDE = "a setting may only name files in it; name this file on the command line"
POLICY = "apiVersion: kubectl-spread/v1\nkind: Policy\ngroups: [{maxShare: {zone: 1/2}}]\n"
FACTS = ["--topology", "zones=2"]  # policies are about placed pods
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i}]}
"""
MEBIBYTE = 1 << 20


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a manifest, and beside it a secret."""
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    (root / "web.yaml").write_text(POD.replace("SKEW", "1"))
    (tmp_path / "secret").write_text(SECRET)
    monkeypatch.chdir(root)
    return root


def first_error(capsys: pytest.CaptureFixture[str]) -> str:
    out, err = capsys.readouterr()

    assert "bin/bash root:x:0:0:root:/root:/bin/bash" not in out + err  # 40 characters hold no more than one
    return next(line for line in err.splitlines() if line.startswith("error: "))


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "link", "dev", "/dev/zero", "sub/../../secret"])
@pytest.mark.parametrize(
    ("setting", "column"),
    [("policies: [PATH]\n", "1:12"), ("baseline: PATH\n", "1:11"), ("paths: [PATH]\n", "1:9")],
)
def test_a_setting_names_no_file_outside_of_its_root(
    setting: str, column: str, path: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After links are followed."""
    (repository / "sub").mkdir()
    (repository / "link").symlink_to("../secret")
    (repository / "dev").symlink_to("/dev/zero")
    (repository / ".kubectl-spread.yaml").write_text(setting.replace("PATH", path))

    assert 3 == run(["check", *([] if "paths" in setting else ["web.yaml"]), *FACTS])
    assert first_error(capsys).startswith(f"error: .kubectl-spread.yaml:{column}: ")


def test_the_message_says_what_to_do(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / ".kubectl-spread.yaml").write_text("policies: [../secret]\n")

    assert 3 == run(["check", "web.yaml", *FACTS])
    assert first_error(capsys) == (
        f"error: .kubectl-spread.yaml:1:12: {repository}/../secret: outside of {repository}: {OUTSIDE}"
    )


def test_a_file_of_another_format_is_not_printed(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "inside").write_text(SECRET)
    (repository / ".kubectl-spread.yaml").write_text("policies: [inside]\n")

    assert 2 == run(["check", "web.yaml", *FACTS])
    assert first_error(capsys) == (
        f"error: {repository}/inside:1:1: must be a mapping, not text: root:x:0:0:root:/root:/bin/bash root:x:…"
    )


def test_a_pipe_is_not_read(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It may never end."""
    os.mkfifo(repository / "pipe")
    (repository / ".kubectl-spread.yaml").write_text("baseline: pipe\n")

    assert 3 == run(["check", "web.yaml"])
    assert first_error(capsys) == "error: .kubectl-spread.yaml:1:11: pipe: not a regular file"


def test_a_large_file_is_not_read(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open(repository / "large", "wb") as file:
        file.truncate(16 * MEBIBYTE + 1)
    (repository / ".kubectl-spread.yaml").write_text("baseline: large\n")

    assert 3 == run(["check", "web.yaml"])
    assert first_error(capsys) == "error: .kubectl-spread.yaml:1:11: large: larger than 16 MiB"


def test_a_file_that_becomes_large_is_not_unpacked(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "large.gz").write_bytes(gzip.compress(b"0" * (16 * MEBIBYTE)) + gzip.compress(b"0"))
    (repository / ".kubectl-spread.yaml").write_text("baseline: large.gz\n")

    assert 3 == run(["check", "web.yaml"])
    assert first_error(capsys).endswith("large.gz: more than 16 MiB when it is unpacked")


def test_a_config_that_is_found_is_no_link_to_elsewhere(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / ".kubectl-spread.yaml").symlink_to("../secret")

    assert 3 == run(["check", "web.yaml"])
    assert first_error(capsys) == f"error: .kubectl-spread.yaml: outside of {repository}: {OUTSIDE}"


def test_a_config_that_is_a_link_within_its_directory_is_read(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An error quotes little of it."""
    (repository / "notes").write_text(SECRET)
    (repository / ".kubectl-spread.yaml").symlink_to("notes")

    assert 2 == run(["check", "web.yaml"])
    assert first_error(capsys).endswith(":1:1: must be a mapping, not text: root:x:0:0:root:/root:/bin/bash root:x:…")


def test_the_command_line_names_any_file(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    above = repository.parent
    (above / "policy.yaml").write_text(POLICY)
    (above / "config.yaml").write_text("select: SPR1\n")
    (above / "web.yaml").write_text(WEB)

    assert 0 == run(["check", "../web.yaml", "--config", "../config.yaml", "--write-baseline", "../known.json"])
    assert 0 == run(["check", "../web.yaml", "--config", "../config.yaml", "--baseline", "../known.json"])
    assert run(["guarantee", "--policy", "../policy.yaml", "-f", "../web.yaml", *FACTS]) in (0, 1)
    assert "error: " not in capsys.readouterr().err


def test_a_link_in_a_directory_of_the_config_does_not_lead_out(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "deploy").mkdir()
    (repository / "deploy" / "link.yaml").symlink_to("../../secret")
    (repository / ".kubectl-spread.yaml").write_text("paths: [deploy]\n")

    assert 3 == run(["check"])
    assert first_error(capsys) == f"error: deploy/link.yaml: outside of {repository}: {OUTSIDE}"


HEAD = "apiVersion: kubectl-spread/v1\nkind: Scenario\n"
SCENARIOS = {
    "topology: ../secret.yaml\nsteps: [drain n1]\n": "3:11: topology: ",
    "snapshot: [../secret.yaml]\nsteps: [drain n1]\n": "3:12: snapshot[0]: ",
    "topology: zones=1\nmanifests: [../secret.yaml]\nsteps: [drain n1]\n": "4:13: manifests[0]: ",
    "topology: zones=1\nsteps: [apply -f ../secret.yaml]\n": "4:9: ",
    "topology: zones=1\nsteps: [apply -k ..]\n": "4:9: ",
    "topology: zones=1\nsteps: [patch node node-a1 --patch-file ../secret.yaml]\n": "4:9: ",
}


@pytest.mark.parametrize(("text", "expected"), SCENARIOS.items(), ids=SCENARIOS)
def test_a_scenario_names_no_file_outside_of_its_repository(
    text: str, expected: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository.parent / "secret.yaml").write_text(SECRET)
    (repository / "scenario.yaml").write_text(HEAD + text)

    assert 3 == run(["simulate", "run", "scenario.yaml"])
    out = capsys.readouterr().out
    assert f"scenario.yaml:{expected}" in out
    assert f"outside of {repository}: a setting may only name files in it" in out
    assert "bin/bash root:x:0:0:root:/root:/bin/bash" not in out


def test_a_scenario_uses_all_of_its_repository(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "scenarios").mkdir()
    (repository / "scenarios" / "one.yaml").write_text(
        f"{HEAD}topology: zones=1\nmanifests: [../web.yaml]\nsteps: [cordon node-a1]\n"
    )

    assert 0 == run(["simulate", "run", "scenarios"]), capsys.readouterr().out
