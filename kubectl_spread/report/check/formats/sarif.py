"""SARIF 2.1.0, as code scanning reads it: findings only, each with a fingerprint that stays while lines move."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from kubectl_spread import __version__
from kubectl_spread.lint.finding import Finding, Place, RuleMeta, Safety, Severity
from kubectl_spread.lint.registry import RULES
from kubectl_spread.lint.rule import documentation
from kubectl_spread.report.check.formats.gitlab import fingerprints
from kubectl_spread.report.check.report import CheckReport
from kubectl_spread.report.check.text import message
from kubectl_spread.report.rules import markdown
from kubectl_spread.text.source import Span

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_HOME = "https://github.com/kubectl-spread/kubectl-spread"
_INDEX = {code: index for index, code in enumerate(RULES)}
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render(report: CheckReport) -> str:
    """Return a log with one run and all rules; `results` is always present."""
    digests = fingerprints(report.findings)
    driver = {
        "name": "kubectl-spread",
        "semanticVersion": __version__,
        "informationUri": _HOME,
        "rules": [_rule(rule) for rule in RULES.values()],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report)],
        "results": [_result(*pair) for pair in zip(report.findings, digests, strict=True)],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(rule: RuleMeta) -> dict[str, Any]:
    text = documentation(rule)
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": text.partition("\n\n")[0]},
        "help": {"text": text, "markdown": markdown(rule)},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _invocation(report: CheckReport) -> dict[str, Any]:
    """Return whether all inputs were read, with notes on unread inputs and on pods without a node."""
    notes: list[dict[str, Any]] = [
        {"level": "error", "message": {"text": error.message}, "locations": [{"physicalLocation": _file(error.source)}]}
        for error in report.errors
    ]
    return {
        "executionSuccessful": not notes and not report.unread,
        "toolExecutionNotifications": [*notes, *_notifications(report)],
    }


def _notifications(report: CheckReport) -> Iterator[dict[str, Any]]:
    if not (report.placements or report.running is not None or report.unread):
        return
    from kubectl_spread.report.check.troubles import troubles  # numpy: 80 ms

    for item in troubles(report):
        level = "error" if item.is_unread else "warning" if item.is_failure else "note"
        yield {"level": level, "message": {"text": f"{item.title}: {item.text}"}}


def _result(finding: Finding, fingerprint: str) -> dict[str, Any]:
    text = message(finding)
    location: dict[str, Any] = {"physicalLocation": _physical(finding.place)}
    if finding.object.kind:
        name = "/".join(part for part in finding.object if part)
        location["logicalLocations"] = [{"fullyQualifiedName": f"{name}:{finding.path}", "kind": "object"}]
    properties = {"template": finding.place.template} if finding.place.template else {}
    return {
        "ruleId": finding.rule.code,
        "ruleIndex": _INDEX[finding.rule.code],
        "level": _LEVELS[finding.rule.severity],
        "message": {"text": text},
        "locations": [location],
        "relatedLocations": [
            {"id": number, "physicalLocation": _physical(label.place), "message": {"text": label.text}}
            for number, label in enumerate(finding.related)
        ],
        "partialFingerprints": {"kubectlSpread/v1": fingerprint},
        **({"properties": properties} if properties else {}),
        **_fixes(finding),
    }


def _fixes(finding: Finding) -> dict[str, Any]:
    """Return the fix of a finding; empty if the text cannot be edited."""
    if finding.repair is None:
        return {}
    from kubectl_spread.lint.fixing.apply_fixes import possible_edits

    source = finding.repair.source
    replacements = [
        {
            "deletedRegion": _physical(Place(source, Span(edit.start, edit.end)))["region"],
            "insertedContent": {"text": edit.text},
        }
        for edit in possible_edits(finding.repair)
    ]
    if not replacements:
        return {}
    change = {**_file(source.name), "replacements": replacements}
    fix = finding.repair.fix
    safety = Safety.SAFE if fix.is_safe else Safety.UNSAFE
    text = fix.title if fix.is_safe else f"{fix.title} (unsafe: it may change where pods run)"
    described = {"description": {"text": text}, "artifactChanges": [change], "properties": {"safety": safety.value}}
    return {"fixes": [described]}


def _physical(place: Place) -> dict[str, Any]:
    line, column = place.source.position(place.span.start)
    end_line, end_column = place.source.position(place.span.end)
    region = {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
    return {**_file(place.source.name), "region": region}


def _file(name: str) -> dict[str, Any]:
    """Return a file relative to the working directory, usually the repository's root; other files unchanged."""
    path = os.path.relpath(name).replace(os.sep, "/")
    if path.startswith("../"):
        return {"artifactLocation": {"uri": _quoted(os.path.abspath(name).replace(os.sep, "/"))}}
    return {"artifactLocation": {"uri": _quoted(path), "uriBaseId": "%SRCROOT%"}}


def _quoted(path: str) -> str:
    """Return a path as a URI; a byte that is not UTF-8 keeps its value."""
    return quote(path, errors="surrogateescape")
