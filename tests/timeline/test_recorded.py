"""Every recorded run of a real control plane is one that the engine can take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.timeline import recordings
from tests.timeline.reaching import Follower

SAMPLE = list(recordings.read_folder(Path(__file__).parent / "recorded"))


@pytest.mark.parametrize("plain", SAMPLE, ids=[plain["id"] for plain in SAMPLE])
def test_each_recorded_steady_state_is_reached(plain: dict[str, Any]) -> None:
    """From the recorded state before, by the moves that controllers and the scheduler may make."""
    follower = Follower(plain, max_states=3000)

    missed = [missed for run in range(len(plain["runs"])) if (missed := follower.follow(run)[1]) is not None]

    assert missed == []
