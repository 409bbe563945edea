"""A finding is suppressed by every range around its place, and by no other."""

from __future__ import annotations

import random

import pytest

from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.registry import RULES
from kubectl_spread.lint.suppress import apply, Suppression
from kubectl_spread.text.source import Place, SourceFile, Span

SOURCES = [SourceFile(name, "x" * 100) for name in ("a.yaml", "b.yaml")]


@pytest.mark.parametrize("seed", range(20))
def test_ranges_may_nest_and_overlap(seed: int) -> None:
    chance = random.Random(seed)

    def place(most: int) -> Place:
        start = chance.randrange(100)
        return Place(chance.choice(SOURCES), Span(start, start + chance.randrange(1, most)))

    suppressions = [Suppression((at := place(40)), at.span, (chance.choice(("SPR301", "SPR401")),)) for _ in range(12)]
    findings = [Finding(RULES[chance.choice(("SPR301", "SPR401"))], "", place(5)) for _ in range(40)]
    covered = [[item for item in suppressions if _is_of(item, finding)] for finding in findings]
    kept, used = apply(findings, suppressions)

    assert used == {
        (item, finding.rule.code) for finding, items in zip(findings, covered, strict=True) for item in items
    }
    assert kept == [finding for finding, items in zip(findings, covered, strict=True) if not items]


def _is_of(suppression: Suppression, finding: Finding) -> bool:
    return finding.rule.code in suppression.words and suppression.covers(finding)
