"""Pods whose node nobody can tell: what `check` and `explain` print of them, and how they exit."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.cli.main import run

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec: {containers: [{name: c, image: c, resources: {requests: {cpu: 1}}}], EXTRA}
"""
CLAIMS = POD.replace("NAME", "gpu").replace("EXTRA", "resourceClaims: [{name: g}]")
FOREIGN = POD.replace("NAME", "gpu").replace("EXTRA", "schedulerName: mine")
PLAIN = POD.replace("NAME", "web").replace("EXTRA", "")


def ran(tmp_path: Path, command: str, manifest: str, *options: str, cluster: str = "nodes=1,cpu=4") -> int:
    (tmp_path / "pods.yaml").write_text(manifest)
    return run([command, "-f", str(tmp_path / "pods.yaml"), "--topology", cluster, *options])


def test_the_text_tells_what_it_depends_on_and_whom_others_did_not_see(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = ran(tmp_path, "check", f"{CLAIMS}---\n{PLAIN}")
    told = capsys.readouterr()

    assert 0 == code
    assert [
        "Pod default/gpu: 0 of 1 pod placed, 1 not predictable",
        "  not predictable: gpu",
        "    because of resource claims, which this program does not evaluate",
        "",
        "Pod default/web: 1 of 1 pod placed",
        "  nodes: node-1=1",
        "  without the pods of Pod default/gpu, whose nodes are not predictable",
    ] == told.out.splitlines()
    assert "checked 2 workloads in 1 file: no findings, no pod Pending, 1 pod not predictable\n" == told.err


@pytest.mark.parametrize(("level", "code"), [("error", 0), ("warning", 1), ("info", 1), ("never", 0)])
def test_it_counts_as_a_warning(tmp_path: Path, level: str, code: int) -> None:
    assert code == ran(tmp_path, "check", CLAIMS, "--fail-on", level)


def test_the_report_has_it_neither_placed_nor_pending(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran(tmp_path, "check", f"{FOREIGN}---\n{PLAIN}", "-o", "json")
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schemas.load("check-report"))
    foreign, plain = document["placements"]

    assert (1, 0, [], [{"pod": "gpu", "dependsOn": ["the scheduler mine"]}]) == (
        foreign["replicas"],
        foreign["placed"],
        foreign["pending"],
        foreign["unpredicted"],
    )
    assert ("possible", ["Pod default/gpu"]) == (plain["certainty"], plain["notCounted"])


@pytest.mark.parametrize(
    ("manifest", "cluster", "verdict"),
    [
        (CLAIMS, "nodes=1,cpu=4", "is not predictable: by all other rules it fits on 1 node (node-1)."),
        (
            CLAIMS,
            "nodes=1,cpu=500m",
            "is not predictable: by all other rules every node is refused by the cpu request (needs 1; node-1 has 500m",
        ),
        (
            FOREIGN,
            "nodes=1,cpu=4",
            "waits for a scheduler named mine, which is not a known scheduler profile. Do: check that the scheduler",
        ),
    ],
)
def test_explain_shows_what_the_other_rules_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], manifest: str, cluster: str, verdict: str
) -> None:
    code = ran(tmp_path, "explain", manifest, cluster=cluster)

    assert 1 == code
    assert " ".join(capsys.readouterr().out.split()).startswith(f"Pod default/gpu {verdict}")


CHART = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 3
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: c, image: c}]
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {labelSelector: {matchLabels: {app: db}}, topologyKey: topology.kubernetes.io/zone}
"""
OF_SET = """  volumeClaimTemplates:
  - {metadata: {name: data}, spec: {storageClassName: fast, resources: {requests: {storage: 1Gi}}}}
"""
NAMED = "      volumes: [{name: v, persistentVolumeClaim: {claimName: shared}}]\n"
OWN = "      volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: fast}}}}]\n"


@pytest.mark.parametrize("volumes", ["", OF_SET, NAMED, OWN])
def test_advice_leaves_out_the_same_claims_as_the_placement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], volumes: str
) -> None:
    """A node in a third zone helps, as a topology of three zones shows."""
    assert ran(tmp_path, "explain", CHART + volumes, cluster="zones=3,nodes=1") == 0
    capsys.readouterr()
    assert ran(tmp_path, "explain", CHART + volumes, cluster="zones=2,nodes=1") == 1
    out = " ".join(capsys.readouterr().out.split())

    assert "Do: add a node in a new zone" in out
    assert "then all 3 pods run." in out
    claims = "claims that are not in the cluster facts (kubectl get pv,pvc,storageclasses -A)"
    assert out.count(f"The pods use {claims}; they are placed by the other rules.") == bool(volumes)
    assert out.count(f"Not simulated: {claims}.") == bool(volumes)


def test_the_explanation_has_no_message_of_the_scheduler(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It would be a guess."""
    ran(tmp_path, "explain", CLAIMS, "-o", "json", cluster="nodes=1,cpu=500m")
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schemas.load("explanation"))

    assert ("NotPredictable", "", ["resource claims"]) == (
        document["verdict"],
        document["message"],
        document["notPredictable"],
    )


def test_a_configuration_says_at_once_whose_pods_it_makes_unpredictable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "scheduler.yaml").write_text("""\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {multiPoint: {enabled: [{name: Coscheduling}]}}}]
extenders: [{urlPrefix: http://gpu, filterVerb: filter, managedResources: [{name: example.com/gpu}]}]
""")
    ran(tmp_path, "check", PLAIN, "--scheduler-config", str(tmp_path / "scheduler.yaml"))
    warnings = [line.partition("scheduler.yaml: ")[2] for line in capsys.readouterr().err.splitlines()[:2]]

    assert [
        "the plugin Coscheduling is not kube-scheduler's own: the pods of default-scheduler are not predictable",
        "the extender http://gpu is not called: pods that request example.com/gpu are not predictable",
    ] == warnings
