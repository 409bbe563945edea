"""Which taints a toleration tolerates."""

from __future__ import annotations

import pytest

from kubectl_spread.objects.node import first_untolerated, Taint, Toleration

TAINT = Taint("gpu", "a100", "NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        (Toleration("gpu", "Equal", "a100", "NoSchedule"), True),
        (Toleration("gpu", "", "a100", ""), True),
        (Toleration("gpu", "Exists", "", ""), True),
        (Toleration("", "Exists", "", ""), True),
        (Toleration("", "Exists", "", "NoSchedule"), True),
        (Toleration("gpu", "Exists", "other", ""), True),
        (Toleration("", "", "a100", ""), True),
        (Toleration("gpu", "Equal", "", ""), False),
        (Toleration("gpu", "", "A100", ""), False),
        (Toleration("cpu", "Exists", "", ""), False),
        (Toleration("gpu", "Exists", "", "NoExecute"), False),
        (Toleration("gpu", "exists", "", ""), False),
        (Toleration("gpu", "Gt", "1", ""), False),
        (Toleration(), False),
    ],
)
def test_a_toleration_compares_effect_key_and_value(toleration: Toleration, expected: bool) -> None:
    """What is empty matches all, except the value; Lt and Gt are behind a gate that is off."""
    assert expected == toleration.tolerates(TAINT)


@pytest.mark.parametrize("operator", ["Lt", "Gt"])
def test_comparing_operators_tolerate_nothing(operator: str) -> None:
    """The gate TaintTolerationComparisonOperators is off by default."""
    assert not Toleration("rank", operator, "5", "").tolerates(Taint("rank", "5", "NoSchedule"))


def test_the_first_taint_that_repels_is_named() -> None:
    """PreferNoSchedule does not repel, and what is tolerated does not count."""
    taints = [
        Taint("soft", "", "PreferNoSchedule"),
        Taint("known", "", "NoSchedule"),
        Taint("one", "1", "NoExecute"),
        Taint("two", "", "NoSchedule"),
    ]

    assert Taint("one", "1", "NoExecute") == first_untolerated(taints, [Toleration("known", "Exists")])
    assert first_untolerated(taints, [Toleration("", "Exists")]) is None


@pytest.mark.parametrize(
    ("taint", "expected"),
    [(Taint("a", "b", "NoSchedule"), "a=b:NoSchedule"), (Taint("a", "", "NoExecute"), "a:NoExecute")],
)
def test_a_taint_is_written_as_kubectl_writes_it(taint: Taint, expected: str) -> None:
    """Without `=` where it has no value."""
    assert expected == str(taint)
