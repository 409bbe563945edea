"""The rules about workloads: `rules/<name>.yaml` holds manifests that must fire and such that must not."""

from __future__ import annotations

import io
import json
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any
from typing import Optional

import pytest
from ruamel.yaml import YAML

from kubectl_spread.cli.main import run
from kubectl_spread.lint.catalogue import RULES
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.finding import Target
from kubectl_spread.lint.mend import mend
from kubectl_spread.lint.mend import Mended
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.project import TargetCluster
from kubectl_spread.lint.run import check_source
from kubectl_spread.lint.run import Result
from kubectl_spread.lint.workloads import check_workloads
from kubectl_spread.lint.workloads import documentation
from kubectl_spread.lint.workloads import in_order
from kubectl_spread.scheduler import config
from kubectl_spread.simulate.facts import KnownCluster
from kubectl_spread.sources import scheduler_config
from kubectl_spread.sources import snapshot
from kubectl_spread.sources import topology
from kubectl_spread.text.source import SourceFile

FOLDER = Path(__file__).parent / "rules"
WITH_A_MODULE = [rule for rule in RULES.values() if rule.target is not Target.OBJECT]
EXAMPLE = re.compile(r"Example(?:, with (?P<flags>[^\n]*))?:\n+(?P<manifest>(?: {4}[^\n]*\n|\n(?= {4}))+)\n")
WITH_AN_EXAMPLE = [rule for rule in RULES.values() if EXAMPLE.search(documentation(rule))]
# The rules whose example is still to be written; it only shrinks.
WITHOUT_AN_EXAMPLE: set[str] = set()


def cases() -> list[Any]:
    return [
        pytest.param(rule.code, case, id=f"{rule.name}: {case['name']}")
        for rule in WITH_A_MODULE
        for case in YAML(typ="safe").load(FOLDER / f"{rule.name}.yaml")
    ]


def cluster(case: dict[str, Any], folder: Path) -> Optional[KnownCluster]:
    """What `topology` (as --topology has it) or `snapshot` (a text of objects) says of the cluster.

    `domains` are the values of labels, as the config has them. `schedulerConfig` is a text, too.
    """
    profiles = None
    if "schedulerConfig" in case:
        file = folder / "scheduler.yaml"
        file.write_text(case["schedulerConfig"], encoding="utf-8")
        profiles = scheduler_config.load(str(file), config.LATEST).profiles
    if "topology" in case:
        return KnownCluster(topology.load(case["topology"]), profiles)
    if "domains" in case:
        return KnownCluster(topology.from_domains(case["domains"]), profiles, keys=frozenset(case["domains"]))
    if "snapshot" in case:
        file = folder / "snapshot.yaml"
        file.write_text(case["snapshot"], encoding="utf-8")
        return KnownCluster(snapshot.load(str(file)).cluster, profiles)
    return None


def read(text: str) -> Result:
    return check_source(SourceFile("case.yaml", text), named=True)


def judge(case: dict[str, Any], codes: frozenset[str], folder: Path) -> Callable[[list[Result]], list[Finding]]:
    """What the rules of these codes say in the circumstances of a case."""
    target, facts = TargetCluster(case.get("minor"), case.get("autoscaler", "")), cluster(case, folder)

    def judged(results: list[Result]) -> list[Finding]:
        subjects = [subject for result in results for subject in result.subjects]
        others = [manifest for result in results for manifest in result.others]
        by_source = [item for result in results for item in result.findings if item.rule.code in codes]
        workloads = check_workloads(Project(subjects, others, target=target, facts=facts), codes)
        return in_order([*by_source, *workloads], [result.source for result in results])

    return judged


def mended(text: str, judged: Callable[[list[Result]], list[Finding]]) -> Mended:
    return mend([read(text)], judged, recheck=lambda source: read(source.text), is_wanted=lambda _: True)


def shown(finding: Finding) -> str:
    """`CODE@line text`, with the text that is underlined, as far as it is on one line."""
    place = finding.place
    written = place.source.text[place.span.start : place.span.end].split("\n")[0]
    return f"{finding.rule.code}@{place.source.position(place.span.start).line} {written}"


@pytest.mark.parametrize(("code", "case"), cases())
def test_a_case_has_the_findings_it_names_and_no_others(code: str, case: dict[str, Any], tmp_path: Path) -> None:
    """`expect` lists what the rule finds, and what the other rules find that it names, or that `also` names."""
    named = {line.partition("@")[0] for line in case.get("expect", ())}
    judged = judge(case, frozenset({code, *named, *case.get("also", ())}), tmp_path)
    found = judged([read(case["manifest"])])

    assert case.get("expect", []) == [shown(finding) for finding in found]
    assert [case["message"]] == [finding.message for finding in found] if "message" in case else True


@pytest.mark.parametrize(("code", "case"), cases())
def test_a_fix_ends_the_finding_and_is_not_made_again(code: str, case: dict[str, Any], tmp_path: Path) -> None:
    """`fixed` is what the manifest becomes with all fixes, those that are not safe included."""
    judged = judge(case, frozenset({code}), tmp_path)
    found = judged([read(case["manifest"])])
    outcome = mended(case["manifest"], judged)
    text = outcome.results[0].source.text

    assert [] == outcome.refused
    assert (text != case["manifest"]) == any(finding.repair for finding in found)
    assert [] == [finding for finding in outcome.findings if finding.repair]
    assert text == case.get("fixed", text)
    assert text == mended(text, judged).results[0].source.text


@pytest.mark.parametrize("rule", WITH_A_MODULE, ids=lambda rule: rule.name)
def test_a_rule_fires_in_one_case_and_not_in_another(rule: Any) -> None:
    fires = [
        any(line.startswith(rule.code) for line in case.get("expect", []))
        for case in YAML(typ="safe").load(FOLDER / f"{rule.name}.yaml")
    ]

    assert {True, False} == set(fires)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_a_rule_says_what_to_do(rule: Any) -> None:
    """Its first line says the fault, its last paragraph what to do about it."""
    paragraphs = EXAMPLE.sub("", documentation(rule)).split("\n\n")

    assert 3 <= len(paragraphs)
    assert "\n" not in paragraphs[0]
    assert [] == [text for text in paragraphs if not text.endswith((".", "`."))]


def test_every_rule_has_an_example_but_those_listed() -> None:
    assert WITHOUT_AN_EXAMPLE == {rule.code for rule in RULES.values() if rule not in WITH_AN_EXAMPLE}


@pytest.mark.parametrize("rule", WITH_AN_EXAMPLE, ids=lambda rule: rule.name)
def test_the_example_of_a_rule_breaks_that_rule_alone(
    rule: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`Example:`, or `Example, with --topology zones=1,nodes=2:`, and below it a manifest, indented."""
    example = EXAMPLE.search(documentation(rule))
    assert example is not None
    manifest = textwrap.dedent(example["manifest"])
    flags = (example["flags"] or "").split()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(manifest.encode()), encoding="utf-8"))
    run(["check", "-", "-o", "json", "--extend-select", rule.code, *flags])

    assert {rule.code} == {finding["code"] for finding in json.loads(capsys.readouterr().out)["findings"]}
