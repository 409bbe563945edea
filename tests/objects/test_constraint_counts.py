"""The skew of a constraint, and the numbers it is made of."""

from __future__ import annotations

from kubectl_spread.objects.constraints.constraint import ConstraintCounts


def test_the_skew_is_the_most_minus_the_minimum() -> None:
    """Of several domains with one number the first is named."""
    counts = ConstraintCounts({"a": 2, "b": 5, "c": 5, "d": 2})

    assert (3, "b", 5, 2, ("a", "d")) == (
        counts.skew,
        counts.fullest,
        counts.most,
        counts.minimum,
        counts.minimum_in,
    )


def test_the_minimum_is_0_with_fewer_domains_than_min_domains() -> None:
    """No domain holds it then; the emptiest one is still known."""
    counts = ConstraintCounts({"a": 2, "b": 5}, is_below_min_domains=True)

    assert (5, 0, (), ("a",)) == (counts.skew, counts.minimum, counts.minimum_in, counts.smallest_in)


def test_a_constraint_without_domains_has_no_skew() -> None:
    counts = ConstraintCounts({}, is_below_min_domains=True)

    assert (None, 0, "", 0) == (counts.skew, counts.most, counts.fullest, counts.minimum)
