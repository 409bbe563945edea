"""JUnit's XML: a suite for each file, a case for each finding, and a case that passed for a file without findings.

A case fails for an error or a warning. An info is the output of a case that passed.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

from kubectl_spread.lint.finding import Finding, Severity
from kubectl_spread.report.check.findings import location, rendered_from
from kubectl_spread.report.check.report import CheckReport


def render(report: CheckReport) -> str:
    """Return the report as JUnit XML.

    Errors, warnings and workloads with pods that are not placed are failures. Unread inputs are errors.
    """
    root = ET.Element("testsuites", name="kubectl spread check")
    by_file: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_file.setdefault(finding.place.source.name, []).append(finding)
    for file in report.files:
        found = by_file.get(file, [])
        suite = _suite(root, file, len(found) or 1, sum(map(_fails, found)))
        for finding in found:
            _case(suite, finding)
        if not found:
            ET.SubElement(suite, "testcase", name="check", classname=_text(file))
    _placements(root, report)
    _cluster(root, report)
    for error in report.errors:
        suite = ET.SubElement(root, "testsuite", name=_text(error.source), tests="1", failures="0", errors="1")
        case = ET.SubElement(suite, "testcase", name="read", classname=_text(error.source))
        ET.SubElement(case, "error", message=_text(error.message))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode")


def _suite(root: ET.Element, name: str, tests: int, failures: int, *, errors: int = 0) -> ET.Element:
    counts = {"name": _text(name), "tests": str(tests), "failures": str(failures), "errors": str(errors)}
    return ET.SubElement(root, "testsuite", counts)


def _fails(finding: Finding) -> bool:
    return finding.rule.severity is not Severity.INFO


def _case(suite: ET.Element, finding: Finding) -> None:
    place = location(finding.place)
    name = f"{finding.rule.code} {finding.rule.name} {place}"
    case = ET.SubElement(suite, "testcase", name=_text(name), classname=suite.attrib["name"])
    lines = [place, rendered_from(finding.place), finding.path, finding.hint]
    if _fails(finding):
        element = ET.SubElement(case, "failure", type=finding.rule.severity.value, message=_text(finding.message))
    else:
        element = ET.SubElement(case, "system-out")
        lines.insert(0, f"{finding.rule.severity.value}: {finding.message}")
    element.text = _text("\n".join(filter(None, lines)))


def _placements(root: ET.Element, report: CheckReport) -> None:
    if not report.placements:
        return
    from kubectl_spread.report.check.troubles import of_placement  # numpy: 80 ms

    found = [(placement, of_placement(placement)) for placement in report.placements]
    suite = _suite(root, "placement", len(found), sum(trouble is not None for _, trouble in found))
    for placement, trouble in found:
        case = ET.SubElement(suite, "testcase", name=_text(placement.workload.key), classname="placement")
        if trouble is not None:
            ET.SubElement(case, "failure", type=trouble.title, message=_text(trouble.text))


def _cluster(root: ET.Element, report: CheckReport) -> None:
    """Add test cases for running workloads, stuck rollouts, and resources of the cluster that could not be read."""
    is_stuck = any(item.is_stuck for item in report.rollouts)
    if report.running is None and not report.unread and not is_stuck:
        return
    from kubectl_spread.report.check.troubles import of_cluster  # numpy: 80 ms

    found = list(of_cluster(report))
    unread = sum(item.is_unread for item in found)
    suite = _suite(root, "cluster", len(found) or 1, sum(item.is_failure for item in found), errors=unread)
    for item in found:
        case = ET.SubElement(suite, "testcase", name=_text(f"{item.title} {item.subject}"), classname="cluster")
        if item.is_failure or item.is_unread:
            tag = "error" if item.is_unread else "failure"
            ET.SubElement(case, tag, type=item.title, message=_text(item.text))
        else:
            ET.SubElement(case, "system-out").text = _text(item.text)
    if not found:
        ET.SubElement(suite, "testcase", name="check", classname="cluster")


def _text(text: str) -> str:
    """Return text without the characters that XML cannot hold."""
    return "".join(char if char.isprintable() or char in "\n\t" else "?" for char in text)
