"""Results of many simulations: of scenarios as lines, JSON and JUnit's XML, and the table of `simulate --replicas`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Optional, Union

from kubectl_spread.engine.results.summary import (
    PlayedStep,
    Simulation,
    StepSummary,
    Verdict,
    WorkloadSpread,
    WorkloadSummary,
)
from kubectl_spread.errors import SourceError, SpreadError
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.report.documents import (
    Case,
    error_documents,
    form,
    junit_document,
    Plain,
    plain,
    report_document,
    Result,
    Suite,
    to_document,
)
from kubectl_spread.report.simulation import as_sampled, VERDICTS, words_of
from kubectl_spread.report.simulation import document as simulation_document
from kubectl_spread.report.table import paint, Style, table, wrap
from kubectl_spread.report.wording import name
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


class ReplicaCountRow(NamedTuple):
    """A number of replicas: the outcome of scaling to it, then the outcome of each command."""

    replicas: int
    steps: tuple[PlayedStep, ...]

    @property
    def last(self) -> StepSummary:
        return self.steps[-1].summary

    @property
    def verdict(self) -> Verdict:
        """Return the worst verdict of the steps."""
        return max((step.summary.verdict for step in self.steps), key=list(Verdict).index)

    def workload(self, key: ObjectKey) -> Optional[WorkloadSummary]:
        """Return the summary of a workload after the last step; None if it is gone."""
        return next((item for item in self.last.workloads if item.key == key), None)

    def pods(self, key: ObjectKey) -> tuple[Optional[Union[Range, int]], ...]:
        """Return how many pods are ready, ready at least, Pending and not created; None if that is not known."""
        item, none = self.workload(key), Range(0, 0)
        if not self.last.endings:
            return (None,) * 4
        return (
            (none, 0, none, none) if item is None else (item.ready, item.fewest_ready, item.pending, item.not_created)
        )

    def spreads(self, key: ObjectKey) -> tuple[WorkloadSpread, ...]:
        """Return the pods of a workload per domain after the last step."""
        item = self.workload(key)
        return () if item is None else item.spreads


class ReplicaTable(NamedTuple):
    """The rows for a workload. steps: the commands after scaling. is_interrupted: the user ended the search."""

    key: ObjectKey
    steps: tuple[str, ...]
    rows: tuple[ReplicaCountRow, ...]
    errors: tuple[SourceError, ...]
    is_interrupted: bool

    @property
    def is_fine(self) -> bool:
        """Return whether every number of replicas completes in every outcome."""
        return all(step.is_fine for row in self.rows for step in row.steps)


def table_text(found: ReplicaTable, style: Style) -> list[str]:
    """Return the table of numbers of replicas, with its heading."""
    return [*wrap(f"{table_heading(found)}:", style), "", *table(table_rows(found), style, indent="  ")]


def table_heading(found: ReplicaTable) -> str:
    """Return `Deployment shop/web with each number of replicas, after ...`."""
    what = f", after {'; '.join(f'`{step}`' for step in found.steps)}" if found.steps else ""
    return f"{name(found.key)} with each number of replicas{what}"


def table_rows(found: ReplicaTable) -> list[tuple[str, ...]]:
    """Return the rows of the table, the header first."""
    keys = sorted({spread.topology_key for row in found.rows for spread in row.spreads(found.key)})
    short = [item.rpartition("/")[2] for item in keys]
    head = ("replicas", "verdict", "ready", "fewest ready", "Pending", *(f"{item} skew" for item in short), "outcomes")
    lines: list[tuple[str, ...]] = [head]
    for row in found.rows:
        numbers = ["?"] * (4 + len(keys))
        if row.last.endings:
            skews = {spread.topology_key: str(spread.after) for spread in row.spreads(found.key)}
            outcomes = f"{len(row.last.endings)}{'' if row.last.is_exact else ' or more'}"
            numbers = [*map(str, row.pods(found.key)[:3]), *(skews.get(item, "0") for item in keys), outcomes]
        lines.append((str(row.replicas), VERDICTS[row.verdict], *numbers))
    return lines


def table_document(found: ReplicaTable) -> Plain:
    """Return a SimulationTable."""
    rows = []
    for row in found.rows:
        document = to_document(
            row,
            "replicas verdict exact states outcomeCount ready fewestReady pending notCreated skew",
            exact=all(step.summary.is_exact for step in row.steps),
            states=sum(step.summary.states for step in row.steps),
            outcomeCount=len(row.last.endings),
            skew=[to_document(spread, "topologyKey after worst=on_the_way") for spread in row.spreads(found.key)],
            **dict(zip(("ready", "fewestReady", "pending", "notCreated"), row.pods(found.key), strict=True)),
        )
        rows.append(as_sampled(document, row.last))
    table = to_document(found, "object=key steps interrupted rows", rows=rows)
    return report_document("SimulationTable", table, errors=found.errors)
