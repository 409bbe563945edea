"""Which rules --select and --ignore leave."""

from __future__ import annotations

import pytest

from kubectl_spread.lint.registry import RULES
from kubectl_spread.lint.selection import RuleProfile, selected_codes, UnknownRuleError

ALL = frozenset(RULES)
DEFAULT = frozenset(code for code, rule in RULES.items() if not rule.is_opinion)


def codes(prefix: str) -> frozenset[str]:
    return frozenset(code for code in RULES if code.startswith(prefix))


@pytest.mark.parametrize(
    ("select", "ignore", "expected"),
    [
        ([], [], DEFAULT),
        (["SPR1"], [], codes("SPR1")),
        (["spr101, SPR2"], [], codes("SPR2") | {"SPR101"}),
        (["hard-zone-and-hostname"], [], {"SPR304"}),
        ([], ["SPR4"], DEFAULT - codes("SPR4")),
        ([], ["ALL"], frozenset()),
        (["SPR201"], ["SPR2"], {"SPR201"}),
        (["SPR2"], ["SPR201"], codes("SPR2") - {"SPR201"}),
        (["SPR"], ["SPR1"], codes("SPR") - codes("SPR1")),
        (["all"], [], ALL),
        (["SPR1"], ["ALL"], codes("SPR1")),
        (["SPR304"], ["hard-zone-and-hostname"], frozenset()),
        ([""], [","], DEFAULT),
    ],
)
def test_of_two_words_the_longer_one_counts(select: list[str], ignore: list[str], expected: frozenset[str]) -> None:
    assert expected == selected_codes(select, ignore)


@pytest.mark.parametrize(
    ("autoscaler", "followed"),
    [
        ("", set()),
        ("karpenter", {"SPR701", "SPR702", "SPR703", "SPR707", "SPR708"}),
        ("cluster-autoscaler", {"SPR701", "SPR704"}),
    ],
)
def test_rules_about_an_autoscaler_are_followed_where_it_is_named(autoscaler: str, followed: set[str]) -> None:
    """Unless they are ignored, or others are selected."""
    base = RuleProfile.DEFAULT.codes_for(autoscaler)

    assert DEFAULT | followed == selected_codes([], [], base=base)
    assert DEFAULT - codes("SPR7") == selected_codes([], ["SPR7"], base=base)
    assert codes("SPR1") == selected_codes(["SPR1"], [], base=base)
    assert RuleProfile.MINIMAL.codes == RuleProfile.MINIMAL.codes_for(autoscaler)


@pytest.mark.parametrize(
    ("autoscaler", "left_out"),
    [("", set()), ("karpenter", {"SPR704"}), ("cluster-autoscaler", {"SPR702", "SPR703", "SPR707", "SPR708"})],
)
def test_the_strict_profile_leaves_out_opinions_about_other_autoscalers(autoscaler: str, left_out: set[str]) -> None:
    """A cluster with Karpenter has no cluster-autoscaler that adds one node at a time."""
    base = RuleProfile.STRICT.codes_for(autoscaler)

    assert frozenset(RULES) - left_out == selected_codes([], [], base=base)
    assert "SPR704" in selected_codes([], [], base=base, extend=["SPR704"])


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("SPR999", "no rule is called `SPR999`"),
        ("hard-zone-and-hostnam", "no rule is called `hard-zone-and-hostnam`: did you mean `hard-zone-and-hostname`?"),
        ("selector", "no rule is called `selector`"),
    ],
)
def test_a_word_that_names_no_rule_is_wrong_usage(word: str, message: str) -> None:
    with pytest.raises(UnknownRuleError) as caught:
        selected_codes([word], [])

    assert str(caught.value).startswith(message)
