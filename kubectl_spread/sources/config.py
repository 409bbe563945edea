"""`.kubectl-spread.yaml`: a project's settings for `check`. Its JSON Schema is `schemas/config.json`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Optional

from kubectl_spread.errors import ConfigError, SourceError
from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.registry import RULES
from kubectl_spread.lint.selection import (
    Config,
    FileChoice,
    named_codes,
    RuleProfile,
    RuleSelection,
    UnknownRuleError,
)
from kubectl_spread.lint.suppress import Waiver
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.releases.version import minor_of, VersionError
from kubectl_spread.objects.selectors import key_errors, value_errors
from kubectl_spread.objects.workloads.kinds import PodSpecPath
from kubectl_spread.sources import files
from kubectl_spread.sources.single_document import Document, root_of
from kubectl_spread.text import node as nodes
from kubectl_spread.text.glob import glob_error, Globs
from kubectl_spread.text.node import Node, Route
from kubectl_spread.text.source import Place, SourceFile
from kubectl_spread.text.wording import short


def load(path: str, *, inside: Optional[str] = None) -> Config:
    """Read a config; `inside` is the directory that must contain it, if the command line does not name it.

    Raises:
        SourceError: it cannot be read.
        ConfigError: it is not YAML, or has invalid settings; all of them are listed.
    """
    source = files.read_text(path, inside=inside)
    config = Config(os.path.dirname(os.path.abspath(path)), source)
    root = _root(source)
    if root is None:
        return config
    return _ConfigReader(source, "config", root).config(config)


def at_setting(error: SourceError, config: Config, route: Route) -> SourceError:
    """Return an error about a file that a setting names, at the place of the setting; not one about its content."""
    root = _root(config.source) if config.source is not None else None
    if config.source is None or root is None or error.line:
        return error
    return config.source.error(nodes.place(root, route).start, str(error))


def _root(source: SourceFile) -> Optional[Node]:
    try:
        return root_of(source, "a config")
    except SourceError as error:
        raise ConfigError((error,)) from None


class _ConfigReader(Document):
    """Reader of the valid part of a config; a value that the schema allows may still be an error."""

    def config(self, empty: Config) -> Config:
        """Return the whole config.

        Raises:
            ConfigError: a setting is invalid.
        """
        config = empty._replace(
            profile=RuleProfile(self.text("profile") or "default"),
            choice=self._choice(()),
            fail_on=self.text("failOn"),
            kubernetes_version=self.text("kubernetesVersion"),
            autoscaler=self.text("autoscaler"),
            paths=self._texts(("paths",)),
            exclude=self._globs(("exclude",)),
            per_file=tuple(
                FileChoice(Globs(empty.root, self._globs((*route, "files"))), self._choice(route))
                for route in self.items("perFile")
            ),
            ignores=tuple(self._waiver(route, empty.root) for route in self.items("ignores")),
            baseline=self.text("baseline"),
            domains=self._domains(),
            podspec_paths=tuple(self._podspec_path(route) for route in self.items("podspecPaths")),
            roots=self._globs(("roots",)),
            policies=self._texts(("policies",)),
        )
        if self.has("profile") and self.has("select"):
            self.note(
                ("select",), "`select` replaces the profile: leave one of them out, or use `extendSelect`", key=True
            )
        self.throw()
        return config

    def _choice(self, route: Route) -> RuleSelection:
        return RuleSelection(
            select=self._words((*route, "select")),
            extend=self._words((*route, "extendSelect")),
            ignore=self._words((*route, "ignore")),
            severity=tuple((word, Severity(self.text(*at))) for word, at in self._by_rule((*route, "severity"))),
            minor=self._minor((*route, "kubernetesVersion")),
            thresholds=tuple(self._thresholds((*route, "thresholds"))),
        )

    def _waiver(self, route: Route, root: str) -> Waiver:
        patterns = self._globs((*route, "file"))
        return Waiver(
            Place(self.source, self.span(*route, "rule")),
            self._words((*route, "rule")),
            kind=self.text(*route, "kind"),
            name=self.text(*route, "name"),
            namespace=self.text(*route, "namespace"),
            files=Globs(root, patterns) if patterns else None,
        )

    def _domains(self) -> dict[str, tuple[str, ...]]:
        found = {}
        for key, route in self.keys("domains"):
            for error in key_errors(key):
                self.note(route, f"not a label key: {short(key)}: {error}", key=True)
            written = self._written(route)
            for at, (place, value) in enumerate(written):
                errors = value_errors(value) or ["it is listed twice"] * (value in [text for _, text in written[:at]])
                for error in errors:
                    self.note(place, f"domains.{short(key)}: {short(value)}: {error}")
            found[key] = tuple(text for _, text in written)
        return found

    def _podspec_path(self, route: Route) -> tuple[PodSpecPath, Place]:
        group: Optional[str] = self.text(*route, "group") or None
        if self.has(*route, "apiVersion"):
            if group:
                self.note((*route, "group"), "`apiVersion` names a group, too: leave one of them out", key=True)
            group = self.text(*route, "apiVersion").rpartition("/")[0]
        is_spec = self.value(*route, "podSpec") is True
        path = PodSpecPath(self.text(*route, "kind"), self.text(*route, "path"), group, is_spec)
        return path, Place(self.source, self.span(*route, "path"))

    def _words(self, route: Route) -> tuple[str, ...]:
        """Return the names of rules in a list of texts; one text may have several, separated by commas."""
        known = []
        for place, text in self._written(route):
            for word in filter(None, (part.strip() for part in text.split(","))):
                if self._names_a_rule(word, place):
                    known.append(word)
        return tuple(known)

    def _by_rule(self, route: Route) -> Iterator[tuple[str, Route]]:
        """Yield the keys of a mapping that name rules, with the routes of their values."""
        for word, place in self.keys(*route):
            if self._names_a_rule(word, place, key=True) and self.has(*place):
                yield word, place

    def _thresholds(self, route: Route) -> Iterator[tuple[str, int]]:
        for word, place in self._by_rule(route):
            if all(RULES[code].threshold for code in named_codes([word])):
                yield word, self.value(*place)
            else:
                known = ", ".join(code for code, rule in RULES.items() if rule.threshold)
                self.note(place, f"{word} has no threshold: {known} have one", key=True)

    def _names_a_rule(self, word: str, route: Route, *, key: bool = False) -> bool:
        try:
            named_codes([word])
        except UnknownRuleError as error:
            self.note(route, str(error), key=key)
            return False
        return True

    def _minor(self, route: Route) -> Optional[int]:
        try:
            return minor_of(self.text(*route)) if self.has(*route) else None
        except VersionError as error:
            self.note(route, f"{decode.short_path(route)}: {error}")
            return None

    def _globs(self, route: Route) -> tuple[str, ...]:
        written = self._written(route)
        for place, text in written:
            error = glob_error(text)
            if error:
                self.note(place, f"not a glob: {short(text)}: {error}")
        return tuple(text for _, text in written)

    def _texts(self, route: Route) -> tuple[str, ...]:
        return tuple(text for _, text in self._written(route))

    def _written(self, route: Route) -> list[tuple[Route, str]]:
        """Return the texts of a list, or a single text as a list, with their routes."""
        routes = self.items(*route) or [route] * bool(self.text(*route))
        return [(place, self.text(*place)) for place in routes]
