"""JUnit's XML: a suite for each file, a failed case for each finding, and a case that passed for a file without."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from kubectl_spread.lint.finding import Finding
from kubectl_spread.report.check import CheckReport
from kubectl_spread.report.findings import location
from kubectl_spread.report.findings import rendered_from


def render(report: CheckReport) -> str:
    """Findings of any severity fail; so do workloads with Pending pods, and inputs that were not read are errors."""
    root = ET.Element("testsuites", name="kubectl spread check")
    for file in report.files:
        found = [finding for finding in report.findings if finding.place.source.name == file]
        suite = _suite(root, file, len(found) or 1, len(found))
        for finding in found:
            _failed(suite, finding)
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


def _failed(suite: ET.Element, finding: Finding) -> None:
    place = location(finding.place)
    name = f"{finding.rule.code} {finding.rule.name} {place}"
    case = ET.SubElement(suite, "testcase", name=_text(name), classname=suite.attrib["name"])
    failure = ET.SubElement(case, "failure", type=finding.rule.severity.value, message=_text(finding.message))
    failure.text = _text(
        "\n".join(part for part in (place, rendered_from(finding.place), finding.path, finding.hint) if part)
    )


def _placements(root: ET.Element, report: CheckReport) -> None:
    if not report.placements:
        return
    from kubectl_spread.report.placements import headline  # numpy: 80 ms

    suite = _suite(root, "placement", len(report.placements), sum(bool(item.pending) for item in report.placements))
    for placement in report.placements:
        case = ET.SubElement(suite, "testcase", name=_text(placement.workload.key), classname="placement")
        if placement.pending:
            ET.SubElement(case, "failure", type="Pending", message=_text(headline(placement, colour=False)))


def _text(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return "".join(char if char.isprintable() or char in "\n\t" else "?" for char in text)
