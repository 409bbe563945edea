"""examples/provisioners: where Karpenter and kube-scheduler differ, with what the program says, and a solution."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

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


NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/expect.yaml"))


@pytest.mark.parametrize("name", NAMES)
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


@pytest.mark.parametrize("name", NAMES)
def test_check_explain_and_simulate_agree(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As many pods run in the end; advice is given, and the exit code is 1, if and only if not all of them run."""
    monkeypatch.chdir(EXAMPLES / name)
    args = shlex.split(expected(name)["command"])
    facts = ["before.yaml", *args[args.index("--snapshot") :]]

    def answer(*command: str) -> tuple[int, dict[str, Any]]:
        code = run([*command, *facts, "-o", "json"])
        return code, json.loads(capsys.readouterr().out)

    _, checked = answer("check")
    explained_code, explained = answer("explain", "-f")
    simulated_code, simulated = answer("simulate", "create", "-f")
    (placement,), (workload,) = checked["placements"], simulated["steps"][0]["workloads"]
    karpenter, ready = explained["karpenter"], workload["ready"]["after"]

    assert karpenter in [{key: item[key] for key in karpenter} for item in placement["karpenter"]]
    assert {end: number + placement["placed"] for end, number in karpenter["running"].items()} == ready
    assert karpenter["summary"] in explained["summary"]
    assert explained["summary"].index(karpenter["summary"]) < explained["summary"].index("No node fits now")
    all_run = ready["min"] == workload["replicas"]
    assert all_run == karpenter["certain"]
    assert bool(explained["suggestions"]) == ("advice" in placement) == (not all_run and not karpenter["ignored"])
    assert [not all_run] * 2 == [explained_code == 1, simulated_code == 1]
