"""Results of scenarios: a line for each, as JSON, and as JUnit's XML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from kubectl_spread.engine.results.summary import Simulation
from kubectl_spread.errors import SourceError, SpreadError
from kubectl_spread.report.documents import API_VERSION
from kubectl_spread.report.simulation.document import document as simulation_document
from kubectl_spread.report.simulation.text import plural, VERDICTS
from kubectl_spread.report.table import paint, wrap
from kubectl_spread.text.wording import safe

Plain = dict[str, Any]


class UnmetExpectation(NamedTuple):
    """An expectation that is not met.

    step: as it is written.
    line, column: of the expectation.
    what: its field, with the topology key and the domain.
    wanted: as it is written.
    found: the numbers of all outcomes, or texts.
    """

    step: str
    line: int
    column: int
    what: str
    wanted: str
    found: str


class ScenarioResult(NamedTuple):
    """The result of a scenario, or its error; expectations: their number."""

    file: str
    name: str
    simulation: Simulation
    failures: tuple[UnmetExpectation, ...] = ()
    errors: tuple[SpreadError, ...] = ()
    expectations: int = 0

    @property
    def is_fine(self) -> bool:
        """Return whether all expectations are met; without any, whether every step completes."""
        if self.errors:
            return False
        return not self.failures if self.expectations else self.simulation.is_fine


def lines(result: ScenarioResult, *, width: int, colour: bool) -> list[str]:
    """Return the lines to print about a scenario after its run."""
    if result.errors:
        word = paint("ERROR", "red", colour=colour)
    else:
        word = paint("ok", "green", colour=colour) if result.is_fine else paint("FAILED", "red", colour=colour)
    lines = [f"{word}  {safe(result.name)} ({safe(result.file)})"]
    lines += [f"  {safe(str(error))}" for error in result.errors]
    for failure in result.failures:
        lines += wrap(sentence(result, failure), width, indent="  ", hanging="    ")
    if not (result.is_fine or result.failures or result.errors):
        lines += [f"  {step.text}: {VERDICTS[step.summary.verdict]}" for step in result.simulation.steps]
    return lines


def sentence(result: ScenarioResult, failure: UnmetExpectation) -> str:
    """Return the expectation that is not met, with its place."""
    place = f"{result.file}:{failure.line}:{failure.column}"
    return f"{place}: after `{failure.step}`: {failure.what}: expected {failure.wanted}, found {failure.found}"


def total(results: Sequence[ScenarioResult]) -> str:
    """Return the last line: how many scenarios passed."""
    errors = sum(bool(result.errors) for result in results)
    failed = sum(not result.is_fine for result in results) - errors
    parts = [f"{len(results) - failed - errors} passed"]
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{errors} could not be run"] if errors else []
    return f"{plural(len(results), 'scenario')}: {', '.join(parts)}"


def document(results: Iterable[ScenarioResult]) -> Plain:
    """Return a ScenarioReport."""
    return {
        "apiVersion": API_VERSION,
        "kind": "ScenarioReport",
        "scenarios": [
            {
                "name": result.name,
                "file": result.file,
                "passed": result.is_fine,
                "expectations": result.expectations,
                "failures": [
                    {
                        "step": failure.step,
                        "line": failure.line,
                        "column": failure.column,
                        "what": failure.what,
                        "expected": failure.wanted,
                        "found": failure.found,
                    }
                    for failure in result.failures
                ],
                "errors": [_error(error) for error in result.errors],
                "simulation": simulation_document(result.simulation),
            }
            for result in results
        ],
    }


def _error(error: SpreadError) -> Plain:
    if isinstance(error, SourceError):
        return {"file": error.source, "message": error.message, "line": error.line, "column": error.column}
    return {"file": "", "message": str(error), "line": 0, "column": 0}


def junit(results: Sequence[ScenarioResult]) -> str:
    """Return JUnit's XML: a suite for each directory's scenarios together, a case for each scenario."""
    root = ET.Element("testsuites", name="kubectl spread simulate run")
    failed = sum(not result.is_fine and not result.errors for result in results)
    errors = sum(bool(result.errors) for result in results)
    numbers = {"name": "scenarios", "tests": str(len(results)), "failures": str(failed), "errors": str(errors)}
    suite = ET.SubElement(root, "testsuite", numbers)
    for result in results:
        case = ET.SubElement(suite, "testcase", name=_text(result.name), classname=_text(result.file))
        for error in result.errors:
            ET.SubElement(case, "error", message=_text(str(error)))
        for failure in result.failures:
            text = sentence(result, failure)
            ET.SubElement(case, "failure", type=failure.what.split()[0], message=_text(text)).text = _text(text)
        if not (result.is_fine or result.failures or result.errors):
            ET.SubElement(case, "failure", type="complete", message="a step may get stuck")
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode")


def _text(text: str) -> str:
    """Return text without the characters that XML cannot hold."""
    return "".join(char if char.isprintable() or char in "\n\t" else "?" for char in text)
