"""Where well-known operators keep constraints, and paths of the config that lead nowhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.lint import pipeline
from kubectl_spread.lint.check_source import check_source
from kubectl_spread.lint.selection import LintPolicy
from kubectl_spread.objects.constraints.constraint_lists import OPERATORS
from kubectl_spread.text.source import SourceFile

PLACES = [
    pytest.param(operator, kind, path, id=f"{kind} {path}")
    for operator in OPERATORS
    for kind in operator.kinds
    for path in operator.paths
]
CONSTRAINT = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/rack", "whenUnsatisfiable": "ScheduleAnyway"}


def resource(group: str, kind: str, path: str, constraint: dict[str, Any]) -> str:
    """A custom resource with one constraint at a path, as JSON."""
    value: Any = {"topologySpreadConstraints": [constraint]}
    for step in reversed(path.split(".")):
        value = (
            [value]
            if step == "*" and path.startswith(("spec.instances", "spec.storage", "spec.taskRun"))
            else {"all" if step == "*" else step: value}
        )
    document = {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": "one"}, **value}
    return json.dumps(document, indent=1)


def found(text: str) -> list[str]:
    result = check_source(SourceFile("one.yaml", text), named=True)
    found = pipeline.findings_of([result], LintPolicy())
    return [item.rule.code for item in (*found.unchecked, *found.findings)]


@pytest.mark.parametrize(("operator", "kind", "path"), PLACES)
def test_the_paths_of_well_known_operators_are_known(operator: Any, kind: str, path: str) -> None:
    """SPR006 is not told; where the operator adds no selector, one that is missing is an error."""
    text = resource(operator.group, kind, path, CONSTRAINT)
    expected = ["SPR201", "SPR302"] if operator.as_written else ["SPR302"]

    assert expected == sorted(found(text))


@pytest.mark.parametrize(("operator", "kind", "path"), PLACES)
def test_constraints_elsewhere_in_such_a_kind_are_told(operator: Any, kind: str, path: str) -> None:
    """So are those of a kind of the same name in another group."""
    selected = {**CONSTRAINT, "labelSelector": {"matchLabels": {"app": "one"}}}

    assert ["SPR006", "SPR302"] == found(resource(operator.group, kind, f"{path}.other", selected))
    assert ["SPR006", "SPR302"] == found(resource("example.com", kind, path, selected))


DATABASE = """\
apiVersion: example.com/v1
kind: Database
metadata: {name: ledger}
spec:
  pod:
    topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: ScheduleAnyway
      labelSelector: {matchLabels: {app: a}}
"""
STAGES = """\
apiVersion: example.com/v1
kind: Pipeline
metadata: {name: p}
spec:
  stages:
    build:
      template: {spec: {topologySpreadConstraints: [{maxSkew: 0, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]}}
    count: 3
  steps:
  - 1
  - template: {spec: {topologySpreadConstraints: [{maxSkew: -1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]}}
"""


def checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, paths: str, text: str
) -> list[str]:
    """The lines of a run over a project with one file."""
    (tmp_path / ".kubectl-spread.yaml").write_text(f"podspecPaths:\n{paths}")
    (tmp_path / "a.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    run(["check", "--project", "-o", "concise", "--ignore", "SPR201,SPR301,SPR507", "--extend-select", "SPR006"])
    return capsys.readouterr().out.splitlines()


PARTLY = (
    "./a.yaml:6:5: info SPR006 the operator of Database creates the pods, and their labels are not known here, so "
    "whether labelSelector matches them was not checked"
)
NOTHING = ".kubectl-spread.yaml:2:{}: warning SPR006 this entry of podspecPaths matches nothing: no {}"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("{kind: Database, path: spec.pod, podSpec: true}", []),
        (
            "{kind: Database, path: spec.pods.template}",
            [
                PARTLY,
                NOTHING.format(26, "Database has `spec.pods.template`"),
            ],
        ),
        (
            "{kind: Databases, path: spec.pod, podSpec: true}",
            [
                PARTLY,
                NOTHING.format(27, "Databases is in the project"),
            ],
        ),
    ],
)
def test_a_path_that_leads_nowhere_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], path: str, expected: list[str]
) -> None:
    """At its place in the config, and the lists that it should have led to where they are."""
    assert expected == checked(tmp_path, monkeypatch, capsys, paths=f"- {path}\n", text=DATABASE)


def test_a_star_is_any_key_and_any_item(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One kind may have several paths, and what is not a mapping is passed over."""
    paths = "- {kind: Pipeline, path: spec.stages.*.template}\n- {kind: Pipeline, path: spec.steps.*.template}\n"
    lines = checked(tmp_path, monkeypatch, capsys, paths=paths, text=STAGES)

    assert [
        ("./a.yaml:7:63:", "spec.stages.build.template.spec.topologySpreadConstraints[0].maxSkew:"),
        ("./a.yaml:11:61:", "spec.steps[1].template.spec.topologySpreadConstraints[0].maxSkew:"),
    ] == [(line.split()[0], line.split()[3]) for line in lines]
