"""Words that people type: `help`, names without a type, files without -f, and commands of other tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import COMMANDS, run

Plain = dict[str, Any]


def _deployment(name: str) -> Plain:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "web"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": spec,
    }


def _pod(name: str) -> Plain:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"containers": [{"name": "c", "image": "web"}]},
    }


@pytest.fixture
def facts(tmp_path: Path) -> str:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"kubernetes.io/hostname": "n1"}}}
    service = {**_deployment("both"), "kind": "StatefulSet"}
    items = [node, _deployment("web"), _deployment("both"), service, _pod("alone")]
    path = tmp_path / "snapshot.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return str(path)


@pytest.mark.parametrize(("words", "usage"), [([], "kubectl spread [OPTIONS]"), (["rule"], "kubectl spread rule ")])
def test_help_is_the_option_of_a_command(words: list[str], usage: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == run(["help", *words])
    told = capsys.readouterr().out
    assert 0 == run([*words, "--help"])

    assert told == capsys.readouterr().out
    assert usage in told


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("lint", "check"),
        ("why", "explain"),
        ("drain", "simulate drain"),
        ("restart", "simulate rollout restart"),
        ("prove", "guarantee"),
        ("chek", "check"),
    ],
)
def test_a_command_of_another_tool_is_understood(word: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == run([word])
    assert f"error: no such command '{word}': did you mean `{meant}`?\n" in capsys.readouterr().err
    assert meant.split(maxsplit=1)[0] in COMMANDS


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["explain", "web"], "Deployment shop/web"),
        (["explain", "alone"], "Pod shop/alone"),
        (["status", "web", "--all"], "deployment/web"),
        (["guarantee", "web", "--at-most", "hostname=1/2"], "Deployment shop/web"),
    ],
)
def test_a_name_alone_is_looked_up(
    words: list[str], expected: str, facts: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run([*words, "--snapshot", facts])

    assert expected in capsys.readouterr().out


@pytest.mark.parametrize("command", [["explain"], ["status"], ["rebalance"]])
def test_a_name_of_two_objects_is_ambiguous(command: list[str], facts: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == run([*command, "both", "--snapshot", facts])
    expected = "error: both is the name of several objects: write deployment/both or statefulset/both\n"
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize("command", [["explain"], ["status"], ["rebalance"]])
def test_a_name_that_nothing_has_is_not_found(
    command: list[str], facts: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 1 == run([*command, "nope", "--snapshot", facts])
    assert 'no pod or workload is named "nope" in namespace "shop"' in capsys.readouterr().err
    assert 1 == run([*command, "web", "-n", "other", "--snapshot", facts])
    assert "; it is in namespace shop (-n shop)\n" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["explain"], ["guarantee", "--at-most", "hostname=1/2"]])
def test_a_file_needs_no_option(
    command: list[str], facts: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "api.json"
    path.write_text(json.dumps(_deployment("api")))
    code = run([*command, str(path), "--snapshot", facts])
    told = capsys.readouterr().out

    assert code == run([*command, "-f", str(path), "--snapshot", facts])
    assert told == capsys.readouterr().out
    assert "shop/api" in told


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["check", "web.yaml", "--zones=3"], "--topology zones=3,nodes=2"),
        (["check", "--output-file", "a"], "--output FORMAT=FILE"),
        (["guarantee", "web", "--max-share", "zone=1/2"], "--at-most"),
        (["rebalance", "--timeout", "3s"], "--effort"),
        (["exporter", "--port", "80"], "--listen :9464"),
        (["simulate", "cordon", "a", "--max-states", "3"], "--effort"),
        (["simulate", "rollout", "restart", "deploy/web", "--hpa"], "--replicas hpa"),
    ],
)
def test_a_flag_is_understood_by_its_meaning(words: list[str], meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == run(words)
    assert f"did you mean `{meant}`?" in capsys.readouterr().err


def test_everything_that_is_pending_is_explained(facts: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With -A in all namespaces, with -n in one; without either in the only one of the snapshot."""
    for words in (["-A"], ["-n", "shop"], []):
        run(["explain", *words, "--snapshot", facts])
        assert "Pod shop/alone" in capsys.readouterr().out
    assert 0 == run(["explain", "-n", "other", "--snapshot", facts])
    assert "no pod is Pending" in capsys.readouterr().err
