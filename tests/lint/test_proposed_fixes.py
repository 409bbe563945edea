"""What the rules propose to change, where a case of theirs does not show it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Optional

import pytest

from kubectl_spread.lint.check_source import check_source
from kubectl_spread.lint.finding import Finding, Fix
from kubectl_spread.lint.project import Project, RunContext, TargetCluster
from kubectl_spread.lint.registry import RULES
from kubectl_spread.lint.selection import selected_codes
from kubectl_spread.text.edit import Append, Change, Drop, Put
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import SourceFile
from tests.lint.cases import check_workloads, example, judge, mended, WITH_A_MODULE, WITH_AN_EXAMPLE

FIRST: Route = ("spec", "template", "spec", "topologySpreadConstraints", 0)
HASH = "pod-template-hash"
SELECTOR = {"matchLabels": {"app": "web"}}
VERSION = "app.kubernetes.io/version"
ZONE = "topology.kubernetes.io/zone"
FIXED = [rule.code for rule in WITH_AN_EXAMPLE if rule.fixes and not rule.needs_facts and rule in WITH_A_MODULE]


def check(text: str, code: str, minor: Optional[int] = None) -> list[Finding]:
    """What a rule, and the rules that are followed by default, find in a manifest."""
    result = check_source(SourceFile("case.yaml", text), named=True)
    project = Project(result.subjects, result.others, RunContext(lambda _: TargetCluster(minor)))
    return [*result.findings, *check_workloads(project, selected_codes([], [], [code]))]


def constraint(**fields: Any) -> dict[str, Any]:
    """A hard zone constraint; a field that is None is not there."""
    whole = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": SELECTOR,
        "nodeTaintsPolicy": "Honor",
        **fields,
    }
    return {name: value for name, value in whole.items() if value is not None}


def workload(*constraints: dict[str, Any], labels: Optional[dict[str, str]] = None, **spec: Any) -> str:
    """A Deployment of five replicas with these constraints, as JSON."""
    template = {"metadata": {"labels": labels or {"app": "web"}}, "spec": {"topologySpreadConstraints": constraints}}
    whole = {"replicas": 5, "selector": {"matchLabels": {"app": "web"}}, "template": template, **spec}
    return json.dumps({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": whole})


def fix(code: str, text: str, minor: Optional[int] = None) -> Optional[Fix]:
    """What the only finding of a rule proposes."""
    (finding,) = (item for item in check(text, code, minor) if item.rule.code == code)
    return finding.repair and finding.repair.fix


def changes(code: str, text: str, minor: Optional[int] = None) -> list[Change]:
    proposed = fix(code, text, minor)
    assert proposed is not None
    return list(proposed.changes)


@pytest.mark.parametrize("code", FIXED)
def test_an_example_has_nothing_left_once_it_is_fixed(code: str, tmp_path: Path) -> None:
    """Neither its own rule nor one that is followed by default finds anything in the result."""
    judged = judge({}, selected_codes([], [], [code]), tmp_path)
    outcome = mended(example(RULES[code]).manifest, judged)

    assert ([], []) == (judged(outcome.results), outcome.refused)


@pytest.mark.parametrize(("action", "is_safe"), [("DoNotSchedule", False), ("ScheduleAnyway", True)])
def test_a_missing_selector_is_a_safe_addition_to_a_preference(action: str, is_safe: bool) -> None:
    """A rule that did nothing until now may leave pods Pending."""
    proposed = fix("SPR201", workload(constraint(labelSelector=None, whenUnsatisfiable=action)))

    assert Fix("select the workload's own pods", (Put((*FIRST, "labelSelector"), SELECTOR),), is_safe) == proposed


def test_a_selector_of_its_own_pods_has_no_label_of_match_label_keys() -> None:
    """The API server refuses a key that is in both."""
    foreign = constraint(labelSelector={"matchLabels": {"a": "b"}}, matchLabelKeys=["app"])

    assert fix("SPR203", workload(foreign)) is None


def test_a_template_lends_only_labels_that_stay() -> None:
    """Where the workload has no selector, what changes with a release is left out."""
    labels = {"app": "web", VERSION: "1.4", "helm.sh/chart": "web-1.4"}
    text = workload(constraint(labelSelector=None), labels=labels, selector=None)

    assert [Put((*FIRST, "labelSelector"), SELECTOR)] == changes("SPR201", text)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["tenant"], Fix("remove `tenant` from matchLabelKeys", (Drop((*FIRST, "matchLabelKeys")),), is_safe=True)),
        (
            [HASH, "tenant"],
            Fix("remove `tenant` from matchLabelKeys", (Drop((*FIRST, "matchLabelKeys", 1)),), is_safe=True),
        ),
        (["pod-templete-hash"], Fix(f"write `{HASH}`", (Put((*FIRST, "matchLabelKeys", 0), HASH),))),
        (
            [HASH, "pod-templete-hash"],
            Fix("remove `pod-templete-hash` from matchLabelKeys", (Drop((*FIRST, "matchLabelKeys", 1)),), is_safe=True),
        ),
    ],
    ids=["the only one", "one of two", "misspelt", "misspelt beside the right one"],
)
def test_a_key_that_no_pod_has_goes(keys: list[str], expected: Fix) -> None:
    """The scheduler leaves it out anyway; the label that is meant would change what is counted."""
    assert expected == fix("SPR209", workload(constraint(matchLabelKeys=keys)))


@pytest.mark.parametrize(
    ("selector", "keys", "expected"),
    [
        (
            {"matchLabels": {"app": "web", VERSION: "1"}},
            None,
            [Drop((*FIRST, "labelSelector", "matchLabels", VERSION)), Put((*FIRST, "matchLabelKeys"), [VERSION])],
        ),
        (
            {"matchLabels": {"app": "web", VERSION: "1"}},
            [HASH],
            [Drop((*FIRST, "labelSelector", "matchLabels", VERSION)), Append((*FIRST, "matchLabelKeys"), VERSION)],
        ),
        (
            {"matchLabels": {VERSION: "1"}},
            None,
            [Put((*FIRST, "labelSelector"), SELECTOR), Put((*FIRST, "matchLabelKeys"), [VERSION])],
        ),
        (
            {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": VERSION, "operator": "In", "values": ["1"]}]},
            None,
            [Drop((*FIRST, "labelSelector", "matchExpressions")), Put((*FIRST, "matchLabelKeys"), [VERSION])],
        ),
    ],
    ids=["one of two labels", "beside another key", "the only label", "the only expression"],
)
def test_a_label_of_a_release_moves_to_match_label_keys(
    selector: dict[str, Any], keys: Optional[list[str]], expected: list[Change]
) -> None:
    """No selector, mapping or list is left empty."""
    text = workload(constraint(labelSelector=selector, matchLabelKeys=keys), labels={"app": "web", VERSION: "1"})

    assert expected == changes("SPR215", text)


def test_before_match_label_keys_the_label_only_goes() -> None:
    text = workload(
        constraint(labelSelector={"matchLabels": {"app": "web", VERSION: "1"}}), labels={"app": "web", VERSION: "1"}
    )

    assert [Drop((*FIRST, "labelSelector", "matchLabels", VERSION))] == changes("SPR215", text, minor=26)


def test_without_another_label_there_is_no_other_selector() -> None:
    """Nothing would be left to select the pods by."""
    text = workload(constraint(labelSelector={"matchLabels": {VERSION: "1"}}), labels={VERSION: "1"}, selector=None)

    assert fix("SPR215", text) is None


def test_a_misspelt_key_is_not_mended_into_a_duplicate() -> None:
    """The API server refuses two constraints with one key and one action."""
    wrong = constraint(topologyKey="kubernetes.io/zone")

    assert [Put((*FIRST, "topologyKey"), ZONE)] == changes("SPR302", workload(wrong))
    assert fix("SPR302", workload(wrong, constraint())) is None
    assert fix("SPR302", workload(constraint(topologyKey="zone"))) is None


def test_a_rule_is_not_softened_into_a_duplicate() -> None:
    """minDomains goes with it: only a rule may have it."""
    hostname = constraint(topologyKey="kubernetes.io/hostname", minDomains=2)
    soft = constraint(topologyKey="kubernetes.io/hostname", whenUnsatisfiable="ScheduleAnyway")

    assert [
        Put((*FIRST, "whenUnsatisfiable"), "ScheduleAnyway"),
        Drop((*FIRST, "minDomains")),
    ] == changes("SPR304", workload(hostname, constraint()))
    assert fix("SPR304", workload(hostname, constraint(), soft)) is None


def test_honor_is_an_unsafe_addition() -> None:
    """Nodes whose taint goes off later are left out until then."""
    proposed = fix("SPR301", workload(constraint(nodeTaintsPolicy=None)))

    assert proposed is not None
    assert (Put((*FIRST, "nodeTaintsPolicy"), "Honor"),) == proposed.changes
    assert not proposed.is_safe
