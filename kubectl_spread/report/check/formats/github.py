"""Workflow commands, which GitHub Actions shows at the lines of a pull request."""

from __future__ import annotations

from kubectl_spread.lint.finding import Finding, Severity
from kubectl_spread.report.check.report import CheckReport
from kubectl_spread.report.check.text import message
from kubectl_spread.text.wording import safe

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: CheckReport) -> str:
    """Return a command for each finding, each workload with unplaced pods, and each unread input."""
    lines = [_finding(finding) for finding in report.findings]
    if report.placements or report.running is not None or report.unread:
        from kubectl_spread.report.check.troubles import troubles  # numpy: 80 ms

        levels = {True: "error", False: "notice"}
        for item in troubles(report):
            level = "warning" if item.is_unread else levels[item.is_failure]
            lines.append(f"::{level} title={item.title}::{_data(item.text)}")
    lines += [f"::error file={_property(error.source)}::{_data(error.message)}" for error in report.errors]
    return "\n".join(lines)


def _finding(finding: Finding) -> str:
    place = finding.place
    line, column = place.source.position(place.span.start)
    end_line, end_column = place.source.position(place.span.end)
    where = f"file={_property(place.source.name)},line={line},endLine={end_line}"
    if end_line == line:
        where += f",col={column},endColumn={end_column}"  # GitHub takes columns on one line only
    title = _property(f"{finding.rule.code} {finding.rule.name}")
    return f"::{_COMMANDS[finding.rule.severity]} {where},title={title}::{_data(message(finding))}"


def _data(text: str) -> str:
    """Return a value as the runner reads it, without control characters except line breaks."""
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return safe(escaped)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
