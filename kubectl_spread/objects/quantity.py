"""Resource quantities, exact.

A quantity is an int in thousandths of its unit, because the API server rounds every entry of a resource list up
to a thousandth before anything is added (`SetDefaults_ResourceList`).

Source: staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go, suffix.go (v1.36.2).
"""

from __future__ import annotations

import re
from typing import Any

FORMAT_WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
NUMERIC_WRONG = "unable to parse numeric part of quantity"
SUFFIX_WRONG = "unable to parse quantity's suffix"

_NUMBER = re.compile(r"([+-]?)([0-9]*)(?:(\.)([0-9]*))?")
_SUFFIX = re.compile(r"[eEinumkKMGTP]*[-+]?[0-9]*\Z")
_EXPONENT = re.compile(r"[eE]([-+]?[0-9]+)\Z")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_MAX = (2**63 - 1) * 1000  # larger quantities are capped, smaller ones than its negative too


class QuantityError(ValueError):
    """Not a quantity; the text is the API server's."""


def parse(value: Any) -> int:
    """Thousandths of the unit, rounded away from zero.

    Args:
        value: a string, or a JSON number (which the API server accepts as its text).

    Raises:
        QuantityError: with the API server's words.
    """
    text = value if isinstance(value, str) else _number_text(value)
    match = _NUMBER.match(text)
    if not text or match is None:
        raise QuantityError(FORMAT_WRONG)
    sign, whole, point, fraction = match.groups(default="")
    suffix = text[match.end() :]
    if _SUFFIX.match(suffix) is None:
        raise QuantityError(FORMAT_WRONG)
    if not whole and not fraction:
        raise QuantityError(NUMERIC_WRONG if point or suffix or sign else FORMAT_WRONG)
    digits = int(whole + fraction)
    return _scaled(-digits if sign == "-" else digits, len(fraction), suffix)


def milli(thousandths: int) -> int:
    """`MilliValue`: CPU in milli-units."""
    return _int64(thousandths)


def whole(thousandths: int) -> int:
    """`Value`: whole units, rounded away from zero."""
    return _int64(_divide_up(thousandths, 1000))


def _scaled(digits: int, decimals: int, suffix: str) -> int:
    exponent = _EXPONENT.match(suffix)
    if suffix in _BINARY:
        return _capped(_divide_up(digits * 1000 << _BINARY[suffix], 10**decimals))
    if suffix in _DECIMAL:
        power = _DECIMAL[suffix]
    elif exponent is not None:
        power = max(-400, min(400, int(exponent.group(1))))
    else:
        raise QuantityError(SUFFIX_WRONG)
    power += 3 - decimals
    if power >= 0:
        return _capped(digits * 10**power)
    return _capped(_divide_up(digits, 10**-power))


def _divide_up(number: int, by: int) -> int:
    """Divide, rounding away from zero."""
    up = -(-abs(number) // by)
    return -up if number < 0 else up


def _capped(thousandths: int) -> int:
    return max(-_MAX, min(_MAX, thousandths))


def _int64(number: int) -> int:
    return max(-(2**63), min(2**63 - 1, number))


def _number_text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise QuantityError(FORMAT_WRONG)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    return repr(value)
