"""`simulate`: the command line, the answers as text and JSON, exit codes and messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.cli.main import run

Plain = dict[str, Any]

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: web, resources: {requests: {cpu: 100m}}}]
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: web}}
"""


@pytest.fixture
def web(tmp_path: Path) -> str:
    path = tmp_path / "web.yaml"
    path.write_text(WEB)
    return str(path)


def simulate(*args: str) -> int:
    return run(["simulate", "--topology", "zones=3,nodes=1", *args])


def answer(capsys: pytest.CaptureFixture[str], *args: str) -> Plain:
    """Run with -o json, and return the document, which is valid."""
    simulate(*args, "-o", "json")
    document: Plain = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schemas.load("simulation"))
    return document


def test_a_rollout_that_completes(web: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 0; the ranges of all outcomes."""
    assert simulate("rollout", "restart", "deploy/web", "-f", web) == 0
    assert capsys.readouterr().out == (
        "rollout restart deploy/web: completes\n"
        "\n"
        "Deployment default/web completes\n"
        "  3 of 3 pods ready, 3 pods of before gone\n"
        "\n"
        "  topology.kubernetes.io/zone   before   after\n"
        "  a                             1        0 to 2\n"
        "  b                             1        0 to 2\n"
        "  c                             1        0 to 2\n"
        "  skew: 0 before, at most 2 on the way, 0 to 2 at the end\n"
        "\n"
        "There are 2 different outcomes, all of them found (22 states visited).\n"
    )


def test_a_drain_that_gets_stuck(web: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1; the Pending pod with the scheduler's message, and the way there."""
    document = answer(capsys, "drain", "node-a1", "-f", web)

    assert simulate("drain", "node-a1", "-f", web) == 1
    (step,) = document["steps"]
    (waiting,) = step["pending"]
    assert (document["completes"], step["verdict"], step["exact"]) == (False, "getsStuck", True)
    assert waiting["pods"] == {"min": 1, "max": 1}
    assert waiting["message"].startswith(
        "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match"
    )
    assert step["witness"]["text"][-3:] == [
        "A new pod of web (revision 1) is evicted from node-a1.",
        "Deployment default/web creates a new pod of web (revision 1).",
        "A new pod of web (revision 1) on node-a1 is gone.",
    ]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["drain", "nope"], 'Error from server (NotFound): nodes "nope" not found\n'),
        (["rollout", "restart", "sts", "x"], 'Error from server (NotFound): statefulsets.apps "x" not found\n'),
        (
            ["rollout", "restart", "deploy/x", "-n", "shop"],
            'Error from server (NotFound): deployments.apps "x" not found\n',
        ),
    ],
)
def test_what_does_not_exist_is_told_as_kubectl_tells_it(
    args: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert simulate(*args) == 1
    assert capsys.readouterr().err == message


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "name a step, such as `rollout restart deploy/web`"),
        (["drian", "a"], "unknown step `drian`; did you mean `drain`?"),
        (["rollout", "restrt", "deploy/web"], "unknown step `rollout restrt`; did you mean `rollout restart`?"),
        (["get", "pods"], "`get` is not simulated: it changes nothing"),
        (["drain", "a", "--forcee"], "unknown flag --forcee of `drain`; did you mean `--force`?"),
        (["drain", "a", "--force=perhaps"], 'invalid argument "perhaps" for "--force" flag: it takes true or false'),
        (["drain", "a", "--pod-selector"], "flag needs an argument: --pod-selector"),
        (["rollout", "undo", "depoy/a"], 'the server doesn\'t have a resource type "depoy"; did you mean `deploy`?'),
        (["cordon", "a", "--outcomes=x"], "invalid value for '--outcomes': x is none of all, first and sample=N"),
    ],
)  # fmt: skip
def test_wrong_usage_names_the_nearest_match(args: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(*args) == 2
    assert capsys.readouterr().err.splitlines()[0] == f"error: {message}"


def test_flags_that_cannot_matter_are_accepted_anywhere(web: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As in the user's shell history."""
    plain = answer(capsys, "-f", web, "drain", "node-a1")
    args = ["kubectl", "drain", "--grace-period", "30", "-f", web, "node-a1", "--timeout=60s", "--dry-run=client"]
    given = answer(capsys, *args)

    assert given["steps"][0]["pending"] == plain["steps"][0]["pending"]


def test_steps_follow_each_other(web: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What the first step leaves is what the next one finds."""
    document = answer(capsys, "drain", "node-a1", "-f", web, "--then", "kubectl uncordon node-a1")

    assert [step["verdict"] for step in document["steps"]] == ["getsStuck", "completes"]
    assert [step["step"] for step in document["steps"]] == ["drain node-a1", "uncordon node-a1"]


def test_one_run_is_never_called_certain(web: str, capsys: pytest.CaptureFixture[str]) -> None:
    document = answer(capsys, "rollout", "restart", "deploy/web", "-f", web, "--outcomes", "first")
    step = document["steps"][0]

    assert (step["exact"], step["runs"], step["outcomeCount"]) == (False, 1, 1)


def test_a_space_past_the_limit_is_sampled(web: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate("rollout", "restart", "deploy/web", "-f", web, "--max-states", "3") == 0
    last = " ".join(capsys.readouterr().out.splitlines()[-2:])

    assert "in 100 random runs" in last
    assert last.endswith("so other outcomes are possible.")
