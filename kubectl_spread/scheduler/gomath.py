"""Go's arithmetic on arrays.

Go's integer division truncates toward zero and its math.Round goes half away from zero; numpy's floor and to even.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Int64s = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]


def divide(number: Int64s, by: Int64s | int) -> Int64s:
    """Return `number / by`, truncated toward zero; `by` must not be 0."""
    quotient: Int64s = np.abs(number) // np.abs(by)
    return np.where((number < 0) != (np.asarray(by) < 0), -quotient, quotient)


def round_half_away(number: Floats) -> Int64s:
    """Return math.Round of numbers that are not negative: 0.49999999999999994 is 0, 2.5 is 3."""
    nearest = np.rint(number)  # except that it rounds halves to even
    nearest += number - nearest == 0.5
    return nearest.astype(np.int64)


def round_one(number: float) -> int:
    """Return `round_half_away` of one number."""
    nearest = round(number)  # as `np.rint`
    return nearest + (number - nearest == 0.5)


def default_normalize(scores: Int64s, *, reverse: bool) -> Int64s:
    """Normalize raw scores to 0..100 by their maximum.

    Source: pkg/scheduler/framework/plugins/helper/normalize_score.go, DefaultNormalizeScore (v1.36.2).
    """
    most = int(scores.max(initial=0))
    if most == 0:
        return np.full_like(scores, 100) if reverse else scores
    scaled = divide(scores * 100, most)
    return 100 - scaled if reverse else scaled
