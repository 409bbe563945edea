"""What the profile, the config, its entries for some files and the command line come to."""

from __future__ import annotations

import os

import pytest

from kubectl_spread.lint.check_source import check_source
from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.project import Project, RunContext, TargetCluster
from kubectl_spread.lint.registry import RULES
from kubectl_spread.lint.selection import by_code, FileChoice, LintPolicy, RuleProfile, RuleSelection
from kubectl_spread.text.glob import Globs
from kubectl_spread.text.source import SourceFile
from tests.manifests import POD

DEFAULT = RuleProfile.DEFAULT.codes
WEB = SourceFile("charts/web.yaml", "")
OTHER = SourceFile("web.yaml", "")


def for_charts(choice: RuleSelection) -> FileChoice:
    return FileChoice(Globs(os.getcwd(), ("charts/**",)), choice)


def codes(prefix: str) -> frozenset[str]:
    return frozenset(code for code in RULES if code.startswith(prefix))


def test_a_profile_holds_the_next_smaller_one() -> None:
    """Minimal has only errors, default no opinion, strict all."""
    assert RuleProfile.MINIMAL.codes < DEFAULT <= RuleProfile.STRICT.codes
    assert {Severity.ERROR} == {RULES[code].severity for code in RuleProfile.MINIMAL.codes}
    assert not any(RULES[code].is_opinion for code in DEFAULT)
    assert frozenset(RULES) == RuleProfile.STRICT.codes


@pytest.mark.parametrize(
    ("config", "in_charts", "flags", "expected"),
    [
        (RuleSelection(), RuleSelection(), RuleSelection(), DEFAULT),
        (RuleSelection(select=("SPR1",)), RuleSelection(), RuleSelection(), codes("SPR1")),
        (RuleSelection(ignore=("SPR1",)), RuleSelection(), RuleSelection(), DEFAULT - codes("SPR1")),
        (
            RuleSelection(("SPR1",), ("SPR3",), ("SPR101",)),
            RuleSelection(),
            RuleSelection(),
            codes("SPR1") - {"SPR101"} | codes("SPR3"),
        ),
        (RuleSelection(select=("SPR101",), ignore=("SPR1",)), RuleSelection(), RuleSelection(), {"SPR101"}),
        (RuleSelection(select=("SPR101",)), RuleSelection(ignore=("SPR1",)), RuleSelection(), frozenset()),
        (RuleSelection(ignore=("SPR101",)), RuleSelection(extend=("SPR1",)), RuleSelection(), DEFAULT),
        (RuleSelection(ignore=("ALL",)), RuleSelection(select=("SPR102",)), RuleSelection(), {"SPR102"}),
        (
            RuleSelection(ignore=("SPR101",)),
            RuleSelection(ignore=("SPR101",)),
            RuleSelection(select=("SPR101",)),
            {"SPR101"},
        ),
        (
            RuleSelection(select=("SPR1",)),
            RuleSelection(),
            RuleSelection(ignore=("SPR101",)),
            codes("SPR1") - {"SPR101"},
        ),
        (
            RuleSelection(select=("SPR1",)),
            RuleSelection(),
            RuleSelection(extend=("SPR201",)),
            codes("SPR1") | {"SPR201"},
        ),
    ],
)
def test_who_speaks_later_goes_beyond(
    config: RuleSelection, in_charts: RuleSelection, flags: RuleSelection, expected: frozenset[str]
) -> None:
    policy = LintPolicy(config=config, per_file=(for_charts(in_charts),), flags=flags)

    assert expected - codes("SPR0") == policy.settings(WEB).codes - codes("SPR0")


def test_an_entry_holds_for_its_files_alone() -> None:
    policy = LintPolicy(per_file=(for_charts(RuleSelection(select=("SPR1",))),))

    assert codes("SPR1") == policy.settings(WEB).codes
    assert DEFAULT == policy.settings(OTHER).codes
    assert codes("SPR1") == policy.codes([WEB])
    assert DEFAULT == policy.codes([WEB, OTHER])
    assert frozenset() == policy.codes([])


def test_a_later_entry_goes_beyond_an_earlier_one() -> None:
    policy = LintPolicy(
        per_file=(for_charts(RuleSelection(select=("SPR1",))), for_charts(RuleSelection(ignore=("SPR101",))))
    )

    assert codes("SPR1") - {"SPR101"} == policy.settings(WEB).codes


def test_the_longer_word_has_the_severity() -> None:
    """Wherever it stands; a name is as long as can be."""
    error, warning, info = Severity
    found = by_code([("SPR101", info), ("SPR1", warning), ("max-skew-not-positive", error), ("ALL", info)])

    assert (error, warning, info) == (found["SPR101"], found["SPR102"], found["SPR201"])


def test_severities_and_versions_are_taken_from_who_speaks_last() -> None:
    policy = LintPolicy(
        config=RuleSelection(severity=(("SPR101", Severity.INFO), ("SPR102", Severity.INFO)), minor=30),
        per_file=(for_charts(RuleSelection(severity=(("SPR1", Severity.WARNING),), minor=28)),),
        autoscaler="karpenter",
    )

    assert {"SPR101": Severity.INFO, "SPR102": Severity.INFO} == policy.settings(OTHER).severities
    assert {Severity.WARNING} == set(policy.settings(WEB).severities.values())
    assert TargetCluster(30, "karpenter") == policy.settings(OTHER).target
    assert TargetCluster(28, "karpenter") == policy.settings(WEB).target
    assert 31 == policy._replace(flags=RuleSelection(minor=31)).settings(WEB).target.minor


def test_a_rule_sees_the_target_of_the_file_that_it_asks_about() -> None:
    """One file of the project is for an older cluster."""
    texts = {name: POD.replace("SKEW", "1") for name in ("charts/web.yaml", "web.yaml")}
    subjects = [
        subject for name, text in texts.items() for subject in check_source(SourceFile(name, text), named=True).subjects
    ]
    policy = LintPolicy(config=RuleSelection(minor=30), per_file=(for_charts(RuleSelection(minor=28)),))
    project = Project(subjects, (), RunContext(lambda source: policy.settings(source).target))

    assert [28, 30] == [subject.target.minor for subject in project.subjects]
    assert [2, 2] == [len(subject.project.subjects) for subject in project.subjects]


def test_a_threshold_of_the_configuration_replaces_that_of_the_rule() -> None:
    """The last one counts: the entry for some files before the one for all."""
    everywhere, charts = RuleSelection(thresholds=(("no-spread", 3),)), RuleSelection(thresholds=(("SPR506", 4),))
    policy = LintPolicy(config=everywhere, per_file=(for_charts(charts),))

    assert policy.settings(WEB).target.threshold("SPR506", 2) == 4
    assert policy.settings(OTHER).target.threshold("SPR506", 2) == 3
    assert policy.settings(WEB).target.threshold("SPR701", 3) == 3
