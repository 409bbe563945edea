"""The rules about workloads: `rules/<name>.yaml` holds manifests that must fire and such that must not."""

from __future__ import annotations

import io
import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from kubectl_spread.cli.main import run
from kubectl_spread.lint.finding import documentation, RuleMeta, Safety
from kubectl_spread.lint.registry import RULES
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.source import SourceFile
from tests.lint.cases import (
    cases,
    CORRECTED,
    example,
    FOLDER,
    judge,
    mended,
    read,
    shown,
    WITH_A_MODULE,
    WITH_AN_EXAMPLE,
)

HEADINGS = ["What it does", "Why it matters", "Example", "Use instead"]

# The rules whose example is still to be written; it only shrinks.
WITHOUT_AN_EXAMPLE = {"SPR918"}
WITH_A_CORRECTION = [rule for rule in WITH_AN_EXAMPLE if CORRECTED.search(documentation(rule))]


@pytest.mark.parametrize(("code", "case"), cases())
def test_a_case_has_the_findings_it_names_and_no_others(code: str, case: dict[str, Any], tmp_path: Path) -> None:
    """`expect` lists what the rule finds, and what the other rules find that it names, or that `also` names."""
    named = {line.partition("@")[0] for line in case.get("expect", ())}
    judged = judge(case, frozenset({code, *named, *case.get("also", ())}), tmp_path)
    found = judged([read(case["manifest"])])

    assert case.get("expect", []) == [shown(finding) for finding in found]
    assert [case["message"]] == [finding.message for finding in found] if "message" in case else True
    assert case.get("hint") in (None, *(finding.hint for finding in found))
    assert {case["severity"]} == {finding.rule.severity.value for finding in found} if "severity" in case else True


@pytest.mark.parametrize(("code", "case"), cases())
def test_a_fix_ends_the_finding_and_is_not_made_again(code: str, case: dict[str, Any], tmp_path: Path) -> None:
    """`fixed` is what the manifest becomes with all fixes, those that are not safe included."""
    judged = judge(case, frozenset({code}), tmp_path)
    found = judged([read(case["manifest"])])
    outcome = mended(case["manifest"], judged)
    text = outcome.results[0].source.text

    assert [] == outcome.refused
    assert (text != case["manifest"]) == any(finding.repair for finding in found)
    assert [] == [finding for finding in judged(outcome.results) if finding.repair]
    assert text == case.get("fixed", text)
    assert text == mended(text, judged).results[0].source.text


@pytest.mark.parametrize("rule", WITH_A_MODULE, ids=lambda rule: f"{rule.code} {rule.name}")
def test_a_rule_names_the_fixes_that_its_cases_have(rule: RuleMeta, tmp_path: Path) -> None:
    fixes = [
        finding.repair.fix
        for case in YAML(typ="safe").load(FOLDER / f"{rule.name}.yaml")
        for finding in judge(case, frozenset({rule.code}), tmp_path)([read(case["manifest"])])
        if finding.rule.code == rule.code and finding.repair
    ]

    assert rule.fixes == {Safety.SAFE if fix.is_safe else Safety.UNSAFE for fix in fixes}


@pytest.mark.parametrize("rule", WITH_A_MODULE, ids=lambda rule: f"{rule.code} {rule.name}")
def test_a_rule_fires_in_one_case_and_not_in_another(rule: Any) -> None:
    fires = [
        any(line.startswith(rule.code) for line in case.get("expect", []))
        for case in YAML(typ="safe").load(FOLDER / f"{rule.name}.yaml")
    ]

    assert {True, False} == set(fires)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: f"{rule.code} {rule.name}")
def test_a_page_has_the_same_sections_as_every_other(rule: Any) -> None:
    """Its first line is the summary; the sections are always the same, and each says something."""
    first, _, page = documentation(rule).partition("\n\n")
    headings, texts = re.findall("^## (.*)$", page, re.MULTILINE), re.split("^## .*$", page, flags=re.MULTILINE)

    assert f"{rule.summary}." in (first, f"{first[:1].lower()}{first[1:]}")
    assert [*HEADINGS, *(["Fix safety"] if rule.fixes else [])] == headings
    assert "" == texts[0]
    assert all(text.strip() for text in texts[1:])
    prose = [part for text in texts for part in text.strip("\n").split("\n\n") if part and not part.startswith("    ")]
    assert [] == [part for part in prose if not part.endswith((".", "`.", "`:"))]


def test_every_rule_has_an_example_but_those_listed() -> None:
    assert WITHOUT_AN_EXAMPLE == {rule.code for rule in RULES.values() if rule not in WITH_AN_EXAMPLE}


@pytest.mark.parametrize("rule", WITH_AN_EXAMPLE, ids=lambda rule: f"{rule.code} {rule.name}")
def test_the_example_of_a_rule_breaks_that_rule_alone_and_has_its_fixes(
    rule: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`Example:`, or `Example, with --topology zones=1,nodes=2:`, and below it a manifest, indented."""
    shown = example(rule)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(shown.manifest.encode()), encoding="utf-8"))
    run(["check", "-", "-o", "json", "--extend-select", rule.code, *shown.flags])

    found = json.loads(capsys.readouterr().out)["findings"]

    assert {rule.code} == {finding["code"] for finding in found}
    if rule not in WITH_A_MODULE:
        fixes = [finding["fix"] for finding in found if finding["fix"]]
        assert rule.fixes == {Safety(fix["safety"]) for fix in fixes}


@pytest.mark.parametrize("rule", WITH_A_CORRECTION, ids=lambda rule: f"{rule.code} {rule.name}")
def test_the_corrected_constraints_are_valid_and_do_not_break_the_rule(
    rule: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They replace those of the example that have their topologyKey, else the first one."""
    shown = example(rule)
    match = CORRECTED.search(documentation(rule))
    assert match is not None
    (corrected,) = _plain(textwrap.dedent(match["constraints"]))
    manifest = _with_constraints(shown.manifest, corrected)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(manifest.encode()), encoding="utf-8"))
    run(["check", "-", "-o", "json", "--extend-select", rule.code, *shown.flags])

    found = [finding["code"] for finding in json.loads(capsys.readouterr().out)["findings"]]

    assert rule.code not in found
    assert [] == [code for code in found if code.startswith(("SPR0", "SPR1"))]


def _with_constraints(manifest: str, corrected: list[Any]) -> str:
    documents = list(_plain(manifest))
    for document in documents:
        constraints = document.get("spec", {}).get("template", {}).get("spec", {}).get("topologySpreadConstraints")
        for constraint in corrected if constraints else ():
            keys = [item.get("topologyKey") for item in constraints]
            at = keys.index(constraint["topologyKey"]) if constraint["topologyKey"] in keys else 0
            constraints[at] = constraint
    return "---\n".join(json.dumps(document) + "\n" for document in documents)


def _plain(text: str) -> Iterator[Any]:
    for document in compose.compose(SourceFile("page.yaml", text)):
        assert isinstance(document, compose.Document)
        yield nodes.to_plain(document.root)


@pytest.mark.parametrize("rule", WITH_AN_EXAMPLE, ids=lambda rule: f"{rule.code} {rule.name}")
def test_claim_templates_of_an_example_have_what_the_api_server_asks_for(rule: Any) -> None:
    """Access modes, and how much storage."""
    for document in compose.compose(SourceFile("example", example(rule).manifest)):
        plain = nodes.to_plain(document.root) if isinstance(document, compose.Document) else {}
        spec = plain.get("spec") if isinstance(plain, dict) else None
        for template in (spec or {}).get("volumeClaimTemplates") or ():
            assert template["spec"]["accessModes"]
            assert template["spec"]["resources"]["requests"]["storage"]
