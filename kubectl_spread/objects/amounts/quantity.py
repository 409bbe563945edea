"""Resource quantities, exact, and durations.

A quantity is an int in thousandths of its unit. The API server, too, rounds every entry of a resource list up to a
thousandth before it adds entries (`SetDefaults_ResourceList`).

Source: staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go, suffix.go (v1.36.2).

Source: staging/src/k8s.io/apimachinery/pkg/util/intstr/intstr.go, GetScaledValueFromIntOrPercent (v1.36.2).
Difference: an invalid value is None, not an error.
"""

from __future__ import annotations

import functools
import re
from enum import Enum
from typing import Any, Optional, Union

FORMAT_WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
NUMERIC_WRONG = "unable to parse numeric part of quantity"
SUFFIX_WRONG = "unable to parse quantity's suffix"

_DIGITS = "0123456789"
_IN_SUFFIXES = "eEinumkKMGTP"
_EXPONENT = r"[eE]([-+]?)0*([0-9]{1,18})\Z"
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_NEED_DIGITS = ("Pi", "Ei")  # and exponents below -9
_LONGEST = 1000  # digits; the API server has no limit
_MAX = (2**63 - 1) * 1000  # quantities are capped at this and at its negative


class QuantityError(ValueError):
    """Not a quantity; the text is the API server's."""


def parse(value: Any) -> int:
    """Return thousandths of the unit, rounded away from zero.

    The API server's scanner takes a number without digits for zero: `+`, `.` and `m` are quantities.

    Args:
        value: a string, or a JSON number (which the API server accepts as its text).

    Raises:
        QuantityError: with the API server's words.
    """
    if isinstance(value, str):
        return _parse(value.strip(" "))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise QuantityError(FORMAT_WRONG)
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e21
    return _parse(str(int(value)) if is_whole else repr(value))


@functools.lru_cache(maxsize=4096)  # a cluster has few different quantities
def _parse(text: str) -> int:
    sign = text[: text.startswith(("+", "-"))]
    whole = _leading_digits(text[len(sign) :])
    rest = text[len(sign) + len(whole) :]
    fraction = _leading_digits(rest[1:]) if rest.startswith(".") else ""
    suffix = rest[1 + len(fraction) :] if rest.startswith(".") else rest
    if not text or not _has_form(suffix):
        raise QuantityError(FORMAT_WRONG)
    power = _power(suffix)
    digits = whole + fraction
    if len(digits) > _LONGEST or (not digits and (suffix in _NEED_DIGITS or power < -9)):
        raise QuantityError(NUMERIC_WRONG)
    number = (-int(digits or "0") if sign == "-" else int(digits or "0")) << _BINARY.get(suffix, 0)
    power += 3 - len(fraction)
    number = number * 10**power if power >= 0 else _divide_up(number, 10**-power)
    return max(-_MAX, min(_MAX, number))


def _leading_digits(text: str) -> str:
    return text[: len(text) - len(text.lstrip(_DIGITS))]


def _has_form(suffix: str) -> bool:
    """Return whether a suffix matches `[eEinumkKMGTP]*[-+]?[0-9]*`; to compile the pattern takes longer."""
    exponent = suffix.lstrip(_IN_SUFFIXES)
    return not exponent[exponent.startswith(("+", "-")) :].strip(_DIGITS)


def milli(thousandths: int) -> int:
    """Return CPU in milli-units (`MilliValue`)."""
    return _int64(thousandths)


def whole_units(thousandths: int) -> int:
    """Return whole units, rounded away from zero (`Value`)."""
    return _int64(_divide_up(thousandths, 1000))


def _power(suffix: str) -> int:
    """Return the power of ten that a suffix means, 0 for a power of two."""
    if suffix in _BINARY:
        return 0
    if suffix in _DECIMAL:
        return _DECIMAL[suffix]
    exponent = re.match(_EXPONENT, suffix)
    if exponent is None:
        raise QuantityError(SUFFIX_WRONG)
    power = min(2 * _LONGEST, int(exponent[2]))
    return -power if exponent[1] == "-" else power


def _divide_up(number: int, by: int) -> int:
    """Divide, rounding away from zero."""
    up = -(-abs(number) // by)
    return -up if number < 0 else up


def _int64(number: int) -> int:
    return max(-(2**63), min(2**63 - 1, number))


class Sums(Enum):
    """The way to add up the requests of a pod's containers. Each name is the feature that its release introduced."""

    PER_CONTAINER = 1  # each amount rounded up; the overhead's CPU of a pod to be placed in whole cores
    WITHOUT_OVERHEAD = 2  # as PER_CONTAINER, and the overhead of a pod to be placed does not score
    EXACT = 3  # exact; for scores the containers and the init containers of a bound pod apart
    SIDECARS = 4  # the sidecars of bound pods count in scores
    RESIZED = 5  # a resize counts with the maximum of its requests
    POD_LEVEL = 6  # the pod's own resources come before those of its containers


_PERCENT = r"([0-9]{1,9})%\Z"  # compiled on first use


def percentage(value: Any) -> Optional[int]:
    """Return the number of a text like `25%`; None for anything else."""
    match = re.match(_PERCENT, value) if isinstance(value, str) else None
    return None if match is None else int(match[1])


def int_or_text(value: Any, default: Union[int, str]) -> Union[int, str]:
    """Return a number or a text as it is; the default for anything else, which no API server stores."""
    return value if isinstance(value, str) or type(value) is int else default


def scaled_value(value: Any, total: int, *, round_up: bool) -> Optional[int]:
    """Return a number, at least 0, or a percentage of a total."""
    if isinstance(value, int) and not isinstance(value, bool):
        return max(0, value)
    percent = percentage(value)
    if percent is None:
        return None
    return -(-total * percent // 100) if round_up else total * percent // 100


_UNITS_S = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}
_MAX_S = (2**63 - 1) / 1e9  # a time.Duration counts nanoseconds in 64 bits
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(h|ms|m|s|us|µs|μs|ns)", re.ASCII)


def seconds(text: str) -> Optional[float]:
    """Return a duration in seconds, 0 for none; a bare integer is in seconds. Returns None if it is invalid.

    Source: k8s.io/client-go/tools/clientcmd/config.go, ParseTimeout; Go's time.ParseDuration.
    """
    if re.fullmatch(r"[0-9]{1,9}", text, re.ASCII):
        return float(text)
    at, total = 0, 0.0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            return None
        total += float(part[1]) * _UNITS_S[part[2]]
        at = part.end()
    return total if text and total <= _MAX_S else None
