"""Arithmetic as Go does it."""

from __future__ import annotations

import math


def divide(dividend: int, divisor: int) -> int:
    """Integer division that truncates toward zero."""
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def round_half_away(number: float) -> int:
    """`math.Round`: halves away from zero."""
    whole = math.trunc(number)
    rest = number - whole
    if rest >= 0.5:
        return whole + 1
    if rest <= -0.5:
        return whole - 1
    return whole


def int64(number: int) -> int:
    """What is left of a number that does not fit into 64 bits: Go wraps around."""
    return (number + 2**63) % 2**64 - 2**63
