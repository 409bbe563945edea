"""No code reads sentences: with other words the findings, the JSON facts and the suggestions are the same."""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.explain.requirements import requirement
from kubectl_spread.explain.requirements.requirement import Requirement
from kubectl_spread.lint import wording as lint_wording
from kubectl_spread.report.explain import constraints, pod_report, text, verdict

MARKER = "<other words>"
SCENARIOS = Path(__file__).parents[2] / "examples" / "scenarios"
WORDING = (requirement, lint_wording, constraints, pod_report, text, verdict)


def reworded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every function that makes words return the marker, wherever it is imported."""
    functions = {
        function
        for module in WORDING
        for _, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and function.__annotations__.get("return") == "str"
    }
    assert len(functions) > 40
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType) and module.__name__.startswith("kubectl_spread."):
            for name, value in list(vars(module).items()):
                if inspect.isfunction(value) and value in functions:
                    monkeypatch.setattr(module, name, lambda *_, **__: MARKER)
    make = Requirement.__new__

    def marked(cls: type[Requirement], *args: Any, **more: Any) -> Requirement:
        fields = make(cls, *args, **more)._asdict()
        return cls._make({**fields, "text": MARKER, "why": lambda _: MARKER}.values())

    monkeypatch.setattr(Requirement, "__new__", marked)


def same_facts(before: Any, after: Any, at: str = "") -> int:
    """Compare two documents, words aside; the number of words that are the marker."""
    if isinstance(after, str) and MARKER in after:
        return 1
    assert type(before) is type(after), at
    if isinstance(after, dict):
        assert before.keys() == after.keys(), at
        return sum(same_facts(before[key], after[key], f"{at}/{key}") for key in after)
    if isinstance(after, list):
        assert len(before) == len(after), at
        return sum(
            same_facts(one, other, f"{at}/{at_}") for at_, (one, other) in enumerate(zip(before, after, strict=True))
        )
    assert before == after, at
    return 0


@pytest.mark.parametrize("command", ["explain", "check"])
@pytest.mark.parametrize(
    "scenario",
    [
        "capacity-types-split-evenly",
        "cordoned-node-stays-empty",
        "full-zone-limits-all-zones",
        "mistyped-topology-key",
        "missing-rack-label-hides-a-zone",
        "tainted-zone-stays-empty",
        "two-taints-keep-the-minimum-at-zero",
        "volumes-pin-pods-to-zones",
    ],
)
def test_other_words_change_no_fact(
    command: str, scenario: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Words of explain, of the sentences about constraints, and of the reasons of nodes."""
    folder = SCENARIOS / scenario
    manifest = next(file for file in sorted(folder.glob("before*.yaml")))
    files = ["-f", str(manifest), "--snapshot", str(folder / "cluster.yaml"), "-o", "json"]
    run([command, *files])
    before = json.loads(capsys.readouterr().out)

    reworded(monkeypatch)
    run([command, *files])
    after = json.loads(capsys.readouterr().out)

    number = same_facts(before, after)

    assert number > 3 or command == "check"
