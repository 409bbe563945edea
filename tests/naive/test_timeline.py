"""The slow controllers against recordings of a real control plane over time.

Every recorded run must be a way that the model can go. The quick tests look at a part of the recordings;
`python -m tests.bench.timeline` looks at all of them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.naive.controllers import recordings

Plain = dict[str, Any]

RECORDED = Path(__file__).parents[1] / "timeline" / "recorded"
TEXTS = dict(recordings.texts(RECORDED))
_WALKS = 60
_SMALL = 3000

# One of each kind of thing that can happen, and every twentieth of the rest.
CHOSEN = sorted(
    {
        *sorted(TEXTS)[::20],
        "dep-recreate",
        "dep-bad-then-scale-up",
        "dep-minready",
        "drain-two-nodes-surge-room",
        "fresh-job-backofflimit0-delete",
        "fresh-lose-delete-add",
        "fresh-paused-mid-down",
        "fresh-prio-apply3",
        "fresh-release-two",
        "job-indexed",
        "job-parallel",
        "may-preempt-ties",
        "node-down-evict-oos",
        "node-noexecute-tolerated",
        "pain-wffc-local",
        "pain29-ds-default",
        "pain44-surge-wedge",
        "pain49-outage-ignore",
        "pain59-preempt-sibling",
        "pdb-unhealthy-always",
        "sts-bad-parallel",
        "sts-retention-delete",
        "sts-scale-down-stuck",
    }
)


def scenario_of(name: str) -> Plain:
    """Return a recorded scenario; each test reads its own."""
    found: Plain = json.loads(TEXTS[name])
    return found


@pytest.mark.parametrize("name", CHOSEN)
def test_a_recorded_run_is_a_way_of_the_model(name: str) -> None:
    """Each state of the first run follows from the one before, and nothing moves any more there."""
    scenario = scenario_of(name)
    run = scenario["runs"][0]

    assert recordings.replay(scenario, run, walks=_WALKS) == len(run)


@pytest.mark.parametrize("name", ["gen-0005", "gen-0016", "gen-0042", "gen-0101", "gen-0107", "gen-0143"])
def test_all_ways_of_a_small_scenario_include_every_recorded_state(name: str) -> None:
    """Nothing is left to chance: every moment that can be reached is looked at."""
    scenario = scenario_of(name)
    worlds = [recordings.start(scenario)]
    for number in range(len(scenario["steps"])):
        found, space = recordings.outcomes(scenario, number, worlds, limit=_SMALL)
        worlds = space.steady

        assert space.is_complete
        assert {recordings.recorded(run[number]) for run in scenario["runs"]} <= found


def test_a_state_that_was_not_recorded_is_not_found() -> None:
    """The walks do not find what cannot be: a pod on a node that the constraint forbids."""
    scenario = scenario_of("pain12-hash")
    state = scenario["runs"][0][0]
    pods = [{**pod, "node": "a1"} if pod["owner"] == "Deployment/web" else pod for pod in state["pods"]]

    assert recordings.replay(scenario, [{**state, "pods": pods}], walks=_WALKS) == 0
