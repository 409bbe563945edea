"""Rules are found by the words of their messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.lint.catalogue.registry import RULES
from kubectl_spread.lint.finding import RuleMeta
from kubectl_spread.lint.rule_search.search import index_of, search, Vocabulary
from kubectl_spread.lint.rule_search.vocabulary import words
from tests.lint.cases import example, WITH_AN_EXAMPLE


@pytest.fixture(scope="module")
def index() -> dict[RuleMeta, Vocabulary]:
    return index_of(RULES.values())


def found(text: str, index: dict[RuleMeta, Vocabulary]) -> list[str]:
    return [item.rule.code for item in search(text, index)]


@pytest.mark.slow
def test_the_messages_about_the_examples_lead_to_their_rules(
    index: dict[RuleMeta, Vocabulary], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They contain names and numbers of the example; of 20, at least 19 have their rule among the first three."""
    file = tmp_path / "example.yaml"
    missed = {}
    tried = 0
    for rule in WITH_AN_EXAMPLE:
        written, flags = example(rule)
        file.write_text(written, encoding="utf-8")
        run(["check", str(file), "--no-config", "-o", "json", "--select", rule.code, *flags])
        for item in json.loads(capsys.readouterr().out)["findings"]:
            if item["code"] == rule.code:
                tried += 1
                first = found(item["message"], index)[:3]
                if rule.code not in first:
                    missed[item["message"]] = (rule.code, first)

    assert tried > 60
    assert len(missed) <= tried / 20, missed


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("cordoned nodes", "SPR301"),
        ("cordon", "SPR301"),
        ("MINDOMAINS autoscaler", "SPR505"),
        ("must be greater than zero", "SPR101"),
        ("SPR903", "SPR903"),
    ],
)
def test_a_few_words_are_enough(text: str, first: str, index: dict[RuleMeta, Vocabulary]) -> None:
    assert first == found(text, index)[0]


def test_words_of_no_rule_find_nothing(index: dict[RuleMeta, Vocabulary]) -> None:
    assert [] == found("zebra xylophone 42 !", index)


def test_a_name_that_is_no_word_of_a_rule_changes_nothing(index: dict[RuleMeta, Vocabulary]) -> None:
    assert found("cordoned nodes", index) == found("xylophone-7f9 cordoned nodes zebra", index)


def test_the_parts_of_a_field_name_are_words() -> None:
    assert ("mindomain", "min", "domain", "pod", "class") == words("minDomains pods, class")
