"""The scenarios of examples/simulations turn out as they expect."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.sources import scenario

FOLDER = Path(__file__).parents[2] / "examples" / "simulations"
FILES = sorted(scenario.find_scenarios((str(FOLDER),)))


def test_there_are_scenarios() -> None:
    assert len(FILES) > 20


@pytest.mark.parametrize("file", FILES, ids=[str(Path(file).relative_to(FOLDER)) for file in FILES])
def test_a_scenario_turns_out_as_expected(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every scenario has expectations, and all are met."""
    code = run(["simulate", "run", file])
    said = capsys.readouterr()

    assert (code, said.err) == (0, ""), said.out
    assert any(step.expect is not None for step in scenario.load(file).steps)
