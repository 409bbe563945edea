"""Label selectors, and what they select."""

from __future__ import annotations

from typing import Any, Optional

import pytest

from kubectl_spread.objects.constraints import constraint
from kubectl_spread.objects.selectors import compile_selector, LabelRequirement, parse_int64

LABELS = {"app": "web", "tier": "", "rank": "5"}


def expression(operator: str, *values: str, key: str = "app") -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": None, "matchExpressions": None}, True),
        ({"matchLabels": {"app": "web"}}, True),
        ({"matchLabels": {"app": "db"}}, False),
        ({"matchLabels": {"app": "web", "tier": ""}}, True),
        ({"matchLabels": {"tier": None}}, True),
        ({"matchLabels": {"absent": ""}}, False),
        (expression("In", "db", "web"), True),
        (expression("In", "db"), False),
        (expression("In", "", key="tier"), True),
        (expression("In", "", key="absent"), False),
        (expression("NotIn", "db"), True),
        (expression("NotIn", "web"), False),
        (expression("NotIn", "web", key="absent"), True),
        (expression("Exists"), True),
        (expression("Exists", key="tier"), True),
        (expression("Exists", key="absent"), False),
        (expression("DoesNotExist"), False),
        (expression("DoesNotExist", key="absent"), True),
        ({"matchLabels": {"app": "web"}, **expression("NotIn", "web")}, False),
        ({"matchLabels": {"app": "web"}, **expression("Exists", key="tier")}, True),
    ],
)
def test_a_selector_matches_when_all_its_requirements_hold(selector: Optional[dict[str, Any]], expected: bool) -> None:
    """A missing selector selects nothing, an empty one everything."""
    assert expected == compile_selector(constraint.label_selector(selector)).matches(LABELS)


@pytest.mark.parametrize(("selector", "expected"), [(None, False), ({}, True), ({"matchLabels": {"a": "b"}}, False)])
def test_only_a_selector_without_requirements_is_empty(selector: Optional[dict[str, Any]], expected: bool) -> None:
    """The one that selects nothing is not."""
    assert expected == compile_selector(constraint.label_selector(selector)).is_empty


def test_a_selector_that_selects_nothing_cannot_be_narrowed() -> None:
    """Nothing and a condition is nothing."""
    assert compile_selector(None) == compile_selector(None).plus(LabelRequirement("app", "Exists"))


@pytest.mark.parametrize(
    ("operator", "value", "expected"),
    [
        ("Gt", "4", True), ("Gt", "5", False), ("Gt", "6", False), ("Gt", "-6", True), ("Gt", "+4", True),
        ("Lt", "6", True), ("Lt", "5", False), ("Lt", "4", False), ("Lt", "007", True),
        ("Gt", "4.5", False), ("Lt", "x", False), ("Gt", "", False),
    ],
)  # fmt: skip
def test_gt_and_lt_are_strict(operator: str, value: str, expected: bool) -> None:
    """The label `5` is greater than 4, not than 5; what is not an integer compares with nothing."""
    assert expected == LabelRequirement("rank", operator, (value,)).matches(LABELS)


@pytest.mark.parametrize("operator", ["Gt", "Lt"])
@pytest.mark.parametrize("key", ["absent", "app", "tier"])
def test_a_label_that_is_no_integer_is_neither_greater_nor_less(operator: str, key: str) -> None:
    """Nor is one that is absent."""
    assert not LabelRequirement(key, operator, ("0",)).matches(LABELS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0), ("-0", 0), ("+7", 7), ("007", 7), ("-12", -12), ("0" * 5000 + "1", 1),
        ("9223372036854775807", 2**63 - 1), ("9223372036854775808", None),
        ("-9223372036854775808", -(2**63)), ("-9223372036854775809", None),
        ("", None), ("+", None), ("-", None), (" 1", None), ("1 ", None), ("1_0", None), ("1.0", None), ("0x1", None),
        ("1e3", None), ("٣", None), ("1\n", None), ("9" * 5000, None),
    ],
)  # fmt: skip
def test_an_int64_is_what_go_parses(text: str, expected: Optional[int]) -> None:
    """ParseInt(text, 10, 64): a sign and digits, in range."""
    assert expected == parse_int64(text)
