"""The rules about workloads: `rules/<name>.yaml` holds manifests that must fire and such that must not."""

from __future__ import annotations

import io
import json
import re
import textwrap
from pathlib import Path
from typing import Any
from typing import Optional

import pytest
from ruamel.yaml import YAML

from kubectl_spread.cli.main import run
from kubectl_spread.lint.catalogue import RULES
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.finding import Target
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.project import TargetCluster
from kubectl_spread.lint.run import check_source
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


def cases() -> list[Any]:
    return [
        pytest.param(rule.code, case, id=f"{rule.name}: {case['name']}")
        for rule in WITH_A_MODULE
        for case in YAML(typ="safe").load(FOLDER / f"{rule.name}.yaml")
    ]


def cluster(case: dict[str, Any], folder: Path) -> Optional[KnownCluster]:
    """What `topology` (as --topology has it) or `snapshot` (a text of objects) says of the cluster.

    `schedulerConfig` is a text, too.
    """
    profiles = None
    if "schedulerConfig" in case:
        file = folder / "scheduler.yaml"
        file.write_text(case["schedulerConfig"], encoding="utf-8")
        profiles = scheduler_config.load(str(file), config.LATEST).profiles
    if "topology" in case:
        return KnownCluster(topology.load(case["topology"]), profiles)
    if "snapshot" in case:
        file = folder / "snapshot.yaml"
        file.write_text(case["snapshot"], encoding="utf-8")
        return KnownCluster(snapshot.load(str(file)).cluster, profiles)
    return None


def findings(case: dict[str, Any], codes: frozenset[str], folder: Path) -> list[Finding]:
    """What the rules of these codes say of a case's `manifest`."""
    result = check_source(SourceFile("case.yaml", case["manifest"]), named=True)
    target = TargetCluster(case.get("minor"), case.get("autoscaler", ""))
    project = Project(result.subjects, result.others, target=target, facts=cluster(case, folder))
    return in_order(
        [*(item for item in result.findings if item.rule.code in codes), *check_workloads(project, codes)],
        [result.source],
    )


def shown(finding: Finding) -> str:
    """`CODE@line text`, with the text that is underlined, as far as it is on one line."""
    place = finding.place
    written = place.source.text[place.span.start : place.span.end].split("\n")[0]
    return f"{finding.rule.code}@{place.source.position(place.span.start).line} {written}"


@pytest.mark.parametrize(("code", "case"), cases())
def test_a_case_has_the_findings_it_names_and_no_others(code: str, case: dict[str, Any], tmp_path: Path) -> None:
    """`expect` lists what the rule finds, and what the other rules find that it names, or that `also` names."""
    named = {line.partition("@")[0] for line in case.get("expect", ())}
    found = findings(case, frozenset({code, *named, *case.get("also", ())}), tmp_path)

    assert case.get("expect", []) == [shown(finding) for finding in found]
    assert [case["message"]] == [finding.message for finding in found] if "message" in case else True


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
