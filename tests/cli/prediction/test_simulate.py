"""`simulate`: the command line, the answers as text and JSON, exit codes and messages."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import time
from operator import itemgetter
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.cli.commands import simulate as simulate_command
from kubectl_spread.cli.main import run
from kubectl_spread.engine import run as run_module
from tests.manifests import DEPLOYMENT, ZONES

Plain = dict[str, Any]
CLASSES = "priorityclasses.scheduling.k8s.io"

NOT_FOUND = "Error from server (NotFound)"
WEB = DEPLOYMENT.replace("image: web", "image: web, resources: {requests: {cpu: 100m}}") + ZONES


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
        "Deployment default/web completes: 3 of 3 pods ready, 3 old pods deleted\n"
        "\n"
        "  topology.kubernetes.io/zone   before   after\n"
        "  a                             1        0 to 2\n"
        "  b                             1        0 to 2\n"
        "  c                             1        0 to 2\n"
        "  skew: 0 before, up to 2 during, 0 to 2 after\n"
        "\n"
        "There are 2 different outcomes, all of them found (19 states visited).\n"
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
    assert step["witness"]["text"] == [
        "`drain node-a1` is accepted.",
        "A pod of web is evicted from node-a1.",
        "Deployment default/web creates a pod of web.",
        "A pod of web on node-a1 is gone.",
        "1 pod of web finds no node, and stays Pending.",
    ]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["drain", "nope"], 'Error from server (NotFound): nodes "nope" not found\n'),
        (
            ["rollout", "restart", "sts", "x"],
            'Error from server (NotFound): statefulsets.apps "x" not found in namespace "default"\n',
        ),
        (
            ["rollout", "restart", "deploy/x", "-n", "shop"],
            'Error from server (NotFound): deployments.apps "x" not found in namespace "shop"\n',
        ),
    ],
)
def test_what_does_not_exist_is_told_as_kubectl_tells_it(
    args: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert simulate(*args) == 1
    assert capsys.readouterr().err == message


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("rollout restart deploy", "No resources found in default namespace."),
        ("scale sts --all --replicas=2", "No resources found in default namespace."),
        ("rollout restart sts -l app=nope -n app", "No resources found in app namespace."),
        ("scale deploy/web --replicas=2", f'{NOT_FOUND}: deployments.apps "web" not found in namespace "default";'),
    ],
)
def test_the_namespace_of_what_is_not_found(
    step: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A hint names the namespace that has such objects."""
    path = tmp_path / "web.yaml"
    path.write_text(WEB.replace("{name: web}", "{name: web, namespace: app}", 1))
    hint = " hint: namespace app has such objects; add `-n app`" if "deploy" in step else ""

    assert simulate(*step.split(), "-f", str(path)) == 1
    assert capsys.readouterr().err == f"{message}{hint}\n"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "name a step, such as `rollout restart deploy/web`"),
        (["w.yaml"], "unknown step `w.yaml`; `run w.yaml` plays a scenario, `create -f w.yaml` creates its objects"),
        (["drian", "a"], "unknown step `drian`; did you mean `drain`?"),
        (["rollout", "restrt", "deploy/web"], "unknown step `rollout restrt`; did you mean `rollout restart`?"),
        (["get", "pods"], "`get` is not simulated: it changes nothing"),
        (["rolout", "restart", "deploy/web"], "unknown step `rolout`; did you mean `rollout restart`?"),
        (["set", "foo"], "unknown step `set foo`; the steps are set image, set resources, set env"),
        (["create", "job", "x"], "either --image or --from must be specified"),
        (["edit", "deploy/web"], "`edit` is not simulated: use `patch`, or `apply -f` with the changed manifest"),
        (["drain", "a", "--forcee"], "unknown flag --forcee of `drain`; did you mean `--force`?"),
        (["drain", "a", "--force=perhaps"], 'invalid argument "perhaps" for "--force" flag: it takes true or false'),
        (["drain"], "name a node: `drain NODE...`"),
        (
            ["delete", "runtimeclass", "x"],
            "changes of runtimeclass by name are not simulated; use `apply -f` with a manifest",
        ),
        (["create", "priorityclass", "x", "--value=y"], 'invalid argument "y" for "--value" flag: it takes a number'),
        (
            ["create", "quota", "x", "--hard=pods"],
            "invalid argument syntax pods, expected <resource>=<value>",
        ),
        (
            ["patch", "pc", "system-node-critical", "-p", "value: 1"],
            "a patch of priorityclasses.scheduling.k8s.io is not simulated; use `delete` and `create`",
        ),
        (["drain", "a", "--pod-selector"], "flag needs an argument: --pod-selector"),
        (["rollout", "undo", "depoy/a"], 'the server doesn\'t have a resource type "depoy"; did you mean `deploy`?'),
        (
            ["cordon", "a", "--effort=x"],
            "invalid value for '--effort': 'x' is not one of 'quick', 'normal', 'thorough'",
        ),
        (["lose", "zone"], "`zone` is not KEY=VALUE, such as zone=a"),
        (["add-nodes", "foo"], "`foo` is not KEY=VALUE, such as zone=a"),
        (["label", "node", "node-a1", "x"], "at least one label update is required"),
        (["set", "image", "deploy/nope", "x"], "at least one image update is required"),
        (["scale", "deploy/web", "--replicas=x"], 'invalid argument "x" for "--replicas" flag: it takes a number'),
        (
            ["scale", "deploy/web", f"--replicas={10**22}"],
            f'invalid argument "{10**22}" for "--replicas" flag: the largest number is 100,000',
        ),
        (
            ["scale", "deploy/web", "--replicas=-1"],
            "the --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0",
        ),
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


@pytest.mark.parametrize(
    ("effort", "runs", "exact"), [("quick", 10, False), ("normal", 100, False), ("thorough", 0, True)]
)
def test_an_effort_is_a_number_of_states_and_of_runs(
    effort: str, runs: int, exact: bool, web: str, capsys: pytest.CaptureFixture[str], few_states: None
) -> None:
    document = answer(capsys, "rollout", "restart", "deploy/web", "-f", web, "--effort", effort)
    step = document["steps"][0]

    assert (step["exact"], step["runs"]) == (exact, runs)


@pytest.fixture
def few_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a search visit 3 states with the usual effort."""
    monkeypatch.setattr(simulate_command, "_MAX_STATES", 3)


def test_a_space_past_the_limit_is_sampled(web: str, capsys: pytest.CaptureFixture[str], few_states: None) -> None:
    assert simulate("rollout", "restart", "deploy/web", "-f", web) == 0
    last = " ".join(capsys.readouterr().out.splitlines()[-2:])

    assert last.lstrip() == "Other outcomes than those of 100 sampled runs are possible (53 states visited)."


def test_numbers_of_sampled_runs_have_a_field_of_their_own(
    web: str, capsys: pytest.CaptureFixture[str], few_states: None
) -> None:
    """Other outcomes may lie outside, so `min` and `max` would read as facts. What was before the step is one."""
    document = answer(capsys, "rollout", "restart", "deploy/web", "-f", web)
    (step,) = document["steps"]
    (item,) = step["workloads"]

    assert (step["basis"], step["exact"]) == ("sample", False)
    assert item["ready"]["after"] == {"sampled": {"min": 3, "max": 3}}
    assert item["domains"][0]["domains"][0]["after"] == {"sampled": {"min": 0, "max": 2}}
    assert sum(ending["runs"] for ending in step["outcomes"]) == step["runs"] == 100
    assert simulate("rollout", "restart", "deploy/web", "-f", web) == 0
    out = capsys.readouterr().out
    assert "in the sampled runs 3 of 3 pods ready" in out
    assert "after (sampled)" in out


def test_a_search_without_an_outcome_has_no_numbers(
    web: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, few_states: None
) -> None:
    """`scale --replicas=10000` that was cut off said that 0 pods are ready, and that it may get stuck."""
    monkeypatch.setattr(run_module.Limits.__new__, "__defaults__", (*run_module.Limits.__new__.__defaults__[:-1], 20))
    document = answer(capsys, "scale", "deploy/web", "--replicas=40", "-f", web)
    (step,) = document["steps"]

    assert (step["verdict"], step["basis"]) == ("notKnown", "stateLimit")
    assert (step["workloads"], step["outcomes"], step["pending"]) == ([], [], [])
    assert simulate("scale", "deploy/web", "--replicas=40", "-f", web) == 1
    assert capsys.readouterr().out.splitlines()[::2] == [
        "scale deploy/web --replicas=40: not known",
        f"The search ended before it found an outcome ({step['states']} states visited).",
    ]


def test_a_drained_pod_whose_controller_is_unknown_may_come_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether its operator creates it again changes the outcome: that is no note under `completes`."""
    labels = {"kubernetes.io/hostname": "n1"}
    owner = {"apiVersion": "core.strimzi.io/v1", "kind": "StrimziPodSet", "name": "kafka", "controller": True}
    pod = {
        "kind": "Pod",
        "metadata": {"name": "kafka-0", "namespace": "shop", "ownerReferences": [owner]},
        "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "kafka"}]},
        "status": {"phase": "Running"},
    }
    node = {"kind": "Node", "metadata": {"name": "n1", "labels": labels}, "status": {"allocatable": {"pods": "9"}}}
    facts = tmp_path / "facts.json"
    facts.write_text(json.dumps({"kind": "List", "items": [node, pod]}))

    code = run(["simulate", "drain", "n1", "--snapshot", str(facts), "-o", "json"])
    document = json.loads(capsys.readouterr().out)
    (step,) = document["steps"]

    assert (code, step["verdict"], step["basis"]) == (1, "notKnown", "notSimulated")
    assert step["notSimulated"] == ["StrimziPodSet shop/kafka: whether it replaces kafka-0"]
    assert step["lostPods"] == []
    run(["simulate", "drain", "n1", "--snapshot", str(facts)])
    assert capsys.readouterr().out.splitlines()[:3] == [
        "drain n1: not known",
        "",
        "not simulated, and the outcome depends on it: StrimziPodSet shop/kafka: whether it replaces kafka-0",
    ]


@pytest.mark.parametrize(
    ("steps", "verdict", "after"),
    [
        ("scale deploy/web --replicas=6", "completes", [2, 2, 2]),
        ("scale --replicas 0 deployment web", "completes", [0, 0, 0]),
        ("set image deploy/web c=web:2", "completes", None),
        ("set resources deploy/web --requests=cpu=200m,memory=1Gi --limits=cpu=1", "completes", [1, 1, 1]),
        ("set resources deploy web --requests cpu=900 -c 'c*'", "getsStuck", [1, 1, 1]),
        ("set env deploy/web LEVEL=debug", "completes", None),
        ("set env deploy/web LEVEL=debug; set env deploy/web LEVEL-", "completes", None),
        ("set env deploy/web LEVEL-", "completes", [1, 1, 1]),
        ("delete pods -lapp=web", "completes", [1, 1, 1]),
        ("delete node/node-a1", "completes", [1, 2]),
        ("cordon node-a1; delete pod -l app=web", "getsStuck", [0, 1, 1]),
        ("cordon node-a1; uncordon node-a1; delete pod --all", "completes", [1, 1, 1]),
        ("lose zone=a", "getsStuck", [0, 1, 1]),
        ("lose zone=a; restore zone=a", "completes", [1, 1, 1]),
        ("lose zone=a zone=b; restore zone=a zone=b", "completes", [1, 1, 1]),
        ("taint nodes node-a1 k=v:NoExecute", "getsStuck", [0, 1, 1]),
        ("taint no/node-a1 k:NoExecute; taint node node-a1 k-", "completes", [1, 1, 1]),
        ("add-nodes zone=d; scale deploy web --replicas=4", "completes", [1, 1, 1, 1]),
        (
            "label node node-a1 topology.kubernetes.io/zone=b --overwrite; scale deploy/web --replicas=4",
            "completes",
            [2, 2],
        ),
        ("patch deploy web --type=json -p '[{op: replace, path: /spec/replicas, value: 1}]'", "completes", [0, 0, 1]),
        ("patch deploy/web --type merge -p 'spec: {replicas: 6}'", "completes", [2, 2, 2]),
        ("patch no node-a1 -p 'spec: {unschedulable: true}'; scale deploy/web --replicas=7", "getsStuck", [1, 2, 2]),
    ],
)
def test_every_verb_changes_what_it_names(
    steps: str, verdict: str, after: list[int] | None, web: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The pods of the zones, in order of number, after the last step."""
    first, *others = steps.split("; ")
    then = [word for step in others for word in ("--then", step)]
    last = answer(capsys, "-f", web, *shlex.split(first), *then)["steps"][-1]
    (outcome, *_) = last["outcomes"]

    assert last["verdict"] == verdict
    if after is not None:
        counts = outcome["workloads"][0]["domains"]["topology.kubernetes.io/zone"]
        assert sorted(counts.values()) == after


INVALID, SPEC = 'The Deployment "web" is invalid: ', "spec.template.spec"
UNMATCHED = "`selector` does not match template `labels`"
ABOVE = "must be less than or equal to cpu limit of"
NO_SKEW = (
    '[{"op":"replace","path":"/spec/template/spec/topologySpreadConstraints","value":'
    '[{"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","maxSkew":0}]}]'
)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["rollout", "undo", "deploy/web"], 'error: no rollout history found for deployment "web"'),
        (["rollout", "resume", "deploy/web"], 'error: deployments.apps "web" is not paused'),
        (["scale", "deploy/web", "--replicas=2", "--current-replicas=4"], "error: Expected replicas to be 4, was 3"),
        (["set", "image", "deploy/web", "x=y"], 'error: unable to find container named "x"'),
        (["set", "resources", "deploy/web", "-c=x", "--limits=cpu=1"], "error: unable to find container named x"),
        (["set", "env", "deploy/web", "-c=x", "A=b"], "error: unable to find container named x"),
        (["taint", "nodes", "node-a1", "k-"], 'error: taint "k" not found'),
        (
            ["label", "nodes", "node-a1", "topology.kubernetes.io/zone=b"],
            "error: 'topology.kubernetes.io/zone' already has a value (a), and --overwrite is false",
        ),
        (["lose", "zone=q"], "error: no node has the label topology.kubernetes.io/zone=q; there are a, b, c"),
        (
            ["patch", "deploy/web", "-p", '{"spec":{"selector":{"matchLabels":{"x":"y"}}}}'],
            'The Deployment "web" is invalid: spec.selector: Invalid value: field is immutable',
        ),
        (["delete", "pod", "web-0"], 'Error from server (NotFound): pods "web-0" not found in namespace "default"'),
        (["delete", "limits", "x"], 'Error from server (NotFound): limitranges "x" not found in namespace "default"'),
        (
            ["delete", "pc", "x"],
            f'Error from server (NotFound): {CLASSES} "x" not found',
        ),
        (
            ["create", "pc", "system-node-critical"],
            f'Error from server (AlreadyExists): {CLASSES} "system-node-critical" already exists',
        ),
        (
            ["patch", "deploy/web", "-p", '{"metadata":{"name":"other"}}'],
            "Error from server (BadRequest): the name of the object (other) does not match the name on the URL (web)",
        ),
        (
            ["patch", "deploy/web", "-p", '{"spec":{"replicas":-5}}'],
            'The Deployment "web" is invalid: spec.replicas: Invalid value: -5: must be greater than or equal to 0',
        ),
        (
            ["patch", "deploy/web", "-p", '{"spec":{"template":{"metadata":{"labels":{"app":"other"}}}}}'],
            f'{INVALID}spec.template.metadata.labels: Invalid value: {{"app":"other"}}: {UNMATCHED}',
        ),
        (
            ["patch", "deploy/web", "-p", '{"spec":{"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":0}}}}'],
            f"{INVALID}spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0",
        ),
        (
            ["patch", "deploy/web", "--type=json", "-p", NO_SKEW],
            f"{INVALID}{SPEC}.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
        ),
        (
            ["set", "resources", "deploy/web", "--requests=cpu=2", "--limits=cpu=1"],
            f'{INVALID}{SPEC}.containers[0].resources.requests: Invalid value: "2": {ABOVE} 1',
        ),
    ],
)
def test_what_kubectl_refuses_is_told_in_its_words(
    args: list[str], message: str, web: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert simulate("-f", web, *args) == 1
    assert capsys.readouterr().err == f"{message}\n"


def test_a_patch_that_is_no_yaml_is_wrong_usage(web: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate("-f", web, "patch", "deploy/web", "-p", "{bad") == 2
    assert capsys.readouterr().err.startswith("error: --patch:1:5: not YAML: did not find expected ',' or '}'")


def test_a_manifest_that_is_applied_changes_the_workload(
    web: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Fields that the manifest leaves out and the last one had go back to their defaults, also the replicas."""
    changed = tmp_path / "changed.yaml"
    changed.write_text(WEB.replace("  replicas: 3\n", "").replace("cpu: 100m", "cpu: 200m"))
    step = answer(capsys, "-f", web, "apply", "-f", str(changed))["steps"][0]
    (workload,) = step["workloads"]
    assert workload["replicas"] == 1
    assert step["notes"] == [
        "deployment.apps/web goes back to 1 replica: the manifest leaves out spec.replicas, which the last one had"
    ]
    changed.write_text(WEB.replace("cpu: 100m", "cpu: 200m"))
    step = answer(capsys, "-f", web, "apply", "-f", str(changed))["steps"][0]
    (workload,) = step["workloads"]

    assert (workload["verdict"], workload["replicas"], workload["restarted"]) == ("completes", 3, {"min": 3, "max": 3})


def test_a_manifest_with_a_mistake_is_named_with_its_place(
    web: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 3; the rest is simulated all the same."""
    broken = tmp_path / "broken.yaml"
    broken.write_text(WEB.replace("maxSkew: 1", "maxSkew: 0").replace("name: web}", "name: api}"))

    assert simulate("-f", web, "-f", str(broken), "rollout", "restart", "deploy/web") == 3
    said = capsys.readouterr()
    assert said.err.startswith(f"error: {broken}:12:18: SPR101 ")
    assert said.out.startswith("rollout restart deploy/web: completes")


def test_several_workloads_are_also_told_together(capsys: pytest.CaptureFixture[str]) -> None:
    """Three shards of Redis: in some orders the last pod finds no node; the way there is told."""
    shards = Path(__file__).parents[3] / "examples/simulations/redis/manifests/3-zones-3-shards.yaml"
    code = run(["simulate", "apply", "-f", str(shards), "--topology", "zones=3,nodes=2,cpu=4", "--details"])
    out = capsys.readouterr().out

    assert code == 1
    assert (
        "All of them together\n  kubernetes.io/hostname   before   after\n  node-a1                  0        0 to 1\n"
    ) in out
    assert "  1 pod of StatefulSet default/redis-1, in 1 of 4 outcomes\n" in out
    assert "  18. Pod redis-1-1 finds no node, and stays Pending.\n" in out


def test_a_table_for_many_numbers_of_replicas(web: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A row for each number."""
    code = simulate("-f", web, "rollout", "restart", "deploy/web", "--replicas", "1..3", "--kubernetes-version", "1.34")

    assert code == 0
    assert capsys.readouterr().out == (
        "Deployment default/web with each number of replicas, after `rollout restart deploy/web`:\n"
        "\n"
        "  replicas   verdict     ready   fewest ready   Pending   zone skew   outcomes\n"
        "  1          completes   1       1              0         1           1\n"
        "  2          completes   2       2              0         1 to 2      2\n"
        "  3          completes   3       3              0         0 to 2      2\n"
    )


HPA = """\
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  minReplicas: 3
  maxReplicas: 5
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
"""


def test_the_range_of_an_autoscaler(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A cordoned node keeps the zone empty, so that no more than one pod fits into each of the others."""
    path = tmp_path / "web.yaml"
    path.write_text(WEB + HPA)
    code = simulate(
        "-f",
        str(path),
        "cordon",
        "node-a1",
        "--then",
        "scale deploy/web --replicas=0",
        "--replicas",
        "hpa",
        "-o",
        "json",
    )
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schemas.load("simulation-table"))

    assert code == 0
    assert [row["replicas"] for row in document["rows"]] == [3, 4, 5]
    assert {row["verdict"] for row in document["rows"]} == {"completes"}


def test_numbers_that_get_stuck(web: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each node has room for one pod."""
    small = ["-f", web, "--topology", "zones=3,nodes=1,pods=1"]
    assert run(["simulate", *small, "scale", "deploy/web", "--replicas=3..5"]) == 1
    out = capsys.readouterr().out

    assert "  3          completes    3" in out
    assert "  5          gets stuck   3       3              2  " in out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["rollout", "restart", "deploy", "--replicas", "5..1"], "--replicas: 5 is greater than 1: write 1..5"),
        (["scale", "deploy/web", "--replicas=5..1"], "--replicas: 5 is greater than 1: write 1..5"),
        (
            ["rollout", "restart", "deploy", "--replicas", "1..99999999"],
            "--replicas: 1..99999999: the largest number of replicas is 100,000",
        ),
        (
            ["rollout", "restart", "deploy/web", "--replicas", "3"],
            "--replicas: 3 is not a range of replicas: write 3..9",
        ),
        (
            ["scale", "deploy/web", "--replicas=0..9000"],
            "0..9000 replicas are more than 1,000 rows: name a shorter range with --replicas",
        ),
    ],
)  # fmt: skip
def test_wrong_ranges(args: list[str], message: str, web: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate("-f", web, *args) == 2
    assert capsys.readouterr().err.splitlines()[0] == f"error: {message}"


def test_an_autoscaler_that_is_not_known(web: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate("-f", web, "rollout", "restart", "deploy/web", "--replicas", "hpa") == 1
    assert capsys.readouterr().err == (
        'error: the cluster facts hold no HorizontalPodAutoscaler of deployments.apps "web"; '
        "name the range with --replicas MIN..MAX\n"
    )


MANY = WEB.replace("replicas: 3", "replicas: 24")


@pytest.mark.slow
def test_ctrl_c_prints_what_is_known_so_far(tmp_path: Path) -> None:
    """Exit code 130; the answer says that it is not the whole one."""
    path = tmp_path / "web.yaml"
    path.write_text(MANY)
    args = ["simulate", "-f", str(path), "rollout", "restart", "deploy/web", "--topology", "zones=4,nodes=6"]
    command = [sys.executable, "-m", "kubectl_spread", *args, "--effort", "thorough"]
    for wait_s in (4, 6, 8, 10, 12, 30):  # the search must have begun, and a busy machine samples no run in a second
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(wait_s)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=120)
        if "Other outcomes" in " ".join(out.split()):
            break

    assert (running.returncode, err) == (130, "")
    assert "The search was interrupted: this is what is known so far." in out
    assert "Other outcomes" in " ".join(out.split())


FACTS = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: a1, labels: {kubernetes.io/hostname: a1}}
  status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
- apiVersion: apps/v1
  kind: StatefulSet
  metadata: {name: db, namespace: shop}
  spec:
    replicas: 1
    selector: {matchLabels: {app: db}}
    template:
      metadata: {labels: {app: db}}
      spec: {containers: [{name: c, image: x}], volumes: [{name: v, emptyDir: {}}]}
- apiVersion: v1
  kind: Pod
  metadata:
    name: db-0
    namespace: shop
    labels: {app: db}
    ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, controller: true}]
  spec: {nodeName: a1, containers: [{name: c, image: x}]}
  status: {phase: Running}
- apiVersion: v1
  kind: Pod
  metadata: {name: bare, namespace: shop}
  spec: {nodeName: a1, containers: [{name: c, image: x}]}
  status: {phase: Running}
"""


def test_a_drain_stops_at_pods_that_kubectl_does_not_evict_unasked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In kubectl's words; the node stays cordoned. With its flags the pods go, and the bare one for good."""
    path = tmp_path / "facts.yaml"
    path.write_text(FACTS)
    facts = ["--snapshot", str(path), "-o", "json"]
    assert run(["simulate", "drain", "a1", *facts]) == 1
    (step,) = json.loads(capsys.readouterr().out)["steps"]
    assert step["refusal"] == (
        'error: unable to drain node "a1" due to error: '
        "[cannot delete Pods with local storage (use --delete-emptydir-data to override): shop/db-0, "
        "cannot delete cannot delete Pods that declare no controller (use --force to override): shop/bare], "
        "continuing command..."
    )

    assert run(["simulate", "drain", "a1", "--force", "--delete-emptydir-data", *facts]) == 1
    (step,) = json.loads(capsys.readouterr().out)["steps"]
    assert (step["refusal"], step["lostPods"], step["verdict"]) == (None, ["bare"], "getsStuck")
    assert [item["pod"] for item in step["pending"]] == ["db-0"]


@pytest.mark.parametrize("words", [[""], [" "]])
def test_an_empty_step(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(*words) == 2
    assert capsys.readouterr().err.startswith("error: there is no step; the steps are rollout restart")


def test_pods_without_their_workload_say_what_to_add_to_the_snapshot(
    pods_alone: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["simulate", "rollout", "restart", "deploy/web", "-n", "shop", "--snapshot", pods_alone]) == 1
    assert capsys.readouterr().err == (
        'error: the cluster facts hold pods of deployments.apps "web", but not the object itself; hint: run '
        "`kubectl get deployments.apps web -n shop -o yaml > web.yaml`, and add `--snapshot web.yaml`\n"
    )


def test_new_nodes_say_what_they_copy(capsys: pytest.CaptureFixture[str]) -> None:
    step = answer(capsys, "add-nodes", "zone=d")["steps"][0]
    assert step["notes"] == ["the new nodes copy CPU, memory, pod limit and other labels from node-a1"]
    step = answer(capsys, "add-nodes", "zone=d,cpu=4,memory=8Gi,pods=9")["steps"][0]
    assert not step["notes"]


def test_a_step_without_any_object_is_not_simulated(web: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate("-f", web, "apply", "-f", "nowhere.yaml") == 3
    assert (capsys.readouterr()) == ("", "error: nowhere.yaml: the path does not exist\n")


def test_apply_with_a_missing_file_applies_nothing(web: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As with kubectl, so there is no result."""
    assert simulate("apply", "-f", "nowhere.yaml", "-f", web, "-f", "lost.yaml") == 3
    expected = "error: nowhere.yaml: the path does not exist\nerror: lost.yaml: the path does not exist\n"
    assert capsys.readouterr() == ("", expected)


def test_an_event_does_not_name_one_of_equal_pods(capsys: pytest.CaptureFixture[str]) -> None:
    """Both running pods of web on a-1 are replaced. A name would be the same in both events."""
    running = Path(__file__).parents[3] / "examples" / "shop" / "running.yaml"
    run(["simulate", "rollout", "restart", "deploy/web", "-n", "shop", "--snapshot", str(running), "--details"])
    story = capsys.readouterr().out.partition("The shortest way to get stuck:")[2].splitlines()

    assert [line for line in story if "deleted" in line or "gone" in line] == [
        "  9. A pod of web (revision 1) on a-1 is deleted.",
        "  15. A pod of web (revision 1) on a-1 is deleted.",
        "  16. A pod of web (revision 1) on a-1 is gone (2 times).",
    ]


@pytest.mark.parametrize("before", [True, False])
def test_the_arguments_of_a_container_follow_two_hyphens(before: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """They may look like flags of kubectl or of simulate, and are neither; our own options may stand before them."""
    own = ["-n", "jobs"]
    words = ["create", "job", "greet", "--image=b", "--", "echo", "--from", "-f", "x", "--", "-n"]
    args = [*own, *words] if before else [*words[:4], *own, *words[4:]]

    assert simulate(*args) == 0
    assert capsys.readouterr().out.startswith(
        "create job greet --image=b -- echo --from -f x -- -n: completes\n\nJob jobs/greet completes: 1 of 1 pod"
    )


def test_two_hyphens_before_the_step_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate("--", "create", "deployment", "web", "--image=b") == 0
    assert capsys.readouterr().out.startswith("create deployment web --image=b: completes\n")


@pytest.mark.parametrize(("kind", "full"), [("deployment", "Deployment.apps"), ("job", "Job.batch")])
@pytest.mark.parametrize("name", ["Web", "a_b", "-a", "a b", "web."])
def test_a_name_that_the_api_server_refuses_is_refused(
    kind: str, full: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the words of kubectl and the API server."""
    assert simulate("create", kind, "--image=b", "--", name) == 1
    begin = f'error: failed to create {kind}: {full} "{name}" is invalid: metadata.name: Invalid value: "{name}": '
    assert capsys.readouterr().err.startswith(f"{begin}a lowercase RFC 1123 subdomain must consist of lower case ")


BROKEN = {
    "latin.yaml": (b"x: \xe9\n", "error: latin.yaml:1:4: not UTF-8: byte 0xe9"),
    "utf16.yaml": (b"\xff\xfea\x00", "error: utf16.yaml:1:1: the file is UTF-16, not UTF-8"),
}


def broken(folder: Path) -> str:
    """Options that name a file that is missing, two that cannot be decoded, and a good one."""
    for name, (content, _) in BROKEN.items():
        (folder / name).write_bytes(content)
    (folder / "web.yaml").write_text(WEB, encoding="utf-8")
    return "-f none.yaml -f latin.yaml -f utf16.yaml"


def assert_broken_are_reported(printed: str) -> None:
    """Each of these files has its error, and there is no other."""
    errors = ["error: none.yaml: the path does not exist", *(error for _, error in BROKEN.values())]
    assert sorted(errors) == sorted(printed.splitlines())


@pytest.mark.parametrize(
    "words",
    [
        "simulate {bad} -f web.yaml rollout restart deploy/web --topology zones=3,nodes=1",
        "simulate {bad} apply -f web.yaml --topology zones=3,nodes=1",
        "guarantee {bad} -f web.yaml --topology zones=3,nodes=1 --at-most zone=1/3",
    ],
)
def test_every_manifest_that_cannot_be_read_is_reported_and_the_others_are_used(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert 3 == run(words.format(bad=broken(tmp_path)).split())
    printed = capsys.readouterr()
    assert "Deployment default/web" in printed.out
    assert_broken_are_reported(printed.err)


@pytest.mark.parametrize(
    "words",
    [
        "simulate {bad} rollout restart deploy/web --topology zones=3,nodes=1",
        "simulate {bad} rollout restart deploy/web --replicas 1..3 --topology zones=3,nodes=1",
        "guarantee {bad} --topology zones=3,nodes=1 --at-most zone=1/3",
    ],
)
def test_manifests_that_cannot_be_read_explain_why_an_object_is_missing(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert 3 == run(words.format(bad=broken(tmp_path)).split())
    printed = capsys.readouterr()
    assert "" == printed.out
    assert_broken_are_reported(printed.err)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("set resources deploy/web", "you must specify an update to requests or limits (in the form of"),
        ("set resources deploy/web --requests=cpu", "invalid argument syntax cpu, expected <resource>=<value>"),
        ("set resources deploy/web --requests=cpu=x", "quantities must match the regular expression"),
        ("set env deploy/web", "at least one environment variable must be provided"),
        ("set env deploy/web =x", 'environment variables must be of the form key=value, and "=x" is not'),
        ("set env deploy/web --from=configmap/x", "--from of `set env` is not simulated"),
    ],
)
def test_wrong_usage_of_set(words: str, message: str, web: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate("-f", web, *words.split()) == 2
    assert capsys.readouterr().err.startswith(f"error: {message}")


def test_new_values_of_the_environment_restart_every_pod(web: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "-f", web, "set", "env", "deploy/web", "LEVEL=debug", "--then", "set env deploy/web LEVEL-")

    assert [3, 3] == [step["workloads"][0]["restarted"]["max"] for step in found["steps"]]
    assert answer(capsys, "-f", web, "set", "env", "deploy/web", "LEVEL-")["steps"][0]["workloads"][0]["restarted"] == {
        "min": 0,
        "max": 0,
    }


def low_and_high(replicas: int, **requests: str) -> str:
    """Two Deployments; the pods of `low` fill three nodes with 4 CPU, and `high` starts without pods."""
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "List",
            "items": [
                {
                    "apiVersion": "apps/v1",
                    "kind": "Deployment",
                    "metadata": {"name": name},
                    "spec": {
                        "replicas": count,
                        "selector": {"matchLabels": {"app": name}},
                        "template": {
                            "metadata": {"labels": {"app": name}},
                            "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]},
                        },
                    },
                }
                for name, count in (("low", replicas), ("high", 0))
            ],
        }
    )


LIMITS = """\
apiVersion: v1
kind: LimitRange
metadata: {name: defaults}
spec: {limits: [{type: Container, defaultRequest: {cpu: "3"}}]}
"""


@pytest.mark.parametrize(
    ("first", "verdict"),
    [
        ("create priorityclass big --value=100", "getsStuck"),  # no pod names it
        ("create priorityclass big --value=100 --global-default", "completes"),
        ("create pc big --value=100 --global-default; delete priorityclass big", "getsStuck"),
        ("create pc big --value=100 --global-default --preemption-policy=Never", "getsStuck"),
    ],
)
def test_new_pods_get_the_priority_of_the_classes_at_that_time(
    first: str, verdict: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The nodes are full of pods that were created before, so a new pod needs a higher priority."""
    path = tmp_path / "low.json"
    path.write_text(low_and_high(3, cpu="3"))
    step, *others = (*first.split("; "), "scale deploy/high --replicas=1")
    then = [word for other in others for word in ("--then", other)]
    found = answer(capsys, "-f", str(path), *shlex.split(step), *then, "--topology", "zones=3,nodes=1,cpu=4")
    last = found["steps"][-1]

    assert {item["object"]["name"]: item["verdict"] for item in last["workloads"]}["high"] == verdict


@pytest.mark.parametrize(("then", "pending"), [("", 1), ("delete limitrange defaults", 0)])
def test_new_pods_get_the_requests_of_a_limit_range(
    then: str, pending: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four pods that request 3 CPU by default do not fit on three nodes with 4 CPU; the pods before stay."""
    manifest, limits = tmp_path / "low.json", tmp_path / "limits.yaml"
    manifest.write_text(low_and_high(1))
    limits.write_text(LIMITS)
    steps = [step for step in (f"apply -f {limits}", then, "scale deploy/high --replicas=4") if step]
    more = [word for step in steps[1:] for word in ("--then", step)]
    found = answer(capsys, "-f", str(manifest), *steps[0].split(), *more, "--topology", "zones=3,nodes=1,cpu=4")

    assert found["steps"][0]["workloads"][0]["restarted"] == {"min": 0, "max": 0}
    assert pending == sum(item["pods"]["max"] for item in found["steps"][-1]["pending"])


QUOTA = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: a1, labels: {kubernetes.io/hostname: a1}}
  status: {allocatable: {cpu: "8", memory: 16Gi, pods: "110"}}
- apiVersion: v1
  kind: ResourceQuota
  metadata: {name: few, namespace: default}
  spec: {hard: {pods: "3"}}
  status: {hard: {pods: "3"}, used: {pods: "0"}}
"""


@pytest.mark.parametrize(
    ("step", "is_refused"),
    [
        ("scale deploy/web --replicas=3", False),
        ("scale deploy/web --replicas=4", True),
        ("rollout restart deploy/web", True),
        ("scale deploy/web --replicas=2", False),
    ],
)
def test_a_quota_that_would_refuse_pods_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], step: str, is_refused: bool
) -> None:
    """The quota has room for three pods; a rollout needs one more."""
    facts, manifest = tmp_path / "facts.yaml", tmp_path / "web.yaml"
    facts.write_text(QUOTA)
    manifest.write_text(DEPLOYMENT)
    code = run(["simulate", "-f", str(manifest), *step.split(), "--snapshot", str(facts), "-o", "json"])
    ((played,), notes) = itemgetter("steps", "notes")(json.loads(capsys.readouterr().out))

    text = "exceeded quota: few, requested: pods=1, used: pods=3, limited: pods=3"
    assert (code, notes) == (int(is_refused), [])
    assert played["verdict"] == ("getsStuck" if is_refused else "completes")
    assert [item["refusal"] for item in played["workloads"]] == [text if is_refused else None]


def test_a_quota_that_is_created_and_deleted_refuses_pods_in_between(
    web: str, capsys: pytest.CaptureFixture[str]
) -> None:
    quota = ["create", "quota", "few", "--hard=pods=3"]
    found = answer(capsys, "-f", web, *quota, "--then", "scale deploy/web --replicas=5", "--then", "delete quota few")

    assert [step["workloads"][0]["ready"]["after"]["max"] for step in found["steps"]] == [3, 3, 5]


def test_a_key_that_no_node_has_is_named_instead_of_an_empty_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts, manifest = tmp_path / "facts.yaml", tmp_path / "web.yaml"
    facts.write_text(QUOTA.replace("kubernetes.io/hostname: a1", "disk: ssd"))
    manifest.write_text(DEPLOYMENT)

    assert 0 == run(
        ["simulate", "-f", str(manifest), *["scale", "deploy/web", "--replicas=2"], "--snapshot", str(facts)]
    )
    assert "\n  no node has the label kubernetes.io/hostname\n" in capsys.readouterr().out


def test_a_change_that_helps_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    """The reason is a sentence, the change was simulated, and both come before the workloads."""
    web = str(Path(__file__).parents[3] / "examples/simulations/manifests/web-anti-affinity.yaml")
    assert run(["simulate", "-f", web, "--topology", "zones=1,nodes=3", "rollout", "restart", "deploy/web"]) == 1
    lines = capsys.readouterr().out.splitlines()

    assert lines[4].startswith("    every node is refused by pod anti-affinity on kubernetes.io/hostname")
    assert " a\n    pod of web on node-a1, a pod of web on node-a2, " in "\n".join(lines)  # none has a name yet
    do = next(at for at, line in enumerate(lines) if line.startswith("Do: set maxSurge: 0 and maxUnavailable: 1"))
    assert do < 10
    assert "Afterwards all 3 pods run, in every simulated order." in lines[do + 1]
    assert lines[do + 2] == "  Trade-off: one replica is missing while a rollout lasts."
    assert lines[do + 3].startswith("  $ kubectl patch deployment web -n default ")
    assert not any("inferred from the name" in line for line in lines)  # the step names it


@pytest.mark.parametrize("step", [("drain", "node-a1"), ("cordon", "node-a1")])
def test_a_change_does_not_take_the_step_back(
    step: tuple[str, ...], web: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """To uncordon the node would help, and is not what the user wants."""
    run(["simulate", "-f", web, "--topology", "zones=3,nodes=1", *step, "--then", "rollout restart deploy/web"])
    assert "uncordon" not in capsys.readouterr().out


def test_messages_are_a_detail(web: str, capsys: pytest.CaptureFixture[str]) -> None:
    small = ["simulate", "-f", web, "--topology", "zones=3,nodes=1,pods=1", "scale", "deploy/web", "--replicas=4"]
    run(small)
    assert "0/3 nodes are available" not in capsys.readouterr().out
    run([*small, "--details"])
    assert "0/3 nodes are available: 3 Too many pods." in capsys.readouterr().out


def test_what_a_change_brings_is_counted_after_the_step(capsys: pytest.CaptureFixture[str]) -> None:
    """The pods of the step's simulation are not those of the simulation that judges the change."""
    web = str(Path(__file__).parents[3] / "examples/simulations/manifests/web-9-replicas.yaml")
    run(["simulate", "-f", web, "--topology", "zones=3,nodes=1,cpu=320m", "drain", "node-a1"])
    found = capsys.readouterr().out
    assert "All 3 Pending pods find a node. Pods per zone: 3 in a, b, c; skew 0 (was 3)." in found


def test_no_change_is_named_for_what_the_step_does_not_concern(capsys: pytest.CaptureFixture[str]) -> None:
    """The StatefulSet was stuck before, and stays so."""
    facts = str(Path(__file__).parents[3] / "examples/scenarios/volumes-pin-pods-to-zones/snapshot.yaml")
    assert run(["simulate", "--snapshot", facts, "add-nodes", "zone=c"]) == 0
    assert "Do:" not in capsys.readouterr().out


@pytest.mark.parametrize("drained", ["n1", "a", "node", "cpu"])
def test_the_best_change_does_not_depend_on_how_nodes_are_named(
    drained: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`add a node` is no change of the node `a`; to uncordon the drained node would take the step back."""
    facts = tmp_path / "facts.yaml"
    nodes = "".join(
        f"---\napiVersion: v1\nkind: Node\nmetadata: {{name: {name}}}\n"
        "status: {allocatable: {cpu: '2', pods: '9'}}\n"
        for name in (drained, "other-1", "other-2")
    )
    facts.write_text(
        f"{nodes}---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: default}}\nspec:\n"
        "  replicas: 3\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n"
        "    spec: {containers: [{name: web, image: web, resources: {requests: {cpu: 1500m}}}]}\n"
    )

    assert run(["simulate", "--snapshot", str(facts), "drain", drained]) == 1
    assert "\nDo: add a node with cpu 1500m free\n" in capsys.readouterr().out


def test_a_drain_stops_at_a_pod_with_a_volume_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pod without a controller has its emptyDir in no template; forced, it would be lost with the data."""
    own = "metadata: {name: bare, namespace: shop}\n  spec: {nodeName: a1, volumes: [{name: v, emptyDir: {}}],"
    path = tmp_path / "facts.yaml"
    path.write_text(FACTS.replace("metadata: {name: bare, namespace: shop}\n  spec: {nodeName: a1,", own))
    assert run(["simulate", "drain", "a1", "--force", "--snapshot", str(path)]) == 1
    assert "local storage (use --delete-emptydir-data to override): shop/bare" in " ".join(
        capsys.readouterr().out.split()
    )


def test_what_could_not_be_read_leaves_the_answer_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pod with a namespace that is no text is left out, and might be on the node."""
    path = tmp_path / "facts.yaml"
    path.write_text(FACTS.replace("{name: bare, namespace: shop}", "{name: bare, namespace: yes}"))
    words = ["simulate", "cordon", "a1", "--snapshot", str(path)]
    assert run(words) == 3
    assert capsys.readouterr().out.splitlines()[:3] == [
        "cordon a1: not known",
        "",
        "not simulated, and the outcome depends on it: 1 object that could not be read",
    ]


def test_advice_is_for_pods_of_the_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a rollout that is stuck on a host port; another pod waits for a claim that is missing."""
    labels = {"app": "web"}
    pod = {"containers": [{"name": "c", "image": "x", "ports": [{"containerPort": 80, "hostPort": 80}]}]}
    template = {"metadata": {"labels": labels}, "spec": pod}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    hashed = {**labels, "pod-template-hash": "1"}
    metadata = {"labels": hashed}
    owned = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d", "controller": True}
    of_set = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "r", "controller": True}
    claim = {"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}
    room = {"cpu": "4", "pods": "110"}
    items = [
        {"kind": "Node", "metadata": {"name": "a1"}, "status": {"allocatable": room}},
        {"kind": "Deployment", "metadata": {"name": "web", "namespace": "shop", "uid": "d"}, "spec": spec},
        {
            "kind": "ReplicaSet",
            "metadata": {"name": "web-1", "namespace": "shop", "uid": "r", "ownerReferences": [owned]},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": hashed},
                "template": {**template, "metadata": metadata},
            },
        },
        {
            "kind": "Pod",
            "metadata": {"name": "web-1-x", "namespace": "shop", "labels": hashed, "ownerReferences": [of_set]},
            "spec": {**pod, "nodeName": "a1"},
            "status": {"phase": "Running"},
        },
        {"kind": "Pod", "metadata": {"name": "bare", "namespace": "shop"}, "spec": {**pod, "volumes": [claim]}},
    ]
    versions = {"Deployment": "apps/v1", "ReplicaSet": "apps/v1"}
    every = [{"apiVersion": versions.get(str(item["kind"]), "v1"), **item} for item in items]
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": every}))
    run(["simulate", "-n", "shop", "rollout", "restart", "deploy/web", "--snapshot", str(path)])
    out = capsys.readouterr().out

    assert "Pending already before this step: bare" in out
    assert "claim gone" not in out
    assert "Do, for Deployment web: set maxSurge: 0 and maxUnavailable: 1" in out

    run(["simulate", "-n", "shop", "rollout", "restart", "deploy/web", "--snapshot", str(path), "-o", "html"])
    assert "<h3>Do, for Deployment shop/web: set maxSurge: 0 and maxUnavailable: 1" in capsys.readouterr().out


def test_a_skew_of_the_new_revision_only_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """Where the table has pods of both revisions."""
    running = Path(__file__).parents[3] / "examples" / "shop" / "running.yaml"
    run(["simulate", "rollout", "restart", "deploy/web", "-n", "shop", "--snapshot", str(running)])

    assert (
        "skew: 3 before, up to 3 during, 1 after (only pods of the new revision are counted)" in capsys.readouterr().out
    )
