"""Verdicts equal those of a judge that tries every order of events. `tests.bench.policies` compares more cases."""

from __future__ import annotations

import pytest

from tests.guarantee.agreement import differences, regime_of
from tests.guarantee.twin import REGIMES

SEEDS = range(0, 300, 7)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_verdict_equals_that_of_the_judge(seed: int) -> None:
    """A rule is proved if no order of events violates it, and refuted by the shortest way otherwise."""
    assert differences(seed, most=8_000) in (None, [])


def test_every_regime_is_compared() -> None:
    """The sample has cases of all regimes."""
    assert {regime_of(seed) for seed in SEEDS} == set(REGIMES)
