"""Gates keep rules from loading, and never from finding: with and without them the findings are the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, HealthCheck, settings

from kubectl_spread.lint.catalogue.registry import RULES
from kubectl_spread.lint.finding import Finding
from kubectl_spread.text.source import SourceFile
from tests.lint import cases
from tests.lint.test_mutations import judged, mutants, read

GATED = frozenset(code for code, rule in RULES.items() if rule.gate is not None)


@pytest.fixture
def no_gates(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function that takes the gates away."""
    return lambda: _take_gates(monkeypatch)


def _take_gates(patch: pytest.MonkeyPatch) -> None:
    ungated = {code: rule._replace(gate=None) for code, rule in RULES.items()}
    patch.setattr("kubectl_spread.lint.run_rules.RULES", ungated)
    patch.setattr("kubectl_spread.lint.unknown_kinds.bare_lists.RULES", ungated)


def without_gates(findings: list[Finding]) -> list[Finding]:
    return [finding._replace(rule=finding.rule._replace(gate=None)) for finding in findings]


@pytest.mark.parametrize(("code", "case"), [case for case in cases.cases() if case.values[0] in GATED])
def test_a_case_has_the_same_findings_without_gates(
    code: str, case: dict[str, Any], tmp_path: Path, no_gates: Callable[[], None]
) -> None:
    judge = cases.judge(case, GATED, tmp_path)
    results = [cases.read(case["manifest"])]
    found = judge(results)
    no_gates()

    assert without_gates(judge(results)) == without_gates(found), code


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutants())
def test_a_broken_manifest_has_the_same_findings_without_gates(text: str) -> None:
    source = SourceFile("mutant.yaml", text)
    result = read(source)
    found = judged([result])
    with pytest.MonkeyPatch.context() as patch:
        _take_gates(patch)

        assert without_gates(judged([result])) == without_gates(found)
