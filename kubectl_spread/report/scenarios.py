"""Results of scenarios: a line for each, as JSON, and as JUnit's XML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kubectl_spread.engine.results.summary import Simulation
from kubectl_spread.errors import SpreadError
from kubectl_spread.report.documents import error_documents, form, Plain, plain, report_document
from kubectl_spread.report.junit import Case, Result, Suite
from kubectl_spread.report.junit import document as junit_document
from kubectl_spread.report.simulation import document as simulation_document
from kubectl_spread.report.simulation import words_of
from kubectl_spread.report.table import paint, Style, wrap
from kubectl_spread.text.wording import count_noun, safe


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


def lines(result: ScenarioResult, style: Style) -> list[str]:
    """Return the lines to print about a scenario after its run."""
    if result.errors:
        word = paint("ERROR", "red")
    else:
        word = paint("ok", "green") if result.is_fine else paint("FAILED", "red")
    lines = [f"{word}  {safe(result.name)} ({safe(result.file)})"]
    lines += [f"  {safe(str(error))}" for error in result.errors]
    for failure in result.failures:
        lines += wrap(sentence(result, failure), style, indent="  ", hanging="    ")
    if not (result.is_fine or result.failures or result.errors):
        lines += [f"  {step.text}: {words_of(step.summary.verdict, step.summary)}" for step in result.simulation.steps]
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
    return f"{count_noun(len(results), 'scenario')}: {', '.join(parts)}"


def document(results: Iterable[ScenarioResult]) -> Plain:
    """Return a ScenarioReport."""
    return report_document("ScenarioReport", {"scenarios": plain(list(results))})


form(
    ScenarioResult,
    "name file passed=fine expectations failures errors simulation",
    errors=lambda result: error_documents(result.errors),
    simulation=lambda result: simulation_document(result.simulation),
)
form(UnmetExpectation, "step line column what expected=wanted found")


def junit(results: Sequence[ScenarioResult]) -> str:
    """Return JUnit's XML: a suite for all scenarios together, a case for each scenario."""
    cases = []
    for result in results:
        found = [Result("error", {"message": str(error)}) for error in result.errors]
        for failure in result.failures:
            text = sentence(result, failure)
            found.append(Result("failure", {"type": failure.what.split()[0], "message": text}, text))
        if not (result.is_fine or found):
            found.append(Result("failure", {"type": "complete", "message": "a step may get stuck"}))
        cases.append(Case(result.name, found, result.file))
    return junit_document("kubectl spread simulate run", [Suite("scenarios", cases)])
