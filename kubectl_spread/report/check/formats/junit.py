"""JUnit's XML: a suite for each file, a case for each finding, and a case that passed for a file without findings.

A case fails for an error or a warning. An info is the output of a case that passed.
"""

from __future__ import annotations

from kubectl_spread.lint.finding import Finding, Severity
from kubectl_spread.report.check.report import CheckReport
from kubectl_spread.report.check.text import location, rendered_from
from kubectl_spread.report.junit import case, Suites


def render(report: CheckReport) -> str:
    """Return the report as JUnit XML.

    Errors, warnings and workloads with pods that are not placed are failures. Unread inputs are errors.
    """
    suites = Suites("kubectl spread check")
    by_file: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_file.setdefault(finding.place.source.name, []).append(finding)
    for file in report.files:
        findings = by_file.get(file, [])
        suite = suites.suite(file, tests=len(findings) or 1, failures=sum(map(_fails, findings)), errors=0)
        for finding in findings:
            place = location(finding.place)
            name = f"{finding.rule.code} {finding.rule.name} {place}"
            lines = [place, rendered_from(finding.place), finding.path, finding.hint]
            severity = finding.rule.severity.value
            if _fails(finding):
                text = "\n".join(filter(None, lines))
                case(suite, name, of=file, result="failure", text=text, type=severity, message=finding.message)
            else:
                text = "\n".join(filter(None, [f"{severity}: {finding.message}", *lines]))
                case(suite, name, of=file, result="system-out", text=text)
        if not findings:
            case(suite, "check", of=file)
    _placements(suites, report)
    _cluster(suites, report)
    for error in report.errors:
        suite = suites.suite(error.source, tests=1, failures=0, errors=1)
        case(suite, "read", of=error.source, result="error", message=error.message)
    return str(suites)


def _fails(finding: Finding) -> bool:
    return finding.rule.severity is not Severity.INFO


def _placements(suites: Suites, report: CheckReport) -> None:
    if not report.placements:
        return
    from kubectl_spread.report.check.troubles import of_placement  # numpy: 80 ms

    troubles = [(placement.workload.key, of_placement(placement)) for placement in report.placements]
    failures = sum(trouble is not None for _, trouble in troubles)
    suite = suites.suite("placement", tests=len(troubles), failures=failures, errors=0)
    for key, trouble in troubles:
        if trouble is None:
            case(suite, key, of="placement")
        else:
            case(suite, key, of="placement", result="failure", type=trouble.title, message=trouble.text)


def _cluster(suites: Suites, report: CheckReport) -> None:
    """Add test cases for running workloads, stuck rollouts, and resources of the cluster that could not be read."""
    is_stuck = any(item.is_stuck for item in report.rollouts)
    if report.running is None and not report.unread and not is_stuck:
        return
    from kubectl_spread.report.check.troubles import of_cluster  # numpy: 80 ms

    troubles = list(of_cluster(report))
    unread = sum(item.is_unread for item in troubles)
    failures = sum(item.is_failure for item in troubles)
    suite = suites.suite("cluster", tests=len(troubles) or 1, failures=failures, errors=unread)
    for item in troubles:
        name = f"{item.title} {item.subject}"
        if item.is_failure or item.is_unread:
            tag = "error" if item.is_unread else "failure"
            case(suite, name, of="cluster", result=tag, type=item.title, message=item.text)
        else:
            case(suite, name, of="cluster", result="system-out", text=item.text)
    if not troubles:
        case(suite, "check", of="cluster")
