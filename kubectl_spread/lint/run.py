"""Sources to findings and workloads."""

from __future__ import annotations

import functools
from collections.abc import Callable
from collections.abc import Container
from typing import NamedTuple

from kubectl_spread.lint import fixes
from kubectl_spread.lint.admission import check_object
from kubectl_spread.lint.admission import unmapped
from kubectl_spread.lint.catalogue import kinds_around
from kubectl_spread.lint.catalogue import RULES
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.finding import Place
from kubectl_spread.lint.subject import FIELD
from kubectl_spread.lint.subject import Subject
from kubectl_spread.lint.template import first_action
from kubectl_spread.objects.kinds import BUILT_IN
from kubectl_spread.objects.kinds import Kinds
from kubectl_spread.objects.manifest import looks_like_objects
from kubectl_spread.objects.manifest import looks_relevant
from kubectl_spread.objects.manifest import Manifest
from kubectl_spread.objects.manifest import manifests
from kubectl_spread.objects.workload import DEFAULT_NAMESPACE
from kubectl_spread.objects.workload import Workload
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.source import SourceFile


class Checked(NamedTuple):
    """A workload that the API server would accept, ready to be placed, and the manifest it came from."""

    workload: Workload
    manifest: Manifest


class Result(NamedTuple):
    """What one source held.

    `rejected` counts the workloads that the API server would not take; those of them that decode are among the
    `subjects`, as all the others are. `others` are the objects around workloads.
    """

    source: SourceFile
    findings: tuple[Finding, ...]
    workloads: tuple[Checked, ...]
    rejected: int = 0
    subjects: tuple[Subject, ...] = ()
    others: tuple[Manifest, ...] = ()


def check_source(
    source: SourceFile,
    *,
    named: bool,
    codes: Container[str] = RULES,
    kinds: Kinds = BUILT_IN,
    namespace: str = DEFAULT_NAMESPACE,
) -> Result:
    """Check one source.

    Args:
        source: the text.
        named: whether the user asked for this very file.
        codes: the rules to follow later; documents that none of them looks at are not composed.
        kinds: those that have pod templates.
        namespace: of objects that name none.
    """
    if not looks_like_objects(source.text):
        return _check_foreign(source, named=named)
    findings: list[Finding] = []
    subjects: list[Subject] = []
    others: list[Manifest] = []
    undecodable = 0
    wanted = functools.partial(looks_relevant, around=kinds_around(codes), kinds=kinds)
    for document in compose.compose(source, wanted):
        if isinstance(document, compose.SyntaxProblem):
            findings.append(_syntax(document))
            continue
        findings += _duplicate_keys(document)
        has_constraints = source.text.find(FIELD, document.root.start, document.root.end) >= 0
        for manifest in manifests(document, kinds):
            checked = check_object(manifest, namespace)
            findings += checked.findings
            findings += unmapped(manifest) if has_constraints and manifest.workload_kind is None else []
            subjects += checked.subjects
            undecodable += checked.is_undecodable
            if not checked.subjects and not checked.is_undecodable:
                others.append(manifest)
    findings += _separator_texts(source, findings, wanted)
    workloads = tuple(Checked(item.workload, item.manifest) for item in subjects if not item.refusals)
    rejected = undecodable + sum(bool(item.refusals) and not item.is_partial for item in subjects)
    return Result(source, _without_template_noise(findings), workloads, rejected, tuple(subjects), tuple(others))


def _check_foreign(source: SourceFile, *, named: bool) -> Result:
    """A text without a Kubernetes object: nobody's business, unless its owner named it and it is not YAML."""
    findings: tuple[Finding, ...] = ()
    if named:
        documents = compose.compose(source)
        problems = [item for item in documents if isinstance(item, compose.SyntaxProblem)]
        findings = _without_template_noise([_syntax(problem) for problem in problems])[:1]
    return Result(source, findings, ())


def _separator_texts(source: SourceFile, findings: list[Finding], is_relevant: Callable[[str], bool]) -> list[Finding]:
    """What kubectl stops at, if it is a file for kubectl: no template, and with something to check."""
    found: list[Finding] = []
    spans = list(compose.separator_texts(source.text))
    if not spans or not is_relevant(source.text) or any(item.rule.code == "SPR002" for item in findings):
        return found
    for span in spans:
        text = source.text[span.start : span.end]
        message = f"kubectl reads no further: invalid Yaml document separator: {text}"
        hint = "remove it, or make it a comment, or put it on a line of its own"
        found.append(
            Finding(RULES["SPR004"], message, Place(source, span), hint=hint, repair=fixes.for_separator(source, span))
        )
    return found


def _duplicate_keys(document: compose.Document) -> list[Finding]:
    found = []
    for mapping in nodes.mappings(document.root):
        for duplicate in mapping.duplicates():
            place = Place(document.source, nodes.span(duplicate.again))
            first = Label(Place(document.source, nodes.span(duplicate.first)), "first written here")
            found.append(
                Finding(
                    RULES["SPR003"],
                    f"the key `{duplicate.text}` is written twice in one mapping; the last one counts",
                    place,
                    hint="remove one of the two",
                    related=(first,),
                )
            )
    return found


def _syntax(problem: compose.SyntaxProblem) -> Finding:
    place = Place(problem.source, problem.span)
    action = first_action(problem.source.text)
    if action is not None:
        is_go = problem.source.text.startswith("{{", action.start)
        return Finding(
            RULES["SPR002"],
            f"a {'Go template' if is_go else 'template'}, not YAML: not checked",
            place._replace(span=action),
            hint=f"render it first: {'helm template ... | ' if is_go else '... | '}kubectl spread check -",
        )
    return Finding(RULES["SPR001"], problem.sentence, place, is_unreadable=True)


def _without_template_noise(findings: list[Finding]) -> tuple[Finding, ...]:
    """One line for a template, however many of its documents do not parse."""
    kept: list[Finding] = []
    for finding in findings:
        is_template = finding.rule.code == "SPR002"
        if not is_template or all(other.rule.code != "SPR002" for other in kept):
            kept.append(finding)
    return tuple(kept)
