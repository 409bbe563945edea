"""Runs of rules over a project, after everything is read."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator

from kubectl_spread.lint.finding import Finding, RuleFinding, RuleMeta, RuleTarget
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.placeholder import is_filled_in
from kubectl_spread.lint.registry import CHECKS, RULES, superseded_rules
from kubectl_spread.lint.workload import reference, repair, Subject
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.text.source import SourceFile


def check_workloads(project: Project, codes: Container[str] = RULES) -> list[Finding]:
    """Return the findings of the rules of these codes: workload by workload, then of the objects around them."""
    return [finding for _, findings in findings_by_object(project, codes) for finding in findings]


def findings_by_object(
    project: Project, codes: Container[str] = RULES, *, is_asked: Callable[[Manifest], bool] = lambda _: True
) -> Iterator[tuple[Manifest, list[Finding]]]:
    """Yield objects with the findings of the rules of these codes; `is_asked` leaves objects out."""
    rules = _rules(project, RuleTarget.WORKLOAD, codes)
    followed: dict[tuple[frozenset[str], bool], tuple[RuleMeta, ...]] = {}  # many workloads have the same words
    for subject in filter(lambda item: is_asked(item.manifest), project.subjects):
        key = subject.words, subject.is_partial
        if key not in followed:
            followed[key] = _with_words(rules, subject.words, is_partial=subject.is_partial)
        yield subject.manifest, list(_follow(subject, project, followed[key]))
    for rule in _rules(project, RuleTarget.AROUND, codes):
        for kind in rule.needs:
            for manifest in filter(is_asked, project.of_kind(kind)):
                found = CHECKS[rule.code](manifest, project.for_manifest(manifest))
                yield manifest, [_finding(rule, manifest, item) for item in found]


def check_subject(subject: Subject, project: Project, rules: Iterable[RuleMeta]) -> Iterator[Finding]:
    """Yield what rules find in one workload."""
    yield from _follow(subject, project, _with_words(rules, subject.words, is_partial=subject.is_partial))


def _follow(subject: Subject, project: Project, rules: Iterable[RuleMeta]) -> Iterator[Finding]:
    seen = project.for_manifest(subject.manifest)
    skipped = superseded_rules(subject.refusals) if subject.refusals else ()
    for rule in rules:
        if rule.code not in skipped:
            found = CHECKS[rule.code](subject, seen)
            yield from (_finding(rule, subject.manifest, item) for item in found if not is_filled_in(item.place))


def _with_words(rules: Iterable[RuleMeta], words: frozenset[str], *, is_partial: bool) -> tuple[RuleMeta, ...]:
    """Return the rules to which the words of a workload leave something to find; many workloads have the same."""
    return tuple(
        rule
        for rule in rules
        if rule.needs <= words
        and (not rule.one_of or not rule.one_of.isdisjoint(words))
        and not (rule.needs_whole and is_partial)
    )


def _rules(project: Project, target: RuleTarget, codes: Container[str]) -> list[RuleMeta]:
    return [
        rule
        for rule in RULES.values()
        if rule.target is target and rule.code in codes and (project.facts is not None or not rule.needs_facts)
    ]


def _finding(rule: RuleMeta, manifest: Manifest, found: RuleFinding) -> Finding:
    stated = rule if found.severity is None else rule._replace(severity=found.severity)
    return Finding(
        stated,
        found.message,
        found.place,
        reference(manifest),
        found.path,
        found.hint,
        found.related,
        repair=repair(found.fix, manifest),
    )


def sort_findings(findings: Iterable[Finding], sources: Iterable[SourceFile]) -> list[Finding]:
    """Sort findings by source, in the given order, then by place."""
    order = {id(source): number for number, source in enumerate(sources)}
    return sorted(findings, key=lambda finding: (order[id(finding.place.source)], finding.place.span.start))
