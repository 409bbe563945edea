"""The table of rules, and the page of each rule."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Optional

from kubectl_spread.lint.finding import documentation, RuleMeta, Safety
from kubectl_spread.report.documents import Plain, to_document
from kubectl_spread.report.table import Style, table, wrap

_FEWER_COLUMNS = ((0, 1, 2, 5), (0, 1, 5), (0, 5))
_GAP = 3  # between columns
_LEAST_SUMMARY = 30  # columns
_BLOCK = re.compile(r"\n+((?: {4}[^\n]*(?:\n|\Z)|\n(?= {4}))+)")


def title(rule: RuleMeta) -> str:
    """Return the title of a rule: code, name, severity and further properties."""
    marks = [rule.severity.value, *_conditions(rule)]
    marks += [f"{' or '.join(_fixes(rule))} fix"] if rule.fixes else []
    return f"{rule.code} {rule.name} ({', '.join(marks)})"


def page(rule: RuleMeta, width: Optional[int] = None) -> str:
    """Return the page of a rule: its finding, the reason it matters, and the remedy.

    Paragraphs of prose are wrapped at `width`, examples never; None keeps the lines as they are written.
    """
    text = f"{title(rule)}\n\n{documentation(rule)}"
    if width is None:
        return text
    parts = text.split("\n\n")
    for at, part in enumerate(parts):
        lines = part.split("\n")
        if max(map(len, lines)) > width and not any(line.startswith((" ", "#")) for line in lines):
            parts[at] = "\n".join(wrap(" ".join(lines), Style(width)))
    return "\n\n".join(parts)


def markdown(rule: RuleMeta) -> str:
    """Return the documentation with its example fenced: Markdown joins an indented block to the line above."""

    def fenced(match: re.Match[str]) -> str:
        lines = re.sub("(?m)^ {4}", "", match[1].rstrip("\n"))
        return f"\n\n```yaml\n{lines}\n```\n"

    return _BLOCK.sub(fenced, documentation(rule))


def list_rules(rules: Iterable[RuleMeta], width: Optional[int] = None) -> list[str]:
    """Return a row for each rule, below a header; on a narrow terminal with fewer columns, and the last one wraps."""
    rows = [("CODE", "NAME", "SEVERITY", "RUNS", "FIX", "FINDS"), *map(row, rules)]
    if width is None or max(map(len, table(rows))) <= width:
        return table(rows)
    for kept in _FEWER_COLUMNS:
        lead = sum(max(len(cells[at]) for cells in rows) + _GAP for at in kept[:-1])
        if width - lead >= _LEAST_SUMMARY or kept is _FEWER_COLUMNS[-1]:
            break
    return table([tuple(cells[at] for at in kept) for cells in rows], Style(width))


def row(rule: RuleMeta) -> tuple[str, ...]:
    """Return code, name, severity, conditions, fixes (empty: none) and summary."""
    runs = ", ".join(_conditions(rule)) or "always"
    return rule.code, rule.name, rule.severity.value, runs, ", ".join(_fixes(rule)), rule.summary


def plain(rule: RuleMeta) -> Plain:
    """Return a rule for machines."""
    return to_document(
        rule,
        "code name severity summary isOpinion needsClusterFacts=needs_facts autoscalers fixes documentation",
        autoscalers=sorted(rule.autoscalers),
        fixes=_fixes(rule),
        documentation=documentation(rule),
    )


def _conditions(rule: RuleMeta) -> list[str]:
    return ["opinion"] * rule.is_opinion + ["cluster facts"] * rule.needs_facts


def _fixes(rule: RuleMeta) -> list[str]:
    return [safety.value for safety in Safety if safety in rule.fixes]
