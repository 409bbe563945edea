"""Placing the pods of kinds beyond those of Kubernetes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run

POD = """{metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c}], topologySpreadConstraints:
  [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule,
    labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [KEY]}]}}"""
NODES = [
    f"""\
apiVersion: v1
kind: Node
metadata: {{name: n{zone}, labels: {{topology.kubernetes.io/zone: {zone}}}}}
status: {{allocatable: {{cpu: 8, memory: 8Gi, pods: 20}}}}
"""
    for zone in "ab"
]


def manifest(kind: str, spec: str, key: str) -> str:
    version, name = kind.split()
    spec = spec.replace("POD", POD.replace("KEY", key))
    return f"apiVersion: {version}\nkind: {name}\nmetadata: {{name: web, namespace: shop}}\nspec: {spec}\n"


def running(name: str, node: str, owner: str, labels: str, constraints: str = "[]") -> str:
    kind, owner_name = owner.split()
    return f"""\
apiVersion: v1
kind: Pod
metadata:
  name: {name}
  namespace: shop
  labels: {{app: web, {labels}}}
  ownerReferences: [{{apiVersion: apps/v1, kind: {kind}, name: {owner_name}, controller: true}}]
spec: {{nodeName: {node}, containers: [{{name: c, image: c}}], topologySpreadConstraints: {constraints}}}
"""


@pytest.fixture
def placed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def place(text: str, *facts: str) -> list[Any]:
        (tmp_path / "web.yaml").write_text(text)
        (tmp_path / "facts.yaml").write_text("---\n".join((*NODES, *facts)))
        run(["check", str(tmp_path / "web.yaml"), "--snapshot", str(tmp_path / "facts.yaml"), "-o", "json"])
        found: list[Any] = json.loads(capsys.readouterr().out)["placements"]
        return found

    return place


ROLLOUT = "argoproj.io/v1alpha1 Rollout"
CONFIG = "apps.openshift.io/v1 DeploymentConfig"
KNATIVE = "serving.knative.dev/v1 Service"
GROUPS = "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet"


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        (ROLLOUT, "{replicas: 3, template: POD}", ["web-1", "web-2", "web-3"]),
        (CONFIG, "{replicas: 2, selector: {app: web}, template: POD}", ["web-1", "web-2"]),
        (KNATIVE, "{template: POD}", ["web-1"]),
        ("apps.kruise.io/v1alpha1 CloneSet", "{replicas: 2, template: POD}", ["web-1", "web-2"]),
        ("apps.kruise.io/v1beta1 StatefulSet", "{replicas: 2, template: POD}", ["web-0", "web-1"]),
        ("apps.kruise.io/v1alpha1 DaemonSet", "{template: POD}", ["web-na", "web-nb"]),
        ("ray.io/v1 RayCluster", "{workerGroupSpecs: [{replicas: 2, template: POD}]}", ["web-1", "web-2"]),
    ],
)
def test_as_many_pods_as_the_kind_says(kind: str, spec: str, expected: list[str], placed: Any) -> None:
    (placement,) = placed(manifest(kind, spec, "app.kubernetes.io/none"))

    assert expected == sorted(pod["pod"] for pod in placement["pods"])


def test_leaders_and_workers_are_placed_each_for_themselves(placed: Any) -> None:
    spec = "{replicas: 2, leaderWorkerTemplate: {size: 3, leaderTemplate: POD, workerTemplate: POD}}"
    facts = [
        running("web-0", "na", "StatefulSet web", "leaderworkerset.sigs.k8s.io/name: web, "
                "leaderworkerset.sigs.k8s.io/worker-index: '0'"),
        running("web-0-1", "na", "StatefulSet web-0", "leaderworkerset.sigs.k8s.io/name: web, "
                "leaderworkerset.sigs.k8s.io/worker-index: '1'"),
        running("other-0-1", "na", "StatefulSet other-0", "leaderworkerset.sigs.k8s.io/name: other, "
                "leaderworkerset.sigs.k8s.io/worker-index: '1'"),
    ]  # fmt: skip
    workers, leaders = placed(manifest(GROUPS, spec, "none"), *facts)

    assert [("web-0", True), ("web-1", False)] == [(pod["pod"], pod["alreadyRunning"]) for pod in leaders["pods"]]
    assert [("web-0-1", True), ("web-0-2", False), ("web-1-1", False), ("web-1-2", False)] == [
        (pod["pod"], pod["alreadyRunning"]) for pod in workers["pods"]
    ]


REPLICA_SET = """\
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: web-abc
  namespace: shop
  ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: web, controller: true}]
"""


@pytest.mark.parametrize(
    ("kind", "spec", "owner", "labels"),
    [
        (ROLLOUT, "{replicas: 2, template: POD}", "ReplicaSet web-abc", "rollouts-pod-template-hash: abc"),
        (
            CONFIG,
            "{replicas: 2, template: POD}",
            "ReplicationController web-7",
            "deploymentconfig: web, deployment: web-7",
        ),
        (
            KNATIVE,
            "{template: SCALED}",
            "ReplicaSet web-00003-deployment-abc",
            "serving.knative.dev/service: web, serving.knative.dev/revision: web-00003",
        ),
    ],
)
def test_new_pods_go_on_with_the_revision_that_runs(kind: str, spec: str, owner: str, labels: str, placed: Any) -> None:
    """They are counted with its pods, so that the second goes to the other zone."""
    scaled = POD.replace("metadata: {", "metadata: {annotations: {autoscaling.knative.dev/min-scale: '2'}, ")
    key = labels.rsplit(", ", maxsplit=1)[-1].partition(":")[0]
    (placement,) = placed(
        manifest(kind, spec.replace("SCALED", scaled.replace("KEY", key)), key),
        REPLICA_SET,
        running("web-x", "na", owner, labels),
    )

    assert [("web-x", True), ("web-2", False)] == [(pod["pod"], pod["alreadyRunning"]) for pod in placement["pods"]]
    assert {"a": 1, "b": 1} == placement["domains"]["topology.kubernetes.io/zone"]


def test_a_new_pod_of_a_stateful_set_goes_on_with_the_revision_that_it_names(placed: Any) -> None:
    """`updateRevision` is the label's value; without it that of most pods is."""
    spec = "{replicas: 2, template: POD}"
    key = "controller-revision-hash"
    stateful_set = manifest("apps/v1 StatefulSet", spec, key)
    constraints = POD.partition("topologySpreadConstraints:")[2].removesuffix("}}").replace("KEY", key)
    first = running("web-0", "na", "StatefulSet web", f"{key}: web-abc", constraints)
    for facts in ([first], [first, f"{stateful_set}status: {{updateRevision: web-abc}}\n"]):
        (placement,) = placed(stateful_set, *facts)

        assert [("web-0", True), ("web-1", False)] == [(pod["pod"], pod["alreadyRunning"]) for pod in placement["pods"]]
        assert {"a": 1, "b": 1} == placement["matching"]["topology.kubernetes.io/zone"]


def test_a_deployment_that_a_rollout_refers_to_is_placed_as_the_rollout(placed: Any) -> None:
    deployment = manifest("apps/v1 Deployment", "{replicas: 0, template: POD}", "none")
    rollout = manifest(ROLLOUT, "{replicas: 4, workloadRef: {apiVersion: apps/v1, kind: Deployment, name: web}}", "")
    (placement,) = placed(f"{deployment}---\n{rollout}")

    assert ("Rollout", 4) == (placement["object"]["kind"], placement["placed"])


@pytest.mark.parametrize(
    ("target", "owner", "labels"),
    [
        ("rollout/web", "ReplicaSet web-abc", "rollouts-pod-template-hash: abc"),
        ("dc/web", "ReplicationController web-7", "deploymentconfig: web"),
        ("ksvc/web", "ReplicaSet web-00003-deployment-abc", "serving.knative.dev/service: web"),
        ("lws/web", "StatefulSet web", "leaderworkerset.sigs.k8s.io/name: web"),
        ("clonesets.apps.kruise.io/web", "CloneSet web", ""),
    ],
)
def test_explain_finds_the_pods_of_a_kind(
    target: str, owner: str, labels: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = "---\n".join((*NODES, REPLICA_SET, running("web-x", "na", owner, labels)))
    (tmp_path / "facts.yaml").write_text(facts)

    assert 0 == run(["explain", target, "-n", "shop", "--snapshot", str(tmp_path / "facts.yaml")])
    out = capsys.readouterr().out
    assert "shop/web: 1 pod has a node." in out
    assert f"A new pod of {out.partition(chr(58))[0]} can be scheduled: it fits on 2 nodes (na, nb)." in out


def test_a_service_of_knative_beside_a_workload_is_no_service_of_the_core(placed: Any) -> None:
    """It selects nothing, so its manifest is not a reason to refuse one."""
    core = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {selector: {app: web}}\n"
    (placement,) = placed(f"{core}---\n{manifest(KNATIVE, '{template: POD, selector: none}', 'none')}")

    assert 1 == placement["placed"]
