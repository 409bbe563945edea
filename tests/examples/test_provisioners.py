"""examples/provisioners: where Karpenter and kube-scheduler differ, with what the program says, and a solution."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.text.compose import compose, Document
from kubectl_spread.text.node import to_plain
from kubectl_spread.text.source import SourceFile

EXAMPLES = Path(__file__).parents[2] / "examples" / "provisioners"


def expected(name: str) -> dict[str, str]:
    (document,) = compose(SourceFile("expect.yaml", (EXAMPLES / name / "expect.yaml").read_text()))
    assert isinstance(document, Document)
    found: dict[str, str] = to_plain(document.root)
    return found


@pytest.mark.parametrize("name", sorted(path.parent.name for path in EXAMPLES.glob("*/expect.yaml")))
def test_says_what_happens_and_the_solution_works(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command says the sentence; with `after.yaml` every pod finds a node that Karpenter adds, or that exists."""
    monkeypatch.chdir(EXAMPLES / name)
    expect = expected(name)
    args = shlex.split(expect["command"])
    code = run(args)

    assert expect["says"] in " ".join(capsys.readouterr().out.split())
    assert code in (0, 1)
    after = args[args.index("--snapshot") :]
    assert 0 == run(["simulate", "create", "-f", "after.yaml", *after]), capsys.readouterr().out
