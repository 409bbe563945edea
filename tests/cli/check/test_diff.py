"""`check --diff`: the diff as a program and as a terminal read it."""

from __future__ import annotations

import difflib
import random
import subprocess
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.report.diff import render
from kubectl_spread.report.table import unpainted
from kubectl_spread.text.source import SourceFile

BAD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web}]
      topologySpreadConstraints:
      - maxSkew: 1   # COMMENT
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: doNotSchedule
        labelSelector: {matchLabels: {app: web}}
"""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_diff_in_colour(capsys: pytest.CaptureFixture[str]) -> None:
    Path("web.yaml").write_text(BAD)

    assert 1 == run(["check", "web.yaml", "--diff", "--color", "always"])
    out = capsys.readouterr().out
    assert "\x1b[31m-        whenUnsatisfiable: doNotSchedule\x1b[0m\n" in out
    assert "\x1b[32m+        whenUnsatisfiable: DoNotSchedule\x1b[0m\n" in out


@pytest.mark.parametrize("char", ["\u202e", "\u2066", "\u200f"])
def test_what_misleads_a_reader_is_escaped(char: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("web.yaml").write_text(BAD.replace("COMMENT", f"a{char}b"), encoding="utf-8")

    assert 1 == run(["check", "web.yaml", "--diff"])
    out = capsys.readouterr().out
    assert char not in out
    assert f"# a\\x{ord(char):02x}b\n" in out


def test_names_of_files_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    name = "a\x1b[31m\u202eb.yaml"
    Path(name).write_text(BAD)

    assert 0 == run(["check", ".", "--show-files"])
    assert "./a\\x1b[31m\\x202eb.yaml\n" == capsys.readouterr().out
    run(["check", ".", "--diff"])
    assert "--- a/./a\\x1b[31m\\x202eb.yaml\n" in capsys.readouterr().out


@pytest.mark.parametrize("seed", range(40))
def test_a_diff_turns_one_text_into_the_other(seed: int) -> None:
    """`git apply` takes it, whatever lines repeat; where nothing repeats it is as short as difflib's."""
    chance = random.Random(seed)
    words = [f"line {number}" for number in range(chance.choice((3, 30, 3000)))]
    old = [chance.choice(words) for _ in range(chance.randrange(60))]
    new = list(old)
    for _ in range(chance.randrange(1, 8)):
        at = chance.randrange(len(new) + 1)
        new[at : at + chance.randrange(3)] = [chance.choice(words) for _ in range(chance.randrange(3))]
    before, after = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    text = unpainted(render(SourceFile("x.txt", before), after))
    if before == after:
        assert text == ""
        return
    Path("x.txt").write_text(before)
    subprocess.run(["git", "apply", "--unidiff-zero", "-"], input=text.encode(), check=True)

    assert after == (Path("x.txt").read_text() if Path("x.txt").exists() else "")
    if len(set(old)) == len(old) and len(set(new)) == len(new):
        plain = difflib.unified_diff([f"{line}\n" for line in old], [f"{line}\n" for line in new], "a/x.txt", "b/x.txt")
        assert len(list(plain)) == len(text.splitlines())
