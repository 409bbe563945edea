"""The table of all rules."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import kubectl_spread.lint
from kubectl_spread.lint.finding import CHECKS, RuleMeta, RuleTarget
from kubectl_spread.lint.registry import RULES, superseded_rules
from tests.lint.cases import WITH_A_MODULE

NAMES = {rule.name for rule in RULES.values()}
PARAMETERS = {RuleTarget.WORKLOAD: ["subject"], RuleTarget.AROUND: ["manifest", "project"]}


@pytest.mark.parametrize("rule", WITH_A_MODULE, ids=lambda rule: rule.name)
def test_the_function_of_a_rule_has_its_name_and_the_arguments_that_it_gets(rule: RuleMeta) -> None:
    check = CHECKS[rule.code]

    assert rule.name.replace("-", "_") == check.__name__
    assert PARAMETERS[rule.target] == list(inspect.signature(check).parameters)


def test_every_page_is_that_of_a_rule() -> None:
    (folder,) = kubectl_spread.lint.__path__

    assert {f"{rule.code}-{rule.name}" for rule in RULES.values()} == {
        path.stem for path in (Path(folder) / "pages").iterdir()
    }


def test_codes_and_names_are_each_those_of_one_rule() -> None:
    assert list(RULES) == sorted(RULES)
    assert len(RULES) == len(NAMES)


def test_a_rule_supersedes_rules_about_workloads() -> None:
    pairs = {(code, other) for code, rule in RULES.items() for other in rule.supersedes}

    assert ("SPR110", "SPR203") in pairs
    assert {RuleTarget.WORKLOAD} == {RULES[other].target for _, other in pairs}
    assert frozenset({"SPR203", "SPR605"}) == superseded_rules(frozenset({"SPR112", "SPR101"}))
    assert frozenset() == superseded_rules(frozenset())
