"""`.kubectl-spread.yaml`: a project's settings for `check`. Its JSON Schema is `schemas/config.json`."""

from __future__ import annotations

import os
from typing import Optional

from kubectl_spread.errors import ConfigError, SourceError
from kubectl_spread.lint.finding import Place, Severity
from kubectl_spread.lint.selection.policy import Config, FileChoice, NamedPath, RuleSelection
from kubectl_spread.lint.selection.select import named_codes, RuleProfile, UnknownRuleError
from kubectl_spread.lint.selection.suppress import Waiver
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.releases.version import minor_of, VersionError
from kubectl_spread.objects.selectors.labels import key_errors, value_errors
from kubectl_spread.objects.workloads.kinds import PodSpecPath
from kubectl_spread.sources import files
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.glob import glob_error, Globs
from kubectl_spread.text.node import Mapping, Node, Route, Sequence
from kubectl_spread.text.source import SourceFile, Span


def load(path: str) -> Config:
    """Read a config.

    Raises:
        SourceError: it cannot be read.
        ConfigError: it is not YAML, or has invalid settings; all of them are listed.
    """
    source = files.read_text(path)
    config = Config(os.path.dirname(os.path.abspath(path)), source)
    root = _root(source)
    if root is None:
        return config
    return _Reading(source, root).config(config)


def at_setting(error: SourceError, config: Config, route: Route) -> SourceError:
    """Return an error about a file that a setting names, at the place of the setting; not one about its content."""
    root = _root(config.source) if config.source is not None else None
    if config.source is None or root is None or error.line:
        return error
    line, column = config.source.position(nodes.place(root, route).start)
    return SourceError(config.source.name, str(error), line=line, column=column)


def _root(source: SourceFile) -> Optional[Node]:
    """Return the root of the only document; None if the file contains only comments.

    Raises:
        ConfigError: it is not YAML, or has several documents.
    """
    documents = list(compose.compose(source))
    for found in documents:
        if isinstance(found, compose.SyntaxProblem):
            line, column = source.position(found.span.start)
            raise ConfigError((SourceError(source.name, found.sentence, line=line, column=column),))
    roots = [found.root for found in documents if isinstance(found, compose.Document)]
    if len(roots) > 1:
        line, column = source.position(roots[1].start)
        message = f"a config must be one YAML document, this has {len(roots)}"
        raise ConfigError((SourceError(source.name, message, line=line, column=column),))
    return roots[0] if roots else None


class _Reading:
    """Reader of a config with possible errors. An invalid value is reported and then read as if it were missing."""

    def __init__(self, source: SourceFile, root: Node) -> None:
        self.source = source
        self.root = root
        self.problems: list[tuple[Span, str]] = []

    def config(self, empty: Config) -> Config:
        """Return the whole config.

        Raises:
            ConfigError: a setting is invalid.
        """
        self._check_shape()
        config = empty._replace(
            profile=RuleProfile(self._one_of(("profile",), [item.value for item in RuleProfile]) or "default"),
            choice=self._choice(()),
            fail_on=self._text(("failOn",)),
            kubernetes_version=self._text(("kubernetesVersion",)),
            autoscaler=self._text(("autoscaler",)),
            paths=self._texts(("paths",)),
            exclude=self._globs(("exclude",)),
            per_file=tuple(self._file_choice(route, empty.root) for route in self._items("perFile")),
            ignores=tuple(self._waiver(route, empty.root) for route in self._items("ignores")),
            baseline=self._text(("baseline",)),
            domains=self._domains(),
            named_paths=tuple(self._podspec_path(route) for route in self._items("podspecPaths")),
            roots=self._globs(("roots",)),
            policies=self._texts(("policies",)),
        )
        if self._has(("profile",)) and self._has(("select",)):
            self._note(
                ("select",), "`select` replaces the profile: leave one of them out, or use `extendSelect`", key=True
            )
        if self.problems:
            raise ConfigError(tuple(self._error(*problem) for problem in sorted(set(self.problems))))
        return config

    def _check_shape(self) -> None:
        from kubectl_spread import schemas
        from kubectl_spread.sources import json_schema

        for mapping in nodes.mappings(self.root):
            for duplicate in mapping.duplicates():
                self.problems.append((nodes.span(duplicate.again), f"`{duplicate.text}` is written twice"))
        for violation in json_schema.violations(self.root, schemas.load("config")):
            self._note(violation.route, violation.message, key=violation.is_key)

    def _choice(self, route: Route) -> RuleSelection:
        return RuleSelection(
            select=self._words((*route, "select")),
            extend=self._words((*route, "extendSelect")),
            ignore=self._words((*route, "ignore")),
            severity=self._severities((*route, "severity")),
            minor=self._minor((*route, "kubernetesVersion")),
        )

    def _file_choice(self, route: Route, root: str) -> FileChoice:
        return FileChoice(Globs(root, self._globs((*route, "files"))), self._choice(route))

    def _waiver(self, route: Route, root: str) -> Waiver:
        patterns = self._globs((*route, "file"))
        return Waiver(
            Place(self.source, nodes.place(self.root, (*route, "rule"))),
            self._words((*route, "rule")),
            kind=self._text((*route, "kind")),
            name=self._text((*route, "name")),
            namespace=self._text((*route, "namespace")),
            files=Globs(root, patterns) if patterns else None,
        )

    def _domains(self) -> dict[str, tuple[str, ...]]:
        node = nodes.follow(self.root, ("domains",))
        found = {}
        for key, field in node.fields.items() if isinstance(node, Mapping) else ():
            self.problems += [(nodes.span(field.key), f"not a label key: {key}: {error}") for error in key_errors(key)]
            written = self._written(("domains", key))
            for at, (place, value) in enumerate(written):
                errors = value_errors(value) or ["it is listed twice"] * (value in [text for _, text in written[:at]])
                self.problems += [(place, f"domains.{key}: {value}: {error}") for error in errors]
            found[key] = tuple(text for _, text in written)
        return found

    def _podspec_path(self, route: Route) -> NamedPath:
        group: Optional[str] = self._text((*route, "group")) or None
        if self._has((*route, "apiVersion")):
            if group:
                self._note((*route, "group"), "`apiVersion` names a group, too: leave one of them out", key=True)
            group = self._text((*route, "apiVersion")).rpartition("/")[0]
        is_spec = nodes.to_plain(nodes.follow(self.root, (*route, "podSpec"))) is True
        path = PodSpecPath(self._text((*route, "kind")), self._text((*route, "path")), group, is_spec)
        return NamedPath(path, Place(self.source, nodes.place(self.root, (*route, "path"))))

    def _words(self, route: Route) -> tuple[str, ...]:
        """Return the names of rules in a list of texts; one text may have several, separated by commas."""
        known = []
        for place, text in self._written(route):
            for word in filter(None, (part.strip() for part in text.split(","))):
                if self._names_a_rule(word, place):
                    known.append(word)
        return tuple(known)

    def _severities(self, route: Route) -> tuple[tuple[str, Severity], ...]:
        node = nodes.follow(self.root, route)
        found = []
        for word, field in node.fields.items() if isinstance(node, Mapping) else ():
            level = self._one_of((*route, word), [item.value for item in Severity])
            if self._names_a_rule(word, nodes.span(field.key)) and level:
                found.append((word, Severity(level)))
        return tuple(found)

    def _names_a_rule(self, word: str, place: Span) -> bool:
        try:
            named_codes([word])
        except UnknownRuleError as error:
            self.problems.append((place, str(error)))
            return False
        return True

    def _minor(self, route: Route) -> Optional[int]:
        text = self._text(route)
        value = nodes.to_plain(nodes.follow(self.root, route))
        if not isinstance(value, (str, int, float)) or isinstance(value, bool):
            return None
        try:
            return minor_of(text)
        except VersionError as error:
            self._note(route, f"{decode.path_text(route)}: {error}")
            return None

    def _one_of(self, route: Route, known: list[str]) -> str:
        text = self._text(route)
        return text if text in known else ""

    def _text(self, route: Route) -> str:
        """Return the text of a scalar as it is written; empty if it is missing."""
        node = nodes.follow(self.root, route)
        return "" if node is None else nodes.scalar_text(node)

    def _globs(self, route: Route) -> tuple[str, ...]:
        written = self._written(route)
        wrong = ((place, text, glob_error(text)) for place, text in written)
        self.problems += [(place, f"not a glob: {text}: {error}") for place, text, error in wrong if error]
        return tuple(text for _, text in written)

    def _texts(self, route: Route) -> tuple[str, ...]:
        return tuple(text for _, text in self._written(route))

    def _written(self, route: Route) -> list[tuple[Span, str]]:
        """Return the texts of a list, or a single text as a list, with their places."""
        node = nodes.follow(self.root, route)
        items = node.items if isinstance(node, Sequence) else [] if node is None else [node]
        return [(nodes.span(item), nodes.scalar_text(item)) for item in items if isinstance(nodes.to_plain(item), str)]

    def _items(self, key: str) -> list[Route]:
        node = nodes.follow(self.root, (key,))
        return [(key, index) for index in range(len(node.items))] if isinstance(node, Sequence) else []

    def _has(self, route: Route) -> bool:
        return nodes.follow(self.root, route) is not None

    def _note(self, route: Route, message: str, *, key: bool = False) -> None:
        self.problems.append((nodes.place(self.root, route, key=key), message))

    def _error(self, span: Span, message: str) -> SourceError:
        line, column = self.source.position(span.start)
        return SourceError(self.source.name, message, line=line, column=column)
