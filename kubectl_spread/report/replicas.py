"""The table of `simulate --replicas`, as text and as JSON."""

from __future__ import annotations

from typing import NamedTuple, Optional, Union

from kubectl_spread.engine.results.summary import (
    PlayedStep,
    StepSummary,
    Verdict,
    WorkloadSpread,
    WorkloadSummary,
)
from kubectl_spread.errors import SourceError
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.report.documents import Plain, report_document, to_document
from kubectl_spread.report.simulation import as_sampled, VERDICTS
from kubectl_spread.report.table import Style, table, wrap
from kubectl_spread.report.wording import name


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


def text(found: ReplicaTable, style: Style) -> list[str]:
    """Return the table of numbers of replicas, with its heading."""
    return [*wrap(f"{heading(found)}:", style), "", *table(rows(found), style, indent="  ")]


def heading(found: ReplicaTable) -> str:
    """Return `Deployment shop/web with each number of replicas, after ...`."""
    what = f", after {'; '.join(f'`{step}`' for step in found.steps)}" if found.steps else ""
    return f"{name(found.key)} with each number of replicas{what}"


def rows(found: ReplicaTable) -> list[tuple[str, ...]]:
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


def document(found: ReplicaTable) -> Plain:
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
