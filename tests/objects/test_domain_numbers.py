"""Numbers per domain of which only those above 0 are kept."""

from __future__ import annotations

import pytest

from kubectl_spread.objects.constraints.constraint import ConstraintCounts, DomainNumbers

DENSE: list[dict[str, int]] = [
    {},
    {"a": 0},
    {"a": 3},
    {"a": 2, "b": 5, "c": 5, "d": 2},
    {"": 1, "a": 0, "b": 7, "c": 0},
    {f"node-{at:03}": at % 50 // 49 for at in range(500)},
]


def sparse(numbers: dict[str, int]) -> DomainNumbers:
    """The same numbers, without the zeros."""
    return DomainNumbers(tuple(numbers), {at: number for at, number in enumerate(numbers.values()) if number})


@pytest.mark.parametrize("numbers", DENSE)
def test_it_reads_as_a_dict(numbers: dict[str, int]) -> None:
    """Zeros included, in the order of the domains."""
    found = sparse(numbers)

    assert numbers == found
    assert list(numbers.items()) == list(found.items())
    assert list(numbers.values()) == list(found.values())
    assert list(numbers) == list(found)
    assert repr(numbers) == repr(found)
    assert all(found[value] == number for value, number in numbers.items())
    assert (len(numbers), bool(numbers)) == (len(found), bool(found))


@pytest.mark.parametrize("numbers", DENSE)
@pytest.mark.parametrize("is_below", [False, True])
def test_the_skew_is_that_of_a_dict(numbers: dict[str, int], is_below: bool) -> None:
    """And so are the numbers that it is made of."""
    found, expected = (ConstraintCounts(domains, is_below) for domains in (sparse(numbers), numbers))

    assert (expected.skew, expected.most, expected.smallest, expected.fullest, expected.smallest_in) == (
        found.skew,
        found.most,
        found.smallest,
        found.fullest,
        found.smallest_in,
    )


@pytest.mark.parametrize("value", ["", "aa", "z"])
def test_another_value_is_no_domain(value: str) -> None:
    """Before, between and after the domains."""
    found = sparse({"a": 1, "b": 0})

    assert value not in found
    assert found.get(value) is None
