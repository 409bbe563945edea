"""What `check` and `explain` print of replicas and domains."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.cli.main import run

Printed = Callable[[str, str, str], list[str]]

ZONE = "topology.kubernetes.io/zone"
HEAD = "apiVersion: kubectl-spread/v1\nkind: Topology\n"
WEB = f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: 3
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      nodeSelector: {{}}
      containers: [{{name: c, image: c, resources: {{requests: {{cpu: 1}}}}}}]
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: {ZONE}
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {{matchLabels: {{app: web}}}}
      - maxSkew: 5
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {{matchLabels: {{app: web}}}}
"""
TAINTED_ZONE = "nodeGroups:\n- {zones: [a]}\n- {name: other, zones: [b], taints: ['old:NoSchedule']}\n"


@pytest.fixture
def printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Printed:
    """Run a command with a manifest and a cluster: the lines it prints."""

    def lines(command: str, manifest: str, cluster: str) -> list[str]:
        for name, text in (("web.yaml", manifest), ("cluster.yaml", cluster)):
            (tmp_path / name).write_text(text)
        quiet = ["--ignore", "ALL"] if command == "check" else []  # what is printed of replicas is the matter here
        run([command, *quiet, "-f", str(tmp_path / "web.yaml"), "--topology", str(tmp_path / "cluster.yaml")])
        return capsys.readouterr().out.splitlines()

    return lines


def test_pending_pods_are_told_with_the_constraint_that_refuses_them(printed: Printed) -> None:
    """Node b1 is the emptiest for the hostname constraint as well, but that one refuses nothing."""
    lines = printed("check", WEB, HEAD + TAINTED_ZONE)

    assert [
        "  Pending: 2 new pods",
        (
            f"    the zone constraint ({ZONE}, maxSkew 1) allows only zone b. Its only node, other-b1, has the "
            "untolerated taint old:NoSchedule"
        ),
    ] == lines[-3:-1]
    assert lines[-1].startswith("    $ kubectl spread explain -f ")
    assert lines[-1].endswith("  # and what helps")


def test_a_pod_that_runs_already_is_told_with_its_node(printed: Printed) -> None:
    """Of a single pod there is nothing to count."""
    manifest = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: c}]}\n"
    lines = printed("check", manifest, HEAD + "nodeGroups: [{nodes: 2}]\npods: [{node: node-2, name: web}]\n")

    assert "Pod default/web: already running on node-2" == lines[0]


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        (2, "Deployment default/web: 2 of 3 replicas placed, 1 Pending"),
        (1, "Deployment default/web: 1 of 3 replicas placed, 2 Pending"),
    ],
)
def test_the_headline_counts_what_was_placed_and_what_waits(printed: Printed, nodes: int, expected: str) -> None:
    """Nodes of one CPU take one pod each."""
    cluster = f"{HEAD}nodeGroups: [{{zones: [a], nodes: {nodes}, cpu: 1}}]\n"
    lines = printed("check", WEB, cluster)

    assert expected == lines[0]


CONFIGURATION = f"""\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints: [{{maxSkew: 1, topologyKey: {ZONE}, whenUnsatisfiable: DoNotSchedule}}]
"""
FACTS = f"""\
kind: List
items:
- kind: Node
  metadata: {{name: n1, labels: {{{ZONE}: a}}}}
  status: {{allocatable: {{cpu: 4, memory: 8Gi, pods: 10}}}}
- kind: Node
  metadata: {{name: n2, labels: {{{ZONE}: b}}}}
  spec: {{unschedulable: true}}
  status: {{allocatable: {{cpu: 4, memory: 8Gi, pods: 10}}}}
- kind: Service
  metadata: {{name: web}}
  spec: {{selector: {{app: web}}}}
- kind: Pod
  metadata: {{name: web-1, labels: {{app: web}}}}
  spec: {{nodeName: n1, containers: [{{name: c}}]}}
- kind: Pod
  metadata: {{name: web-2, labels: {{app: web}}}}
  spec: {{containers: [{{name: c}}]}}
"""


@pytest.mark.parametrize("output", ["text", "json"])
def test_a_default_constraint_is_told_by_its_own_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], output: str
) -> None:
    """The pod has none of its own: it is the scheduler's configuration that keeps it Pending."""
    for name, text in (("facts.yaml", FACTS), ("scheduler.yaml", CONFIGURATION)):
        (tmp_path / name).write_text(text)
    facts = ["--snapshot", str(tmp_path / "facts.yaml"), "--scheduler-config", str(tmp_path / "scheduler.yaml")]
    code = run(["explain", "pod/web-2", *facts, "-o", output])
    told = capsys.readouterr().out

    assert 1 == code
    if output == "text":
        cause = f"the cluster's default zone constraint ({ZONE}, maxSkew 1) allows only zone b. Its only node, n2,"
        assert f"{cause} is cordoned." in " ".join(told.split())
        assert f"\ndefaultConstraints[0]: {ZONE}, maxSkew 1, DoNotSchedule\n" in told
    else:
        jsonschema.validate(json.loads(told), schemas.load("explanation"))
        assert [("scheduler", 0)] == [(item["origin"], item["index"]) for item in json.loads(told)["constraints"]]


@pytest.mark.parametrize(("command", "indent"), [("check", "  "), ("explain", "")])
def test_fields_that_the_release_does_not_know_are_named_once(
    command: str, indent: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three domains are asked for and there is one; 1.24 does not mind, which check calls an error."""
    (tmp_path / "web.yaml").write_text(WEB.replace("  - maxSkew: 1\n", "  - maxSkew: 1\n        minDomains: 3\n"))
    options = ["-f", str(tmp_path / "web.yaml"), "--topology", "zones=1,nodes=3,cpu=4"]
    outcomes = []
    for version in ("1.24", "1.36"):
        code = run([command, *options, "--kubernetes-version", version])
        outcomes.append((code, capsys.readouterr().out.splitlines().count(f"{indent}ignored by 1.24: minDomains")))

    assert [(int(command == "check"), 1), (1, 0)] == outcomes


def test_a_domain_that_is_not_eligible_neither_fits_nor_not(printed: Printed) -> None:
    """It is outside the comparison, and its nodes are nobody's business."""
    manifest = WEB.replace("nodeSelector: {}", f"nodeSelector: {{{ZONE}: a}}")
    lines = printed("explain", manifest, HEAD + "nodeGroups: [{zones: [a, b], nodes: 1}]\n")
    (row,) = [line for line in lines if line.startswith("  b ")]

    assert "-" == row.split()[-1]
    assert not [line for line in lines if "no usable node" in line]


def test_a_deployment_that_is_paused_from_the_start_creates_no_pods(printed: Printed) -> None:
    lines = printed("check", WEB.replace("replicas: 3", "replicas: 3\n  paused: true"), HEAD + TAINTED_ZONE)

    assert lines[0] == "Deployment default/web: 0 of 3 replicas placed, 3 not created"
    assert lines[-2:] == [
        "  not created: web-1, web-2, web-3",
        "    a Deployment that is paused from the start creates no pods",
    ]


def test_a_deployment_that_is_paused_from_the_start_has_the_exit_code_of_simulate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """README: 1 for a pod that does not exist."""
    (tmp_path / "web.yaml").write_text(WEB.replace("replicas: 3", "replicas: 3\n  paused: true"))
    topology = ["--topology", "zones=2,nodes=2"]

    assert 1 == run(["check", str(tmp_path / "web.yaml"), "--ignore", "ALL", *topology])
    assert 1 == run(["simulate", "create", "-f", str(tmp_path / "web.yaml"), *topology])
    assert "3 pods not created" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("overlays", "replicas"),
    [
        ((), 2),
        (("replicas: [{name: web, count: 3}]",), 3),
        (("replicas: [{name: web, count: 1}]",), 1),
        (("replicas: [{name: web, count: 3}]", "replicas: [{name: web, count: 5}]"), 5),
        (("patches: [{patch: '{kind: Deployment, metadata: {name: web}, spec: {replicas: 4}}'}]",), 4),
    ],
)
def test_as_many_replicas_are_placed_as_an_overlay_sets(
    overlays: tuple[str, ...], replicas: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The number in the base counts only without an overlay; of several, the largest."""
    base = tmp_path / "base"
    base.mkdir()
    (base / "kustomization.yaml").write_text("resources: [web.yaml]\n")
    (base / "web.yaml").write_text(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 2\n"
        "  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n"
        "    spec: {containers: [{name: c, image: c}]}\n"
    )
    for number, text in enumerate(overlays):
        overlay = tmp_path / "overlays" / str(number)
        overlay.mkdir(parents=True)
        (overlay / "kustomization.yaml").write_text(f"resources: [../../base]\n{text}\n")
    run(["check", "-R", str(tmp_path), "--topology", "nodes=1"])

    assert f"Deployment default/web: {replicas} of {replicas} replica" in capsys.readouterr().out
