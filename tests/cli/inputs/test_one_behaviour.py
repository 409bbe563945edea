"""What a trial by a new user found: the same input has the same outcome in every command."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_spread.cli.main import run

Capture = pytest.CaptureFixture[str]
ZONES = ("--topology", "zones=3,nodes=1")
POLICY = ("--at-most", "zone=1/2")
NODE = """\
- apiVersion: v1
  kind: Node
  metadata: {name: a, labels: {kubernetes.io/hostname: a, topology.kubernetes.io/zone: a}}
  status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
"""
DEPLOYMENT = """\
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web, namespace: shop, uid: d}
  spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: &template
    {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: x}]}}}
"""
OWNED = """\
- apiVersion: apps/v1
  kind: ReplicaSet
  metadata: {name: web-1, namespace: shop, ownerReferences: [
    {apiVersion: apps/v1, kind: Deployment, name: web, uid: d, controller: true}]}
  spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: *template}
- apiVersion: v1
  kind: Pod
  metadata: {name: web-1-x, namespace: shop, labels: {app: web, pod-template-hash: "1"}, ownerReferences: [
    {apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: r, controller: true}]}
  spec: {nodeName: a, containers: [{name: c, image: x}]}
"""
LIST = "apiVersion: v1\nkind: List\nitems:\n"


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    return tmp_path / "facts.yaml"


@pytest.mark.parametrize(
    "command",
    [
        ("status",),
        ("explain",),
        ("explain", "deploy/web"),
        ("rebalance",),
        ("check",),
        ("simulate", "cordon", "a"),
        ("guarantee", *POLICY),
    ],
    ids=" ".join,
)
def test_a_list_without_nodes(command: tuple[str, ...], facts: Path, capsys: Capture) -> None:
    """Nothing can be placed, whatever is asked; no answer is better than a wrong one."""
    facts.write_text(LIST + DEPLOYMENT)

    assert run([*command, "--snapshot", str(facts)]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {facts}: no Node in it, so nothing can be placed; ")


@pytest.mark.parametrize(
    "command",
    [("check",), ("explain", "-f"), ("guarantee", *POLICY, "-f"), ("simulate", "create", "-f")],
    ids=lambda words: words[0],
)
def test_a_manifest_that_the_api_server_refuses(command: tuple[str, ...], tmp_path: Path, capsys: Capture) -> None:
    """It was read and is wrong: exit code 1, and one prefix."""
    path = tmp_path / "web.yaml"
    path.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: c, image: x}]\n"
        "  topologySpreadConstraints: [{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]\n"
    )

    assert run([*command, str(path), *ZONES]) == 1
    out, err = capsys.readouterr()
    assert "must be greater than zero" in out + err
    assert "error: error:" not in err


@pytest.mark.parametrize(
    "command", [("guarantee", "deploy/web", *POLICY), ("simulate", "rollout", "restart", "deploy/web")]
)
def test_facts_with_only_the_pods_of_a_workload(command: tuple[str, ...], facts: Path, capsys: Capture) -> None:
    """Both say what to add."""
    facts.write_text(LIST + NODE + OWNED[OWNED.index("- apiVersion: v1") :])

    assert run([*command, "--snapshot", str(facts)]) == 1
    assert "add `--snapshot web.yaml`" in capsys.readouterr().err


def test_what_a_controller_made_is_no_workload_of_its_own(facts: Path, capsys: Capture) -> None:
    """A dump of a cluster has Deployments with their ReplicaSets and pods."""
    facts.write_text(LIST + NODE + DEPLOYMENT + OWNED)

    run(["check", str(facts), "--snapshot", str(facts)])
    out, err = capsys.readouterr()
    assert "ReplicaSet" not in out
    assert "checked 1 workload in 1 file" in err


def test_owners_in_a_circle_do_not_count(facts: Path, capsys: Capture) -> None:
    """The Deployment is there, and its controller acts."""
    circle = DEPLOYMENT.replace(
        "uid: d}",
        "uid: d, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: r, controller: true}]}",
    )
    facts.write_text(LIST + NODE + circle + OWNED)

    run(["simulate", "drain", "a", "--snapshot", str(facts)])
    out = capsys.readouterr().out
    assert "is not in the facts" not in out
    assert out.startswith("drain a: gets stuck, 1 pod stays Pending\n")


def test_a_request_near_the_limit_of_64_bits(tmp_path: Path, capsys: Capture) -> None:
    """It is rounded, and no change of it is tried in numbers beyond the limit."""
    requests = "resources: {requests: {cpu: 9e18}}"
    path = tmp_path / "big.yaml"
    path.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: big}\n"
        f"spec: {{containers: [{{name: c, image: x, {requests}}}, {{name: d, image: x, {requests}}}]}}\n"
    )

    assert run(["explain", "-f", str(path), *ZONES]) == 1
    out = capsys.readouterr().out
    assert "needs 9.2e+15" in out
    assert "9223372036854775807" not in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("check", "--bogus"), "error: no such option '--bogus'\n"),
        (("check", "--kubernetes-versio", "1.30"), "did you mean `--kubernetes-version`?"),
        (("rule", "SPR999"), "error: no rule is called `SPR999`\n"),
        (("guarantee", "--policy", "/dev/null"), "error: /dev/null: the file is empty\n"),
    ],
)
def test_wrong_usage(words: tuple[str, ...], message: str, capsys: Capture) -> None:
    """Exit code 2, and no wild guess."""
    assert run(list(words)) == 2
    assert message in capsys.readouterr().err
