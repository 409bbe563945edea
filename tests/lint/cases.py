"""The cases of rules, `rules/<name>.yaml`, the examples in their documentation, and what judges both."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Container
from pathlib import Path
from typing import Any, NamedTuple, Optional

import pytest
from ruamel.yaml import YAML

from kubectl_spread.lint.check_source import check_source, Result
from kubectl_spread.lint.finding import documentation, Finding, RuleMeta, RuleTarget
from kubectl_spread.lint.fixing import apply_fixes, FixResult
from kubectl_spread.lint.project import Project, RunContext, TargetCluster
from kubectl_spread.lint.registry import findings_by_object, RULES, sort_findings
from kubectl_spread.operations.known_cluster import KnownCluster
from kubectl_spread.scheduler import profiles as scheduler_profiles
from kubectl_spread.sources import policy_file, scheduler_config, snapshot, topology
from kubectl_spread.text.source import SourceFile

FOLDER = Path(__file__).parent / "rules"
WITH_A_MODULE = [rule for rule in RULES.values() if rule.target is not RuleTarget.OBJECT]
_BLOCK = r"(?: {4}[^\n]*(?:\n|\Z)|\n(?= {4}))+"
EXAMPLE = re.compile(rf"## Example\n\n(?:With `(?P<flags>[^`]*)`:\n\n)?(?P<manifest>{_BLOCK})")
CORRECTED = re.compile(rf"## Use instead\n(?:(?!    |##)[^\n]*\n)+(?P<constraints>{_BLOCK})")
WITH_AN_EXAMPLE = [rule for rule in RULES.values() if EXAMPLE.search(documentation(rule))]


class Example(NamedTuple):
    """The manifest in a rule's documentation, and the flags that it is checked with."""

    manifest: str
    flags: list[str]


def example(rule: RuleMeta) -> Example:
    found = EXAMPLE.search(documentation(rule))
    assert found is not None
    return Example(textwrap.dedent(found["manifest"]), (found["flags"] or "").split())


def cases() -> list[Any]:
    return [
        pytest.param(rule.code, case, id=f"{rule.code} {rule.name}: {case['name']}")
        for rule in WITH_A_MODULE
        for case in YAML(typ="safe").load(FOLDER / f"{rule.name}.yaml")
    ]


def cluster(case: dict[str, Any], folder: Path) -> Optional[KnownCluster]:
    """What `topology` (as --topology has it) or `snapshot` (a text of objects) says of the cluster.

    `policy` is a policy of the configuration. `domains` are the values of labels, as the config has them.
    `schedulerConfig` is a text, too.
    """
    profiles = None
    if "schedulerConfig" in case:
        file = folder / "scheduler.yaml"
        file.write_text(case["schedulerConfig"], encoding="utf-8")
        profiles = scheduler_config.load(str(file), scheduler_profiles.LATEST).profiles
    if "topology" in case:
        policies = []
        if "policy" in case:
            file = folder / "policy.yaml"
            file.write_text(case["policy"], encoding="utf-8")
            policies = [policy_file.load(str(file))]
        return KnownCluster(topology.load(case["topology"]), profiles, policies=policies)
    if "domains" in case:
        return KnownCluster(topology.from_domains(case["domains"]), profiles, keys=frozenset(case["domains"]))
    if "snapshot" in case:
        file = folder / "snapshot.yaml"
        file.write_text(case["snapshot"], encoding="utf-8")
        return KnownCluster(snapshot.load(str(file)).cluster, profiles)
    return None


def read(text: str) -> Result:
    return check_source(SourceFile("case.yaml", text), named=True)


def check_workloads(project: Project, codes: Container[str] = RULES) -> list[Finding]:
    """What the rules of these codes say of workloads, in order, then of the objects around them."""
    return [finding for _, findings in findings_by_object(project, codes) for finding in findings]


def judge(case: dict[str, Any], codes: frozenset[str], folder: Path) -> Callable[[list[Result]], list[Finding]]:
    """What the rules of these codes say in the circumstances of a case."""
    target, facts = TargetCluster(case.get("minor"), case.get("autoscaler", "")), cluster(case, folder)

    def judged(results: list[Result]) -> list[Finding]:
        subjects = [subject for result in results for subject in result.subjects]
        others = [manifest for result in results for manifest in result.others]
        by_source = [item for result in results for item in result.findings if item.rule.code in codes]
        workloads = check_workloads(Project(subjects, others, RunContext(lambda _: target, facts)), codes)
        return sort_findings([*by_source, *workloads], [result.source for result in results])

    return judged


def mended(text: str, judged: Callable[[list[Result]], list[Finding]]) -> FixResult:
    return apply_fixes([read(text)], judged, recheck=lambda source: read(source.text), is_wanted=lambda _: True)


def shown(finding: Finding) -> str:
    """`CODE@line text`, with the text that is underlined, as far as it is on one line."""
    place = finding.place
    written = place.source.text[place.span.start : place.span.end].split("\n")[0]
    return f"{finding.rule.code}@{place.source.position(place.span.start).line} {written}"
