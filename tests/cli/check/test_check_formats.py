"""The formats of `check`, each of them whole."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from kubectl_spread.cli.commands import check as check_command
from kubectl_spread.cli.main import run
from kubectl_spread.lint.registry import RULES
from kubectl_spread.report.check.report import FORMATS
from tests.cli.check import sarif_schema

WEB = """\
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  containers: [{name: c, image: c}]
  topologySpreadConstraints:
  - maxSkew: SKEW
    topologyKey: KEY
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {matchLabels: {app: web}}
"""
REFUSAL = "Invalid value: 0: must be greater than zero"
PATH = "spec.topologySpreadConstraints[0].maxSkew"
UNKNOWN = "Kubernetes does not set the label `kubernetes.io/zone`. If no node has it, all pods stay Pending"

Check = Callable[..., tuple[int, str]]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    """Run `check` where a good file, a bad one and a broken one are: its exit code and standard output."""
    monkeypatch.chdir(tmp_path)
    good = WEB.replace("SKEW", "1").replace("KEY", "topology.kubernetes.io/zone")
    Path("good.yaml").write_text(good)
    Path("a b,1%.yaml").write_text(WEB.replace("SKEW", "0").replace("KEY", "kubernetes.io/zone"))
    Path("broken.yaml").write_bytes(b"caf\xe9\n")

    def checked(*args: str) -> tuple[int, str]:
        code = run(["check", *args])
        return code, capsys.readouterr().out

    return checked


def test_the_command_line_offers_every_format() -> None:
    assert tuple(FORMATS) == check_command.FORMATS


def test_concise_has_a_line_each(check: Check) -> None:
    assert (
        1,
        f"a b,1%.yaml:7:14: error SPR101 {PATH}: {REFUSAL}\na b,1%.yaml:8:18: error SPR302 {UNKNOWN}\n",
    ) == check("good.yaml", "a b,1%.yaml", "-o", "concise")


def test_concise_tells_where_replicas_went(check: Check) -> None:
    assert (0, "Pod default/web: 1 of 1 pod placed\n") == check("good.yaml", "-o", "concise", "--topology", "zones=2")


def test_jsonl_has_a_document_a_line(check: Check) -> None:
    code, out = check("good.yaml", "a b,1%.yaml", "broken.yaml", "-o", "jsonl", "--topology", "zones=2")
    documents = [json.loads(line) for line in out.splitlines()]

    assert 3 == code
    assert [("Finding", "SPR101"), ("Finding", "SPR302"), ("Placement", None), ("Error", None)] == [
        (document["kind"], document.get("code")) for document in documents
    ]


def test_github_gets_workflow_commands(check: Check) -> None:
    """Commas, colons and percent signs of a name are escaped."""
    code, out = check("a b,1%.yaml", "broken.yaml", "-o", "github")
    place = "file=a b%2C1%25.yaml,line=7,endLine=7,col=14,endColumn=15,title=SPR101 max-skew-not-positive"

    assert 3 == code
    assert f"::error {place}::{PATH}: {REFUSAL}%0Ahint: write 1 or more; 1 spreads most evenly" == out.splitlines()[0]
    assert "::error file=broken.yaml::not UTF-8: byte 0xe9" == out.splitlines()[-1]


def test_github_hears_of_pending_pods(check: Check) -> None:
    Path("nodes.yaml").write_text(
        "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {topology.kubernetes.io/zone: a}}\n"
        "spec: {unschedulable: true}\nstatus: {allocatable: {cpu: 4, pods: 9}}\n"
    )

    assert (1, "::error title=Pending::Pod default/web: 0 of 1 pod placed, 1 Pending\n") == check(
        "good.yaml", "-o", "github", "--snapshot", "nodes.yaml"
    )


def test_gitlab_gets_its_list(check: Check) -> None:
    code, out = check("good.yaml", "a b,1%.yaml", "-o", "gitlab")
    first, second = json.loads(out)

    assert 1 == code
    assert {"path": "a b,1%.yaml", "lines": {"begin": 7, "end": 7}} == first["location"]
    assert ("SPR101", "major", f"{PATH}: {REFUSAL}") == (first["check_name"], first["severity"], first["description"])
    assert first["fingerprint"] != second["fingerprint"]
    assert (0, "[]\n") == check("good.yaml", "-o", "gitlab")


def test_junit_has_a_suite_a_file(check: Check) -> None:
    code, out = check("good.yaml", "a b,1%.yaml", "broken.yaml", "-o", "junit", "--topology", "zones=2")
    suites = ET.fromstring(out)

    assert 3 == code
    assert [
        ("good.yaml", "1", "0", "0"),
        ("a b,1%.yaml", "2", "2", "0"),
        ("placement", "1", "0", "0"),
        ("broken.yaml", "1", "0", "1"),
    ] == [tuple(suite.get(name) for name in ("name", "tests", "failures", "errors")) for suite in suites]
    assert [f"{PATH}: {REFUSAL}", UNKNOWN] == [failure.get("message") for failure in suites.iter("failure")]


def sarif(out: str) -> dict[str, Any]:
    """The run of a SARIF document, which is valid."""
    document = json.loads(out)
    (only,) = document["runs"]
    result: dict[str, Any] = only

    assert [] == sarif_schema.errors(document)
    return result


def test_sarif_has_results_rules_and_relative_places(check: Check) -> None:
    """Exit 0: who reads the report decides."""
    code, out = check("good.yaml", "a b,1%.yaml", "-o", "sarif")
    results = sarif(out)["results"]

    assert 0 == code
    assert list(RULES) == [rule["id"] for rule in sarif(out)["tool"]["driver"]["rules"]]
    assert ["SPR101", "SPR302"] == [list(RULES)[result["ruleIndex"]] for result in results]
    assert {
        "artifactLocation": {"uri": "a%20b%2C1%25.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 7, "startColumn": 14, "endLine": 7, "endColumn": 15},
    } == results[0]["locations"][0]["physicalLocation"]


def test_sarif_is_valid_with_places_beside_and_without_an_object(check: Check) -> None:
    """Of several constraints, of text that is not an object, of errors: all that a document can hold."""
    pair = WEB.replace("SKEW", "1").replace("KEY", "topology.kubernetes.io/zone")
    Path("pair.yaml").write_text(pair + pair[pair.index("  - maxSkew") :])
    Path("text.yaml").write_text(f"--- web\n{pair}---\nkind: Pod\nspec: [\n")
    code, out = check("pair.yaml", "text.yaml", "broken.yaml", "-o", "sarif", "--select", "SPR0,SPR1")
    results = sarif(out)["results"]

    assert 3 == code
    assert ["SPR105", "SPR004", "SPR001"] == [result["ruleId"] for result in results]
    assert ["repeated here"] == [item["message"]["text"] for item in results[0]["relatedLocations"]]


@pytest.mark.skipif(not sarif_schema.IS_THERE, reason="the package with the schema needs Python 3.11")
def test_the_sarif_schema_is_looked_at(check: Check) -> None:
    """A document that breaks it is told from one that does not."""
    document = json.loads(check("a b,1%.yaml", "-o", "sarif")[1])
    document["runs"][0]["results"][0]["level"] = "fatal"
    document["runs"][0]["results"][1]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0

    assert [
        ["runs", 0, "results", 0, "level"],
        ["runs", 0, "results", 1, "locations", 0, "physicalLocation", "region", "startLine"],
    ] == sarif_schema.errors(document)


def test_sarif_without_findings_has_an_empty_list(check: Check) -> None:
    code, out = check("good.yaml", "-o", "sarif")

    assert (0, []) == (code, sarif(out)["results"])


def test_sarif_beside_another_format_leaves_the_exit_code_alone(check: Check) -> None:
    """Whoever reads SARIF alone judges the findings in it."""
    both = check("a b,1%.yaml", "-o", "sarif=found.sarif", "-o", "concise")[0]
    alone = check("a b,1%.yaml", "-o", "sarif=found.sarif")[0]

    assert (1, 0) == (both, alone)


def test_sarif_tells_what_was_not_read(check: Check) -> None:
    code, out = check("broken.yaml", "-o", "sarif")
    (invocation,) = sarif(out)["invocations"]

    assert 3 == code
    assert not invocation["executionSuccessful"]
    assert ["not UTF-8: byte 0xe9"] == [note["message"]["text"] for note in invocation["toolExecutionNotifications"]]


def test_fingerprints_stay_when_lines_move(check: Check) -> None:
    """And differ between equal findings."""
    before = sarif(check("a b,1%.yaml", "-o", "sarif")[1])["results"]
    text = Path("a b,1%.yaml").read_text()
    Path("a b,1%.yaml").write_text(f"# moved\n\n{text}---\n{text}")
    after = sarif(check("a b,1%.yaml", "-o", "sarif", "--ignore", "SPR5")[1])["results"]
    digests = [result["partialFingerprints"]["kubectlSpread/v1"] for result in after]

    assert [result["partialFingerprints"]["kubectlSpread/v1"] for result in before] == digests[:2]
    assert 4 == len(set(digests))


def test_several_formats_in_one_run(check: Check) -> None:
    """The first goes to the file, the second to standard output; the file keeps its mode."""
    Path("out.sarif").write_text("old")
    Path("out.sarif").chmod(0o640)
    code, out = check("a b,1%.yaml", "-o", "sarif=out.sarif", "-o", "concise")

    assert 1 == code
    assert 2 == len(out.splitlines()) == len(sarif(Path("out.sarif").read_text())["results"])
    assert 0o640 == stat.S_IMODE(Path("out.sarif").stat().st_mode)
    assert [] == list(Path().glob(".kubectl-spread-*"))


@pytest.mark.parametrize(
    "args",
    [
        ("-o", "json", "-o", "text"),
        ("-o", "json="),
        ("-o", "xml"),
        ("-o", "xml=a"),
    ],
)
def test_outputs_that_do_not_match_are_wrong_usage(check: Check, args: tuple[str, ...]) -> None:
    assert (2, "") == check("good.yaml", *args)


def test_a_file_that_cannot_be_written_is_an_error(check: Check) -> None:
    assert (3, "") == check("good.yaml", "-o", "json=none/out.json")


def test_sarif_alone_fails_only_if_fail_on_is_given(check: Check) -> None:
    assert 0 == check("a b,1%.yaml", "-o", "sarif")[0]
    assert 1 == check("a b,1%.yaml", "-o", "sarif", "--fail-on", "error")[0]
    assert 1 == check("a b,1%.yaml", "-o", "sarif=found.sarif", "--fail-on", "warning")[0]
    assert 0 == check("a b,1%.yaml", "-o", "sarif", "--fail-on", "never")[0]
    assert 0 == check("good.yaml", "-o", "sarif", "--fail-on", "info")[0]


def test_sarif_says_which_fixes_are_unsafe(check: Check) -> None:
    results = sarif(check("a b,1%.yaml", "-o", "sarif")[1])["results"]
    fixes = [fix for result in results for fix in result.get("fixes", ())]

    assert [
        ("set maxSkew to 1 (unsafe: it may change where pods run)", "unsafe"),
        ("write `topology.kubernetes.io/zone`", "safe"),
    ] == [(fix["description"]["text"], fix["properties"]["safety"]) for fix in fixes]


def test_the_examples_in_sarif_help_are_fenced(check: Check) -> None:
    for rule in sarif(check("good.yaml", "-o", "sarif")[1])["tool"]["driver"]["rules"]:
        text, markdown = rule["help"]["text"], rule["help"]["markdown"]
        blocks = [part for part in text.split("\n\n") if part.startswith("    ")]
        assert 1 <= len(blocks) <= len([line for line in markdown.splitlines() if line == "```yaml"]) * 2
        assert [] == [line for line in "".join(markdown.split("```")[::2]).splitlines() if line.startswith("    ")]
        assert "```" not in text


def test_an_info_is_no_failure_in_junit(check: Check) -> None:
    code, out = check("a b,1%.yaml", "-o", "junit", "--severity", "SPR101=info", "--severity", "SPR302=warning")
    (suite,) = ET.fromstring(out)

    assert (0, "2", "1") == (code, suite.get("tests"), suite.get("failures"))
    first, second = suite
    assert (["system-out"], ["failure"]) == ([part.tag for part in first], [part.tag for part in second])
    assert (first[0].text or "").startswith("info: ")
