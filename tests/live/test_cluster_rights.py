"""docs/rbac.yaml is enough, and each of its rules is needed."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.source import SourceFile
from tests.live.cluster import Cluster, Scene, until, ZONE
from tests.live.conftest import Said, Spread

Plain = dict[str, Any]
RBAC = Path(__file__).parent.parent.parent / "docs" / "rbac.yaml"
ACCOUNT = "reader"
DEVICES_SINCE = 36  # DeviceClasses are read from 1.36 on


def roles() -> dict[tuple[str, str], Plain]:
    """The roles of the file, by kind and name."""
    found = {}
    for document in compose.compose(SourceFile(str(RBAC), RBAC.read_text(encoding="utf-8"))):
        assert isinstance(document, compose.Document)
        plain: Any = nodes.to_plain(document.root)
        found[plain["kind"], plain["metadata"]["name"]] = plain
    return found


CLUSTER_ROLE = roles()["ClusterRole", "kubectl-spread"]
ALLOWED = [
    (group, plural)
    for rule in CLUSTER_ROLE["rules"]
    for group in rule["apiGroups"]
    for plural in rule["resources"]
    if plural != "nodes"
]


def grant(scene: Scene, role: Plain, rules: list[Plain]) -> None:
    """Give the account of the scene a role of the file, with these rules."""
    name = f"{scene.namespace}-{role['metadata']['name']}"
    where = {"namespace": scene.namespace} if role["kind"] == "Role" else {}
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": scene.namespace}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": role["kind"], "name": name}
    metadata = {"name": name, **where}
    scene.apply(
        {"kind": "ServiceAccount", "metadata": {"name": ACCOUNT, "namespace": scene.namespace}},
        {"kind": role["kind"], "metadata": metadata, "rules": rules},
        {"kind": f"{role['kind']}Binding", "metadata": metadata, "subjects": [subject], "roleRef": reference},
    )


def rules_without(plural: str) -> list[Plain]:
    found = []
    for rule in CLUSTER_ROLE["rules"]:
        resources = [name for name in rule["resources"] if name != plural]
        found += [{**rule, "resources": resources}] if resources else []
    return found


@pytest.fixture
def shop(scene: Scene) -> Scene:
    """Something to be read."""
    for zone in "abc":
        scene.node(f"{zone}1", zone, unschedulable=zone == "c")
    selector = {"matchLabels": {"app": "web"}}
    hard = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    scene.apply(scene.workload("Deployment", "web", replicas=3, constraints=[hard]))
    scene.wait("web", bound=2, refused=1)
    return scene


def warnings(said: Said) -> list[str]:
    return [line for line in said.err.splitlines() if line.startswith("warning: may not list ")]


def until_said(spread: Spread, command: list[str], expected: Any) -> Said:
    """Run a command until the API server has learnt of the role, which takes it a moment."""
    said: list[Said] = []

    def is_so() -> bool:
        said[:] = [spread(*command)]
        return bool(expected(said[0]))

    until(is_so, told=lambda: said, patience_s=20)
    return said[0]


@pytest.mark.slow
def test_the_cluster_role_is_enough_for_every_command(shop: Scene, spread: Spread, tmp_path: Path) -> None:
    grant(shop, CLUSTER_ROLE, CLUSTER_ROLE["rules"])
    own = ["--kubeconfig", shop.kubeconfig]
    limited = [*own, "--as", f"system:serviceaccount:{shop.namespace}:{ACCOUNT}"]
    until_said(spread, ["snapshot", *limited, "-o", str(tmp_path / "f.json")], lambda said: not warnings(said))
    for command in (["status"], ["explain", "deploy/web"], ["check"], ["status", "-o", "wide"]):
        expected, said = spread(*command, *own), spread(*command, *limited)

        out = said.out.replace(f" {shlex.join(limited[2:])}", "")  # in commands to copy
        assert (command, expected.code, expected.out) == (command, said.code, out)
        assert [] == warnings(said)


LEFT_OUT = [rule for rule in ALLOWED if rule[1] != "pods"]  # without which there is no snapshot


@pytest.mark.parametrize(("group", "plural"), LEFT_OUT, ids=[plural for _, plural in LEFT_OUT])
def test_a_rule_that_is_left_out_is_named(
    group: str, plural: str, shop: Scene, cluster: Cluster, spread: Spread, tmp_path: Path
) -> None:
    if plural == "deviceclasses" and cluster.minor < DEVICES_SINCE:
        pytest.skip(f"DeviceClasses are read from 1.{DEVICES_SINCE} on, and your server is 1.{cluster.minor}")
    grant(shop, CLUSTER_ROLE, rules_without(plural))
    limited = ["--kubeconfig", shop.kubeconfig, "--as", f"system:serviceaccount:{shop.namespace}:{ACCOUNT}"]
    command = ["snapshot", *limited, "-o", str(tmp_path / "facts.json")]
    quoted = group or '""'
    rule = f"; the ClusterRole rule that allows it: {{apiGroups: [{quoted}], resources: [{plural}], verbs: [list]}}"
    said = until_said(spread, command, lambda said: said.code == 0 and len(warnings(said)) == 1)
    (warning,) = warnings(said)

    assert warning.startswith(f"warning: may not list {plural}: ")
    assert warning.endswith(rule)


def test_without_nodes_there_is_no_answer(shop: Scene, spread: Spread) -> None:
    grant(shop, CLUSTER_ROLE, rules_without("nodes"))
    user = f"system:serviceaccount:{shop.namespace}:{ACCOUNT}"
    command = ["status", "--kubeconfig", shop.kubeconfig, "--as", user]
    rule = '{apiGroups: [""], resources: [nodes], verbs: [list]}'
    said = until_said(spread, command, lambda said: "nodes is forbidden" in said.err)

    assert (3, "") == (said.code, said.out)
    assert said.err.splitlines()[-1] == (
        f'error: nodes is forbidden: User "{user}" cannot list resource "nodes" in API group "" at the cluster scope: '
        f"nothing can be placed; the ClusterRole rule that allows it: {rule}"
    )


def test_the_role_of_a_namespace_is_enough_for_what_is_in_it(shop: Scene, spread: Spread) -> None:
    """With the right to list nodes; of what else there is, it is told what was not read."""
    for kind, name in (("Role", "kubectl-spread"), ("ClusterRole", "kubectl-spread-nodes")):
        role = roles()[kind, name]
        grant(shop, role, role["rules"])
    own = ["--kubeconfig", shop.kubeconfig, "-n", shop.namespace]
    limited = [*own, "--as", f"system:serviceaccount:{shop.namespace}:{ACCOUNT}"]
    said = until_said(spread, ["status", *limited], lambda said: said.code == 1)
    expected = spread("status", *own)
    explained = spread("explain", "deploy/web", *limited)

    assert (expected.code, expected.out) == (said.code, said.out)
    assert f"warning: may not list pods in all namespaces, only in `{shop.namespace}`: " in said.err
    assert 1 == explained.code
    assert " stays Pending: " in explained.out
