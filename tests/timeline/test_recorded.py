"""Recorded runs of a real control plane: each is one that the engine can take, and what it calls certain happened.

`pytest tests/timeline --corpus FOLDER` replays any folder of such recordings instead of these.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import RECORDINGS
from tests.timeline import recordings
from tests.timeline.judging import judge, Verdict

RECORDED = Path(__file__).parent / "recorded"
MAX_STATES = 6000  # looked at for each recorded state
MOST_PREDICTED = 700  # states of a step that are looked at for its outcomes
MOST_NOT_JUDGED = 9  # steps of a scenario that have more states


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each scenario of the folder."""
    if "plain" not in metafunc.fixturenames:
        return
    corpus: Path = metafunc.config.getoption("--corpus")
    scenarios = list(recordings.read_folder(RECORDED if corpus == RECORDINGS else corpus))
    if not scenarios:
        raise pytest.UsageError(f"no recordings in {corpus}")
    metafunc.parametrize("plain", scenarios, ids=[plain["id"] for plain in scenarios])


def test_a_recorded_scenario_is_predicted(plain: dict[str, Any], request: pytest.FixtureRequest) -> None:
    """Its states are reached one after the other, and equal in messages and completeness; certain means certain.

    A step without a prediction is neither right nor wrong, and of the recordings here few are.
    """
    verdict = judge(plain, max_states=MAX_STATES, most_predicted=MOST_PREDICTED)

    assert verdict.is_right, "\n".join(difference(plain["id"], verdict))
    assert request.config.getoption("--corpus") != RECORDINGS or verdict.not_judged <= MOST_NOT_JUDGED


def difference(name: str, verdict: Verdict) -> list[str]:
    """Return what differs, line by line."""
    lines = [f"{name}: {verdict.reached} states reached"]
    for run, step, states, is_all in verdict.missed:
        more = "there are no others" if is_all else "there may be more"
        lines.append(f"  run {run}, step {step + 1}: not reached ({states} states, {more})")
    for step, spread in verdict.broken:
        lines.append(f"  step {step + 1}: another outcome was certain than {sorted(spread)}")
    for run, step, recorded, predicted in verdict.messages:
        lines.append(f"  run {run}, step {step + 1}: recorded {recorded}, predicted {predicted}")
    for run, step in verdict.incomplete:
        lines.append(f"  run {run}, step {step + 1}: completeness is told wrongly")
    return lines
