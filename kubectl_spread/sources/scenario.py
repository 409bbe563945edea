"""Scenario files: steps of `simulate`, and expectations. Their JSON Schema is `schemas/scenario.json`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Optional

from kubectl_spread.errors import SourceError
from kubectl_spread.objects.reading.decode import path_text
from kubectl_spread.sources import files, single_document
from kubectl_spread.text import node as nodes
from kubectl_spread.text.node import Node, Route
from kubectl_spread.text.source import SourceFile
from kubectl_spread.timeline.commands.parsing import Command, parse_text, StepError

Plain = dict[str, Any]

_RANGE = re.compile(r"([0-9]{1,7})\.\.([0-9]{1,7})\Z")
KIND = re.compile(r"""["']?kind["']?\s*:\s*["']?Scenario\b""")


class Bounds(NamedTuple):
    """Lowest and highest allowed number."""

    least: int
    most: int

    def __str__(self) -> str:
        return str(self.least) if self.least == self.most else f"{self.least} to {self.most}"

    def allows(self, number: int) -> bool:
        """Return whether a number is within the bounds."""
        return self.least <= number <= self.most


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
    placed: Optional[Bounds] = None
    pending: Optional[Bounds] = None
    blocked: Optional[Bounds] = None
    restarted: Optional[Bounds] = None
    ready: Optional[Bounds] = None
    domains: tuple[tuple[str, object], ...] = ()
    skew: tuple[tuple[str, Bounds], ...] = ()
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
    places: tuple[tuple[str, tuple[int, int]], ...] = ()

    def error(self, path: str, message: str) -> SourceError:
        """Return an error at the place of a field."""
        line, column = dict(self.places).get(path, (0, 0))
        return SourceError(self.file, f"{path}: {message}", line=line, column=column)

    @property
    def has_facts(self) -> bool:
        """Return whether the scenario names a cluster."""
        return self.topology is not None or bool(self.snapshot)


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
    source, root = single_document.read(path, "a scenario")
    return _Reading(source, root).scenario()


class _Reading:
    """Reader of a scenario with possible errors."""

    def __init__(self, source: SourceFile, root: Node) -> None:
        self.source = source
        self.root = root
        self._errors = single_document.DocumentErrors(source, root)
        self._place, self._note = self._errors.place, self._errors.note
        self.places: dict[str, tuple[int, int]] = {}

    def scenario(self) -> Scenario:
        """Return the whole scenario.

        Raises:
            ConfigError: it has errors.
        """
        plain = nodes.to_plain(self.root)
        # A field that the schema forbids is removed, so that the rest can be read.
        for violation in self._errors.check_shape("scenario"):
            _clear(plain, violation.route)
        if not isinstance(plain, dict):
            self._errors.throw()
        if plain.get("topology") is not None and plain.get("snapshot"):
            self._note(("snapshot",), "`topology` and `snapshot` exclude each other")
        first = self._expectation(("expect",), plain.get("expect"))
        begin = [ScenarioStep(None, *self._place(("expect",)), first)] if first is not None else []
        directory = os.path.dirname(self.source.name)
        found = Scenario(
            self.source.name,
            plain.get("name") or os.path.splitext(os.path.basename(self.source.name))[0],
            directory,
            (*begin, *self._steps(plain.get("steps") or ())),
            plain.get("topology"),
            self._paths("snapshot", plain, directory),
            self._paths("manifests", plain, directory),
            plain.get("kubernetesVersion"),
            plain.get("namespace") or "default",
            plain.get("outcomes") or "",
            self._integer(("maxStates",), plain.get("maxStates") or 0),
        )
        if found.topology is not None:
            self._remember(("topology",))
        self._errors.throw()
        return found._replace(places=tuple(self.places.items()))

    def _paths(self, name: str, plain: Plain, directory: str) -> tuple[str, ...]:
        """Return the paths of a list, and remember their places."""
        paths = [(at, path) for at, path in enumerate(plain.get(name) or ()) if path is not None]
        for at, _ in paths:
            self._remember((name, at))
        return tuple(os.path.join(directory, path) for _, path in paths)

    def _steps(self, items: Iterable[Any]) -> Iterator[ScenarioStep]:
        for at, item in enumerate(items):
            if item is not None:
                yield self._step(("steps", at), item)

    def _refuse(self, route: Route, message: str) -> None:
        """Note a mistake with the path of its field."""
        self._note(route, f"{path_text(route)}: {message}")

    def _remember(self, route: Route) -> None:
        self.places[path_text(route)] = self._place(route)

    def _step(self, route: Route, item: Any) -> ScenarioStep:
        written: Plain = {"step": item} if isinstance(item, str) else item
        place = route if isinstance(item, str) else (*route, "step")
        command: Optional[Command] = None
        try:
            command = None if written["step"] is None else parse_text(written["step"])
        except StepError as error:
            self._note(place, str(error))
        return ScenarioStep(command, *self._place(place), self._expectation((*route, "expect"), written.get("expect")))

    def _expectation(self, route: Route, plain: Optional[Plain]) -> Optional[Expectation]:
        if plain is None:
            return None
        numbers = ("placed", "pending", "blocked", "restarted", "ready")
        bounds: dict[str, Any] = {
            name: self._bounds((*route, name), plain[name]) for name in numbers if plain.get(name) is not None
        }
        domains = tuple(
            (key, self._domains((*route, "domains", key), value))
            for key, value in (plain.get("domains") or {}).items()
            if value is not None
        )
        skew = tuple(
            (key, self._bounds((*route, "skew", key), value))
            for key, value in (plain.get("skew") or {}).items()
            if value is not None
        )
        return Expectation(
            *self._place(route),
            workload=self._workload((*route, "workload"), plain.get("workload")),
            complete=self._complete((*route, "complete"), plain.get("complete")),
            domains=domains,
            skew=skew,
            message=plain.get("message") or "",
            path=path_text(route),
            **bounds,
        )

    def _workload(self, route: Route, text: Optional[str]) -> Optional[tuple[str, str]]:
        if text is None:
            return None
        from kubectl_spread.objects.workloads.kinds import find_kind

        self._remember(route)
        word, _, name = text.partition("/")
        kind = find_kind(word)
        if kind is None:
            self._refuse(route, f'there is no resource type "{word}"')
        return (kind or "", name)

    def _complete(self, route: Route, value: Any) -> Optional[object]:
        if value is not None and value not in (True, False, "sometimes"):
            self._refuse(route, f"must be true, false or sometimes, not {value}")
        return value  # type: ignore[no-any-return]

    def _domains(self, route: Route, value: Any) -> object:
        if isinstance(value, list):
            return tuple(sorted(self._integer((*route, at), item) for at, item in enumerate(value) if item is not None))
        return {str(name): self._bounds((*route, name), item) for name, item in value.items() if item is not None}

    def _bounds(self, route: Route, value: Any) -> Bounds:
        if isinstance(value, str):
            match = _RANGE.match(value)
            if match is not None and int(match[1]) > int(match[2]):
                least, most = int(match[2]), int(match[1])
                self._refuse(route, f"{most} is greater than {least}: write {least}..{most}")
                return Bounds(least, most)
            if match is None:
                self._refuse(route, f"must be a number or a range, such as 2..4, not {value or 'empty'}")
                return Bounds(0, 0)
            return Bounds(int(match[1]), int(match[2]))
        number = self._integer(route, value)
        return Bounds(number, number)

    def _integer(self, route: Route, value: Any) -> int:
        if type(value) is not int or value < 0:
            self._refuse(route, f"must be a whole number that is not negative, not {value}")
            return 0
        return value


def _clear(plain: Any, route: Route) -> None:
    """Set the value at a route to None."""
    for key in route[:-1]:
        if plain is None:
            return
        plain = plain[key]
    if route and plain is not None:
        plain[route[-1]] = None
