"""Findings and the places they name."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import Place, SourceFile

if TYPE_CHECKING:  # needed where something is fixed, and where rules run
    from kubectl_spread.text.compose import Document
    from kubectl_spread.text.edit import Change, Edit


class Severity(Enum):
    """The severity of a finding, the worst first."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Safety(Enum):
    """The risk that a fix changes the placement of pods."""

    SAFE = "safe"
    UNSAFE = "unsafe"


class Knowledge(IntEnum):
    """How much is known about the pods that a list of constraints is for."""

    UNKNOWN = 0  # values of a chart that is elsewhere, a custom resource of any kind
    PARTLY = 1  # a patch, a release of a chart, values beside the chart's templates, a kind of a well-known operator
    KNOWN = 2  # a pod template


class RuleTarget(Enum):
    """The objects that a rule checks."""

    OBJECT = "object"  # the text and its errors in the API server
    WORKLOAD = "workload"  # a workload that decodes
    AROUND = "around"  # another object, of one of the kinds in the rule's `needs`


class RuleMeta(NamedTuple):
    """A rule as its declaration describes it.

    Attributes:
        needs: for a rule about workloads, words that a workload must have before the rule is asked. Words are
            its kind, field names of its controller, pod and constraints, topology keys and actions. For a rule about
            other objects, their kinds.
        one_of: words of the same sort. One of them is enough; without any there is no condition.
        is_opinion: the rule runs only if it is selected, or if the manifests are for one of its `autoscalers`.
        needs_facts: the rule runs only if cluster facts are known.
        around: kinds of other objects that a rule about workloads reads.
        speaks_from: the least that must be known about the pods before the rule says anything.
        fixes_from: the least that must be known before a finding has a fix.
        fixes: the kinds of fixes that its findings may have.
        threshold: a number from which on the rule speaks, which the configuration may replace; 0 if it has none.
        supersedes: codes of rules about workloads that are skipped for a workload refused with this rule's code.
    """

    code: str
    name: str
    summary: str
    severity: Severity = Severity.ERROR
    target: RuleTarget = RuleTarget.OBJECT
    needs: frozenset[str] = frozenset()
    one_of: tuple[str, ...] = ()
    is_opinion: bool = False
    needs_facts: bool = False
    around: tuple[str, ...] = ()
    autoscalers: tuple[str, ...] = ()
    speaks_from: Knowledge = Knowledge.PARTLY
    fixes_from: Knowledge = Knowledge.KNOWN
    fixes: frozenset[Safety] = frozenset()
    supersedes: frozenset[str] = frozenset()
    threshold: int = 0


class Label(NamedTuple):
    """Another place that a finding is about, and its meaning."""

    place: Place
    text: str


class Fix(NamedTuple):
    """A fix of a finding: `title` is in the imperative, and the routes of `changes` lead from the object.

    A safe fix changes only spelling, and values that the API server refuses anyway.
    """

    title: str
    changes: tuple[Change, ...]
    is_safe: bool = False


class RuleFinding(NamedTuple):
    """A problem of an object at one route, found by a rule. A `severity` replaces the rule's own.

    `key`: the place is the field's name. `at` is the route of the place if it is another one.
    """

    message: str
    route: Route
    hint: str = ""
    related: tuple[Label, ...] = ()
    severity: Optional[Severity] = None
    fix: Optional[Fix] = None
    key: bool = False
    at: Optional[Route] = None


class DocumentFix(NamedTuple):
    """A fix and the document it would be made in; its routes lead from the document's root.

    Comments and separators, which are not part of a document, are changed by `edits` instead.
    """

    fix: Fix
    source: SourceFile
    document: Optional[Document] = None
    edits: tuple[Edit, ...] = ()


class Finding(NamedTuple):
    """A problem at one place, with the rule that reports it and the affected object.

    `path` is the field as the API server prints it. `is_unreadable`: the API server could not decode the document,
    so its content was not checked. `repeated` are the repairs where an alias repeats the place.
    """

    rule: RuleMeta
    message: str
    place: Place
    object: ObjectKey = ObjectKey()
    path: str = ""
    hint: str = ""
    related: tuple[Label, ...] = ()
    is_unreadable: bool = False
    repair: Optional[DocumentFix] = None
    repeated: tuple[DocumentFix, ...] = ()
