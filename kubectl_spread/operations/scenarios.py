"""Runs of scenario files, and comparison of the outcomes with the expectations; loads numpy."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine.results.domain_pods import domain_pods
from kubectl_spread.engine.results.summary import is_settled, PlayedStep, Simulation
from kubectl_spread.engine.run import Mode, StepAnswer, Watch
from kubectl_spread.engine.steps import CreatePod
from kubectl_spread.errors import RequestError, SourceError, SpreadError
from kubectl_spread.kubectl.interpret import CommandEffect, effect
from kubectl_spread.kubectl.targets import require
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.operations.simulate import (
    played_step,
    read_inputs,
    SimulateInputs,
    SimulateRequest,
    SimulationSetup,
)
from kubectl_spread.report.scenarios import ScenarioResult, UnmetExpectation
from kubectl_spread.sources import scenario as scenarios
from kubectl_spread.sources.files import EXTENSIONS, setting_root
from kubectl_spread.sources.scenario import Expectation, Scenario


def run_scenarios(request: SimulateRequest, watch: Watch, *, has_frames: bool = False) -> Iterator[ScenarioResult]:
    """Yield the results in the order of the files.

    Args:
        request: `paths` are the scenarios, and directories that are searched for them. Cluster facts replace those that
            a scenario names; the namespace and the limits are for scenarios that set none.
        watch: shows the progress of the search, and can end it.
        has_frames: also return the moments of one run of each step, for drawing.

    Raises:
        SourceError: there is no scenario, or a path cannot be read.
    """
    files = tuple(scenarios.find_scenarios(request.paths))
    if not files:
        raise SourceError(", ".join(request.paths), "no scenario in it (`kind: Scenario`)")
    for file in files:
        watch.subject = file
        try:
            yield _run(scenarios.load(file), request, watch, has_frames=has_frames)
        except SpreadError as error:
            yield ScenarioResult(file, file, Simulation(()), errors=error.problems)
        if watch.is_stopped:
            return


def _run(scenario: Scenario, request: SimulateRequest, watch: Watch, *, has_frames: bool) -> ScenarioResult:
    def failed(errors: Iterable[SourceError]) -> ScenarioResult:
        return ScenarioResult(scenario.file, scenario.name, Simulation(()), errors=tuple(errors))

    read = _read(scenario, request)
    missing = [_placed(item, scenario, request) for item in read.given if isinstance(item, SourceError)]
    if missing:
        return failed(missing)
    scene = SimulationSetup(read, directory=scenario.directory)
    if len(scene.errors) > len(read.known.errors):  # What else would be wrong follows from the incomplete manifests.
        return failed(_placed(item, scenario, request) for item in scene.errors)
    effects, mistakes = _effects(scenario, scene)
    if mistakes:
        return failed((*scene.errors, *mistakes))
    limits = request.limits
    mode, _, samples = scenario.outcomes.partition("=")
    if mode:
        limits = limits._replace(mode=Mode(mode), samples=int(samples or limits.samples))
    limits = limits._replace(max_states=scenario.max_states or limits.max_states)
    answer = scene.play((item.ops for item in effects), limits, watch)
    played: list[PlayedStep] = []
    failures: list[UnmetExpectation] = []
    keys = scene.created.concerns
    for step, done, found in zip(scenario.steps, effects, answer.steps, strict=True):
        keys |= done.concerns | done.labelled
        text = "the manifests settle" if step.command is None else step.command.text
        if step.command is not None:
            number = len(played) + 1
            played.append(played_step(step.command, done, found, number=number, has_frames=has_frames))
        if step.expect is not None:
            expect, about = step.expect, keys
            if expect.workload is not None:
                kind, name = expect.workload
                about = frozenset([ObjectKey(kind, scene.situation.default_namespace, name)])
            failures += [
                UnmetExpectation(text, expect.line, expect.column, *unmet) for unmet in _unmet(expect, found, about)
            ]
    return ScenarioResult(
        scenario.file,
        scenario.name,
        Simulation(tuple(played), answer.notes, watch.is_stopped),
        tuple(failures),
        scene.errors,
        sum(step.expect is not None for step in scenario.steps),
    )


def _read(scenario: Scenario, request: SimulateRequest) -> SimulateInputs:
    """Read the inputs of a scenario.

    Raises:
        SourceError: an input cannot be read; the error has the place in the scenario.
    """
    source, inside = request.source, setting_root(scenario.directory)
    if not source.has_facts:
        source = source._replace(topology=_topology(scenario), snapshot=scenario.snapshot, inside=inside)
    if source.kubernetes_version is None:
        source = source._replace(kubernetes_version=scenario.kubernetes_version)
    commands = tuple(step.command for step in scenario.steps if step.command is not None)  # decide what is read
    asked = request._replace(
        commands=commands,
        paths=scenario.manifests,
        source=source,
        namespace=request.namespace or scenario.namespace,
        inside=inside,
    )
    try:
        return read_inputs(asked)
    except SourceError as error:
        raise _placed(error, scenario, request) from None
    except RequestError as error:  # a wrong topology, which is an option of other commands
        if isinstance(error.__cause__, SourceError):
            raise _placed(error.__cause__, scenario, request) from None
        raise


def _effects(scenario: Scenario, scene: SimulationSetup) -> tuple[list[CommandEffect], list[SourceError]]:
    """Return the effects of the steps, and what is wrong with steps and with expectations."""
    effects: list[CommandEffect] = []
    mistakes: list[SourceError] = []
    clusters = [scene.situation.cluster]  # before each step
    for step in scenario.steps:
        try:
            effects.append(CommandEffect() if step.command is None else effect(step.command, scene.situation))
        except SpreadError as error:
            if isinstance(error, SourceError) and error.line:
                return effects, [*mistakes, error]
            place = SourceError(scenario.file, str(error), line=step.line, column=step.column)
            return effects, [*mistakes, place]
        clusters.append(scene.situation.cluster)
        if step.expect is not None and step.expect.workload is not None:
            kind, name = step.expect.workload
            target = ObjectKey(kind, scene.situation.default_namespace, name)
            ops = (op for done in (scene.created, *effects) for op in done.ops)
            if kind != "Pod" or all(not isinstance(op, CreatePod) or op.name != name for op in ops):
                why = _why_missing(target, clusters)
                mistakes += [scenario.error(f"{step.expect.path}.workload", why)] if why else []
    return effects, mistakes


def _placed(error: SourceError, scenario: Scenario, request: SimulateRequest) -> SourceError:
    """Return an error about a whole file with the place where the scenario names the file."""
    if error.line:
        return error
    fields = {path: f"manifests[{at}]" for at, path in enumerate(scenario.manifests)}
    if not request.source.has_facts:
        fields |= {path: f"snapshot[{at}]" for at, path in enumerate(scenario.snapshot)}
        fields |= {"--topology": "topology", _topology(scenario) or "--topology": "topology"}
    field = fields.get(error.source)
    if field is None:
        return error
    return scenario.error(field, error.message if error.source == "--topology" else str(error))


def _why_missing(target: ObjectKey, clusters: Iterable[Cluster]) -> str:
    """Return why an object is in none of the clusters; empty if it is in one."""
    why = ""
    for cluster in clusters:
        if any(cluster.top_owner(pod) == target for pod in cluster.pods):
            return ""
        try:
            require(target, cluster)
        except SpreadError as error:
            why = str(error).removeprefix("Error from server (NotFound): ").removeprefix("error: ")
        else:
            return ""
    return why


def _topology(scenario: Scenario) -> Optional[str]:
    """Return the topology; a file name is relative to the scenario's directory."""
    text = scenario.topology
    if text is None or not scenario.directory or ("=" in text and not text.endswith(EXTENSIONS)):
        return text
    return os.path.join(scenario.directory, text)


def _unmet(expect: Expectation, found: StepAnswer, keys: frozenset[ObjectKey]) -> Iterator[tuple[str, str, str]]:
    """Compare an expectation about some workloads with all outcomes of a step.

    Yield each field that differs, with the expected and the actual value.
    """
    outcomes = found.outcomes
    if expect.complete is not None:
        complete = sum(
            item.is_steady
            and not item.blocked
            and all(key not in item.workloads or is_settled(item, key) for key in keys)
            for item in outcomes
        )
        seen: object = complete > 0 if complete in (0, len(outcomes)) else "sometimes"
        if seen != expect.complete:
            yield "complete", _said(expect.complete), _said(seen)
    pods = {
        is_placed: [
            sum(pod.owner in keys and not pod.is_terminating and bool(pod.node) == is_placed for pod in item.pods)
            for item in outcomes
        ]
        for is_placed in (True, False)
    }
    yield from _outside("placed", expect.placed, pods[True])
    yield from _outside("pending", expect.pending, pods[False])
    yield from _outside("blocked", expect.blocked, [len(item.blocked) for item in outcomes])
    restarted = [sum(item.restarts.get(key, 0) for key in keys) for item in outcomes]
    yield from _outside("restarted", expect.restarted, restarted)
    yield from _outside("ready", expect.ready, [sum(found.fewest_ready.get(key, 0) for key in keys)])
    for topology_key, wanted in expect.domains:
        counts = [item.counts(keys, topology_key) for item in outcomes]
        if isinstance(wanted, tuple):
            others = sorted({tuple(sorted(item.values())) for item in counts} - {wanted})
            if others:
                texts = [", ".join(map(str, numbers)) for numbers in (wanted, *others)]
                yield f"domains of {topology_key}", texts[0], " or ".join(texts[1:])
        elif isinstance(wanted, dict):
            values = sorted({value for item in counts for value in item})
            after = domain_pods(values, ((), outcomes), sorted(keys), topology_key=topology_key)
            ranges = {item.value: item.after for item in after}
            for value, bounds in wanted.items():
                yield from _outside(f"domain {value} of {topology_key}", bounds, ranges.get(value, Range(0, 0)))
    for topology_key, bounds in expect.skew:
        skews = [item.skew(keys, topology_key) for item in outcomes]
        yield from _outside(f"skew of {topology_key}", bounds, skews)
    messages = {pod.message for item in outcomes for pod in item.pending}
    if expect.message and not any(expect.message in message for message in messages):
        yield "message", expect.message, "; ".join(sorted(messages)) or "no Pending pod"


def _outside(what: str, bounds: Optional[Range], numbers: Sequence[int]) -> Iterator[tuple[str, str, str]]:
    """Yield the range of some numbers if one of them is not within the bounds."""
    if bounds is not None and not all(map(bounds.allows, numbers)):
        yield what, str(bounds), str(Range(min(numbers), max(numbers)))


def _said(value: object) -> str:
    if value is True:
        return "in every outcome"
    return "in no outcome" if value is False else "in some outcomes"
