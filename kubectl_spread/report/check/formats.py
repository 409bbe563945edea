"""Formats for programs: JSON, GitHub's commands, GitLab's code quality, JUnit's XML and SARIF.

JSON has each result as it is. The others render one list of diagnostics: findings, pods without a node, rollouts, and
what could not be read.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple, Optional
from urllib.parse import quote

from kubectl_spread import __version__
from kubectl_spread.lint.finding import documentation, Finding, RuleMeta, Severity
from kubectl_spread.lint.registry import RULES
from kubectl_spread.report import documents
from kubectl_spread.report.check.baseline import identity
from kubectl_spread.report.check.report import CheckReport
from kubectl_spread.report.check.text import location, message, region, rendered_from
from kubectl_spread.report.documents import (
    API_VERSION,
    dumps,
    error_documents,
    escape_json,
    line,
    Plain,
    to_document,
    unread_documents,
)
from kubectl_spread.report.rules import markdown
from kubectl_spread.report.table import unpainted
from kubectl_spread.report.wording import name
from kubectl_spread.text.scalars import emit
from kubectl_spread.text.source import Place, Span
from kubectl_spread.text.wording import safe


class Topic(Enum):
    """The part of a run that a diagnostic is about."""

    FINDING = "finding"
    PLACEMENT = "placement"
    CLUSTER = "cluster"  # running workloads, rollouts, and resources that may not be listed
    INPUT = "input"


class Diagnostic(NamedTuple):
    """A problem of a run. An info is no failure.

    title: the code and the name of a rule, or a state such as `Pending`. subject: a workload, an object or a file.
    finding: with the place, if a rule found the problem. is_unread: the state is unknown, because something could not
    be read.
    """

    topic: Topic
    title: str
    subject: str
    text: str
    severity: Severity = Severity.ERROR
    finding: Optional[Finding] = None
    is_unread: bool = False


def diagnostics(report: CheckReport) -> Iterator[Diagnostic]:
    """Yield the problems of a run: findings, placements, those of the cluster, inputs."""
    for finding in report.findings:
        rule = finding.rule
        title, subject = f"{rule.code} {rule.name}", finding.place.source.name
        yield Diagnostic(Topic.FINDING, title, subject, message(finding), rule.severity, finding)
    for placement in report.placements:
        # The worst state comes first
        states = (
            ("Pending", placement.stuck),
            ("Refused", placement.refused),
            ("Lost", placement.on_missing_nodes),
            ("Not created", placement.not_created),
        )
        title = next((state for state, pods in states if pods), "")
        if title:
            from kubectl_spread.report.check.workloads import headline  # numpy: 80 ms

            why = f": {safe(placement.refused[0].message)}" if placement.refused else ""
            yield Diagnostic(Topic.PLACEMENT, title, placement.workload.key, f"{unpainted(headline(placement))}{why}")
    if report.running is not None:
        from kubectl_spread.report.check import workloads  # numpy: 80 ms

        for item in workloads.entries(report.running):
            severity = Severity.ERROR if item.is_failure else Severity.INFO
            yield Diagnostic(Topic.CLUSTER, "Running", item.subject, item.text, severity)
    for result in report.rollouts:
        if result.is_stuck:
            from kubectl_spread.report.check import rollouts  # numpy: 80 ms

            names = " ".join(safe(name(key)) for key in result.keys)
            yield Diagnostic(Topic.CLUSTER, "Rollout", names, f"Rollout: {rollouts.sentence(result)}")
    if report.unread:
        yield Diagnostic(
            Topic.CLUSTER, "Partly known", "cluster", line(report.unread), Severity.WARNING, is_unread=True
        )
    for error in report.errors:
        yield Diagnostic(Topic.INPUT, "read", error.source, error.message, is_unread=True)


# The kinds of the documents in `-o jsonl`.
_KINDS = {"findings": "Finding", "placements": "Placement"}
_KINDS |= {"pending": "Pending", "stuckRollouts": "StuckRollout", "rollouts": "Rollout", "errors": "Error"}


def json_document(report: CheckReport) -> str:
    """Return a CheckReport as one document."""
    return dumps(check_report(report))


def yaml_document(report: CheckReport) -> str:
    """Return a CheckReport as one document in YAML."""
    return emit(check_report(report)).rstrip("\n")


def json_lines(report: CheckReport) -> str:
    """Return a line for each finding, placement, Pending pod, stuck rollout, rollout and error, in this order."""
    document = check_report(report)
    return "\n".join(
        escape_json(json.dumps({"kind": kind, **item}, ensure_ascii=False))
        for part, kind in _KINDS.items()
        for item in document[part]
    )


def check_report(report: CheckReport) -> Plain:
    """Return a CheckReport."""
    results: Plain = {"pending": [], "onMissingNodes": [], "notCreated": []}
    results |= {"stuckRollouts": [], "rolloutsUnderWay": [], "rollouts": []}
    placements: list[Plain] = []
    if report.placements or report.running is not None or report.rollouts:
        from kubectl_spread.report.check import rollouts, workloads  # numpy: 80 ms

        placements = list(map(workloads.document, report.placements))
        if report.running is not None:
            results |= to_document(report.running, "pending=waiting onMissingNodes=lost notCreated=uncreated")
        results |= rollouts.documents(report.rollouts)
    return {
        "apiVersion": API_VERSION,
        "kind": "CheckReport",
        "findings": list(map(_finding, report.findings)),
        "placements": placements,
        "errors": error_documents(report.errors),
        "checked": report.checked,
        **results,
        "unread": unread_documents(report.unread),
        "notApplied": list(report.not_applied),
    }


def _finding(finding: Finding) -> Plain:
    fix, edits = None, _edits(finding)
    if finding.repair is not None and edits:
        fix = {
            "title": finding.repair.fix.title,
            "safety": "safe" if finding.repair.fix.is_safe else "unsafe",
            "edits": [{**_place(place), "text": text} for place, text in edits],
        }
    return {
        **to_document(finding, "code=rule.code name=rule.name severity=rule.severity message"),
        **_place(finding.place),
        **to_document(finding, "object template=place.template path hint"),
        "related": [{**_place(label.place), "message": label.text} for label in finding.related],
        "fix": fix,
    }


def _edits(finding: Finding) -> list[tuple[Place, str]]:
    """Return the places of a finding's fix, and their new texts; empty if the text cannot be edited."""
    repair = finding.repair
    if repair is None:
        return []
    from kubectl_spread.lint.fixing import possible_edits

    return [(Place(repair.source, Span(edit.start, edit.end)), edit.text) for edit in possible_edits(repair)]


def _place(place: Place) -> Plain:
    names = ("line", "column", "endLine", "endColumn")
    return {"file": place.source.name, **dict(zip(names, region(place), strict=True))}


_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def github(report: CheckReport) -> str:
    """Return workflow commands, which GitHub Actions shows at the lines of a pull request."""
    lines = []
    for item in diagnostics(report):
        file, fields = f"file={_property(item.subject.removeprefix('./'))}", f"title={_property(item.title)}"
        if item.topic is Topic.INPUT:
            fields = file
        elif item.finding is not None:
            begin, column, end, end_column = region(item.finding.place)
            # GitHub takes columns on one line only.
            columns = f",col={column},endColumn={end_column}" if end == begin else ""
            fields = f"{file},line={begin},endLine={end}{columns},{fields}"
        lines.append(f"::{_COMMANDS[item.severity]} {fields}::{_data(item.text)}")
    return "\n".join(lines)


def _data(text: str) -> str:
    """Return a value as the runner reads it, without control characters except line breaks."""
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return safe(escaped)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


_GITLAB_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}
_ABOUT_ROLLOUTS = "SPR402"


def gitlab(report: CheckReport) -> str:
    """Return a JSON list with an entry for each finding, and for each stuck rollout that no finding is about."""
    entries: list[Plain] = []

    def add(place: Place, end: int, **fields: str) -> None:
        lines = {"begin": region(place)[0], "end": end}
        entries.append({**fields, "location": {"path": os.path.relpath(place.source.name), "lines": lines}})

    for finding, digest in zip(report.findings, _fingerprints(report.findings), strict=True):
        origin, rule = rendered_from(finding.place), finding.rule
        description = f"{finding.message} ({origin})" if origin else finding.message
        add(
            finding.place,
            region(finding.place)[2],
            description=description,
            check_name=rule.code,
            fingerprint=digest,
            severity=_GITLAB_SEVERITIES[rule.severity],
        )
    # Stuck rollouts of workloads whose places are known
    known = {tuple(item.object) for item in report.findings if item.rule.code == _ABOUT_ROLLOUTS}
    places = dict(zip(report.copies, report.origins, strict=False))  # Running workloads have no place.
    for result in report.rollouts:
        place = places.get((result.key, result.copy))
        if not result.is_stuck or place is None or (tuple(result.key) in known and not result.is_creation):
            continue
        from kubectl_spread.report.check import rollouts  # numpy: 80 ms

        digest = _digest((result.kind.value, place.source.name, *(text for key in result.keys for text in key)))
        text = f"Rollout: {rollouts.sentence(result)}"
        add(place, region(place)[0], description=text, check_name="rollout", fingerprint=digest, severity="major")
    return json.dumps(entries, indent=2)


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _fingerprints(findings: Iterable[Finding]) -> list[str]:
    """Return a digest of rule, file, object and field for each finding; equal ones are numbered."""
    seen: Counter[tuple[str, ...]] = Counter()
    digests = []
    for finding in findings:
        parts = identity(finding, finding.place.source.name)
        seen[parts] += 1
        digests.append(_digest((*parts, str(seen[parts]))))
    return digests


def junit(report: CheckReport) -> str:
    """Return a suite for each file, for all placements and for the cluster; a file without findings has passed.

    Errors, warnings and workloads with pods that are not placed are failures. An info is the output of a case that
    passed. Unread inputs are errors.
    """
    problems = list(diagnostics(report))
    by_file: dict[str, list[documents.Case]] = {file: [] for file in report.files}
    for item in problems:
        finding = item.finding
        if finding is None or item.subject not in by_file:
            continue
        place, is_info = location(finding.place), item.severity is Severity.INFO
        lines = [f"info: {finding.message}" if is_info else "", place, rendered_from(finding.place), finding.path]
        text = "\n".join(filter(None, [*lines, finding.hint]))
        failure = documents.Result("failure", {"type": item.severity.value, "message": finding.message}, text)
        result = documents.Result("system-out", text=text) if is_info else failure
        by_file[item.subject].append(documents.Case(f"{item.title} {place}", [result]))
    suites = [documents.Suite(file, cases or [documents.Case("check")]) for file, cases in by_file.items()]
    if report.placements:
        placed = {item.subject: [_result(item)] for item in problems if item.topic is Topic.PLACEMENT}
        keys = [placement.workload.key for placement in report.placements]
        suites.append(documents.Suite("placement", [documents.Case(key, placed.get(key, ())) for key in keys]))
    cases = [
        documents.Case(f"{item.title} {item.subject}", [_result(item)])
        for item in problems
        if item.topic is Topic.CLUSTER
    ]
    if cases or report.running is not None:
        suites.append(documents.Suite("cluster", cases or [documents.Case("check")]))
    suites += [
        documents.Suite(error.source, [documents.Case("read", [documents.Result("error", {"message": error.message})])])
        for error in report.errors
    ]
    return documents.junit_document("kubectl spread check", suites)


def _result(item: Diagnostic) -> documents.Result:
    if item.severity is Severity.INFO:
        return documents.Result("system-out", text=item.text)
    return documents.Result("error" if item.is_unread else "failure", {"type": item.title, "message": item.text})


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
HOME = "https://github.com/kubectl-spread/kubectl-spread"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def sarif(report: CheckReport) -> str:
    """Return a log with one run and all rules, as code scanning reads it: results are findings only.

    Each has a fingerprint that stays while lines move. `results` is always present. The notes of the invocation name
    unread inputs, and pods without a node.
    """
    driver = {
        "name": "kubectl-spread",
        "semanticVersion": __version__,
        "informationUri": HOME,
        "rules": [_sarif_rule(rule) for rule in RULES.values()],
    }
    others = [item for item in diagnostics(report) if item.finding is None]
    others.sort(key=lambda item: item.topic is not Topic.INPUT)
    invocation = {
        "executionSuccessful": not any(item.is_unread for item in others),
        "toolExecutionNotifications": [_notification(item) for item in others],
    }
    findings = [*report.findings, *report.unchecked]
    digests = _fingerprints(findings)
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": [_sarif_result(*pair) for pair in zip(findings, digests, strict=True)],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _sarif_rule(rule: RuleMeta) -> Plain:
    text = documentation(rule)
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": text.partition("\n\n")[0]},
        "help": {"text": text, "markdown": markdown(rule)},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _notification(item: Diagnostic) -> Plain:
    if item.topic is Topic.INPUT:
        place = {"locations": [{"physicalLocation": _file(item.subject)}]}
        return {"level": "error", "message": {"text": item.text}, **place}
    level = "error" if item.is_unread else "note" if item.severity is Severity.INFO else "warning"
    return {"level": level, "message": {"text": f"{item.title}: {item.text}"}}


def _sarif_result(finding: Finding, fingerprint: str) -> Plain:
    place: Plain = {"physicalLocation": _physical(finding.place)}
    if finding.object.kind:
        name = "/".join(part for part in finding.object if part)
        place["logicalLocations"] = [{"fullyQualifiedName": f"{name}:{finding.path}", "kind": "object"}]
    template, repair = finding.place.template, finding.repair
    fix, edits = None, _edits(finding)
    if repair is not None and edits:
        replacements = [
            {"deletedRegion": _physical(place)["region"], "insertedContent": {"text": text}} for place, text in edits
        ]
        title = repair.fix.title
        fix = {
            "description": {"text": title if repair.fix.is_safe else f"{title} (unsafe: it may change where pods run)"},
            "artifactChanges": [{**_file(repair.source.name), "replacements": replacements}],
            "properties": {"safety": "safe" if repair.fix.is_safe else "unsafe"},
        }
    return {
        "ruleId": finding.rule.code,
        "ruleIndex": [*RULES].index(finding.rule.code),
        "level": _LEVELS[finding.rule.severity],
        "message": {"text": message(finding)},
        "locations": [place],
        "relatedLocations": [
            {"id": number, "physicalLocation": _physical(label.place), "message": {"text": label.text}}
            for number, label in enumerate(finding.related)
        ],
        "partialFingerprints": {"kubectlSpread/v1": fingerprint},
        **({"properties": {"template": template}} if template else {}),
        **({"fixes": [fix]} if fix else {}),
    }


def _physical(place: Place) -> Plain:
    names = ("startLine", "startColumn", "endLine", "endColumn")
    return {**_file(place.source.name), "region": dict(zip(names, region(place), strict=True))}


def _file(name: str) -> Plain:
    """Return a file relative to the working directory, usually the repository's root; other files unchanged."""
    path, base = os.path.relpath(name), {"uriBaseId": "%SRCROOT%"}
    if path.startswith(f"..{os.sep}"):
        path, base = os.path.abspath(name), {}
    # A byte that is not UTF-8 keeps its value.
    return {"artifactLocation": {"uri": quote(path.replace(os.sep, "/"), errors="surrogateescape"), **base}}
