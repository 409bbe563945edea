"""A behaviour of kube-scheduler or the API server that changed between releases."""

from __future__ import annotations

from enum import Enum
from typing import Generic, TypeVar

from kubectl_spread.objects.releases.version import LATEST, Release, release_of

T = TypeVar("T")


class Impact(Enum):
    """The aspect of scheduling that a behaviour can change."""

    PLACEMENT = "placement"  # the feasible nodes, or the choice among them
    TEXT = "text"  # a reason, a code or a message
    SCORES = "scores"  # the table of scores, and not the order of the nodes
    VALIDATION = "validation"  # refusals of the API server


class Era(Generic[T]):
    """A value, the release in which it begins, and its description. It ends with the next era."""

    __slots__ = ("since", "value", "words")

    def __init__(self, since: Release, value: T, words: str) -> None:
        self.since = since
        self.value = value
        self.words = words


class Behaviour(Generic[T]):
    """The behaviour of one plugin in each release.

    name: for people and for JSON. reader: the plugin, or the part of the framework. source: the upstream file.
    eras: oldest first. A change that was backported has an era for each minor version in between.
    """

    # Not a dataclass: importing these costs as much as the whole table.
    __slots__ = ("_values", "effect", "eras", "name", "reader", "source")

    def __init__(self, name: str, reader: str, source: str, effect: Impact, eras: tuple[Era[T], ...]) -> None:
        self.name = name
        self.reader = reader
        self.source = source
        self.effect = effect
        self.eras = eras
        self._values: dict[Release, T] = {}  # perf: each class of pods reads a dozen of them

    def era(self, release: Release) -> Era[T]:
        """Return the era that a release belongs to; the first era if the release is older than all."""
        return next((era for era in reversed(self.eras) if era.since <= release), self.eras[0])

    def of(self, release: Release) -> T:
        """Return the value in a release."""
        if release not in self._values:
            self._values[release] = self.era(release).value
        return self._values[release]

    def differs(self, release: Release) -> bool:
        """Return whether a release behaves differently from the newest one."""
        return self.of(release) != self.of(LATEST)


def era_since(version: str, value: T, words: str) -> Era[T]:
    """Make an era that begins in `1.24` (its first patch) or in `1.34.4`."""
    text = version if version.count(".") > 1 else f"{version}.0"
    return Era(release_of(text), value, words)


def switch(name: str, reader: str, source: str, effect: Impact, *versions: str, off: str, on: str) -> Behaviour[bool]:
    """Make a behaviour that is off at first and turned over by each of the versions."""
    turns = [era_since("1.18", value=False, words=off)]
    for at, version in enumerate(versions):
        is_on = at % 2 == 0
        turns.append(era_since(version, value=is_on, words=on if is_on else off))
    return Behaviour(name, reader, source, effect, tuple(turns))


def texts(name: str, reader: str, source: str, *wordings: tuple[str, str]) -> Behaviour[str]:
    """Make a behaviour from versions and the text used since each; an empty text is not written."""
    eras = (era_since(version, text, f"says {_shown(text)}" if text else "has no reason") for version, text in wordings)
    return Behaviour(name, reader, source, Impact.TEXT, tuple(eras))


def _shown(text: str) -> str:
    """Quote a text in backquotes, with `{key: value}` as upstream's documents write it."""
    return f"`{text.replace('{{{', '{').replace('}}}', '}').replace('}: {', ': ')}`"
