"""The registry, and what it says of the modules in `lint/rules`."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest

import kubectl_spread.lint.rules
from kubectl_spread.lint.catalogue.registry import RENAMED, RULES, superseded_rules
from kubectl_spread.lint.finding import RuleMeta, RuleTarget
from kubectl_spread.lint.run_rules import module_name
from tests.lint.cases import WITH_A_MODULE

NAMES = {rule.name for rule in RULES.values()}
PARAMETERS = {RuleTarget.WORKLOAD: ["subject", "project"], RuleTarget.AROUND: ["manifest", "project"]}


@pytest.mark.parametrize("rule", WITH_A_MODULE, ids=lambda rule: rule.name)
def test_the_module_of_a_rule_has_the_check_that_is_called(rule: RuleMeta) -> None:
    check = importlib.import_module(module_name(rule.name)).check

    assert PARAMETERS[rule.target] == list(inspect.signature(check).parameters)


def test_every_module_is_that_of_a_rule() -> None:
    (folder,) = kubectl_spread.lint.rules.__path__
    modules = {path.stem for path in Path(folder).glob("*.py")} - {"__init__"}

    assert {rule.name.replace("-", "_") for rule in WITH_A_MODULE} == modules


def test_codes_and_names_are_each_those_of_one_rule() -> None:
    assert list(RULES) == sorted(RULES)
    assert len(RULES) == len(NAMES)


def test_an_old_name_is_no_present_one_and_leads_to_one() -> None:
    assert set() == NAMES & set(RENAMED)
    assert set(RENAMED.values()) <= NAMES


def test_a_rule_supersedes_rules_about_workloads() -> None:
    pairs = {(code, other) for code, rule in RULES.items() for other in rule.supersedes}

    assert ("SPR110", "SPR203") in pairs
    assert {RuleTarget.WORKLOAD} == {RULES[other].target for _, other in pairs}
    assert frozenset({"SPR203", "SPR605"}) == superseded_rules(frozenset({"SPR112", "SPR101"}))
    assert frozenset() == superseded_rules(frozenset())
