"""The page of a rule when the cursor is on one of its findings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional

from lsprotocol import types

from kubectl_spread.lint.finding import Finding
from kubectl_spread.lsp.client import Client
from kubectl_spread.lsp.positions import span_range
from kubectl_spread.report.rules import markdown, page, title


def hover(findings: Iterable[Finding], offset: int, client: Client) -> Optional[types.Hover]:
    """Return the documentation of each rule with a finding at an offset; None without findings.

    The range is the first finding's.
    """
    here = [finding for finding in findings if _is_at(finding, offset)]
    if not here:
        return None
    rules = {finding.rule.code: finding.rule for finding in here}.values()
    place = here[0].place
    where = span_range(place.source, place.span, client.encoding)
    if client.has_markdown:
        text = "\n\n---\n\n".join(f"**{title(rule)}**\n\n{markdown(rule)}" for rule in rules)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), where)
    text = "\n\n".join(map(page, rules))
    return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, text), where)


def _is_at(finding: Finding, offset: int) -> bool:
    """Return whether a finding is at an offset; an empty finding covers one character."""
    start, end = finding.place.span
    return start <= offset < max(end, start + 1)
