"""Findings and the places they name."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from kubectl_spread.text.source import SourceFile
from kubectl_spread.text.source import Span


class Severity(Enum):
    """How bad a finding is, the worst first."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class RuleMeta(NamedTuple):
    """What is known of a rule without running it."""

    code: str
    name: str
    severity: Severity
    summary: str


class Place(NamedTuple):
    """A range of a source."""

    source: SourceFile
    span: Span


class Label(NamedTuple):
    """Another place that a finding is about, and what stands there."""

    place: Place
    text: str


class ObjectRef(NamedTuple):
    """The object a finding is about."""

    kind: str = ""
    namespace: str = ""
    name: str = ""


class Finding(NamedTuple):
    """One thing wrong, at one place.

    `path` is the field as the API server prints it. `is_unreadable`: the API server could not decode the
    document, so nothing that follows from its content was checked.
    """

    rule: RuleMeta
    message: str
    place: Place
    object: ObjectRef = ObjectRef()
    path: str = ""
    hint: str = ""
    related: tuple[Label, ...] = ()
    is_unreadable: bool = False
