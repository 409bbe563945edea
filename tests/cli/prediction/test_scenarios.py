"""`simulate run`: scenario files are tests with expectations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.cli.main import run
from kubectl_spread.sources import single_document
from tests.cli.prediction.test_simulate import WEB

Plain = dict[str, Any]

SCENARIO = """\
apiVersion: kubectl-spread/v1
kind: Scenario
name: a rolling update
topology: zones=3,nodes=1
manifests: [web.yaml]
expect: {complete: true, placed: 3, domains: {topology.kubernetes.io/zone: [1, 1, 1]}}
steps:
- cordon node-a1
- uncordon node-a1
- step: rollout restart deploy/web
  expect:
    workload: deploy/web
    complete: true
    placed: 3
    pending: 0
    restarted: 3
    ready: 3
    domains: {topology.kubernetes.io/zone: {a: 0..2, b: 0..2}}
    skew: {topology.kubernetes.io/zone: 0..2}
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    (tmp_path / "web.yaml").write_text(WEB)
    path = tmp_path / "rollout.yaml"
    path.write_text(SCENARIO)
    return path


def test_expectations_that_are_met(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A scenario alone is followed by its whole answer."""
    assert run(["simulate", "run", str(scenario.parent)]) == 0
    assert capsys.readouterr().out.startswith(f"ok  a rolling update ({scenario})\n\nStep 1: cordon node-a1: ")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("placed: 3\n", "placed: 4\n", "placed: expected 4, found 3"),
        ("pending: 0", "pending: 1..2", "pending: expected 1 to 2, found 0"),
        ("    complete: true", "    complete: false", "complete: expected in no outcome, found in every outcome"),
        (
            "    complete: true",
            "    complete: sometimes",
            "complete: expected in some outcomes, found in every outcome",
        ),
        ("restarted: 3", "restarted: 0", "restarted: expected 0, found 3"),
        ("ready: 3", "ready: 2", "ready: expected 2, found 3"),
        ("a: 0..2", "a: 1", "domain a of topology.kubernetes.io/zone: expected 1, found 0 to 2"),
        ("zone: 0..2", "zone: 0", "skew of topology.kubernetes.io/zone: expected 0, found 0 to 2"),
        (
            "{a: 0..2, b: 0..2}",
            "[1, 1, 1]",
            "domains of topology.kubernetes.io/zone: expected 1, 1, 1, found 0, 1, 2",
        ),
        ("    pending: 0\n", "    message: untolerated\n", "message: expected untolerated, found no Pending pod"),
    ],
)
def test_an_expectation_that_is_not_met(
    before: str, after: str, message: str, scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1, with its place, what was expected and what was found."""
    assert before in SCENARIO
    scenario.write_text(SCENARIO.replace(before, after))

    assert run(["simulate", "run", str(scenario), "-o", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schemas.load("scenario-report"))
    (result,) = document["scenarios"]
    jsonschema.validate(result["simulation"], schemas.load("simulation"))
    (failure,) = result["failures"]
    assert f"{failure['what']}: expected {failure['expected']}, found {failure['found']}" == message
    assert (failure["line"], failure["column"]) == (12, 5)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("kubectl-spread/v1", "apps/v1", "1:13: apiVersion: must be kubectl-spread/v1, not apps/v1"),
        ("steps:", "stps:", "1:1: `steps` is missing: add a list of commands"),
        (
            "deploy/web\n    complete",
            "web\n    complete",
            "12:15: steps[2].expect.workload: `web` is not TYPE/NAME, such as deploy/web",
        ),
        ("steps:", "stps:", "7:1: unknown key `stps`: did you mean `steps`?"),
        ("placed: 3\n", "plced: 3\n", "14:5: steps[2].expect: unknown key `plced`: did you mean `placed`?"),
        ("placed: 3\n", "placed: 3..1\n", "14:13: steps[2].expect.placed: 3 is greater than 1: write 1..3"),
        (
            "placed: 3\n",
            "placed: few\n",
            "14:13: steps[2].expect.placed: few is not a range of pods: write 3..9",
        ),
        (
            "placed: 3\n",
            "placed: -1\n",
            "14:13: steps[2].expect.placed: must be a whole number that is not negative, not -1",
        ),
        (
            "    complete: true",
            "    complete: often",
            "13:15: steps[2].expect.complete: must be true, false or sometimes, not often",
        ),
        ("- cordon node-a1", "- cordn node-a1", "8:3: unknown step `cordn`; did you mean `cordon`?"),
        ("- cordon node-a1", "- cordon nope", '8:3: Error from server (NotFound): nodes "nope" not found'),
        (
            "deploy/web\n    complete",
            "dploy/web\n    complete",
            '12:15: steps[2].expect.workload: there is no resource type "dploy"',
        ),
        ("kind: Scenario", "kind: Scenario\nkind: Scenario", "3:1: `kind` is written twice"),
        ("topology: zones=3,nodes=1", "topology: zones=3,nods=1", "4:11: topology: unknown key `nods`"),
        (
            "topology: zones=3,nodes=1",
            "topology: zones=0",
            "4:11: topology: `zones` is not a number from 1 to 15,000: 0",
        ),
        ("topology: zones=3,nodes=1", "topology: no.yaml", "4:11: topology: "),
        ("topology: zones=3,nodes=1", "snapshot: [no.yaml]", "4:12: snapshot[0]: "),
        ("- cordon node-a1", "- apply -f no.yaml", "8:3: "),
        (
            "    workload: deploy/web",
            "    workload: deploy/nope",
            '12:15: steps[2].expect.workload: deployments.apps "nope" not found',
        ),
        (
            "expect: {",
            "expect: {workload: sts/web, ",
            '6:20: expect.workload: statefulsets.apps "web" not found',
        ),
        ("name: a rolling", "name: [", "4:9: not YAML: did not find expected"),
    ],
)
def test_a_scenario_with_a_mistake(
    before: str, after: str, message: str, scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 3, with file, line and column; the other scenarios are run all the same."""
    assert before in SCENARIO
    (scenario.parent / "z.yaml").write_text(SCENARIO)
    scenario.write_text(SCENARIO.replace(before, after, 1))

    assert run(["simulate", "run", str(scenario.parent)]) == 3
    out = capsys.readouterr().out
    assert message in out
    assert out.endswith("2 scenarios: 1 passed, 1 could not be run\n")


def test_a_missing_manifest_is_the_only_error(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is placed in the scenario; that steps then lack their objects only follows from it."""
    scenario.write_text(SCENARIO.replace("[web.yaml]", "[web.yaml, nope.yaml, no.yaml]"))

    assert run(["simulate", "run", str(scenario), "-o", "json"]) == 3
    (result,) = json.loads(capsys.readouterr().out)["scenarios"]
    assert [(error["line"], error["column"], error["message"]) for error in result["errors"]] == [
        (5, 23, f"manifests[1]: {scenario.parent / 'nope.yaml'}: the path does not exist"),
        (5, 34, f"manifests[2]: {scenario.parent / 'no.yaml'}: the path does not exist"),
    ]


def test_all_mistakes_are_reported_together(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those that the schema finds, and all others; with their places, in order."""
    text = SCENARIO.replace("name: a rolling update", "snapshot: [x]\nmaxStates: -1")
    text = text.replace("ready: 3", "ready: [3]").replace("pending: 0", "pending: 5..1").replace("cordon", "cordn", 1)
    scenario.write_text(text)

    assert run(["simulate", "run", str(scenario), "-o", "json"]) == 3
    (result,) = json.loads(capsys.readouterr().out)["scenarios"]
    assert [f"{error['line']}: {error['message']}" for error in result["errors"]] == [
        "3: `topology` and `snapshot` exclude each other",
        "4: maxStates: must be a whole number that is not negative, not -1",
        "9: unknown step `cordn`; did you mean `cordon`?",
        "16: steps[2].expect.pending: 5 is greater than 1: write 1..5",
        "18: steps[2].expect.ready: must be a number or text, not a list",
    ]


def test_all_errors_of_a_topology_file_are_reported(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each has its place in the topology file."""
    head = "apiVersion: kubectl-spread/v1\nkind: Topology\n"
    (scenario.parent / "rooms.yaml").write_text(f"{head}nodeGroups:\n- {{nodes: 0}}\n- {{cpus: 1}}\n")
    scenario.write_text(SCENARIO.replace("topology: zones=3,nodes=1", "topology: rooms.yaml"))

    assert run(["simulate", "run", str(scenario)]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition("/")[2] for line in lines[1:3]] == [
        "rooms.yaml:4:11: nodeGroups[0].nodes: must be at least 1, not 0",
        "rooms.yaml:5:4: nodeGroups[1]: unknown key `cpus`: did you mean `cpu`?",
    ]


def test_a_workload_of_an_expectation_may_be_deleted(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = SCENARIO[: SCENARIO.index("expect:")]
    steps = "[{step: delete deploy/web, expect: {workload: deploy/web, placed: 0}}]"
    scenario.write_text(f"{head}steps: {steps}\n")

    assert run(["simulate", "run", str(scenario)]) == 0, capsys.readouterr().out


def test_junit(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A case for each scenario."""
    scenario.write_text(SCENARIO.replace("placed: 3\n", "placed: 4\n"))
    told = f"{scenario}:12:5: after `rollout restart deploy/web`: placed: expected 4, found 3"

    assert run(["simulate", "run", str(scenario), "-o", "junit"]) == 1
    assert capsys.readouterr().out == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<testsuites name="kubectl spread simulate run">\n'
        '  <testsuite name="scenarios" tests="1" failures="1" errors="0">\n'
        f'    <testcase name="a rolling update" classname="{scenario}">\n'
        f'      <failure type="placed" message="{told}">{told}</failure>\n'
        "    </testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n"
    )


def test_without_expectations_every_step_must_complete(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = SCENARIO[: SCENARIO.index("expect:")]
    scenario.write_text(f"{head}steps: [drain node-a1]\n")

    assert run(["simulate", "run", str(scenario)]) == 1
    assert capsys.readouterr().out.startswith(f"FAILED  a rolling update ({scenario})\n  drain node-a1: gets stuck\n")


def test_the_command_line_can_name_another_cluster(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "run", str(scenario), "--topology", "zones=2,nodes=1"]) == 1
    assert "domains of topology.kubernetes.io/zone: expected 1, 1, 1, found 1, 2" in " ".join(
        capsys.readouterr().out.split()
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["run"], "name a scenario, or a directory of scenarios: `run scenarios/`"),
        (["run", "x", "-f", "a"], "a scenario names its manifests and steps itself: leave out -f, -k and --then"),
        (["drain", "a", "-o", "junit"], "-o junit is for `run`, whose scenarios have expectations"),
    ],
)  # fmt: skip
def test_wrong_usage(args: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", *args]) == 2
    assert capsys.readouterr().err.splitlines()[0] == f"error: {message}"


def test_the_schema_has_only_keywords_that_are_checked() -> None:
    """Whoever reads scenarios knows all of them."""
    found: set[str] = set()

    def collect(schema: Any) -> None:
        if isinstance(schema, dict):
            found.update(schema)
            for key in ("properties", "$defs"):
                for item in schema.get(key, {}).values():
                    collect(item)
            for key in ("items", "additionalProperties"):
                collect(schema.get(key))

    collect(schemas.load("scenario"))
    assert found <= {*single_document.KEYWORDS, "$schema", "$defs", "title", "description", "$comment"}


def test_a_table_of_the_command_line_may_be_anywhere(scenario: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Only files that a scenario names are below its directory."""
    table = tmp_path_factory.mktemp("elsewhere") / "types.yaml"
    table.write_text("{}\n")

    assert run(["simulate", "run", str(scenario), "--instance-types", str(table)]) == 0
