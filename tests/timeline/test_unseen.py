"""Outcomes that are predicted and that no run of a real control plane had are allowed by the controllers' rules.

`python -m tests.bench.unseen FOLDER` looks at all recordings of a folder.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.timeline import recordings
from tests.timeline.test_recorded import RECORDED
from tests.timeline.unseen import is_allowed, predict

SEVERAL_RUNS = 2
NAMES = ("dep-recreate", "dep-two-compete-tight", "job-indexed", "may-drain-order-pdb", "may-frag-3z")
CHOSEN = [plain for plain in recordings.read_folder(RECORDED) if plain["id"] in NAMES]


@pytest.mark.slow
@pytest.mark.parametrize("scenario", CHOSEN, ids=[plain["id"] for plain in CHOSEN])
def test_the_slow_controllers_reach_what_no_run_had(scenario: dict[str, Any]) -> None:
    """Each such outcome is one of theirs; its trace begins with the user's step."""
    for item in predict(scenario, max_states=6000, many=SEVERAL_RUNS).unseen:
        assert item.trace[0].startswith("done")
        assert is_allowed(scenario, item), "\n".join(item.trace)
