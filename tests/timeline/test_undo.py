"""`rollout undo` of StatefulSets and DaemonSets goes back to a ControllerRevision."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from tests.timeline.test_run import node

Plain = dict[str, Any]
LABELS = {"app": "db"}


def template(cpu: str) -> Plain:
    containers = [{"name": "c", "image": "db:1", "resources": {"requests": {"cpu": cpu}}}]
    return {"metadata": {"labels": LABELS}, "spec": {"containers": containers}}


def workload(kind: str, cpu: str) -> Plain:
    spec: Plain = {"selector": {"matchLabels": LABELS}, "template": template(cpu)}
    spec |= {"replicas": 2, "serviceName": "db"} if kind == "StatefulSet" else {}
    metadata = {"name": "db", "namespace": "default", "uid": "1"}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}


def revision(kind: str, number: int, cpu: str) -> Plain:
    """A ControllerRevision as these controllers write it: a patch that replaces the template."""
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": "db", "uid": "1", "controller": True}
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {"name": f"db-{number}", "namespace": "default", "ownerReferences": [owner]},
        "revision": number,
        "data": {"spec": {"template": {"$patch": "replace", **template(cpu)}}},
    }


def undo(folder: Path, objects: list[Plain], *words: str) -> int:
    """Undo the rollout of `db`: exit code 1 if its pods do not fit, which those with 8 CPUs do not."""
    path = folder / "cluster.json"
    nodes = [node("a1", "a", cpu="4"), node("b1", "b", cpu="4")]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes, *objects]}))
    return run(["simulate", "--snapshot", str(path), "rollout", "undo", *words])


@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet"])
def test_without_a_number_it_is_the_revision_before(kind: str, tmp_path: Path) -> None:
    """The latest revision is the template of now."""
    revisions = [revision(kind, 1, "8"), revision(kind, 3, "100m"), revision(kind, 2, "8")]

    assert undo(tmp_path, [workload(kind, "100m"), *revisions], f"{kind}/db") == 1


@pytest.mark.parametrize(("number", "code"), [("1", 1), ("2", 0)])
def test_a_revision_has_its_number(number: str, code: int, tmp_path: Path) -> None:
    revisions = [revision("StatefulSet", 1, "8"), revision("StatefulSet", 2, "200m"), revision("StatefulSet", 4, "1")]

    assert undo(tmp_path, [workload("StatefulSet", "1"), *revisions], "sts/db", f"--to-revision={number}") == code


@pytest.mark.parametrize(
    ("revisions", "words", "message"),
    [
        ([revision("StatefulSet", 1, "1")], [], "error: no last revision to roll back to\n"),
        (
            [revision("StatefulSet", 1, "1"), revision("StatefulSet", 2, "8")],
            ["--to-revision=3"],
            "error: unable to find specified revision 3 in history\n",
        ),
        (
            [],
            [],
            "error: no last revision to roll back to in the cluster facts, which hold no ControllerRevisions\n",
        ),
    ],
    ids=["only one", "unknown number", "none"],
)
def test_a_revision_that_does_not_exist(
    revisions: list[Plain], words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert undo(tmp_path, [workload("StatefulSet", "1"), *revisions], "sts/db", *words) == 1
    printed = capsys.readouterr()
    assert message in printed.out + printed.err


def test_a_revision_with_a_wrong_type_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The other objects are still read."""
    wrong = {**revision("StatefulSet", 2, "8"), "revision": "two"}

    undo(tmp_path, [workload("StatefulSet", "1"), revision("StatefulSet", 1, "1"), wrong], "sts/db")

    assert "revision" in capsys.readouterr().err


def test_the_only_replica_set_of_shortened_facts_is_the_current_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Its template is left out, so that it differs from that of its Deployment."""
    facts = Path(__file__).parents[2] / "examples" / "shop" / "running.yaml"

    assert run(["simulate", "rollout", "undo", "deploy/web", "-n", "shop", "--snapshot", str(facts)]) == 1
    assert 'error: no rollout history found for deployment "web"' in capsys.readouterr().err
