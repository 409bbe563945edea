"""A command that looks at none of the objects of a file says so: nothing found is not the same as nothing wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run

COMMANDS = (["status"], ["check"], ["rebalance"])


def facts_of(folder: Path, *namespaces: str) -> str:
    """Write a snapshot with one Pending pod of a Deployment `web` in each namespace."""
    items: list[dict[str, Any]] = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}]
    for namespace in namespaces:
        labels = {"app": "web"}
        pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "web"}]}}
        spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": pod}
        there = {"name": "web", "namespace": namespace}
        items.append({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": there, "spec": spec})
        items.append({"apiVersion": "v1", "kind": "Pod", **pod, "metadata": {"labels": labels, **there}})
    path = folder / "snapshot.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return str(path)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("there", "where"),
    [
        (("shop",), "namespace shop (-n shop)"),
        (("a", "b"), "namespaces a, b (-n NAMESPACE)"),
        (("a", "b", "c", "d", "e"), "namespaces a, b, c and 2 more (-n NAMESPACE)"),
    ],
)
def test_a_namespace_without_anything_is_an_error(
    command: list[str], there: tuple[str, ...], where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run([*command, "-n", "nope", "--snapshot", facts_of(tmp_path, *there)])

    assert code == 1
    expected = f'error: no pods and no workloads in namespace "nope"; the cluster facts have {where}, or -A for all\n'
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_the_default_namespace_is_named_if_the_objects_are_in_several_others(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 1 == run([*command, "--snapshot", facts_of(tmp_path, "a", "b")])
    assert 'no pods and no workloads in namespace "default"; the cluster facts have namespaces a, b' in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    "words", [["explain", "deploy/web"], ["explain", "pod", "web"], ["simulate", "scale", "deploy/web", "--replicas=2"]]
)
def test_the_only_namespace_of_a_file_is_the_default(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run([*words, "--snapshot", facts_of(tmp_path, "shop")])

    assert "shop/web" in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_an_empty_file_of_facts_is_no_error(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == run([*command, "--snapshot", facts_of(tmp_path)])
    assert "cluster facts have" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["deploy/web", "pod/web"])
def test_a_name_that_is_missing_here_is_told_where_it_is(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 1 == run(["explain", name, "--snapshot", facts_of(tmp_path, "a", "b"), "-n", "default"])
    told = capsys.readouterr().err

    assert 'not found in namespace "default" of the cluster facts; it is in namespaces a, b (-n NAMESPACE)\n' in told
