"""Texts of rules."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kubectl_spread.guarantee import texts
from kubectl_spread.guarantee.policy import Amount, PolicyRule, RuleKind
from kubectl_spread.objects.keys import Range

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"


@pytest.mark.parametrize(
    ("read", "text", "key", "strict", "pods", "most"),
    [
        (texts.at_most, "hostname=1/3", HOSTNAME, False, 18, 6),
        (texts.less_than, "hostname=1/3", HOSTNAME, True, 18, 5),
        (texts.less_than, "hostname = 1/3", HOSTNAME, True, 20, 6),
        (texts.less_than, "zone=50%", ZONE, True, 6, 2),
        (texts.at_most, "zone=50%", ZONE, False, 7, 3),
        (texts.less_than, "example.com/rack=1/2", "example.com/rack", True, 3, 1),
        (texts.less_than, "rack=1/2", "rack", True, 4, 1),
    ],
)
def test_a_share_limits_the_pods_of_a_domain(
    read: Callable[[str], PolicyRule], text: str, key: str, strict: bool, pods: int, most: int
) -> None:
    rule = read(text)

    assert (rule.kind, rule.topology_key, rule.is_strict) == (RuleKind.MAX_SHARE, key, strict)
    assert rule.most(pods) == most


@pytest.mark.parametrize(
    ("text", "strict", "most"),
    [("1/3", False, 6), ("<=1/3", False, 6), ("<1/3", True, 5), ("4", False, 4), ("<4", True, 3)],
)
def test_a_share_of_a_file_has_its_sign_and_may_be_a_count(text: str, strict: bool, most: int) -> None:
    """`=` and `<=` mean at most, `<` means less than."""
    rule = texts.share_of("hostname", text)

    assert (rule.kind, rule.topology_key, rule.is_strict) == (RuleKind.MAX_SHARE, HOSTNAME, strict)
    assert rule.most(18) == most


def test_a_strict_share_of_no_pods_allows_none() -> None:
    """The limit is never negative."""
    assert texts.less_than("zone=1/2").most(0) == 0


@pytest.mark.parametrize(
    ("keep", "pods", "least"), [("quorum", 3, 2), ("quorum", 4, 3), ("50%", 5, 3), ("2", 9, 2), ("2/3", 4, 3)]
)
def test_pods_to_keep_are_rounded_up(keep: str, pods: int, least: int) -> None:
    """A quorum is more than half."""
    assert texts.survive("zone", keep).amount.at_least(pods) == least


def test_other_rules_have_a_key_and_a_number() -> None:
    """A number follows `=`, and the number of lost domains is 1 without one."""
    assert texts.max_count("hostname=2") == PolicyRule(RuleKind.MAX_COUNT, HOSTNAME, Amount(2, text="2"))
    assert texts.min_domains("zone=3") == PolicyRule(RuleKind.MIN_DOMAINS, ZONE, Amount(3, text="3"))
    assert texts.separate("zone") == PolicyRule(RuleKind.SEPARATE, ZONE, Amount(1, text="1"))
    assert texts.survive("region=2", "1").lost == 2
    assert texts.survive("region", "1").lost == 1
    assert Range.of_text("3..9") == (3, 9)


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda: texts.at_most("zone"), "zone is not KEY=SHARE: write --at-most zone=1/2"),
        (
            lambda: texts.less_than("zone<1/2"),
            "zone<1/2 is not KEY=SHARE: write --less-than zone=1/2",
        ),
        (lambda: texts.at_most("zone=1"), "1 is no share: write --at-most zone=1/2, or --max-count zone=1 for pods"),
        (lambda: texts.at_most("zone=3/2"), "3/2 is not a share: write a fraction between 0 and 1, such as 1/3"),
        (lambda: texts.at_most("zone=1/0"), "1/0 is not a share: write a fraction between 0 and 1, such as 1/3"),
        (lambda: texts.at_most("zone=half"), "half is neither a share nor a number of pods: write 1/3, 50% or 4"),
        (lambda: texts.at_most("zone=101%"), "101% is not a share: write at most 100%"),
        (lambda: texts.less_than("zone=0%"), "no number of pods is less than 0%: write a share such as 1/3"),
        (
            lambda: texts.at_most("zones=1/2"),
            "zones is neither zone, node or region nor a label such as example.com/rack; did you mean `zone`?",
        ),
        (
            lambda: texts.survive("zone", "quorm"),
            "quorm is neither a share nor a number of pods: did you mean `quorum`?",
        ),
        (
            lambda: texts.survive("zone", None),
            "--survive zone needs --keep: the pods that must be left, as quorum, 50% or 2",
        ),
        (lambda: texts.survive("zone=0", "1"), "zone=0 is not KEY or KEY=N: write --survive zone or --survive zone=2"),
        (lambda: texts.max_count("zone=x"), "zone=x is not KEY=N: write --max-count zone=3"),
        (lambda: texts.min_domains("zone=0"), "0 domains are always used: write --min-domains zone=3"),
        (lambda: Range.of_text("9..3"), "9 is greater than 3: write 3..9"),
        (lambda: Range.of_text("9"), "9 is not a range of replicas: write 3..9"),
    ],
)
def test_another_text_is_refused_with_an_example(read: object, message: str) -> None:
    """The message names the text, and what to write."""
    with pytest.raises(ValueError, match=r".") as caught:
        read()  # type: ignore[operator]

    assert str(caught.value) == message
