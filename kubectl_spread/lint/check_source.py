"""The check of one source: its text becomes findings and workloads.

Source: text/template/parse lex.go: an action may span lines, and hold quoted strings and comments with braces.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Container
from functools import cached_property
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.lint import corrections
from kubectl_spread.lint.admission import check_object
from kubectl_spread.lint.finding import Finding, Label
from kubectl_spread.lint.registry import kinds_around, RULES
from kubectl_spread.lint.workload import FIELD, Subject
from kubectl_spread.objects.constraints import constraint_lists
from kubectl_spread.objects.workloads.kinds import BUILT_IN, Kinds
from kubectl_spread.objects.workloads.manifest import (
    looks_like_objects,
    looks_relevant,
    Manifest,
    manifests,
    may_hold_constraints,
)
from kubectl_spread.objects.workloads.workload import DEFAULT_NAMESPACE, Workload
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.source import Place, SourceFile, Span

if TYPE_CHECKING:
    from kubectl_spread.lint.outside import Outside


# Each alternative matches in one way only, so that a long text costs no more than its length.
_COMMENT = r"(?<!\S)#[^\n]*"
_SINGLE_QUOTED = r"(?<!\w)'[^'\n]*'"
# `"{{ include "web.name" . }}"` is not quoted text in YAML, and does not parse: an action must end before the quote.
_DOUBLE_QUOTED = r'(?<!\w)"(?:[^"\\\n{]|\\.|\{(?!\{)|\{\{[^"\n{}]*\}\})*"'
_ACTION_COMMENT = r"\{\{-?\s*/\*.*?(?:\*/\s*-?\}\}|\Z)"
_ACTION = r'\{\{(?:[^"`{}]|"(?:[^"\\\n]|\\.)*"|`[^`]*`|\{(?!\{)|\}(?!\}))*\}\}'
_STATEMENT = r"\{%[^%{}\n]*%\}|<%[^%<>\n]*%>|%\{[^%{}\n]*\}"


_OF_CHART = r"\{\{[^{}]*(?:\.(?:Values|Release|Chart|Capabilities|Files|Template)\b|\binclude\s+\"|\btpl\s)"


def is_of_chart(text: str) -> bool:
    """Return whether a template asks for what only Helm provides: Jinja, chezmoi and others have `{{`, too."""
    return re.search(_OF_CHART, text) is not None


def first_action(text: str) -> Optional[Span]:
    """Return the place of the first action outside comments and quoted text; None if there is none."""
    actions = [_ACTION_COMMENT, _ACTION] if "{{" in text else []
    if any(mark in text for mark in ("{%", "<%", "%{")):
        actions.append(_STATEMENT)
    if not actions:
        return None
    # Needed only after a parse error, so not compiled on import.
    tokens = re.compile(f"{_COMMENT}|{_SINGLE_QUOTED}|{_DOUBLE_QUOTED}|(?P<action>{'|'.join(actions)})", re.DOTALL)
    match = next((match for match in tokens.finditer(text) if match["action"]), None)
    return Span(match.start(), match.end()) if match else None


class AcceptedWorkload(NamedTuple):
    """A workload that the API server would accept, ready to be placed, and the manifest it came from."""

    workload: Workload
    manifest: Manifest


class Result(NamedTuple):
    """The content of one source.

    rejected: the number of workloads that the API server would refuse; `subjects` has the decodable ones, too.
    others: the objects that are not workloads.
    outside: constraints outside the pod specs of known kinds.
    is_template: at least a part of the source is a template, which is not YAML and was not checked.
    placeholders: the number of workloads that are neither accepted nor refused: another tool fills in a value.
    """

    source: SourceFile
    findings: tuple[Finding, ...]
    workloads: tuple[AcceptedWorkload, ...]
    rejected: int = 0
    subjects: tuple[Subject, ...] = ()
    others: tuple[Manifest, ...] = ()
    outside: Optional[Outside] = None
    is_template: bool = False
    placeholders: int = 0


def check_source(
    source: SourceFile,
    *,
    named: bool,
    codes: Container[str] = RULES,
    kinds: Kinds = BUILT_IN,
    namespace: str = DEFAULT_NAMESPACE,
    minor: Optional[int] = None,
) -> Result:
    """Check one source.

    Args:
        source: the text.
        named: whether the user named this file.
        codes: the rules to run later; documents that none of them reads are not composed.
        kinds: the kinds with pod templates.
        namespace: of objects that name none.
        minor: the API server's minor version, if it is known.
    """
    reading = _Reading(source, kinds=kinds, around=kinds_around(codes), namespace=namespace, minor=minor)
    if looks_like_objects(source.text):
        return reading.objects(named=named)
    return reading.foreign(named=named)


class _Reading:
    """A reader of one source, document by document."""

    def __init__(
        self, source: SourceFile, *, kinds: Kinds, around: frozenset[str], namespace: str, minor: Optional[int]
    ) -> None:
        self.source = source
        self.minor = minor
        self.kinds = kinds
        self.around = around
        self.namespace = namespace
        self.findings: list[Finding] = []
        self.subjects: list[Subject] = []
        self.others: list[Manifest] = []
        self.undecodable = 0
        self.outside: Optional[Outside] = None

    def objects(self, *, named: bool) -> Result:
        """Read a text with Kubernetes objects."""
        wanted = functools.partial(looks_relevant, around=self.around, kinds=self.kinds)
        if named and not wanted(self.source.text):
            problems = (found for found in compose.compose(self.source) if isinstance(found, compose.SyntaxProblem))
            findings = map(self._syntax, problems)
            self.findings += [finding for finding in itertools.islice(findings, 1) if finding.rule.code == "SPR001"]
            return self._result()
        for document in compose.compose(self.source, wanted):
            if isinstance(document, compose.SyntaxProblem):
                self.findings.append(self._syntax(document))
            else:
                self._document(document)
        self.findings += _separator_texts(self.source, self.findings, wanted)
        return self._result()

    def foreign(self, *, named: bool) -> Result:
        """Read a text without an object: its owner named it, or it holds constraints, as values of a chart do."""
        holds_constraints = may_hold_constraints(self.source.text)
        if not named and not holds_constraints:
            return Result(self.source, (), ())
        problems: list[compose.SyntaxProblem] = []
        for document in compose.compose(self.source):
            if isinstance(document, compose.SyntaxProblem):
                problems.append(document)
            elif holds_constraints:
                self._document(document)
        syntax = [self._syntax(problem) for problem in problems[:1]]
        self.findings += [item for item in syntax if named or item.rule.code == "SPR002"]
        return self._result()

    def _document(self, document: compose.Document) -> None:
        self.findings += _duplicate_keys(document)
        is_object = False
        for manifest in manifests(document, self.kinds):
            is_object = True
            checked = check_object(manifest, self.namespace, minor=self.minor)
            self.findings += checked.findings
            self.subjects += checked.subjects
            self.undecodable += checked.is_undecodable
            is_searched = manifest.workload_kind is None or manifest.workload_kind.is_foreign
            if is_searched and self._may_be_in(document):
                self._search(manifest)
            if not checked.subjects and not checked.is_undecodable:
                self.others.append(manifest)
        if not is_object and self._may_be_in(document):
            self._search(Manifest(document, (), {}, "", ""))

    def _syntax(self, problem: compose.SyntaxProblem) -> Finding:
        if self._template is not None:
            return self._template
        return Finding(RULES["SPR001"], problem.sentence, Place(self.source, problem.span), is_unreadable=True)

    @cached_property
    def _template(self) -> Optional[Finding]:
        """Return the finding for a source that is a template; None for another source."""
        action = first_action(self.source.text)
        if action is None:
            return None
        is_helm = is_of_chart(self.source.text)
        return Finding(
            RULES["SPR002"],
            f"this {'Helm template' if is_helm else 'template'} was not checked: it is not YAML until it is rendered",
            Place(self.source, action),
            hint=f"render it first: {'helm template ... | ' if is_helm else '... | '}kubectl spread check -",
        )

    def _may_be_in(self, document: compose.Document) -> bool:
        """Return whether a document may hold constraints outside the pod specs of known kinds."""
        return self._may_hold and constraint_lists.may_hold(document.text)

    @cached_property
    def _may_hold(self) -> bool:
        return constraint_lists.may_hold(self.source.text)

    def _search(self, manifest: Manifest) -> None:
        from kubectl_spread.lint import outside  # needed by few sources

        if self.outside is None:
            self.outside = outside.Outside(self.kinds, self.around, self.namespace, self.minor)
        kind = manifest.workload_kind
        places = [] if kind is None else [place.template for place in kind.places(manifest.plain)]
        self.outside.search(manifest, is_own=lambda route: any(route[: len(place)] == place for place in places))

    def _result(self) -> Result:
        if self.outside is not None:
            from kubectl_spread.lint.outside import partial_check_finding

            self.findings += [*self.outside.findings, *partial_check_finding(self.outside)]
        is_template = any(item.rule.code == "SPR002" for item in self.findings)
        names_constraints = FIELD in self.source.text
        workloads = tuple(AcceptedWorkload(item.workload, item.manifest) for item in self.subjects if not item.refusals)
        refused = [item for item in self.subjects if item.refusals and not item.is_partial]
        placeholders = sum(item.is_open for item in refused)
        return Result(
            self.source,
            _without_template_noise(self.findings, is_reported=names_constraints),
            workloads,
            self.undecodable + len(refused) - placeholders,
            tuple(self.subjects),
            tuple(self.others),
            self.outside,
            is_template,
            placeholders,
        )


def _separator_texts(source: SourceFile, findings: list[Finding], is_relevant: Callable[[str], bool]) -> list[Finding]:
    """Return the separators at which kubectl stops, if the file is not a template and has something to check."""
    found: list[Finding] = []
    spans = list(compose.separator_texts(source.text))
    if not spans or not is_relevant(source.text) or any(item.rule.code == "SPR002" for item in findings):
        return found
    for span in spans:
        text = source.text[span.start : span.end]
        message = f"kubectl stops here and applies nothing below: invalid Yaml document separator: {text}"
        hint = "remove the text, turn it into a comment, or move it to a line of its own"
        found.append(
            Finding(
                RULES["SPR004"],
                message,
                Place(source, span),
                hint=hint,
                repair=corrections.fix_for_separator(source, span),
            )
        )
    return found


def _duplicate_keys(document: compose.Document) -> list[Finding]:
    found: list[Finding] = []
    for mapping in nodes.mappings(document.root):
        for duplicate in mapping.duplicates():
            place = Place(document.source, nodes.span(duplicate.again))
            first = Label(Place(document.source, nodes.span(duplicate.first)), "first written here")
            found.append(
                Finding(
                    RULES["SPR003"],
                    f"the key `{duplicate.text}` is in this mapping twice; only the last value counts",
                    place,
                    hint="remove one of the two",
                    related=(first,),
                )
            )
    return found


def _without_template_noise(findings: list[Finding], *, is_reported: bool) -> tuple[Finding, ...]:
    """Return one finding for a template that names constraints, and none for other templates."""
    kept: list[Finding] = []
    for finding in findings:
        is_template = finding.rule.code == "SPR002"
        if not is_template or (is_reported and all(other.rule.code != "SPR002" for other in kept)):
            kept.append(finding)
    return tuple(kept)
