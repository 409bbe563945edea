"""Findings as diagnostics."""

from __future__ import annotations

from collections.abc import Callable

from lsprotocol import types

from kubectl_spread.lint.finding import Finding, Label, Severity
from kubectl_spread.lsp.client import Client
from kubectl_spread.lsp.positions import span_range
from kubectl_spread.text.source import SourceFile

SOURCE = "kubectl-spread"

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


def diagnostic(finding: Finding, client: Client, *, uri: Callable[[SourceFile], str]) -> types.Diagnostic:
    """Return a finding for an editor: the hint is a line of its message."""
    related = [_related(label, client, uri(label.place.source)) for label in finding.related]
    return types.Diagnostic(
        span_range(finding.place.source, finding.place.span, client.encoding),
        message=finding.message + (f"\nhint: {finding.hint}" if finding.hint else ""),
        severity=_SEVERITIES[finding.rule.severity],
        code=finding.rule.code,
        source=SOURCE,
        related_information=related if related and client.has_related else None,
    )


def _related(label: Label, client: Client, uri: str) -> types.DiagnosticRelatedInformation:
    where = span_range(label.place.source, label.place.span, client.encoding)
    return types.DiagnosticRelatedInformation(types.Location(uri, where), label.text)
