"""What `rule` prints."""

from __future__ import annotations

import json

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.lint.catalogue import RULES


def test_without_a_word_every_rule_has_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == run(["rule"])
    assert sorted(RULES) == [line.split()[0] for line in capsys.readouterr().out.splitlines()]


def test_a_rule_has_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    """Its head, and what its module says."""
    assert 0 == run(["rule", "deprecated-key"])
    assert (
        "SPR602 deprecated-key (warning)\n\n`topologyKey` is a deprecated label.\n\n"
        "`failure-domain.beta.kubernetes.io/zone` and `/region` gave way to `topology.kubernetes.io/zone` and "
        "`/region` in 1.17.\n"
        "Cloud providers stop setting the old ones; a node without the label is refused by DoNotSchedule.\n\n"
        "Write the new label.\n"
    ) == capsys.readouterr().out


def test_several_are_told_in_the_order_of_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == run(["rule", "SPR3", "spr101", "-o", "json"])
    told = json.loads(capsys.readouterr().out)

    assert ["SPR101", "SPR302", "SPR304", "SPR305", "SPR306", "SPR307"] == [rule["code"] for rule in told]
    assert all(rule["documentation"] for rule in told)


def test_an_unknown_rule_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == run(["rule", "double-hart"])
    assert "error: no rule is called `double-hart`: did you mean `double-hard`?\n" in capsys.readouterr().err
