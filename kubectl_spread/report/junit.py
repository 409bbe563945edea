"""JUnit's XML: suites with test cases, whose counts follow from the cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from xml.etree import ElementTree as ET

_TAGS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


class Result(NamedTuple):
    """A result of a test case, such as `failure`, with its attributes and its text."""

    tag: str
    attributes: Mapping[str, str] = {}
    text: str = ""


class Case(NamedTuple):
    """A test case; without a result it has passed. group: the name of its class if that is not the suite."""

    name: str
    results: Sequence[Result] = ()
    group: str = ""


class Suite(NamedTuple):
    """Test cases with a name; counts: the attributes with numbers of cases, by their first results."""

    name: str
    cases: Sequence[Case]
    counts: tuple[str, ...] = ("failures", "errors")


def document(name: str, suites: Iterable[Suite]) -> str:
    """Return a document of test suites."""
    root = ET.Element("testsuites", name=_text(name))
    for suite in suites:
        tags = Counter(case.results[0].tag for case in suite.cases if case.results)
        numbers = {count: str(tags[_TAGS[count]]) for count in suite.counts}
        parent = ET.SubElement(
            root, "testsuite", {"name": _text(suite.name), "tests": str(len(suite.cases)), **numbers}
        )
        for case in suite.cases:
            group = _text(case.group or suite.name)
            element = ET.SubElement(parent, "testcase", name=_text(case.name), classname=group)
            for result in case.results:
                attributes = {key: _text(value) for key, value in result.attributes.items()}
                ET.SubElement(element, result.tag, attributes).text = _text(result.text) or None
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode")


def _text(text: str) -> str:
    """Return text without the characters that XML cannot hold."""
    return "".join(char if char.isprintable() or char in "\n\t" else "?" for char in text)
