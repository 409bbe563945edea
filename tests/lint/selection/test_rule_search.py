"""Rules are found by words of their names and pages."""

from __future__ import annotations

import pytest

from kubectl_spread.lint.finding import search
from kubectl_spread.lint.registry import RULES


def found(text: str) -> list[str]:
    return [rule.code for rule in search(text, RULES.values())]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("cordoned nodes", "SPR301"),
        ("cordon", "SPR301"),
        ("MINDOMAINS autoscaler", "SPR505"),
        ("missing labelSelector", "SPR201"),
        ("host port", "SPR310"),
        ("SPR903", "SPR903"),
    ],
)
def test_a_few_words_are_enough(text: str, first: str) -> None:
    assert first == found(text)[0]


def test_words_of_no_rule_find_nothing() -> None:
    assert [] == found("zebra xylophone 42 !")


def test_a_name_that_is_no_word_of_a_rule_changes_nothing() -> None:
    assert found("cordoned nodes") == found("xylophone-7f9 cordoned nodes zebra")
