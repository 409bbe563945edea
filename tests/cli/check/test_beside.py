"""Objects that stand beside a workload in its manifests are there when its pods are placed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run

ZONE = "topology.kubernetes.io/zone"
CLASS = """\
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local, annotations: {storageclass.kubernetes.io/is-default-class: "DEFAULT"}}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: MODE
"""
VOLUME = f"""\
apiVersion: v1
kind: PersistentVolume
metadata: {{name: pv}}
spec:
  storageClassName: local
  capacity: {{storage: 10Gi}}
  accessModes: [ReadWriteOnce]
  nodeAffinity:
    required: {{nodeSelectorTerms: [{{matchExpressions: [{{key: {ZONE}, operator: In, values: [b]}}]}}]}}
"""
CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, EXTRA}
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  containers: [{name: c, image: c}]
  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]
"""


def placed(tmp_path: Path, capsys: pytest.CaptureFixture[str], *objects: str) -> list[dict[str, Any]]:
    (tmp_path / "all.yaml").write_text("---\n".join(objects))
    run(["check", str(tmp_path / "all.yaml"), "--topology", "zones=2,nodes=1,cpu=4", "-n", "shop", "-o", "json"])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["placements"]
    return found


def of_class(mode: str = "WaitForFirstConsumer", default: str = "false") -> str:
    return CLASS.replace("MODE", mode).replace("DEFAULT", default)


@pytest.mark.parametrize(
    ("storage_class", "extra"),
    [(of_class(), "storageClassName: local"), (of_class(default="true"), "volumeMode: Filesystem")],
)
def test_a_claim_of_the_manifest_is_bound_with_its_pod(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], storage_class: str, extra: str
) -> None:
    """To the only volume, which is in zone b; by its own class or the default one."""
    (web,) = placed(tmp_path, capsys, storage_class, VOLUME, CLAIM.replace("EXTRA", extra), POD)

    assert ["node-b1"] == [pod["node"] for pod in web["pods"]]
    assert ([], "certain") == (web["notPredictable"], web["certainty"])


@pytest.mark.parametrize(
    "objects",
    [
        [CLAIM.replace("EXTRA", "storageClassName: local")],
        [of_class("Immediate"), VOLUME, CLAIM.replace("EXTRA", "storageClassName: local")],
    ],
    ids=["a class that is not known", "a class that binds at once"],
)
def test_a_claim_that_somebody_else_binds_is_not_predictable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], objects: list[str]
) -> None:
    """The pod is placed by the other rules, and the report says so."""
    (web,) = placed(tmp_path, capsys, *objects, POD)

    assert (1, ["claims that are not in the cluster facts (kubectl get pv,pvc,storageclasses -A)"]) == (
        web["placed"],
        web["notPredictable"],
    )


def test_a_claim_that_names_its_volume_is_bound_to_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claim = CLAIM.replace("EXTRA", "storageClassName: local, volumeName: pv")
    (web,) = placed(tmp_path, capsys, VOLUME, claim, POD)

    assert ["node-b1"] == [pod["node"] for pod in web["pods"]]


PRIORITY = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: NAME}\nvalue: 10\n"
LARGE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  replicas: 2
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      containers: [{name: c, image: c, resources: {requests: {cpu: 3}}}]
"""
HIGH = LARGE.replace("NAME", "high") + "      priorityClassName: high\n"


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([PRIORITY.replace("NAME", "high")], [(0, []), (2, [])]),
        (
            [PRIORITY.replace("NAME", "low") + "globalDefault: true\n", PRIORITY.replace("NAME", "high")],
            [(2, []), (0, [])],
        ),
        ([], [(2, []), (0, ["the priority class high, which is not in the cluster facts"])]),
    ],
)
def test_a_priority_class_decides_who_comes_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], objects: list[str], expected: list[tuple[int, list[str]]]
) -> None:
    """There is room for two pods. Pods without a class get the default one; a class that is not there is 0."""
    found = placed(tmp_path, capsys, *objects, LARGE.replace("NAME", "low"), HIGH)

    assert expected == [(item["placed"], item["notPredictable"]) for item in found]


def test_an_object_that_does_not_decode_is_left_out_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "all.yaml"
    path.write_text(f"{POD}---\napiVersion: v1\nkind: Service\nmetadata: {{name: web}}\nspec: {{selector: web}}\n")
    code = run(["check", str(path), "--topology", "zones=1"])

    assert 3 == code
    assert (
        "all.yaml:11:18: Service web is left out: spec.selector: json: cannot unmarshal string"
        in capsys.readouterr().err
    )


def test_explain_takes_them_too_and_from_files_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "storage.yaml").write_text(f"{of_class()}---\n{VOLUME}")
    (tmp_path / "web.yaml").write_text("---\n".join([CLAIM.replace("EXTRA", "storageClassName: local"), POD]))
    files = ["-f", str(tmp_path / "storage.yaml"), "-f", str(tmp_path / "web.yaml")]
    code = run(["explain", *files, "--topology", "zones=2,nodes=1"])

    assert 0 == code
    assert "Pod default/web can be scheduled: it fits on 1 node (node-b1)." == capsys.readouterr().out.splitlines()[0]
