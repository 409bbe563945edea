"""JUnit's XML: suites with test cases, whose counts follow from the cases."""

from __future__ import annotations

from xml.etree import ElementTree as ET


class Suites:
    """A document of test suites."""

    def __init__(self, name: str) -> None:
        self._root = ET.Element("testsuites", name=_text(name))

    def suite(self, name: str, *, tests: int, **counts: int) -> ET.Element:
        """Add a suite; `counts` are its numbers of failures, errors or skipped cases."""
        numbers = {key: str(number) for key, number in {"tests": tests, **counts}.items()}
        return ET.SubElement(self._root, "testsuite", {"name": _text(name), **numbers})

    def __str__(self) -> str:
        """Return the document; call it once, at the end."""
        ET.indent(self._root)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(self._root, encoding="unicode")


def case(suite: ET.Element, name: str, *, of: str, result: str = "", text: str = "", **attributes: str) -> ET.Element:
    """Add a test case of the class `of`, with a result if `result` is its tag; a case without one has passed."""
    element = ET.SubElement(suite, "testcase", name=_text(name), classname=_text(of))
    if result:
        add_result(element, result, text=text, **attributes)
    return element


def add_result(case: ET.Element, tag: str, *, text: str = "", **attributes: str) -> None:
    """Add a result such as `failure` to a test case, with its text and attributes."""
    child = ET.SubElement(case, tag, {key: _text(value) for key, value in attributes.items()})
    child.text = _text(text) or None


def _text(text: str) -> str:
    """Return text without the characters that XML cannot hold."""
    return "".join(char if char.isprintable() or char in "\n\t" else "?" for char in text)
