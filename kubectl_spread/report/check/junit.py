"""JUnit's XML: a suite for each file, a case for each finding, and a case that passed for a file without findings.

A case fails for an error or a warning. An info is the output of a case that passed.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.finding import Severity
from kubectl_spread.report.check.findings import location
from kubectl_spread.report.check.findings import rendered_from
from kubectl_spread.report.check.report import CheckReport


def render(report: CheckReport) -> str:
    """Errors and warnings fail; so do workloads with Pending pods, and inputs that were not read are errors."""
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
    for error in report.errors:
        suite = ET.SubElement(root, "testsuite", name=_text(error.source), tests="1", failures="0", errors="1")
        case = ET.SubElement(suite, "testcase", name="read", classname=_text(error.source))
        ET.SubElement(case, "error", message=_text(error.message))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode")


def _suite(root: ET.Element, name: str, tests: int, failures: int) -> ET.Element:
    return ET.SubElement(root, "testsuite", name=_text(name), tests=str(tests), failures=str(failures), errors="0")


def _fails(finding: Finding) -> bool:
    return finding.rule.severity is not Severity.INFO


def _case(suite: ET.Element, finding: Finding) -> None:
    place = location(finding.place)
    name = f"{finding.rule.code} {finding.rule.name} {place}"
    case = ET.SubElement(suite, "testcase", name=_text(name), classname=suite.attrib["name"])
    lines = [place, rendered_from(finding.place), finding.path, finding.hint]
    if _fails(finding):
        told = ET.SubElement(case, "failure", type=finding.rule.severity.value, message=_text(finding.message))
    else:
        told = ET.SubElement(case, "system-out")
        lines.insert(0, f"{finding.rule.severity.value}: {finding.message}")
    told.text = _text("\n".join(filter(None, lines)))


def _placements(root: ET.Element, report: CheckReport) -> None:
    if not report.placements:
        return
    from kubectl_spread.report.check.placements import headline  # numpy: 80 ms

    suite = _suite(root, "placement", len(report.placements), sum(bool(item.pending) for item in report.placements))
    for placement in report.placements:
        case = ET.SubElement(suite, "testcase", name=_text(placement.workload.key), classname="placement")
        if placement.pending:
            ET.SubElement(case, "failure", type="Pending", message=_text(headline(placement, colour=False)))


def _text(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return "".join(char if char.isprintable() or char in "\n\t" else "?" for char in text)
