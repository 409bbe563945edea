"""Verdicts agree with the engine of `simulate`. `tests.bench.engine_policies` compares more cases."""

from __future__ import annotations

import pytest

from tests.guarantee.engine import compared, Replayed
from tests.guarantee.twin import REGIMES

SEEDS = {
    "creation": range(12),
    "restarts": range(4),
    "rollouts": range(4),
    "scaling": range(4),
    "disruptions": range(3),
}


@pytest.mark.parametrize("regime", REGIMES)
def test_the_engine_takes_each_way_and_breaks_no_proof(regime: str) -> None:
    """Ways are replayed event by event, and no outcome violates a proved rule."""
    found = [compared(seed, regime) for seed in SEEDS[regime]]

    assert [text for item in found for text in item.differences] == []
    assert sum(item.replayed[Replayed.ALLOWED] for item in found) > 3
    assert sum(item.outcomes for item in found) > 10
