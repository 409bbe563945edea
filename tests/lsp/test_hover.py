"""What rules look like when they are explained in an editor."""

from __future__ import annotations

import pytest

from kubectl_spread.lint.finding import documentation, Finding, RuleMeta
from kubectl_spread.lint.registry import RULES
from kubectl_spread.lsp import Client, hover
from kubectl_spread.report.rules import title
from kubectl_spread.text.source import Place, SourceFile, Span

SOURCE = SourceFile("web.yaml", "kind: Pod\n")
MARKDOWN = Client(has_markdown=True)


def shown(*findings: Finding, at: int = 0) -> str:
    found = hover(findings, at, MARKDOWN)
    return "" if found is None else str(getattr(found.contents, "value", ""))


def finding(rule: RuleMeta, start: int = 0, end: int = 4) -> Finding:
    return Finding(rule, "wrong", Place(SOURCE, Span(start, end)))


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_every_rule_is_shown_with_its_examples_fenced(rule: RuleMeta) -> None:
    """All its words are there, and no line is indented outside of a fence."""
    text = shown(finding(rule)).removeprefix(f"**{title(rule)}**")
    outside = "".join(text.split("```")[::2])

    assert [] == [line for line in outside.split("\n") if line.startswith("    ")]
    assert 0 == text.count("```") % 2
    assert documentation(rule).split() == [word for word in text.split() if word not in ("```yaml", "```")]


def test_a_rule_is_shown_once_however_often_it_is_broken() -> None:
    """Of several rules all are shown, with a line between."""
    first, second = RULES["SPR101"], RULES["SPR102"]
    text = shown(finding(first), finding(second), finding(first, 0, 9), finding(RULES["SPR103"], 5, 9))

    assert 2 == text.count("**SPR")
    assert "\n\n---\n\n**SPR102 " in text


def test_a_finding_of_no_characters_is_where_it_stands() -> None:
    nothing = finding(RULES["SPR101"], 3, 3)

    assert "" == shown(nothing, at=2)
    assert "SPR101" in shown(nothing, at=3)
    assert "" == shown(nothing, at=4)
