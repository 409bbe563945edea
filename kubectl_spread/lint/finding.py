"""Findings and the places they name; declarations of rules: `@rule(...)` stands above the function that checks.

The page of a rule is `lint/pages/<code>-<name>.md`.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from enum import Enum, IntEnum
from typing import Any, NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import Place, SourceFile

if TYPE_CHECKING:
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


CLUSTER_AUTOSCALER, KARPENTER = "cluster-autoscaler", "karpenter"
SAFE, UNSAFE = frozenset({Safety.SAFE}), frozenset({Safety.UNSAFE})
EITHER = SAFE | UNSAFE
SCHEDULER = ("KubeSchedulerConfiguration",)

# Of a subject for a rule about workloads, of (manifest, project) for one about other objects.
Check = Callable[..., Iterator[RuleFinding]]


DECLARED: list[RuleMeta] = []
CHECKS: dict[str, Check] = {}  # by code


def rule(
    code: str,
    summary: str,
    severity: Severity = Severity.ERROR,
    *,
    kinds: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    needs_constraints: bool = True,
    **declared: Any,
) -> Callable[[Check], Check]:
    """Declare a rule about workloads, or about other objects of some kinds; see `RuleMeta` for `declared`.

    Its function has the name of the rule, and gets a `Subject`, or a `Manifest` and a `Project`.
    """
    words = frozenset(kinds or ("topologySpreadConstraints",) * needs_constraints + needs)
    target = RuleTarget.AROUND if kinds else RuleTarget.WORKLOAD

    def declare(check: Check) -> Check:
        name = check.__name__.replace("_", "-")
        DECLARED.append(RuleMeta(code, name, summary, severity, target, words, **declared))
        CHECKS[code] = check
        return check

    return declare


def documentation(rule: RuleMeta) -> str:
    """Return the page of a rule, as Markdown with indented examples."""
    path = os.path.join(os.path.dirname(__file__), "pages", f"{rule.code}-{rule.name}.md")
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def search(text: str, rules: Iterable[RuleMeta]) -> list[RuleMeta]:
    """Return the rules that have words of a text in their code, name, summary or page, the best first.

    A rare word weighs more than a frequent one, and four times as much outside the page. A word also matches a longer
    word that begins with it: `cordon` finds `cordoned`.
    """
    texts = {rule: (f"{rule.code} {rule.name} {rule.summary}".lower(), documentation(rule).lower()) for rule in rules}
    scores = dict.fromkeys(texts, 0.0)
    for word in set(re.findall(r"[a-z][a-z0-9]+", text.lower())):
        pattern = re.compile(rf"\b{word}\b" if len(word) < 4 else rf"\b{word.removesuffix('s')}")
        matches = {
            rule: 4 if pattern.search(title) else 1
            for rule, (title, page) in texts.items()
            if pattern.search(title) or pattern.search(page)
        }
        for rule, weight in matches.items():
            scores[rule] += weight * max(math.log(len(texts) / len(matches)), 0.05)
    best = max(scores.values(), default=0.0)
    ranked = [rule for rule in texts if scores[rule] > 0 and scores[rule] >= 0.4 * best]
    return sorted(ranked, key=lambda rule: (-scores[rule], rule.code))
