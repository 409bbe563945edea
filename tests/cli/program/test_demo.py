"""`demo` shows the shop example without files of the user and without a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_spread.cli.commands import demo
from kubectl_spread.cli.main import run

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory without files, and no kubeconfig."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    return tmp_path


def test_the_demo_runs_every_step(capsys: pytest.CaptureFixture[str], elsewhere: Path) -> None:
    """Each command has its output and its exit code; the working directory is the same afterwards."""
    assert 0 == run(["demo"])
    out = capsys.readouterr().out
    shown = [line for line in out.splitlines() if line.startswith("$ kubectl spread ")]

    assert [f"$ kubectl spread {step.line}" for step in demo.STEPS] == shown
    assert [f"(exit code {int(step.code)})" for step in demo.STEPS] == [
        line for line in out.splitlines() if line.startswith("(exit code ")
    ]
    assert "allows only\nzone c. Its only node, cp-1, has the untolerated taint" in out
    assert "4 of 4 replicas placed" in out
    assert "rollout restart deploy/web: gets stuck" in out
    assert Path.cwd() == elsewhere


def test_the_demo_lists_its_steps_before_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    """In the order in which they run; a single step needs no list."""
    assert 0 == run(["demo", "status", "mistakes"])
    before = capsys.readouterr().out.partition("\n# ")[0].splitlines()

    assert [
        "This demo runs 2 commands on an example, a shop whose pods do not spread as intended:",
        "  1. status     Another day: a node is cordoned, and a scale-down left the running pods uneven.",
        "  2. mistakes   A manifest with four mistakes. The API server would refuse it.",
    ] == before[:3]
    assert 0 == run(["demo", "mistakes"])
    assert capsys.readouterr().out.startswith("# A manifest with four mistakes.")


def test_chosen_steps_run_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == run(["demo", "status", "mistakes", "status"])
    shown = [line.split()[3] for line in capsys.readouterr().out.splitlines() if line.startswith("$ ")]

    assert ["status", "check"] == shown


def test_a_configuration_above_does_not_change_the_demo(
    elsewhere: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a virtual environment within a project."""
    (elsewhere / "examples" / "shop").mkdir(parents=True)
    (elsewhere / ".kubectl-spread.yaml").write_text("select: SPR001\n")
    for file in (ROOT / "examples" / "shop").iterdir():
        (elsewhere / "examples" / "shop" / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(demo, "data_directory", lambda _: str(elsewhere / "examples"))

    assert 0 == run(["demo", "check"])
    assert "error SPR903 unreachable-domain" in capsys.readouterr().out


def test_saved_files_are_those_of_the_example(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a new directory, too."""
    assert 0 == run(["demo", "--save", "new/here"])
    saved = {path.name: path.read_bytes() for path in (elsewhere / "new" / "here" / "shop").iterdir()}

    assert {path.name: path.read_bytes() for path in (ROOT / "examples" / "shop").iterdir()} == saved
    assert [f"new/here/shop/{name}" for name in sorted(saved)] == capsys.readouterr().out.splitlines()


def test_an_existing_file_is_not_replaced(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (elsewhere / "shop").mkdir()
    (elsewhere / "shop" / "web.yaml").write_text("mine")

    assert 3 == run(["demo", "--save", "."])
    assert "error: ./shop/web.yaml: the file exists already; it is not replaced\n" == capsys.readouterr().err
    assert ["web.yaml"] == [path.name for path in (elsewhere / "shop").iterdir()]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["demo", "explane"], "no step is called `explane`: the steps are mistakes, check, explain, "),
        (["demo", "check", "--save", "."], "--save writes files, and runs no step"),
        (["demo", "--save", "file"], "invalid value for '--save': Directory 'file' is a file"),
    ],
)
def test_wrong_usage_has_one_message(
    args: list[str], message: str, elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / "file").touch()

    assert 2 == run(args)
    assert capsys.readouterr().err.startswith(f"error: {message}")
