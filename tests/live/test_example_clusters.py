"""The clusters of the examples, read live: the same answers as of their files, and of snapshots of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.source import SourceFile
from tests.apiserver import ApiServer, KINDS
from tests.live.comparing import differences
from tests.live.conftest import Kubeconfig

pytestmark = pytest.mark.slow

Plain = dict[str, Any]
SCENARIOS = Path(__file__).parent.parent.parent / "examples" / "scenarios"
CLUSTERS = sorted(SCENARIOS.glob("*/snapshot.yaml"))


def objects_of(path: Path) -> list[Plain]:
    """The objects of a file that the API server has."""
    found: list[Plain] = []
    for document in compose.compose(SourceFile(str(path), path.read_text(encoding="utf-8"))):
        assert isinstance(document, compose.Document)
        plain: Any = nodes.to_plain(document.root)
        found += plain["items"] if plain.get("kind") == "List" else [plain]
    return [item for item in found if item["kind"] in KINDS]


def commands(objects: list[Plain]) -> list[list[str]]:
    """`status`, `check`, and `explain` of the first pod that waits and of the first workload."""
    found = [["status", "-A", "-a"], ["check", "-A"]]
    waiting = [item for item in objects if item["kind"] == "Pod" and not item["spec"].get("nodeName")]
    workloads = [item for item in objects if item["kind"] in ("Deployment", "StatefulSet", "DaemonSet")]
    for item in (*waiting[:1], *workloads[:1]):
        metadata = item["metadata"]
        target = f"{item['kind'].lower()}/{metadata['name']}"
        found.append(["explain", target, "-n", metadata.get("namespace", "default")])
    return [[*command, "-o", "json"] for command in found]


@pytest.mark.parametrize("path", CLUSTERS, ids=[path.parent.name for path in CLUSTERS])
def test_a_cluster_its_file_and_its_snapshot_give_the_same_answers(
    path: Path, kubeconfig: Kubeconfig, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    objects = objects_of(path)
    target = str(tmp_path / "facts.json")
    with ApiServer(objects).running() as server:
        live = ["--kubeconfig", kubeconfig(server.url)]
        assert 0 == run(["snapshot", *live, "-o", target])
        for command in commands(objects):
            answers = []
            for facts in (live, ["--snapshot", target], ["--snapshot", str(path)]):
                capsys.readouterr()
                answers.append((run([*command, *facts]), json.loads(capsys.readouterr().out)))
            (code, of_live), of_snapshot, of_file = answers

            assert (code, []) == (of_snapshot[0], differences(of_live, of_snapshot[1])), command
            assert (code, []) == (of_file[0], differences(of_live, of_file[1])), command
