"""From the content of the sources to the findings that are reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.lint.check_source import bare_lists, check_source, Result, SkipReason
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.project import RunContext
from kubectl_spread.lint.projects import Projects
from kubectl_spread.lint.registry import RULES, sort_findings
from kubectl_spread.lint.roots import ONE_ROOT, RootRules
from kubectl_spread.lint.selection import Config, LintPolicy, RuleProfile
from kubectl_spread.objects.workloads.kinds import BUILT_IN, with_paths
from kubectl_spread.objects.workloads.workload import DEFAULT_NAMESPACE, Workload
from kubectl_spread.text.source import SourceFile

if TYPE_CHECKING:  # needed where something is suppressed, or kinds are named
    from kubectl_spread.lint.suppress import AnySuppression
    from kubectl_spread.operations.known_cluster import KnownCluster

_ABOUT_COVERAGE = ("SPR002", "SPR006")
_SUPPRESSING = ("spread:", "spread.")  # a comment or an annotation


def read(
    source: SourceFile,
    policy: LintPolicy,
    config: Config,
    *,
    named: bool = False,
    namespace: str = DEFAULT_NAMESPACE,
) -> Result:
    """Read a source with the kinds that the selected rules look at and the config adds."""
    kinds = with_paths(path for path, _ in config.podspec_paths) if config.podspec_paths else BUILT_IN
    minor = policy.settings(source).target.minor
    return check_source(source, named=named, codes=policy.possible, kinds=kinds, namespace=namespace, minor=minor)


class SelectedFindings(NamedTuple):
    """The findings by place with those about suppressions, how many were suppressed, and the workloads as they run.

    `unchecked` are the findings about what was not checked, if the profile leaves these out: SARIF has them. `unjoined`
    are the sources of patches whose workloads are not in the run.
    """

    findings: list[Finding]
    ignored: int
    workloads: list[Workload]
    unchecked: list[Finding] = []  # noqa: RUF012 (never changed)
    unjoined: Sequence[str] = ()


def findings_of(
    results: Sequence[Result],
    policy: LintPolicy,
    config: Config = Config(""),  # noqa: B008 (immutable)
    *,
    facts: Optional[KnownCluster] = None,
    namespace: str = DEFAULT_NAMESPACE,
    has_ignores: bool = True,
    is_whole: bool = False,
    rules: Optional[RootRules] = None,
) -> SelectedFindings:
    """Return the findings of the API server's checks and of all rules.

    Args:
        results: the content of the sources.
        policy: the rules to run.
        config: with the accepted findings, and the kinds that it adds.
        facts: the cluster.
        namespace: of objects that name none.
        has_ignores: whether comments, annotations and the config may accept findings.
        is_whole: the sources are the whole project. Otherwise entries of the config without effect are not reported.
        rules: those about roots.
    """
    sources = [result.source for result in results]
    context = RunContext(lambda source: policy.settings(source).target, facts, namespace)
    project = Projects(results, rules or ONE_ROOT, context)
    by_source = [finding for result in results for finding in result.findings]
    codes = policy.codes(sources)
    findings = policy.select_findings([*by_source, *project.findings(codes), *_outside(results, codes, project)])
    unmatched: list[Finding] = []
    strict = policy._replace(profile=RuleProfile.STRICT) if policy.profile is RuleProfile.DEFAULT else policy
    about_coverage = {*_ABOUT_COVERAGE} - {item.rule.code for item in findings}
    unchecked = strict.select_findings(item for item in by_source if item.rule.code in about_coverage)
    if config.podspec_paths:
        from kubectl_spread.lint.outside import unmatched_entries

        entries = unmatched_entries(config.podspec_paths, results, is_whole=is_whole)
        unmatched = strict.select_findings(entries)
    configs = [config.source] if config.source is not None else []
    ignored = 0
    may_suppress = config.ignores or any(word in source.text for source in sources for word in _SUPPRESSING)
    if has_ignores and may_suppress:
        from kubectl_spread.lint import suppress

        subjects = (*project.subjects, *bare_lists(results))
        annotated = (item for subject in subjects for item in suppress.from_annotations(subject))
        suppressions: list[AnySuppression] = [item for source in sources for item in suppress.from_comments(source)]
        suppressions += dict.fromkeys(annotated)  # an object with two templates has its annotation once
        kept, used = suppress.apply(findings, [*suppressions, *config.ignores])
        suppressions += config.ignores if is_whole else ()
        followed = frozenset(code for code, rule in RULES.items() if facts is not None or not rule.needs_facts)

        def asked(suppression: AnySuppression) -> frozenset[str]:
            """Return the rules selected for the files that a suppression covers, or for any file if it covers none."""
            reached = [source for source in sources if suppression.reaches(source)]
            return policy.codes(reached or sources) & followed

        ignored = len(findings) - len(kept)
        findings = [*kept, *policy.select_findings(suppress.findings_about(suppressions, used, asked))]
    ordered = sort_findings([*findings, *unmatched], [*sources, *configs])
    return SelectedFindings(ordered, ignored, project.workloads, unchecked, project.patches.unjoined)


def workloads(results: Sequence[Result], namespace: str, rules: Optional[RootRules] = None) -> list[Workload]:
    """Return the workloads that would run, in order; see `Project.workloads`."""
    return Projects(results, rules or ONE_ROOT, RunContext(namespace=namespace)).workloads


def _outside(results: Sequence[Result], codes: frozenset[str], projects: Projects) -> list[Finding]:
    """Return findings outside the pod specs of known kinds."""
    if not any(result.lists or result.worlds for result in results):
        return []
    from kubectl_spread.lint.outside import check_lists, check_worlds

    worlds = [world for result in results for world in result.worlds]
    return [*check_lists(bare_lists(results), codes, projects), *check_worlds(worlds, codes, projects)]


def is_seen(result: Result) -> bool:
    """Return whether the rules see all of a source: every document decodes, and none is a template."""
    is_read = result.skipped.isdisjoint({SkipReason.TEMPLATE, SkipReason.NOT_YAML, SkipReason.FIXTURE})
    return is_read and not any(finding.is_unreadable for finding in result.findings)
