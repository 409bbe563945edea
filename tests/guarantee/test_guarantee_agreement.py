"""Verdicts equal those of a judge that tries every order of events, and each way to a violation can be replayed.

`tests.bench.policies` compares more cases.
"""

from __future__ import annotations

import pytest

from tests.guarantee import cases
from tests.guarantee.agreement import compared, regime_of
from tests.guarantee.twin import REGIMES

SEEDS = range(0, 300, 7)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_verdict_equals_that_of_the_judge(seed: int) -> None:
    """A rule is proved if no order of events violates it, and refuted by the shortest way otherwise."""
    found = compared(seed, most=8_000)

    assert found is None or found.differences == []


@pytest.mark.parametrize("regime", REGIMES)
def test_small_cases_of_each_regime(regime: str) -> None:
    """The same without the largest cases; some of them have ways to violations."""
    found = [item for seed in range(6) if (item := compared(seed, regime=regime, most=2_000)) is not None]

    assert [text for item in found for text in item.differences] == []
    assert sum(item.ways for item in found) > 5


def test_a_deleted_shard_begins_no_rollout() -> None:
    """Its pods are deleted by the garbage collector, one by one."""
    found = compared(338, regime="scaling", most=9_000)

    assert found is not None
    assert found.differences == []


def test_a_condemned_ordinal_ends_no_rollout() -> None:
    """A rollout goes on until every wanted ordinal is of the new revision, whatever others are."""
    found = compared(217, regime="disruptions", most=9_000)

    assert found is None or found.differences == []


def test_every_regime_is_compared() -> None:
    """The sample has cases of all regimes, rollouts with more surge than replicas, and shards."""
    drawn = [cases.case(seed, regime_of(seed)) for seed in SEEDS]
    specs = [spec for case in drawn for spec in case["workloads"].values()]

    assert {regime_of(seed) for seed in SEEDS} == set(REGIMES)
    assert any(spec.get("surge", 0) > spec["replicas"] for spec in specs)
    assert any("shards" in case for case in drawn)
