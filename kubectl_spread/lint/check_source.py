"""The check of one source: its text becomes findings and workloads.

Source: text/template/parse lex.go: an action may span lines, and hold quoted strings and comments with braces.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from enum import Enum
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.errors import SourceError
from kubectl_spread.lint import corrections
from kubectl_spread.lint.admission import check_object, SourceSettings
from kubectl_spread.lint.finding import Finding, Label, Severity
from kubectl_spread.lint.placeholder import has_placeholder
from kubectl_spread.lint.registry import kinds_around, RULES
from kubectl_spread.lint.workload import FIELD, Subject
from kubectl_spread.objects.constraints import constraint_lists
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.workloads.kinds import BUILT_IN, Kinds
from kubectl_spread.objects.workloads.manifest import (
    looks_like_objects,
    Manifest,
    manifests,
    may_hold_constraints,
    objects_of,
    wrong_items,
)
from kubectl_spread.objects.workloads.workload import DEFAULT_NAMESPACE
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.source import Place, SourceFile, Span
from kubectl_spread.text.wording import count_noun

if TYPE_CHECKING:
    from kubectl_spread.lint.outside import BareSubject, NestedObjects


# Each alternative matches in one way only, so that a long text costs no more than its length.
_COMMENT = r"(?<!\S)#[^\n]*"
_SINGLE_QUOTED = r"(?<!\w)'[^'\n]*'"
# `"{{ include "web.name" . }}"` is not quoted text in YAML, and does not parse: an action must end before the quote.
_DOUBLE_QUOTED = r'(?<!\w)"(?:[^"\\\n{]|\\.|\{(?!\{)|\{\{[^"\n{}]*\}\})*"'
_ACTION_COMMENT = r"\{\{-?\s*/\*.*?(?:\*/\s*-?\}\}|\Z)"
_ACTION = r'\{\{(?:[^"`{}]|"(?:[^"\\\n]|\\.)*"|`[^`]*`|\{(?!\{)|\}(?!\}))*\}\}'
_STATEMENT = r"\{%[^%{}\n]*%\}|<%[^%<>\n]*%>|%\{[^%{}\n]*\}"


_OF_CHART = r"\{\{[^{}]*(?:\.(?:Values|Release|Chart|Capabilities|Files|Template)\b|\binclude\s+\"|\btpl\s)"


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


class SkipReason(Enum):
    """Why a part of a source was not checked."""

    TEMPLATE = "template"  # not YAML until it is rendered
    TEXT = "text"  # a text that names constraints and is not YAML
    NOT_YAML = "notYaml"  # a file that the user did not name, without constraints
    SNIPPET = "snippet"  # an example in a documentation, with constraints and parts that are left out
    SUITE = "suite"  # of helm-unittest, with constraints
    FIXTURE = "fixture"  # an input of another program's tests
    GENERATED = "generated"  # from other files, with constraints
    FACTS = "facts"  # a snapshot in a directory
    NO_OBJECT = "noObject"  # a file without a Kubernetes object and without constraints


class Result(NamedTuple):
    """The content of one source.

    rejected: the number of workloads that the API server would refuse; `subjects` has the decodable ones, too.
    others: the objects that are not workloads.
    lists: the constraints outside the pod specs of known kinds.
    worlds: the objects inside other documents.
    skipped: why parts were not checked.
    placeholders: the number of workloads that are neither accepted nor refused: another tool fills in a value.
    """

    source: SourceFile
    findings: tuple[Finding, ...]
    rejected: int = 0
    subjects: tuple[Subject, ...] = ()
    others: tuple[Manifest, ...] = ()
    lists: tuple[BareSubject, ...] = ()
    worlds: tuple[NestedObjects, ...] = ()
    skipped: frozenset[SkipReason] = frozenset()
    placeholders: int = 0

    @property
    def workloads(self) -> tuple[Subject, ...]:
        """Return the workloads that the API server would accept."""
        return tuple(subject for subject in self.subjects if not subject.refusals)

    def errors(self) -> Iterator[tuple[Finding, SourceError]]:
        """Yield the findings of severity error, which keep an object from being created, each as an error."""
        for finding in self.findings:
            if finding.rule.severity is Severity.ERROR:
                start, message = finding.place.span.start, f"{finding.rule.code} {finding.message}"
                yield finding, self.source.error(start, message)


def bare_lists(results: Iterable[Result]) -> list[BareSubject]:
    """Return the constraints of some sources that are outside the pod specs of known kinds."""
    return [item for result in results for item in result.lists]


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
    # Two files with one Service are alternatives, whatever the rules look at.
    around = kinds_around(codes) | (_NAMING if FIELD in source.text else frozenset())
    return Reading(source, SourceSettings(namespace, minor, kinds, around), named=named).read()


_NAMING = frozenset({"Service"})
_OTHER_FORMAT = r"\.(?!ya?ml$|json$)\w+$"


class Reading:
    """A reader of one source, document by document, with the parts of the result."""

    def __init__(self, source: SourceFile, settings: SourceSettings, *, named: bool) -> None:
        self.source = source
        self.settings = settings
        self.is_named = named
        self.matters = named or FIELD in source.text  # an error hides what the user asked for
        self.findings: list[Finding] = []
        self.subjects: list[Subject] = []
        self.others: list[Manifest] = []
        self.lists: list[BareSubject] = []
        self.worlds: list[NestedObjects] = []
        self.skipped: set[SkipReason] = set()
        self.undecodable = 0
        self.is_searched = False  # for constraints outside the pod specs of known kinds
        self.has_other_texts = False  # texts that name constraints and are not YAML

    def read(self) -> Result:
        """Read the text document by document. Without an object, it may hold constraints, as values of a chart do."""
        text, has_kind = self.source.text, looks_like_objects(self.source.text)
        wanted = self.settings.may_concern
        is_relevant = wanted(text) if has_kind else may_hold_constraints(text)
        are_objects = has_kind and is_relevant
        problems: list[compose.SyntaxProblem] = []
        # Of a file that its owner named, the syntax is checked, unless its name says that it is no YAML.
        is_read = is_relevant or (self.is_named and (has_kind or re.search(_OTHER_FORMAT, self.source.name) is None))
        for document in compose.compose(self.source, wanted if are_objects else bool) if is_read else ():
            if isinstance(document, compose.SyntaxProblem):
                problems.append(document)
            elif is_relevant:
                self._document(document)
        for problem in problems if are_objects else problems[:1]:
            self._syntax(problem)
        if are_objects and not self.skipped:
            for span in compose.separator_texts(text):
                separator = f"invalid Yaml document separator: {text[slice(*span)]}"
                finding = Finding(
                    RULES["SPR004"],
                    f"kubectl stops here and applies nothing below: {separator}",
                    Place(self.source, span),
                    hint="remove the text, turn it into a comment, or move it to a line of its own",
                    repair=corrections.fix_for_separator(self.source, span),
                )
                self.findings.append(finding)
        is_empty = not (self.subjects or self.others or self.skipped or self.findings or self.is_searched)
        if is_empty and not (has_kind and (not self.is_named or any(objects_of(self.source)))):
            self.skipped.add(SkipReason.NO_OBJECT)
        if self.has_other_texts:
            self.skipped.add(SkipReason.TEXT)
        if self.lists:
            from kubectl_spread.lint.outside import partial_check_finding

            self.findings += partial_check_finding(self.lists)
        refused = [item for item in self.subjects if item.refusals and not item.is_partial]
        placeholders = sum(item.is_open for item in refused)
        return Result(
            self.source,
            tuple(self.findings),
            self.undecodable + len(refused) - placeholders,
            tuple(self.subjects),
            tuple(self.others),
            tuple(self.lists),
            tuple(self.worlds),
            frozenset(self.skipped),
            placeholders,
        )

    def _document(self, document: compose.Document) -> None:
        if not self.is_named and fields(document.plain).get("kind") == "Snapshot":
            self.skipped.add(SkipReason.FACTS)
            return
        self.findings += _duplicate_keys(document)
        self.findings += _wrong_items(document, self.settings.kinds)
        is_object = False
        for manifest in manifests(document, self.settings.kinds):
            is_object = True
            findings, subjects = check_object(manifest, self.settings)
            self.findings += findings if self.matters else (item._replace(is_unreadable=False) for item in findings)
            self.subjects += subjects or ()
            self.undecodable += subjects is None
            if manifest.workload_kind is None or manifest.workload_kind.is_foreign:
                self._search(manifest)
            if subjects == []:
                self.others.append(manifest)
        if not is_object:
            self._search(Manifest(document, (), fields(document.plain), "", ""))

    def _syntax(self, problem: compose.SyntaxProblem) -> None:
        """Report a document that is not YAML: a template, or an error in a file that matters."""
        action = first_action(self.source.text)
        if action is None:
            if self.is_named or (self.matters and not _is_snippet(problem)):
                place = Place(self.source, problem.span)
                self.findings.append(Finding(RULES["SPR001"], problem.sentence, place, is_unreadable=True))
            else:
                self.skipped.add(SkipReason.SNIPPET if self.matters else SkipReason.NOT_YAML)
            return
        if not self.skipped and FIELD in self.source.text:
            # Only Helm provides these: Jinja, chezmoi and others have `{{`, too.
            is_helm = re.search(_OF_CHART, self.source.text) is not None
            what = "Helm template" if is_helm else "template"
            self.findings.append(
                Finding(
                    RULES["SPR002"],
                    f"this {what} was not checked: it is not YAML until it is rendered",
                    Place(self.source, action),
                    hint=f"render it first: {'helm template ... | ' if is_helm else '... | '}kubectl spread check -",
                )
            )
        self.skipped.add(SkipReason.TEMPLATE)

    def _search(self, manifest: Manifest) -> None:
        """Search for constraints outside the pods of an object; its kind is empty for a document that is no object."""
        if not constraint_lists.may_hold(manifest.document.text):
            return
        from kubectl_spread.lint import outside  # needed by few sources

        if not manifest.kind and constraint_lists.is_suite(manifest.plain):
            self.skipped.add(SkipReason.SUITE)
        self.is_searched = True
        outside.search(self, manifest)


_LEFT_OUT = r"(?m)^[ \t]*(?:-[ \t]*)?(?:\.\.\.|…|\[\.\.\.\])|(?<![${]){\w+}|<[A-Za-z][\w -]*>"


def _is_snippet(problem: compose.SyntaxProblem) -> bool:
    """Return whether the line of a syntax error, or the one before, has `...`, `{name}` or `<name>`."""
    text, at = problem.source.text, problem.span.start
    before = text.rfind("\n", 0, max(0, text.rfind("\n", 0, at))) + 1
    return re.search(_LEFT_OUT, text[before : text.find("\n", at) + 1 or None]) is not None


def _wrong_items(document: compose.Document, kinds: Kinds) -> Iterator[Finding]:
    """Yield a finding for each place in a List where an object is missing, unless a tool fills it in."""
    for route, what in wrong_items(document.plain, kinds):
        node = document.follow(route)
        if node is not None and not has_placeholder(nodes.to_plain(node)):
            path = decode.path_text(route)
            yield Finding(
                RULES["SPR113"],
                f"`{path}` {what}, so kubectl cannot read the List",
                Place(document.source, nodes.span(node)),
                path=path,
                hint="write the objects as items of a list, each with `apiVersion` and `kind`",
                is_unreadable=True,
            )


def _duplicate_keys(document: compose.Document) -> Iterator[Finding]:
    """Yield a finding for each mapping with a repeated key; those of other values than constraints are information."""
    plain = document.plain
    is_object = isinstance(plain, dict) and "kind" in plain and "apiVersion" in plain
    for mapping in nodes.mappings(document.root):
        duplicates = mapping.duplicates()
        if not duplicates:
            continue
        first, more = duplicates[0], len(duplicates) - 1
        text = document.source.text[mapping.start : mapping.end]
        is_related = any(word in text for word in (*constraint_lists.FIELDS, "abels"))
        keys = f"`{first.text}`" + (f" and {count_noun(more, 'more key')}" if more else "")
        verb = "are" if more else "is"
        rule = RULES["SPR003"] if is_related or is_object else RULES["SPR003"]._replace(severity=Severity.INFO)
        yield Finding(
            rule,
            f"the key{'s' if more else ''} {keys} {verb} in this mapping twice; only the last value counts"
            f"{'' if is_related else ' (unrelated to spreading)'}",
            Place(document.source, nodes.span(first.again)),
            hint="add the separator `---` that is missing between two objects"
            if more and first.text == "apiVersion"
            else "remove one of the two",
            related=(Label(Place(document.source, nodes.span(first.first)), "first written here"),),
        )
