"""Runs of scenario files, and comparison of the outcomes with the expectations; loads numpy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, Optional

from kubectl_spread.engine.results.answer import Outcome
from kubectl_spread.engine.results.summary import is_settled, PlayedStep, Simulation
from kubectl_spread.engine.run import Limits, Mode, StepAnswer, Watch
from kubectl_spread.engine.steps import CreatePod
from kubectl_spread.errors import ConfigError, RequestError, SourceError, SpreadError
from kubectl_spread.kubectl.interpret import effect
from kubectl_spread.kubectl.situation import CommandEffect
from kubectl_spread.kubectl.targets import require
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.operations.cluster_facts import ClusterSource
from kubectl_spread.operations.simulate import (
    played_step,
    read_inputs,
    SimulateInputs,
    SimulateRequest,
    SimulationSetup,
)
from kubectl_spread.report.scenarios import ScenarioResult, UnmetExpectation
from kubectl_spread.sources import scenario as scenarios
from kubectl_spread.sources.files import setting_root
from kubectl_spread.sources.scenario import Expectation, Scenario


class ScenarioRequest(NamedTuple):
    """The scenarios to run.

    Attributes:
        paths: files, and directories that are searched for scenarios.
        source: the cluster facts. If set, they replace the facts that a scenario names.
        namespace: of objects that name none, unless the scenario sets one.
        limits: of the search, unless the scenario sets them.
        has_frames: also return the moments of one run of each step, for drawing.
        allow_remote: kustomize may download.
    """

    paths: tuple[str, ...]
    source: ClusterSource = ClusterSource()
    namespace: Optional[str] = None
    limits: Limits = Limits()
    has_frames: bool = False
    allow_remote: bool = False


def run_scenarios(
    request: ScenarioRequest, watch: Optional[Watch] = None, begin: Callable[[str], None] = lambda _: None
) -> Iterator[ScenarioResult]:
    """Yield the results in the order of the files.

    Args:
        request: the scenarios.
        watch: shows the progress of the search, and can end it.
        begin: called with the name of each scenario before its run.

    Raises:
        SourceError: there is no scenario, or a path cannot be read.
    """
    files = tuple(scenarios.find_scenarios(request.paths))
    if not files:
        raise SourceError(", ".join(request.paths), "no scenario in it (`kind: Scenario`)")
    watch = watch or Watch()
    for file in files:
        begin(file)
        try:
            yield _run(scenarios.load(file), request, watch)
        except ConfigError as error:
            yield ScenarioResult(file, file, Simulation(()), errors=error.problems)
        except SpreadError as error:
            others = error.others if isinstance(error, SourceError) else ()
            yield ScenarioResult(file, file, Simulation(()), errors=(error, *others))
        if watch.is_stopped:
            return


def _run(scenario: Scenario, request: ScenarioRequest, watch: Watch) -> ScenarioResult:
    read = _read(scenario, request)
    missing = [item for item in read.given if isinstance(item, SourceError)]
    if missing:
        return _failed(scenario, (_placed(item, scenario, request) for item in missing))
    scene = SimulationSetup(read, directory=scenario.directory)
    if len(scene.errors) > len(read.known.errors):  # What else would be wrong follows from the incomplete manifests.
        return _failed(scenario, (_placed(item, scenario, request) for item in scene.errors))
    effects, mistakes = _effects(scenario, scene)
    if mistakes:
        return _failed(scenario, (*scene.errors, *mistakes))
    answer = scene.play((item.ops for item in effects), _limits(scenario, request.limits), watch)
    played: list[PlayedStep] = []
    failures: list[UnmetExpectation] = []
    keys = scene.created.concerns
    for step, done, found in zip(scenario.steps, effects, answer.steps, strict=True):
        keys |= done.concerns | done.labelled
        text = "the manifests settle" if step.command is None else step.command.text
        if step.command is not None:
            number = len(played) + 1
            played.append(played_step(step.command, done, found, number=number, has_frames=request.has_frames))
        if step.expect is not None:
            failures += _failures(step.expect, found, keys, text=text, namespace=scene.situation.default_namespace)
    return ScenarioResult(
        scenario.file,
        scenario.name,
        Simulation(tuple(played), answer.notes, watch.is_stopped),
        tuple(failures),
        scene.errors,
        sum(step.expect is not None for step in scenario.steps),
    )


def _read(scenario: Scenario, request: ScenarioRequest) -> SimulateInputs:
    """Read the inputs of a scenario.

    Raises:
        SourceError: an input cannot be read; the error has the place in the scenario.
    """
    try:
        return read_inputs(_request(scenario, request))
    except SourceError as error:
        raise _placed(error, scenario, request) from None
    except RequestError as error:  # a wrong topology, which is an option of other commands
        if isinstance(error.__cause__, SourceError):
            raise _placed(error.__cause__, scenario, request) from None
        raise


def _failed(scenario: Scenario, errors: Iterable[SpreadError]) -> ScenarioResult:
    """Return the result of a scenario that cannot be run."""
    return ScenarioResult(scenario.file, scenario.name, Simulation(()), errors=tuple(errors))


def _effects(scenario: Scenario, scene: SimulationSetup) -> tuple[list[CommandEffect], list[SourceError]]:
    """Return the effects of the steps, and what is wrong with steps and with expectations."""
    effects: list[CommandEffect] = []
    mistakes: list[SourceError] = []
    seen = _Seen(scene)
    for step in scenario.steps:
        try:
            effects.append(CommandEffect() if step.command is None else effect(step.command, scene.situation))
        except SpreadError as error:
            if isinstance(error, SourceError) and error.line:
                return effects, [*mistakes, error]
            place = SourceError(scenario.file, str(error), line=step.line, column=step.column)
            return effects, [*mistakes, place]
        seen.add(effects[-1])
        if step.expect is not None:
            why = seen.why_missing(step.expect)
            mistakes += [scenario.error(f"{step.expect.path}.workload", why)] if why else []
    return effects, mistakes


def _placed(error: SourceError, scenario: Scenario, request: ScenarioRequest) -> SourceError:
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


class _Seen:
    """The objects that exist before a step, or did before an earlier one."""

    def __init__(self, scene: SimulationSetup) -> None:
        self._scene = scene
        self._clusters = [scene.situation.cluster]
        self._pods = set(_created(scene.created))

    def add(self, done: CommandEffect) -> None:
        """Add what exists after a command."""
        self._clusters.append(self._scene.situation.cluster)
        self._pods |= set(_created(done))

    def why_missing(self, expect: Expectation) -> str:
        """Return why the workload of an expectation is not there; empty if it is or was there."""
        if expect.workload is None:
            return ""
        kind, name = expect.workload
        target = ObjectKey(kind, self._scene.situation.default_namespace, name)
        if kind == "Pod" and name in self._pods:
            return ""
        why = ""
        for cluster in self._clusters:
            if any(cluster.top_owner(pod) == target for pod in cluster.pods):
                return ""
            try:
                require(target, cluster)
            except SpreadError as error:
                why = str(error).removeprefix("Error from server (NotFound): ").removeprefix("error: ")
            else:
                return ""
        return why


def _created(done: CommandEffect) -> Iterator[str]:
    """Yield the names of the pods that a command creates by itself."""
    return (op.name for op in done.ops if isinstance(op, CreatePod))


def _request(scenario: Scenario, request: ScenarioRequest) -> SimulateRequest:
    source = request.source
    if not source.has_facts and scenario.has_facts:
        source = source._replace(
            topology=_topology(scenario), snapshot=scenario.snapshot, inside=setting_root(scenario.directory)
        )
    if source.kubernetes_version is None:
        source = source._replace(kubernetes_version=scenario.kubernetes_version)
    commands = tuple(step.command for step in scenario.steps if step.command is not None)  # decide what is read
    return SimulateRequest(
        commands,
        scenario.manifests,
        source=source,
        namespace=request.namespace or scenario.namespace,
        allow_remote=request.allow_remote,
        inside=setting_root(scenario.directory),
    )


def _topology(scenario: Scenario) -> Optional[str]:
    """Return the topology; a file name is relative to the scenario's directory."""
    import os

    text = scenario.topology
    if text is None or not scenario.directory or ("=" in text and not text.endswith((".yaml", ".yml", ".json"))):
        return text
    return os.path.join(scenario.directory, text)


def _limits(scenario: Scenario, limits: Limits) -> Limits:
    mode, _, number = scenario.outcomes.partition("=")
    if mode:
        limits = limits._replace(mode=Mode(mode), samples=int(number or limits.samples))
    return limits._replace(max_states=scenario.max_states or limits.max_states)


def _failures(
    expect: Expectation, found: StepAnswer, keys: frozenset[ObjectKey], *, text: str, namespace: str
) -> Iterator[UnmetExpectation]:
    if expect.workload is not None:
        keys = frozenset([ObjectKey(expect.workload[0], namespace, expect.workload[1])])
    for what, wanted, seen in _Check(expect, found, keys).broken():
        yield UnmetExpectation(text, expect.line, expect.column, what, wanted, seen)


class _Check:
    """Compares an expectation with all outcomes of a step."""

    def __init__(self, expect: Expectation, found: StepAnswer, keys: frozenset[ObjectKey]) -> None:
        self.expect = expect
        self.found = found
        self.outcomes = found.outcomes
        self.keys = keys

    def broken(self) -> Iterator[tuple[str, str, str]]:
        """Yield unmet expectations: the field, the expected value, and the actual one."""
        yield from self._complete()
        yield from self._numbers()
        for topology_key, wanted in self.expect.domains:
            yield from self._domains(topology_key, wanted)
        for topology_key, bounds in self.expect.skew:
            skews = [item.skew(self.keys, topology_key) for item in self.outcomes]
            yield from self._number(f"skew of {topology_key}", bounds, skews)
        yield from self._message()

    def _numbers(self) -> Iterator[tuple[str, str, str]]:
        """Yield the numbers of pods that differ from the expected ones."""
        expect = self.expect
        yield from self._number("placed", expect.placed, [self._pods(item, is_placed=True) for item in self.outcomes])
        yield from self._number(
            "pending", expect.pending, [self._pods(item, is_placed=False) for item in self.outcomes]
        )
        yield from self._number("blocked", expect.blocked, [len(item.blocked) for item in self.outcomes])
        restarted = [sum(item.restarts.get(key, 0) for key in self.keys) for item in self.outcomes]
        yield from self._number("restarted", expect.restarted, restarted)
        ready = sum(self.found.fewest_ready.get(key, 0) for key in self.keys)
        yield from self._number("ready", expect.ready, [ready])

    def _message(self) -> Iterator[tuple[str, str, str]]:
        wanted = self.expect.message
        messages = {pod.message for item in self.outcomes for pod in item.pending}
        if wanted and not any(wanted in message for message in messages):
            yield "message", wanted, "; ".join(sorted(messages)) or "no Pending pod"

    def _complete(self) -> Iterator[tuple[str, str, str]]:
        if self.expect.complete is None:
            return
        complete = sum(map(self._is_complete, self.outcomes))
        is_all = bool(self.outcomes) and complete == len(self.outcomes)
        seen = True if is_all else "sometimes" if complete else False
        if seen != self.expect.complete:
            yield "complete", _said(self.expect.complete), _said(seen)

    def _is_complete(self, outcome: Outcome) -> bool:
        if not outcome.is_steady or outcome.blocked:
            return False
        return all(key not in outcome.workloads or is_settled(outcome, key) for key in self.keys)

    def _number(self, what: str, bounds: Optional[Range], numbers: list[int]) -> Iterator[tuple[str, str, str]]:
        if bounds is not None and not all(map(bounds.allows, numbers)):
            seen = Range(min(numbers), max(numbers))
            yield what, str(bounds), str(Range(*seen))

    def _pods(self, outcome: Outcome, *, is_placed: bool) -> int:
        return sum(
            pod.owner in self.keys and not pod.is_terminating and bool(pod.node) == is_placed for pod in outcome.pods
        )

    def _counts(self, outcome: Outcome, topology_key: str) -> dict[str, int]:
        found = dict.fromkeys(outcome.domains_of(topology_key).values(), 0)
        for key in self.keys:
            for value, number in outcome.counts(key, topology_key).items():
                found[value] += number
        return found

    def _domains(self, topology_key: str, wanted: object) -> Iterator[tuple[str, str, str]]:
        counts = [self._counts(item, topology_key) for item in self.outcomes]
        if isinstance(wanted, tuple):
            others = sorted({tuple(sorted(item.values())) for item in counts} - {wanted})
            if others:
                yield f"domains of {topology_key}", _listed(wanted), " or ".join(map(_listed, others))
        elif isinstance(wanted, dict):
            kinds = [item.interchange.alike(topology_key) for item in self.outcomes]
            for value, bounds in wanted.items():
                numbers = [
                    number
                    for item, alike in zip(counts, kinds, strict=True)
                    for number in _of_alike(value, item, alike)
                ]
                yield from self._number(f"domain {value} of {topology_key}", bounds, numbers)


def _of_alike(value: str, counts: Mapping[str, int], alike: Mapping[str, object]) -> list[int]:
    """Return the pods of the domains that are interchangeable with one, in one outcome."""
    kind = alike.get(value, value)
    return [number for name, number in counts.items() if alike.get(name, name) == kind] or [counts.get(value, 0)]


def _said(value: object) -> str:
    if value is True:
        return "in every outcome"
    return "in no outcome" if value is False else "in some outcomes"


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))
