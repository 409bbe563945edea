"""All rules, in the order of their codes.

Rules about the text, and about what the API server refuses, are found while a source is read; the table here declares
them. All other rules are declared beside their functions in `lint/rules`.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Container, Iterable, Iterator
from typing import Optional

import kubectl_spread.lint.rules  # noqa: F401 (declares the rules)
from kubectl_spread.lint.finding import (
    CHECKS,
    DECLARED,
    DocumentFix,
    Finding,
    Knowledge,
    RuleFinding,
    RuleMeta,
    RuleTarget,
    SAFE,
    Severity,
    UNSAFE,
)
from kubectl_spread.lint.placeholder import is_filled_in
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.reading.decode import path_text
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.text.source import SourceFile, Span

_TEXT_RULES = (
    RuleMeta("SPR001", "yaml-syntax", "a document is not valid YAML"),
    RuleMeta(
        "SPR002",
        "template-skipped",
        "a template that contains constraints was not checked",
        Severity.INFO,
        is_opinion=True,
    ),
    RuleMeta("SPR003", "duplicate-key", "a mapping has the same key twice"),
    RuleMeta("SPR004", "separator-text", "there is text on the line of a document separator", fixes=SAFE),
    RuleMeta("SPR005", "unused-suppression", "a suppression has no effect", Severity.WARNING, fixes=SAFE),
    RuleMeta(
        "SPR006",
        "unmapped-podspec",
        "constraints in an unknown kind were checked only in part",
        Severity.INFO,
        is_opinion=True,
    ),
    RuleMeta("SPR101", "max-skew-not-positive", "`maxSkew` is missing, zero or negative", fixes=UNSAFE),
    RuleMeta("SPR102", "topology-key-missing", "`topologyKey` is missing or empty"),
    RuleMeta("SPR103", "when-unsatisfiable-missing", "`whenUnsatisfiable` is missing", fixes=UNSAFE),
    RuleMeta(
        "SPR104",
        "when-unsatisfiable-invalid",
        "`whenUnsatisfiable` is neither DoNotSchedule nor ScheduleAnyway",
        fixes=SAFE,
    ),
    RuleMeta("SPR105", "duplicate-constraint", "two constraints have the same `topologyKey` and `whenUnsatisfiable`"),
    RuleMeta("SPR106", "min-domains-not-positive", "`minDomains` is zero or negative", fixes=SAFE),
    RuleMeta("SPR107", "min-domains-on-soft", "`minDomains` is set without DoNotSchedule", fixes=SAFE),
    RuleMeta("SPR108", "inclusion-policy-invalid", "a node inclusion policy is neither Honor nor Ignore", fixes=SAFE),
    RuleMeta("SPR109", "match-keys-without-selector", "`matchLabelKeys` is set without `labelSelector`", fixes=UNSAFE),
    RuleMeta(
        "SPR110",
        "match-key-in-selector",
        "a key is in both `matchLabelKeys` and `labelSelector`",
        fixes=SAFE,
        supersedes=frozenset(("SPR203", "SPR215", "SPR605")),
    ),
    RuleMeta("SPR111", "match-key-syntax", "an entry of `matchLabelKeys` is not a label key"),
    RuleMeta(
        "SPR112",
        "label-selector-invalid",
        "`labelSelector` is not valid",
        fixes=SAFE,
        supersedes=frozenset(("SPR203", "SPR605")),
    ),
    RuleMeta("SPR113", "wrong-scalar-type", "a value has the wrong type, so the object cannot be decoded", fixes=SAFE),
    RuleMeta("SPR114", "unknown-field", "a constraint has a field that does not exist", fixes=SAFE),
    RuleMeta(
        "SPR115",
        "misplaced-constraints",
        "`topologySpreadConstraints` is in a place where it has no effect",
        fixes=UNSAFE,
    ),
    RuleMeta(
        "SPR116",
        "spec-invalid",
        "a number or the update strategy in the spec of a workload or an autoscaler is not accepted",
    ),
    RuleMeta("SPR607", "suppression-without-reason", "a suppression has no reason", Severity.INFO, is_opinion=True),
)

RULES: dict[str, RuleMeta] = {rule.code: rule for rule in sorted((*_TEXT_RULES, *DECLARED), key=lambda rule: rule.code)}

_AUTOSCALERS = frozenset({"HorizontalPodAutoscaler", "ScaledObject"})


def kinds_around(codes: Container[str]) -> frozenset[str]:
    """Return the kinds of objects, workloads apart, that rules of these codes read.

    Autoscalers are always among them, as every rule may ask for the number of replicas.
    """
    chosen = [rule for code, rule in RULES.items() if code in codes]
    return _AUTOSCALERS.union(*(rule.needs if rule.target is RuleTarget.AROUND else rule.around for rule in chosen))


def superseded_rules(refusals: frozenset[str]) -> frozenset[str]:
    """Return the codes of the rules that stay silent about a workload which the API server refuses with `refusals`."""
    return frozenset[str]().union(*(RULES[code].supersedes for code in refusals))


def findings_by_object(
    project: Project, codes: Collection[str] = RULES, asked: Optional[Container[int]] = None
) -> Iterator[tuple[Manifest, list[Finding]]]:
    """Yield objects with the findings of the rules of these codes; `asked` has the id() of their manifests.

    Objects that a controller of the project made are left out: their findings are the controller's.
    """
    keys = {subject.key for subject in project.subjects}
    for subject in project.subjects:
        if (asked is None or id(subject.manifest) in asked) and subject.maker not in keys:
            yield subject.manifest, list(check_subject(subject, codes))
    for rule in RULES.values():
        if rule.target is RuleTarget.AROUND and rule.code in codes and (project.facts or not rule.needs_facts):
            for manifest in (item for kind in rule.needs for item in project.of_kind(kind)):
                if asked is None or id(manifest) in asked:
                    problems = CHECKS[rule.code](manifest, project)
                    yield manifest, [finding_of(rule.code, manifest, item, path_text(item.route)) for item in problems]


def check_subject(subject: Subject, codes: Collection[str]) -> Iterator[Finding]:
    """Yield what the rules of these codes find in one workload of a project."""
    skipped = superseded_rules(subject.refusals)
    for rule in _rules_about(subject.words, subject.knowledge, frozenset(codes)):
        if rule.code not in skipped and (subject.facts or not rule.needs_facts):
            for problem in CHECKS[rule.code](subject):
                if subject.knowledge < rule.fixes_from:
                    problem = problem._replace(fix=None)  # noqa: PLW2901
                finding = finding_of(rule.code, subject.manifest, problem, subject.path(problem.route))
                if not is_filled_in(finding.place):
                    yield finding


@functools.lru_cache(maxsize=256)  # many workloads have the same words
def _rules_about(words: frozenset[str], knowledge: Knowledge, codes: frozenset[str]) -> tuple[RuleMeta, ...]:
    """Return the rules that may speak about a workload, by its words and by how much is known about its pods."""
    return tuple(
        rule
        for rule in RULES.values()
        if rule.target is RuleTarget.WORKLOAD
        and rule.code in codes
        and rule.needs <= words
        and (not rule.one_of or not words.isdisjoint(rule.one_of))
        and rule.speaks_from <= knowledge
    )


def finding_of(code: str, manifest: Manifest, problem: RuleFinding, path: str) -> Finding:
    """Return the finding for a problem of an object; `path` is the field as the API server prints it."""
    rule, fix, repair = RULES[code], problem.fix, None
    if fix is not None and not manifest.document.is_embedded:
        # The fix of an item of a List becomes one of the document.
        changes = tuple(change._replace(route=(*manifest.route, *change.route)) for change in fix.changes)
        repair = DocumentFix(fix._replace(changes=changes), manifest.source, manifest.document)
    return Finding(
        rule if problem.severity is None else rule._replace(severity=problem.severity),
        problem.message,
        manifest.place(problem.route if problem.at is None else problem.at, key=problem.key),
        manifest.ref,
        path,
        problem.hint,
        problem.related,
        repair=repair,
    )


def sort_findings(findings: Iterable[Finding], sources: Iterable[SourceFile]) -> list[Finding]:
    """Sort findings by source, in the given order, then by place; one that an alias repeats is shown once."""
    order = {id(source): number for number, source in enumerate(sources)}
    shown: dict[tuple[str, int, Span, str], Finding] = {}
    for finding in findings:
        rule, message, (source, span), *_ = finding
        key = rule.code, id(source), span, message.replace(finding.path, "")
        first = shown.get(key)
        if first is None:
            shown[key] = finding
        elif finding.repair is not None:
            shown[key] = first._replace(repeated=(*first.repeated, finding.repair))
    return sorted(shown.values(), key=lambda finding: (order[id(finding.place.source)], finding.place.span.start))
