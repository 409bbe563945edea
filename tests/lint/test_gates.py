"""Gates keep rules from loading, and never from finding: with and without them the findings are the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import HealthCheck
from hypothesis import settings

from kubectl_spread.lint.catalogue import RULES
from kubectl_spread.lint.gates import GATES
from kubectl_spread.text.source import SourceFile
from tests.lint import cases
from tests.lint.test_mutations import judged
from tests.lint.test_mutations import mutants
from tests.lint.test_mutations import read


def test_every_gate_is_that_of_a_rule() -> None:
    assert set(GATES) <= set(RULES)


@pytest.mark.parametrize(("code", "case"), [case for case in cases.cases() if case.values[0] in GATES])
def test_a_case_has_the_same_findings_without_gates(
    code: str, case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = cases.judge(case, frozenset(GATES), tmp_path)
    results = [cases.read(case["manifest"])]
    found = judge(results)
    monkeypatch.setattr("kubectl_spread.lint.run_rules.GATES", {})

    assert judge(results) == found, code


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutants())
def test_a_broken_manifest_has_the_same_findings_without_gates(text: str) -> None:
    source = SourceFile("mutant.yaml", text)
    result = read(source)
    found = judged([result])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kubectl_spread.lint.run_rules.GATES", {})

        assert judged([result]) == found
