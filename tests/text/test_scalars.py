"""Plain scalars, by the rules of go-yaml v2 (resolve.go) and of Go's strconv, from which each row is derived."""

from __future__ import annotations

import math
from typing import Any

import pytest

from kubectl_spread.text import scalars

TRUE = ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"]
FALSE = ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"]
NULL = ["", "~", "null", "Null", "NULL"]
STRINGS = [
    # words in a case that is not listed
    "yEs", "tRUE", "oN", "nULL", "NuLL", "none", "None", "nil", "t", "f", "T", "F", "nan", "NaN", "inf", "+Inf", ".InF",
    # digits that are not of the base, or none
    "0o", "0O", "0b", "0B", "0x", "0X", "-0x", "0o8", "0b2", "0b12", "0xg", "08x", "0x1.8p1", "0x_", "0b_",
    # signs
    "+", "-", "--1", "+-1", "1-", "1+1", "-_",
    # an underscore is skipped only where a digit or sign stands first
    "_1", "__", ".5_0", "._5",
    # floats that are none
    ".", "..", "+.", "-.", ".e5", "1e", "1e+", "1.5.1", "1,5", ".5.", "1e400", "-1e400", ".1e999",
    # times and dates
    "12:30", "1:30", "190:20:30", "2001-01-01", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.10",
    # integers of more than 64 bits, which are not decimal floats either
    "0x10000000000000000", "-0x8000000000000001", "+0xffffffffffffffff",
    # quantities, versions, addresses
    "100m", "1Gi", "1.2.3", "v1", "1x", "10.0.0.1",
    # digits of other scripts
    "٣", "１２",
    "<<", "=", "*", "a b",
]  # fmt: skip
NUMBERS: list[tuple[str, Any]] = [
    ("0", 0), ("-0", 0), ("+0", 0), ("00", 0), ("1", 1), ("+1", 1), ("-1", -1), ("42", 42),
    ("0644", 420), ("-0644", -420), ("+0644", 420), ("0o644", 420), ("0O644", 420), ("-0o7", -7),
    ("0x1F", 31), ("0X1f", 31), ("-0x1F", -31), ("+0x1F", 31), ("0b101", 5), ("0B101", 5), ("-0b101", -5),
    ("1_000", 1000), ("0_7", 7), ("0x_1F", 31), ("1_", 1), ("-_1", -1), ("1__0", 10), ("0b1_1", 3),
    ("9223372036854775807", 2**63 - 1), ("9223372036854775808", 2**63), ("18446744073709551615", 2**64 - 1),
    ("-9223372036854775808", -(2**63)), ("0xffffffffffffffff", 2**64 - 1),
    ("0b" + "1" * 64, 2**64 - 1), ("0o1777777777777777777777", 2**64 - 1),
    ("0" * 200 + "7", 7), ("0x" + "0" * 5000 + "f", 15),
    # not octal, not of 64 bits, or of 64 bits with a sign that ParseUint does not take: floats
    ("08", 8.0), ("09.5", 9.5), ("-08", -8.0), ("18446744073709551616", 2.0**64), ("-9223372036854775809", -(2.0**63)),
    ("+18446744073709551615", 2.0**64), ("07777777777777777777777777", 7777777777777777777777777.0),
    ("1.", 1.0), ("1.5", 1.5), ("-1.5", -1.5), ("+1.5", 1.5), ("0.0", 0.0), ("1_0.5", 10.5),
    (".5", 0.5), ("+.5", 0.5), ("-.5", -0.5), (".5e1", 5.0), (".5E-1", 0.05),
    ("1e3", 1000.0), ("1E3", 1000.0), ("1e+3", 1000.0), ("1e-3", 0.001), ("1.e3", 1000.0), ("1e-400", 0.0),
    ("1e0", 1.0),
    (".inf", math.inf), (".Inf", math.inf), (".INF", math.inf), ("+.inf", math.inf), ("-.inf", -math.inf),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((text, True) for text in TRUE),
        *((text, False) for text in FALSE),
        *((text, None) for text in NULL),
        *((text, text) for text in STRINGS),
        *NUMBERS,
    ],
)
def test_a_plain_scalar_is_what_kubectl_makes_of_it(text: str, expected: Any) -> None:
    """The value and its type are those of the JSON that kubectl sends."""
    actual = scalars.resolve(text)

    assert (type(expected), expected) == (type(actual), actual)


@pytest.mark.parametrize("text", [".nan", ".NaN", ".NAN"])
def test_nan_is_a_float(text: str) -> None:
    """Three spellings are NaN."""
    value = scalars.resolve(text)

    assert isinstance(value, float)
    assert math.isnan(value)


@pytest.mark.parametrize("text", ["1" * 5000, "-" + "9" * 5000, "0x" + "f" * 5000, "0" + "7" * 5000, "1e" + "9" * 5000])
def test_a_number_too_long_for_any_type_is_a_string(text: str) -> None:
    """Go's ParseInt and ParseFloat say out of range; Python's int() would refuse more than 4300 digits."""
    assert text == scalars.resolve(text)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a", "a"), (True, "true"), (False, "false"), (None, "null"), (16, "16"), (-1, "-1"),
        (1.0, "1"), (1000.0, "1000"), (1.5, "1.5"), (1e6, "1e+06"), (0.00001, "1e-05"),
        (math.inf, ".inf"), (-math.inf, "-.inf"), (math.nan, ".nan"),
    ],
)  # fmt: skip
def test_a_key_is_the_text_of_its_value(value: scalars.Value, expected: str) -> None:
    """JSON has only strings for keys: `1.0: x` is the key `1`."""
    assert expected == scalars.key_text(value)
