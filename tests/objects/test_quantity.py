"""Quantities, by the grammar and the scanner of apimachinery's resource package."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_spread.objects import resources

FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
NUMERIC = "unable to parse numeric part of quantity"
SUFFIX = "unable to parse quantity's suffix"

POWERS = {
    "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 10**3), "": Fraction(1), "k": Fraction(10**3),
    "M": Fraction(10**6), "G": Fraction(10**9), "T": Fraction(10**12), "P": Fraction(10**15), "E": Fraction(10**18),
    "Ki": Fraction(2**10), "Mi": Fraction(2**20), "Gi": Fraction(2**30), "Ti": Fraction(2**40), "Pi": Fraction(2**50),
    "Ei": Fraction(2**60), "e3": Fraction(10**3), "E3": Fraction(10**3), "e+2": Fraction(10**2),
    "e-2": Fraction(1, 100),
    "E-4": Fraction(1, 10**4), "e0": Fraction(1), "e00": Fraction(1), "e09": Fraction(10**9),
}  # fmt: skip
CAP = (2**63 - 1) * 1000


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0", 0), ("1", 1000), ("+1", 1000), ("-1", -1000), ("007", 7000), ("1.", 1000), (".5", 500), ("1.5", 1500),
        ("1n", 1), ("1u", 1), ("1m", 1), ("1k", 10**6), ("1M", 10**9), ("1G", 10**12), ("1T", 10**15), ("1P", 10**18),
        ("1E", 10**21),
        ("1Ki", 1_024_000), ("1Mi", 1_048_576_000), ("1Gi", 1_073_741_824_000), ("1Ti", 1_099_511_627_776_000),
        ("1Pi", 1_125_899_906_842_624_000), ("1Ei", 1_152_921_504_606_846_976_000),
        ("1.5Gi", 1_610_612_736_000), ("0.5Ki", 512_000), (".1Ki", 102_400), ("1.25k", 1_250_000), ("1.G", 10**12),
        ("1e3", 10**6), ("1E3", 10**6), ("1e+3", 10**6), ("1e-3", 1), ("1.5e1", 15_000), ("12E-1", 1200), ("1e-9", 1),
        ("100m", 100), ("100.5m", 101), ("0.1m", 1), ("1.0001", 1001), ("999999n", 1), ("1000001n", 2), ("0.0m", 0),
        ("-0", 0), ("-0.1m", -1), ("-100.5m", -101), ("-1n", -1), ("-1.0001", -1001), ("-1.5Ki", -1_536_000),
        ("8Ei", CAP), ("-8Ei", -CAP), ("99999999999999999999", CAP), ("1e400", CAP), ("-1e19", -CAP), ("1e-400", 1),
        ("1e999999999999999999", CAP), ("1e-999999999999999999", 1), ("0e999999999999999999", 0),
        ("0." + "0" * 500 + "1", 1), ("9" * 1000, CAP),
        # the scanner takes no digits for zero
        (".", 0), ("+", 0), ("-", 0), ("+.", 0), ("m", 0), (".m", 0), ("k", 0), ("Ki", 0), ("Ti", 0), ("E", 0),
        ("e5", 0), ("e-9", 0),
        # the API server trims what it decodes
        (" 1", 1000), ("1Gi ", 1_073_741_824_000),
        # numbers count as their JSON text
        (1, 1000), (0, 0), (-3, -3000), (0.5, 500), (1.5, 1500), (2.0, 2000), (1e3, 10**6), (1e-7, 1), (1e22, CAP),
        (2**63, CAP),
    ],
)  # fmt: skip
def test_a_quantity_is_thousandths_rounded_away_from_zero(value: object, expected: int) -> None:
    """Exact in every suffix, and capped at what an int64 holds."""
    assert expected == resources.parse(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", FORMAT), (" ", FORMAT), ("1x", FORMAT), ("x", FORMAT), ("1.5.1", FORMAT), ("1..5", FORMAT),
        ("1,5", FORMAT), ("1 Gi", FORMAT), ("0x10", FORMAT), ("1_000", FORMAT), ("1.1.M", FORMAT), ("1+1.0M", FORMAT),
        ("0.1am", FORMAT), ("aoeu", FORMAT), ("1GiB", FORMAT), ("1e5m", FORMAT), ("1e+5m", FORMAT), ("1\n", FORMAT),
        ("١", FORMAT), ("1Gi\t", FORMAT), ("inf", FORMAT), ("null", FORMAT),
        ("1i", SUFFIX), (".5i", SUFFIX), ("1mi", SUFFIX), ("0.1mi", SUFFIX), ("1K", SUFFIX), ("1g", FORMAT),
        ("1gi", FORMAT), ("1kk", SUFFIX), ("1e", SUFFIX), ("1e+", SUFFIX), ("-3.01e-", SUFFIX), ("1-", SUFFIX),
        ("1-1", SUFFIX), ("--1", SUFFIX), ("+-1", SUFFIX), ("1ee5", SUFFIX), ("1Ee5", SUFFIX), ("1m5", SUFFIX),
        ("1e99999999999999999999", SUFFIX), ("1e" + "9" * 5000, SUFFIX),
        ("Pi", NUMERIC), ("Ei", NUMERIC), ("e-10", NUMERIC), (".e-10", NUMERIC), ("9" * 5000, NUMERIC),
        (True, FORMAT), (False, FORMAT), ([], FORMAT), ({}, FORMAT), (math.inf, FORMAT), (math.nan, FORMAT),
    ],
)  # fmt: skip
def test_what_is_no_quantity_is_refused_in_the_api_server_s_words(value: object, expected: str) -> None:
    """One of three sentences."""
    with pytest.raises(resources.QuantityError) as caught:
        resources.parse(value)

    assert expected == str(caught.value)


@pytest.mark.parametrize(
    ("thousandths", "milli", "whole"),
    [(0, 0, 0), (1, 1, 1), (999, 999, 1), (1000, 1000, 1), (1001, 1001, 2), (-1, -1, -1), (-1001, -1001, -2)],
)
def test_cpu_is_milli_units_and_the_rest_whole_ones(thousandths: int, milli: int, whole: int) -> None:
    """`MilliValue` and `Value`, both rounded away from zero."""
    assert (milli, whole) == (resources.milli(thousandths), resources.whole_units(thousandths))


def test_a_capped_quantity_is_the_largest_int64() -> None:
    """In whole units as in thousandths."""
    assert (2**63 - 1, 2**63 - 1) == (resources.whole_units(CAP), resources.milli(CAP))


@settings(deadline=None, max_examples=150, derandomize=True, database=None)
@given(
    sign=st.sampled_from(["", "+", "-"]),
    whole=st.text("0123456789", max_size=25),
    fraction=st.none() | st.text("0123456789", max_size=25),
    suffix=st.sampled_from(sorted(POWERS)),
)
def test_a_quantity_is_its_number_times_its_suffix(sign: str, whole: str, fraction: str | None, suffix: str) -> None:
    """As fractions have it: exact, then rounded up in magnitude, then capped."""
    number = Fraction(int(whole or "0"))
    for place, digit in enumerate(fraction or "", start=1):
        number += Fraction(int(digit), 10**place)
    expected = min(math.ceil(number * POWERS[suffix] * 1000), CAP)
    text = f"{sign}{whole or '0'}{'' if fraction is None else '.' + fraction}{suffix}"

    assert (-expected if sign == "-" else expected) == resources.parse(text)
