"""The rules about workloads: `rules/<name>.yaml` holds manifests that must fire and such that must not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from kubectl_spread.lint.catalogue import RULES
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.finding import Target
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.run import check_source
from kubectl_spread.lint.workloads import check_workloads
from kubectl_spread.lint.workloads import documentation
from kubectl_spread.text.source import SourceFile

FOLDER = Path(__file__).parent / "rules"
ABOUT_WORKLOADS = [rule for rule in RULES.values() if rule.target is Target.WORKLOAD]


def cases() -> list[Any]:
    return [
        pytest.param(rule.code, case, id=f"{rule.name}: {case['name']}")
        for rule in ABOUT_WORKLOADS
        for case in YAML(typ="safe").load(FOLDER / f"{rule.name}.yaml")
    ]


def findings(text: str) -> list[Finding]:
    result = check_source(SourceFile("case.yaml", text), named=True)
    return check_workloads(Project(result.subjects, result.others))


def shown(finding: Finding) -> str:
    """`CODE@line text`, with the text that is underlined, as far as it is on one line."""
    place = finding.place
    written = place.source.text[place.span.start : place.span.end].split("\n")[0]
    return f"{finding.rule.code}@{place.source.position(place.span.start).line} {written}"


@pytest.mark.parametrize(("code", "case"), cases())
def test_a_case_has_the_findings_it_names_and_no_others(code: str, case: dict[str, Any]) -> None:
    """`expect` lists all findings; a case without it has none."""
    found = findings(case["manifest"])

    assert case.get("expect", []) == [shown(finding) for finding in found]
    assert [case["message"]] == [finding.message for finding in found] if "message" in case else True


@pytest.mark.parametrize("rule", ABOUT_WORKLOADS, ids=lambda rule: rule.name)
def test_a_rule_fires_in_one_case_and_not_in_another(rule: Any) -> None:
    fires = [
        any(line.startswith(rule.code) for line in case.get("expect", []))
        for case in YAML(typ="safe").load(FOLDER / f"{rule.name}.yaml")
    ]

    assert {True, False} == set(fires)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_a_rule_says_what_to_do(rule: Any) -> None:
    """Its first line says the fault, its last paragraph what to do about it."""
    paragraphs = documentation(rule).split("\n\n")

    assert 3 <= len(paragraphs)
    assert "\n" not in paragraphs[0]
    assert [] == [text for text in paragraphs if not text.endswith((".", "`."))]
