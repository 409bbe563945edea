"""NodePools of a live cluster: read if it has Karpenter's kinds, and said if they may not be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.objects.selectors import ZONE
from tests.apiserver import ApiServer
from tests.karpenter.worlds import instance_type, need, node, pool, spread
from tests.live.conftest import Kubeconfig

KINDS = {"nodepools", "nodeclaims", "ec2nodeclasses"}
OF_KARPENTER = {"karpenter.sh/nodepool": "general", "node.kubernetes.io/instance-type": "small"}
GENERAL = pool("general", need(ZONE, "zone-a"))
TYPES = {"*": [instance_type("huge", 16)]}


@pytest.fixture
def manifest(tmp_path: Path) -> str:
    """A pod for which no node is left."""
    containers = [{"name": "c", "image": "web", "resources": {"requests": {"cpu": "8"}}}]
    spec = {"containers": containers, "topologySpreadConstraints": [spread()]}
    plain = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "labels": {"app": "web"}}, "spec": spec}
    path = tmp_path / "web.json"
    path.write_text(json.dumps(plain))
    return str(path)


def explained(server: ApiServer, kubeconfig: Kubeconfig, manifest: str, capsys: pytest.CaptureFixture[str]) -> str:
    with server.running():
        run(["explain", "-f", manifest, "--kubeconfig", kubeconfig(server.url)])
    return " ".join(" ".join(capsys.readouterr()).split())


def asked_for(server: ApiServer) -> set[str]:
    return {request.path.rpartition("/")[2] for request in server.requests} & KINDS


@pytest.mark.parametrize("labels", [OF_KARPENTER, {}])
@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_pools_are_read_where_karpenter_is(
    manifest: str, kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str], labels: dict[str, str], version: str
) -> None:
    """Also if it has made no node yet, and before 1.0."""
    server = ApiServer([node("a1", "zone-a", **labels), {**GENERAL, "apiVersion": f"karpenter.sh/{version}"}])
    text = explained(server, kubeconfig, manifest, capsys)

    assert asked_for(server) == KINDS
    assert f"/apis/karpenter.sh/{version}/nodepools" in {request.path for request in server.requests}
    because = "pool general: no instance type has enough resources"
    assert (because if labels else "depends on the instance types of pool general") in text


def test_without_karpenter_one_small_request_asks_for_it(
    manifest: str, kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str]
) -> None:
    """A node may keep the label after Karpenter is gone, and lists of unknown kinds may be forbidden."""
    server = ApiServer([node("a1", "zone-a", **OF_KARPENTER)])
    server.forbidden = {"nodepools", "nodeclaims", "ec2nodeclasses"}

    assert "Karpenter" not in explained(server, kubeconfig, manifest, capsys)
    assert set() == asked_for(server)
    assert 1 == sum("karpenter" in request.path for request in server.requests)


def test_pools_that_may_not_be_read_are_said(
    manifest: str, kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str]
) -> None:
    server = ApiServer([node("a1", "zone-a", **OF_KARPENTER), GENERAL])
    server.forbidden = {"nodepools"}
    text = explained(server, kubeconfig, manifest, capsys)

    assert (
        "may not list nodepools: whether Karpenter adds nodes for Pending pods is not known; the ClusterRole rule that "
        "allows it: {apiGroups: [karpenter.sh], resources: [nodepools], verbs: [list]}"
    ) in text
    assert "Karpenter adds no node" not in text


KARPENTER = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "karpenter", "namespace": "kube-system", "labels": {"app.kubernetes.io/name": "karpenter"}},
    "spec": {
        "selector": {"matchLabels": {"app.kubernetes.io/name": "karpenter"}},
        "template": {
            "metadata": {"labels": {"app.kubernetes.io/name": "karpenter"}},
            "spec": {"containers": [{"name": "controller", "image": "public.ecr.aws/karpenter/controller:1.8.1"}]},
        },
    },
}


def test_the_release_is_that_of_the_deployment(
    manifest: str, kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str]
) -> None:
    """1.8.1 filters domains by the node affinity of pods, which is not simulated."""
    plain = json.loads(Path(manifest).read_text())
    plain["spec"]["nodeSelector"] = {ZONE: "zone-a"}
    Path(manifest).write_text(json.dumps(plain))
    server = ApiServer([node("a1", "zone-a", **OF_KARPENTER), GENERAL, KARPENTER])

    assert "a rule of this release that is not simulated" in explained(server, kubeconfig, manifest, capsys)


def test_simulate_lets_nodes_join(
    manifest: str, kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    types = tmp_path / "types.json"
    types.write_text(json.dumps(TYPES))
    server = ApiServer([node("a1", "zone-a", **OF_KARPENTER), GENERAL])
    named = ["simulate", "create", "-f", manifest, "--instance-types", str(types)]
    with server.running():
        code = run([*named, "--kubeconfig", kubeconfig(server.url)])
    text = " ".join(capsys.readouterr().out.split())

    assert asked_for(server) == KINDS
    assert 0 == code, text
    assert "Karpenter adds 1 node of pool general (zone zone-a)" in text
