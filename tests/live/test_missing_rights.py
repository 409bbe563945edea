"""What may not be read is never told as health."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.cli.main import run
from tests.apiserver import ApiServer
from tests.live.conftest import SHOP

WEB = str(SHOP / "web.yaml")
FORBIDDEN = 'error: pods is forbidden: User "admin" cannot list resource "pods" in API group "" in the namespace "shop"'
WORKLOADS = ("deployments", "statefulsets", "daemonsets", "replicasets", "replicationcontrollers", "jobs", "cronjobs")


@pytest.mark.parametrize(
    "command", [["check"], ["status"], ["check", WEB, "--live"], ["explain", "deploy/web"], ["explain", "-f", WEB]]
)
def test_without_pods_there_is_no_answer(
    command: list[str], server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 3, and the message is kubectl's, with the rule that allows it."""
    server.forbidden = {"pods"}
    code = run([*command, "--kubeconfig", config])
    out, err = capsys.readouterr()

    assert (3, "") == (code, out)
    assert err.splitlines()[-1] == (
        f"{FORBIDDEN}: without pods, running workloads cannot be checked; the ClusterRole rule that allows it: "
        '{apiGroups: [""], resources: [pods], verbs: [list]}'
    )


def test_check_without_the_right_to_list_workloads_does_not_say_no_findings(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.forbidden = set(WORKLOADS)
    run(["check", "--kubeconfig", config])
    out, err = capsys.readouterr()

    assert out.splitlines()[-1].startswith(
        "partly known: may not list replicationcontrollers, replicasets, statefulsets"
    )
    assert "nothing found in the readable resources" in err
    assert "no findings" not in err


def test_status_says_on_standard_output_which_workloads_it_may_not_list(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.forbidden = {"statefulsets", "priorityclasses"}
    run(["status", "--kubeconfig", config])

    assert capsys.readouterr().out.splitlines()[-1] == "partly known: may not list statefulsets"


@pytest.mark.parametrize(("command", "schema"), [("check", "check-report"), ("status", "status-report")])
def test_json_names_the_kinds_that_may_not_be_listed(
    command: str, schema: str, server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.forbidden = {"statefulsets", "services@"}
    run([command, "--kubeconfig", config, "-o", "json"])
    document = json.loads(capsys.readouterr().out)

    jsonschema.validate(document, schemas.load(schema))
    assert document["unread"] == [
        {"kind": "Service", "resource": "services", "onlyNamespace": "shop"},
        {"kind": "StatefulSet", "resource": "statefulsets", "onlyNamespace": None},
    ]


@pytest.mark.parametrize("command", ["explain", "check", "status"])
def test_workload_that_may_not_be_read_is_not_called_missing(
    command: str, server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The right is named, and the exit code is 3: nobody knows whether the workload exists."""
    server.forbidden = {"deployments", "replicasets"}
    code = run([command, "deploy/other", "--kubeconfig", config])

    assert 3 == code
    (told,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert told.startswith(
        'error: deployments.apps "other": may not list replicasets and deployments, so whether it exists is not '
        "known; the ClusterRole rules that allow it: {apiGroups: [apps], resources: [replicasets], verbs: [list]}"
    )


@pytest.mark.parametrize("command", ["explain", "check", "status"])
def test_workload_that_is_known_by_its_pods_only_lacks_a_right(
    command: str, server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The kind is named once, also if it is read for two reasons; what the pods show is printed, too."""
    server.forbidden = {"deployments"}
    code = run([command, "deploy/web", "--kubeconfig", config])
    out, err = capsys.readouterr()

    assert 3 == code
    assert out.splitlines()[-1] == "partly known: may not list deployments"
    assert command == "check" or "eployment" in out.partition("partly known")[0]
    assert (
        'error: deployments.apps "web": may not list deployments, so whether it exists is not known; the ClusterRole '
        "rules that allow it: {apiGroups: [apps], resources: [deployments], verbs: [list]}"
    ) in err


@pytest.mark.parametrize("command", ["explain", "check", "status"])
def test_workload_that_does_not_exist_is_not_found(
    command: str, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run([command, "deploy/other", "--kubeconfig", config])

    assert 1 == code
    assert capsys.readouterr().err.startswith("note: ")
    run([command, "sts/other", "--kubeconfig", config])
    assert 'error: statefulsets.apps "other" not found in namespace "shop"' in capsys.readouterr().err


@pytest.mark.parametrize("command", [["check"], ["status"], ["explain", "deploy/web"]])
def test_namespace_that_does_not_exist_is_not_found(
    command: list[str], config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run([*command, "-n", "nope", "--kubeconfig", config])

    assert 1 == code
    assert 'error: namespaces "nope" not found\n' in capsys.readouterr().err


def test_namespace_is_not_called_missing_where_namespaces_may_not_be_listed(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.forbidden = {"namespaces"}
    run(["check", "-n", "nope", "--kubeconfig", config])

    assert "not found" not in capsys.readouterr().err


def test_snapshot_falls_back_to_the_namespace_and_says_what_is_missing(
    server: ApiServer, config: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On standard error and in the file; who reads the file is told, too."""
    server.forbidden = {"pods@", "replicasets@", "priorityclasses"}
    path = tmp_path / "facts.json"
    code = run(["snapshot", "--kubeconfig", config, "-o", str(path)])
    err = capsys.readouterr().err
    document = json.loads(path.read_text())

    assert 0 == code
    assert "warning: may not list pods in all namespaces, only in `shop`: " in err
    jsonschema.validate(document, schemas.load("snapshot"))
    assert document["unread"] == [
        {"kind": "Pod", "resource": "pods", "namespace": "shop"},
        {"kind": "ReplicaSet", "resource": "replicasets", "namespace": "shop"},
        {"kind": "PriorityClass", "resource": "priorityclasses"},
    ]
    assert {"Pod", "PriorityClass", "ReplicaSet"}.isdisjoint(document["kinds"])
    assert "ReplicaSet" in {item["kind"] for item in document["items"]}
    run(["check", "-n", "shop", "--snapshot", str(path)])
    told = capsys.readouterr().out.splitlines()
    assert "partly known: may not list priorityclasses; outside shop: pods, replicasets" in told


def test_redacted_snapshot_does_not_name_the_namespace_that_was_read(
    server: ApiServer, config: str, tmp_path: Path
) -> None:
    server.forbidden = {"pods@"}
    path = tmp_path / "facts.json"
    run(["snapshot", "--redact", "--kubeconfig", config, "-o", str(path)])

    assert json.loads(path.read_text())["unread"] == [{"kind": "Pod", "resource": "pods"}]


PARTLY = "partly known: may not list statefulsets"


def checked(server: ApiServer, config: str, output: str, capsys: pytest.CaptureFixture[str]) -> str:
    """`check` by someone who may not list StatefulSets, in an output format."""
    server.forbidden = {"statefulsets"}
    run(["check", "--kubeconfig", config, "-o", output])
    return capsys.readouterr().out


def test_github_warns_of_what_was_not_read(server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = checked(server, config, "github", capsys).splitlines()

    assert f"::warning title=Partly known::{PARTLY}" in lines


def test_junit_has_an_error_for_what_was_not_read(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root = ET.fromstring(checked(server, config, "junit", capsys))
    (suite,) = (suite for suite in root if suite.get("name") == "cluster")
    (error,) = suite.iter("error")

    assert (suite.get("errors"), error.get("message")) == ("1", PARTLY)


def test_sarif_was_not_successful_where_something_was_not_read(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ((invocation,),) = (run_["invocations"] for run_ in json.loads(checked(server, config, "sarif", capsys))["runs"])
    notes = [(item["level"], item["message"]["text"]) for item in invocation["toolExecutionNotifications"]]

    assert not invocation["executionSuccessful"]
    assert ("error", f"Partly known: {PARTLY}") in notes
