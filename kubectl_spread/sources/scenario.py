"""Scenario files: steps of `simulate`, and expectations. Their JSON Schema is `schemas/scenario.json`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from kubectl_spread.errors import SourceError
from kubectl_spread.kubectl.parsing import Command, parse_text, StepError
from kubectl_spread.objects.keys import Range
from kubectl_spread.objects.reading.decode import path_text
from kubectl_spread.sources import files
from kubectl_spread.sources.single_document import Document
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import SourceFile
from kubectl_spread.text.wording import short

KIND = re.compile(r"""["']?kind["']?\s*:\s*["']?Scenario\b""")


class Expectation(NamedTuple):
    """Expectation for every outcome of a step; fields that are None or empty are not checked.

    workload: TYPE and NAME; None for all that the scenario names. complete: true in every outcome, false in none,
    "sometimes". domains: topology key to bounds by value, or to numbers in order. line, column: of the expectation.
    path: of its field, as `steps[0].expect`.
    """

    line: int
    column: int
    workload: Optional[tuple[str, str]] = None
    complete: Optional[object] = None
    placed: Optional[Range] = None
    pending: Optional[Range] = None
    blocked: Optional[Range] = None
    restarted: Optional[Range] = None
    ready: Optional[Range] = None
    domains: tuple[tuple[str, object], ...] = ()
    skew: tuple[tuple[str, Range], ...] = ()
    message: str = ""
    path: str = ""


class ScenarioStep(NamedTuple):
    """A step; an empty command lets the manifests settle."""

    command: Optional[Command]
    line: int
    column: int
    expect: Optional[Expectation] = None


class Scenario(NamedTuple):
    """A scenario; `directory` is the base of its paths, `places` are lines and columns by the path of a field."""

    file: str
    name: str
    directory: str
    steps: tuple[ScenarioStep, ...]
    topology: Optional[str] = None
    snapshot: tuple[str, ...] = ()
    manifests: tuple[str, ...] = ()
    kubernetes_version: Optional[str] = None
    namespace: str = "default"
    outcomes: str = ""
    max_states: int = 0
    places: dict[str, tuple[int, int]] = {}  # noqa: RUF012 (never written to)

    def error(self, path: str, message: str) -> SourceError:
        """Return an error at the place of a field."""
        line, column = self.places.get(path, (0, 0))
        return SourceError(self.file, f"{path}: {message}", line=line, column=column)


def find_scenarios(paths: tuple[str, ...]) -> Iterator[str]:
    """Yield the named files, and the scenarios in and below named directories, sorted by name.

    Raises:
        SourceError: a path does not exist.
    """
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        for directory, below, names in os.walk(path):
            below.sort()
            for name in sorted(names):
                file = os.path.join(directory, name)
                if name.endswith(files.EXTENSIONS) and KIND.search(files.read_text(file).text):
                    yield file


def load(path: str) -> Scenario:
    """Read a scenario.

    Raises:
        SourceError: it cannot be read, or is not YAML.
        ConfigError: it has errors; all of them are listed.
    """
    return _ScenarioReader(files.read_text(path), "scenario").scenario()


class _ScenarioReader(Document):
    """Reader of the valid part of a scenario; a value that the schema allows may still be an error."""

    def __init__(self, source: SourceFile, schema: str) -> None:
        super().__init__(source, schema)
        self.places: dict[str, tuple[int, int]] = {}

    def scenario(self) -> Scenario:
        """Return the whole scenario.

        Raises:
            ConfigError: it has errors.
        """
        file = self.source.name
        if self.has("topology") and self.has("snapshot"):
            self.note(("snapshot",), "`topology` and `snapshot` exclude each other")
        first = self._expectation(("expect",))
        begin = [ScenarioStep(None, *self.place("expect"), first)] if first is not None else []
        directory = os.path.dirname(file)
        found = Scenario(
            file,
            self.name,
            directory,
            (*begin, *map(self._step, self.items("steps"))),
            self.value("topology"),
            self._paths("snapshot", directory),
            self._paths("manifests", directory),
            self.value("kubernetesVersion"),
            self.text("namespace") or "default",
            self.text("outcomes"),
            self.number("maxStates") or 0,
        )
        if found.topology is not None:
            self._remember(("topology",))
        self.throw()
        return found._replace(places=self.places)

    def _paths(self, name: str, directory: str) -> tuple[str, ...]:
        """Return the paths of a list, and remember their places."""
        routes = self.items(name)
        for route in routes:
            self._remember(route)
        return tuple(os.path.join(directory, self.value(*route)) for route in routes)

    def _remember(self, route: Route) -> None:
        self.places[path_text(route)] = self.place(*route)

    def _step(self, route: Route) -> ScenarioStep:
        place = route if isinstance(self.value(*route), str) else (*route, "step")
        command: Optional[Command] = None
        try:
            command = parse_text(self.text(*place))
        except StepError as error:
            self.note(place, str(error))
        return ScenarioStep(command, *self.place(*place), self._expectation((*route, "expect")))

    def _expectation(self, route: Route) -> Optional[Expectation]:
        if not self.has(*route):
            return None
        complete: Optional[object] = self.value(*route, "complete")
        if complete not in (None, True, False, "sometimes"):
            self.refuse((*route, "complete"), f"must be true, false or sometimes, not {short(complete)}")
        numbers = ("placed", "pending", "blocked", "restarted", "ready")
        bounds: dict[str, Any] = {name: self._bounds((*route, name)) for name in numbers if self.has(*route, name)}
        return Expectation(
            *self.place(*route),
            workload=self._workload((*route, "workload")),
            complete=complete,
            domains=tuple((key, self._domains(at)) for key, at in self.fields(*route, "domains")),
            skew=tuple((key, self._bounds(at)) for key, at in self.fields(*route, "skew")),
            message=self.text(*route, "message"),
            path=path_text(route),
            **bounds,
        )

    def _workload(self, route: Route) -> Optional[tuple[str, str]]:
        if not self.has(*route):
            return None
        from kubectl_spread.objects.workloads.kinds import find_kind

        self._remember(route)
        word, _, name = self.text(*route).partition("/")
        kind = find_kind(word)
        if kind is None:
            self.refuse(route, f'there is no resource type "{short(word)}"')
        return (kind or "", name)

    def _domains(self, route: Route) -> object:
        if isinstance(self.value(*route), list):
            return tuple(sorted(self.number(*item) or 0 for item in self.items(*route)))
        return {name: self._bounds(at) for name, at in self.fields(*route)}

    def _bounds(self, route: Route) -> Range:
        value = self.value(*route)
        if not isinstance(value, str):
            number = self.number(*route) or 0
            return Range(number, number)
        try:
            return Range.of_text(value, noun="pods")
        except ValueError as error:
            self.refuse(route, str(error))
            return Range(0, 0)
