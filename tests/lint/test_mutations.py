"""Good manifests with something broken in them: whatever it is, check says something sensible about it, and soon."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st

from kubectl_spread.lint import pipeline
from kubectl_spread.lint.check_source import check_source, Result
from kubectl_spread.lint.finding import Finding, Severity
from kubectl_spread.lint.fixing import apply_fixes
from kubectl_spread.lint.selection import LintPolicy, RuleProfile
from kubectl_spread.report.check.report import CheckReport, FORMATS, render
from kubectl_spread.report.table import unpainted
from kubectl_spread.text.source import SourceFile, Span

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "tests" / "lint" / "published", ROOT / "examples", ROOT / "tests" / "examples" / "cases")
CORPUS = [
    path.read_text(encoding="utf-8")
    for folder in FOLDERS
    for path in sorted(folder.rglob("*"))
    if path.suffix in (".yaml", ".json") and path.stat().st_size < 8_000
]

PIECES = st.sampled_from(
    [
        *(
            "",
            "\n",
            "  ",
            "\t",
            "- ",
            ": ",
            "#",
            "---\n",
            "...\n",
            "|",
            ">",
            "&a ",
            "*a",
            "<<: *a",
            "!!str ",
            "?",
            "'",
            '"',
        ),
        *(
            "{",
            "}",
            "[",
            "]",
            ",",
            "{{ .Values.x }}",
            "null",
            "~",
            "0",
            "-1",
            "1.5",
            "0x10",
            "9" * 30,
            "on",
            "\r\n",
            "\u2028",
        ),
        *(
            "\x85",
            "é",
            "\U0001f600",
            "\ufeff",
            "\x00",
            "%YAML 1.1\n",
            "# spread: ignore[SPR101]",
            "topologySpreadConstraints:",
        ),
        *(
            "labelSelector: {}",
            "matchLabelKeys: [a, a]",
            "minDomains: 0",
            "nodeTaintsPolicy: honor",
            "kind: List",
            "items:",
        ),
    ]
)


@st.composite
def mutants(draw: Any) -> str:
    """A good manifest, changed in one to four places: something cut, doubled, moved, put in or replaced."""
    text = draw(st.sampled_from(CORPUS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from([0, 1, 1, 2, 5, 20, 80])))
        if draw(st.booleans()):  # whole lines
            start = text.rfind("\n", 0, start) + 1
            end = text.find("\n", end) + 1 or len(text)
        piece = draw(st.one_of(PIECES, st.just(text[start:end] * 2), st.just(text[start:end][::-1])))
        text = text[:start] + piece + text[end:]
    return text


EVERYTHING = LintPolicy(RuleProfile.STRICT)


def judged(results: list[Result]) -> list[Finding]:
    """What all rules say, opinions included."""
    return pipeline.findings_of(results, EVERYTHING, is_whole=True).findings


def read(source: SourceFile) -> Result:
    return check_source(source, named=True)


def assert_inside(source: SourceFile, span: Span) -> None:
    assert 0 <= span.start <= span.end <= len(source.text)
    line, column = source.position(span.start)
    assert 1 <= line
    assert 1 <= column


def refused(findings: list[Finding]) -> set[tuple[str, ...]]:
    return {
        (*item.object, item.rule.code)
        for item in findings
        if item.rule.severity is Severity.ERROR and item.rule.code < "SPR2"
    }


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutants())
def test_a_broken_manifest_has_findings_inside_of_it_and_no_traceback(text: str) -> None:
    assert_reported(text)


def assert_reported(text: str) -> None:
    source = SourceFile("mutant.yaml", text)
    findings = judged([read(source)])

    for finding in findings:
        for place in (finding.place, *(label.place for label in finding.related)):
            assert place.source is source
            assert_inside(source, place.span)
    report = CheckReport(findings, [], [], {}, ("mutant.yaml",))
    for name in FORMATS:
        told = render(report, name)
        assert "\x1b" not in (unpainted(told) if name == "text" else told)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutants(), st.booleans())
def test_fixing_a_broken_manifest_ends_and_makes_nothing_worse(text: str, with_unsafe: bool) -> None:
    """What the API server refuses afterwards, it refused before; and after a few runs nothing changes."""
    assert_mended(text, with_unsafe=with_unsafe)


def assert_mended(text: str, *, with_unsafe: bool) -> None:
    before = read(SourceFile("mutant.yaml", text))
    outcome = apply_fixes([before], judged, recheck=read, is_wanted=lambda repair: with_unsafe or repair.fix.is_safe)
    after = outcome.results[0]
    assert refused(list(after.findings)) <= refused(list(before.findings))
    texts = [after.source.text]  # what a fix brings up is for the next run
    for _ in range(6):
        again = apply_fixes([after], judged, recheck=read, is_wanted=lambda repair: with_unsafe or repair.fix.is_safe)
        after = again.results[0]
        texts.append(after.source.text)
    assert texts[-1] == texts[-2]


@pytest.mark.parametrize("text", CORPUS, ids=lambda text: text.strip().split("\n")[0][:40])
def test_what_is_not_broken_is_rendered_in_every_format(text: str) -> None:
    report = CheckReport(judged([read(SourceFile("good.yaml", text))]), [], [], {}, ("good.yaml",))

    assert json.loads(render(report, "sarif"))["runs"]
