"""Texts of rules."""

from __future__ import annotations

import pytest

from kubectl_spread.guarantee.policy import texts
from kubectl_spread.guarantee.policy.policy import Amount, PolicyRule, RuleKind
from kubectl_spread.guarantee.policy.texts import PolicyTextError

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"


@pytest.mark.parametrize(
    ("text", "key", "strict", "pods", "most"),
    [
        ("hostname=1/3", HOSTNAME, False, 18, 6),
        ("hostname<=1/3", HOSTNAME, False, 18, 6),
        ("hostname<1/3", HOSTNAME, True, 18, 5),
        ("hostname=<1/3", HOSTNAME, True, 18, 5),
        ("hostname=<=1/3", HOSTNAME, False, 18, 6),
        ("hostname < 1/3", HOSTNAME, True, 20, 6),
        ("zone<50%", ZONE, True, 6, 2),
        ("zone=50%", ZONE, False, 7, 3),
        ("zone=4", ZONE, False, 18, 4),
        ("zone<4", ZONE, True, 18, 3),
        ("example.com/rack<1/2", "example.com/rack", True, 3, 1),
        ("rack<1/2", "rack", True, 4, 1),
    ],
)
def test_a_share_limits_the_pods_of_a_domain(text: str, key: str, strict: bool, pods: int, most: int) -> None:
    """`=` and `<=` mean at most, `<` means less than."""
    rule = texts.max_share(text)

    assert (rule.kind, rule.topology_key, rule.is_strict) == (RuleKind.MAX_SHARE, key, strict)
    assert rule.most(pods) == most


def test_a_strict_share_of_no_pods_allows_none() -> None:
    """The limit is never negative."""
    assert texts.max_share("zone<1/2").most(0) == 0


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
    assert texts.replicas("3..9") == (3, 9)


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda: texts.max_share("zone"), "zone is not KEY=SHARE: write zone<=1/2, zone<1/2 or zone=50%"),
        (lambda: texts.max_share("zone=3/2"), "3/2 is not a share: write a fraction between 0 and 1, such as 1/3"),
        (lambda: texts.max_share("zone=1/0"), "1/0 is not a share: write a fraction between 0 and 1, such as 1/3"),
        (lambda: texts.max_share("zone=half"), "half is not a number of pods: write 1/3, 50% or 4"),
        (lambda: texts.max_share("zone=101%"), "101% is not a number of pods: write 1/3, 50% or 4"),
        (lambda: texts.max_share("zone<0"), "no number of pods is less than 0: write a share such as 1/3"),
        (
            lambda: texts.max_share("zones=1/2"),
            "zones is neither zone, hostname or region nor a label such as example.com/rack; did you mean `zone`?",
        ),
        (lambda: texts.survive("zone", "quorm"), "quorm is not a number of pods: did you mean `quorum`?"),
        (
            lambda: texts.survive("zone", None),
            "--survive zone needs --keep: the pods that must be left, as quorum, 50% or 2",
        ),
        (lambda: texts.survive("zone=0", "1"), "zone=0 is not KEY or KEY=N: write --survive zone or --survive zone=2"),
        (lambda: texts.max_count("zone=x"), "zone=x is not KEY=N: write --max-count zone=3"),
        (lambda: texts.min_domains("zone=0"), "0 domains are always used: write --min-domains zone=3"),
        (lambda: texts.replicas("9..3"), "9 is greater than 3: write 3..9"),
        (lambda: texts.replicas("9"), "9 is not a range of replicas: write 3..9"),
    ],
)
def test_another_text_is_refused_with_an_example(read: object, message: str) -> None:
    """The message names the text, and what to write."""
    with pytest.raises(PolicyTextError) as caught:
        read()  # type: ignore[operator]

    assert str(caught.value) == message
