"""`simulate` on a live cluster reads what its steps need, and gives the answer of a snapshot of the same objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from tests.apiserver import ApiServer
from tests.live.conftest import Kubeconfig
from tests.timeline.test_run import node
from tests.timeline.test_undo import revision, workload

Plain = dict[str, Any]
OBJECTS = [
    node("a1", "a", cpu="4"),
    node("b1", "b", cpu="4"),
    workload("StatefulSet", "100m"),
    revision("StatefulSet", 1, "8"),
    revision("StatefulSet", 2, "100m"),
]
LOCAL = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "local"},
    "provisioner": "kubernetes.io/no-provisioner",
    "volumeBindingMode": "WaitForFirstConsumer",
}
CLAIMING = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: store}
spec:
  serviceName: store
  selector: {matchLabels: {app: store}}
  template:
    metadata: {labels: {app: store}}
    spec: {containers: [{name: c, image: i}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {storageClassName: local, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""


@pytest.fixture
def cluster() -> Iterator[ApiServer]:
    with ApiServer(OBJECTS).running() as running:
        yield running


def plurals(cluster: ApiServer) -> set[str]:
    """What was listed."""
    return {request.path.rpartition("/")[2] for request in cluster.requests}


def answers(
    args: list[str], cluster: ApiServer, kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str]
) -> tuple[tuple[int, str], tuple[int, str]]:
    """The answer of the live cluster, and the one of a snapshot."""
    facts = kubeconfig.folder / "facts.json"
    facts.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": cluster.objects}))
    live = run(["simulate", *args, "--kubeconfig", kubeconfig(cluster.url, namespace="default"), "--live"])
    shown = capsys.readouterr().out
    code = run(["simulate", *args, "--snapshot", str(facts)])
    return (live, shown), (code, capsys.readouterr().out)


def test_a_scenario_that_undoes_a_rollout_reads_the_revisions(
    cluster: ApiServer, kubeconfig: Kubeconfig, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Revision 1 needs 8 CPUs, which no node has."""
    scenario = tmp_path / "undo.yaml"
    scenario.write_text(
        "apiVersion: kubectl-spread/v1\nkind: Scenario\nname: undo\n"
        "steps:\n- {step: rollout undo sts/db, expect: {complete: false, pending: 1}}\n"
    )
    live, snapshot = answers(["run", str(scenario)], cluster, kubeconfig, capsys)

    assert live == snapshot
    assert live[1].startswith("ok  undo")
    assert "controllerrevisions" in plurals(cluster)


def test_a_restart_reads_no_revisions(
    cluster: ApiServer, kubeconfig: Kubeconfig, capsys: pytest.CaptureFixture[str]
) -> None:
    live, snapshot = answers(["rollout", "restart", "sts/db"], cluster, kubeconfig, capsys)

    assert live == snapshot
    assert not plurals(cluster) & {"controllerrevisions", "storageclasses"}


def test_a_manifest_with_claims_finds_the_classes_of_the_cluster(
    kubeconfig: Kubeconfig, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No pod of the cluster has a claim yet; the class has no volume for the new one."""
    manifest = tmp_path / "store.yaml"
    manifest.write_text(CLAIMING)
    with ApiServer([*OBJECTS, LOCAL]).running() as cluster:
        live, snapshot = answers(["apply", "-f", str(manifest)], cluster, kubeconfig, capsys)

    assert live == snapshot
    assert live[0] == 1
    assert "refused by a volume for claim data-store-0 (no volume can be bound or created on a1, b1)" in live[1]
