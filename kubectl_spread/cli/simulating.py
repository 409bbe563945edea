"""From the facts and the steps to the answer of `simulate`; loads numpy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from typing import NamedTuple

from kubectl_spread.errors import SourceError
from kubectl_spread.lint.check_source import check_source
from kubectl_spread.operations.cluster_facts import with_manifests
from kubectl_spread.operations.cluster_source import LoadedCluster
from kubectl_spread.sources.files import Input
from kubectl_spread.text.source import SourceFile
from kubectl_spread.timeline import steps
from kubectl_spread.timeline.commands.interpret import effect
from kubectl_spread.timeline.commands.parsing import Command
from kubectl_spread.timeline.commands.situation import controller_of
from kubectl_spread.timeline.commands.situation import Situation
from kubectl_spread.timeline.run import Limits
from kubectl_spread.timeline.run import play
from kubectl_spread.timeline.run import Watch
from kubectl_spread.timeline.summary import Played
from kubectl_spread.timeline.summary import Simulation
from kubectl_spread.timeline.summary import summarize

Plain = dict[str, Any]


class Asked(NamedTuple):
    """What is simulated, how far, and for which namespace."""

    commands: tuple[Command, ...]
    limits: Limits
    namespace: str


class Found(NamedTuple):
    """The answer, and what could not be read."""

    simulation: Simulation
    errors: tuple[SourceError, ...]


def simulate(known: LoadedCluster, given: Iterable[Input | SourceError], asked: Asked, watch: Watch) -> Found:
    """Play the steps.

    Args:
        known: the cluster.
        given: manifests whose workloads are created first.
        asked: the steps.
        watch: shows how far the search is.

    Raises:
        StepError: kubectl would print its usage.
        RefusedError: kubectl or the API server would refuse a step.
    """
    reading = _Manifests(asked.namespace)
    added = [controller_of(plain) for plain in reading.workloads(given)]
    known = with_manifests(known, reading.sources, asked.namespace)
    situation = Situation(known.cluster, reading.named, asked.namespace)
    cluster = situation.cluster
    written: list[tuple[steps.Op, ...]] = []
    if added:
        written.append(tuple(situation.put(controller) for controller in added))
    effects = [effect(command, situation) for command in asked.commands]
    written += [item.ops for item in effects]
    answer = play(cluster, known.profiles, written, limits=asked.limits, watch=watch)
    played = answer.steps[len(answer.steps) - len(effects) :]
    told = tuple(
        Played(command.text, summarize(step, done.concerns), done.refusal, done.notes)
        for command, done, step in zip(asked.commands, effects, played, strict=True)
    )
    return Found(Simulation(told, answer.notes, watch.is_stopped), (*known.errors, *reading.errors))


class _Manifests:
    """Reads manifests; what is wrong with one is noted, and the others count."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.errors: list[SourceError] = []
        self.sources: list[SourceFile] = []

    def workloads(self, given: Iterable[Input | SourceError]) -> list[Plain]:
        """Return the workloads that the API server would accept, with their namespaces."""
        found: list[Plain] = []
        for item in given:
            if isinstance(item, SourceError):
                self.errors.append(item)
                continue
            self.sources.append(item.source)
            found += self._workloads(item.source)
        return found

    def _workloads(self, source: SourceFile) -> list[Plain]:
        result = check_source(source, named=True, codes=(), namespace=self.namespace)
        for finding in result.findings:
            if finding.rule.severity.value == "error":
                line, column = source.position(finding.place.span.start)
                message = f"{finding.rule.code} {finding.message}"
                self.errors.append(SourceError(source.name, message, line=line, column=column))
        return [self._placed(checked.manifest.plain) for checked in result.workloads]

    def _placed(self, plain: Plain) -> Plain:
        metadata = plain.get("metadata") or {}
        return {**plain, "metadata": {**metadata, "namespace": metadata.get("namespace") or self.namespace}}

    def named(self, paths: tuple[str, ...], recursive: bool, namespace: str) -> list[Plain]:
        """Return the objects of files that a step names."""
        raise NotImplementedError
