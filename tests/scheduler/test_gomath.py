"""Go's arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from kubectl_spread.scheduler import gomath


@pytest.mark.parametrize(
    ("number", "expected"), [(0.0, 0), (0.49999999999999994, 0), (0.5, 1), (1.5, 2), (2.5, 3), (3.4999999, 3), (7.0, 7)]
)
def test_halves_are_rounded_away_from_zero(number: float, expected: int) -> None:
    assert [expected] == gomath.round_half_away(np.array([number])).tolist()
    assert expected == gomath.round_one(number)


@pytest.mark.parametrize(("number", "by", "expected"), [(7, 2, 3), (-7, 2, -3), (7, -2, -3), (-7, -2, 3), (0, 5, 0)])
def test_division_truncates_toward_zero(number: int, by: int, expected: int) -> None:
    assert [expected] == gomath.divide(np.array([number]), by).tolist()


def test_scores_are_scaled_by_their_maximum_alone() -> None:
    """1 and 4 untolerated taints give 75 and 0; the minimum is not subtracted."""
    assert [75, 0] == gomath.default_normalize(np.array([1, 4]), reverse=True).tolist()
    assert [25, 100] == gomath.default_normalize(np.array([1, 4]), reverse=False).tolist()


def test_nothing_to_scale_is_the_best_score_when_reversed() -> None:
    assert [100, 100] == gomath.default_normalize(np.array([0, 0]), reverse=True).tolist()
    assert [0, 0] == gomath.default_normalize(np.array([0, 0]), reverse=False).tolist()
