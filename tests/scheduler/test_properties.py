"""What holds of every cluster, whatever the scheduler decides."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st

from tests.naive.core import Core
from tests.naive.strategies import cases

Plain = dict[str, Any]

few = settings(max_examples=30, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


def decided(case: Plain) -> list[Plain]:
    """What is said of each pod; each is placed where it should be."""
    core = Core(case)
    decisions = []
    for incoming in case["incoming"]:
        decision = core.decide(incoming)
        decisions.append(decision)
        if "placed" in decision:
            core.bind(incoming, decision["placed"])
    return decisions


@pytest.mark.slow
@few
@given(cases())
def test_a_state_kept_up_to_date_is_that_of_a_fresh_start(case: Plain) -> None:
    """Nothing that is remembered from one pod to the next goes stale."""
    bound: list[tuple[Plain, str]] = []
    for incoming, kept in zip(case["incoming"], decided(case), strict=True):
        fresh = Core(case)
        for earlier, node in bound:
            fresh.bind(earlier, node)
        assert kept == fresh.decide(incoming)
        if "placed" in kept:
            bound.append((incoming, kept["placed"]))


def renamed(item: Any) -> Any:
    """The racks have other names, wherever one is named."""
    if isinstance(item, list):
        return [renamed(entry) for entry in item]
    if not isinstance(item, dict):
        return item
    copied = {name: renamed(value) for name, value in item.items()}
    if isinstance(copied.get("rack"), str):
        copied["rack"] = _other(copied["rack"])
    if copied.get("key") == "rack" and "values" in copied:
        copied["values"] = list(map(_other, copied["values"]))
    return copied


def _other(value: str) -> str:
    return f"x{value[:62]}"


@pytest.mark.slow
@few
@given(cases())
def test_the_names_of_domains_do_not_matter(case: Plain) -> None:
    """Only which nodes are in one domain does."""
    other = {**renamed({**case, "schedulerConfig": None}), "schedulerConfig": _reconfigured(case)}

    assert decided(case) == decided(other)


def _reconfigured(case: Plain) -> Any:
    text = case.get("schedulerConfig")
    return json.dumps(renamed(json.loads(text))) if text else None


@pytest.mark.slow
@few
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_running_pods_does_not_matter(case: Plain, chance: random.Random) -> None:
    """But for whom preemption picks among equals."""
    running = [item for item in case["objects"] if item["kind"] == "Pod"]
    others = [item for item in case["objects"] if item["kind"] != "Pod"]
    chance.shuffle(running)
    without = {**case, "preempt": False}

    assert decided(without) == decided({**without, "objects": others + running})
