"""VolumeBinding, tables of cases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.naive.builders import claim, LATE, node, pod, using, volume, ZONE
from tests.scheduler.plugins.asking import Answer, filtered, FITS, SKIP, UU

Plain = dict[str, Any]

NODES = (node("a", labels={ZONE: "A"}), node("b", labels={ZONE: "B"}))
NO_VOLUME = UU("node(s) didn't find available persistent volumes to bind")
ELSEWHERE = UU("node(s) didn't match PersistentVolume's node affinity")
NO_STORAGE = UU("node(s) did not have enough free storage")
IMMEDIATE = UU("pod has unbound immediate PersistentVolumeClaims")


def in_zone(*values: str) -> Plain:
    expression = {"key": ZONE, "operator": "In", "values": list(values)}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}


def storage_class(name: str, **more: Any) -> Plain:
    return {
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": "disk",
        "volumeBindingMode": "WaitForFirstConsumer",
        **more,
    }


def zones(*values: str) -> list[Plain]:
    return [{"matchLabelExpressions": [{"key": ZONE, "values": list(values)}]}]


MADE = storage_class("made")
BOUND_IN_A = (claim("c", volume="v"), volume("v", phase="Bound", nodeAffinity=in_zone("A")))


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        pytest.param(BOUND_IN_A, {"a": FITS, "b": ELSEWHERE}, id="bound to a volume of zone A"),
        pytest.param(
            (claim("c", volume="v"), volume("v", phase="Bound")), {"a": FITS, "b": FITS}, id="a volume for all nodes"
        ),
        pytest.param(
            (LATE, claim("c"), volume("v", nodeAffinity=in_zone("B"))),
            {"a": NO_VOLUME, "b": FITS},
            id="a free volume in zone B",
        ),
        pytest.param((LATE, claim("c")), {"a": NO_VOLUME, "b": NO_VOLUME}, id="no volume and no provisioner"),
        pytest.param(
            (LATE, claim("c"), volume("v", capacity={"storage": "500Mi"})),
            {"a": NO_VOLUME, "b": NO_VOLUME},
            id="the volume is too small",
        ),
        pytest.param(
            (LATE, claim("c"), volume("v", accessModes=["ReadOnlyMany"])),
            {"a": NO_VOLUME, "b": NO_VOLUME},
            id="another access mode",
        ),
        pytest.param(
            (LATE, claim("c"), volume("v", claimRef={"namespace": "default", "name": "other", "uid": "other"})),
            {"a": NO_VOLUME, "b": NO_VOLUME},
            id="the volume is for another claim",
        ),
        pytest.param((MADE, claim("c", storage_class="made")), {"a": FITS, "b": FITS}, id="a provisioner makes one"),
        pytest.param(
            (storage_class("zonal", allowedTopologies=zones("B")), claim("c", storage_class="zonal")),
            {"a": NO_VOLUME, "b": FITS},
            id="a class of zone B",
        ),
        pytest.param(
            (
                MADE,
                claim(
                    "c",
                    storage_class="made",
                    metadata={"annotations": {"volume.kubernetes.io/selected-node": "a"}},
                ),
            ),
            {"a": FITS, "b": NO_VOLUME},
            id="the scheduler chose node a before",
        ),
    ],
)
def test_a_node_must_reach_the_volumes(objects: tuple[Plain, ...], expected: dict[str, Answer]) -> None:
    """Bound volumes by their node affinity; others by free volumes, then by what a provisioner can make."""
    assert expected == filtered("VolumeBinding", pod("p", volumes=using("c")), *NODES, *objects)


def test_two_claims_do_not_share_a_volume() -> None:
    """Zone A has one free volume and zone B two."""
    volumes = [volume(name, nodeAffinity=in_zone(zone)) for name, zone in (("v1", "A"), ("v2", "B"), ("v3", "B"))]
    incoming = pod("p", volumes=using("c", "d"))

    answers = filtered("VolumeBinding", incoming, *NODES, LATE, claim("c"), claim("d"), *volumes)

    assert {"a": NO_VOLUME, "b": FITS} == answers


@pytest.mark.parametrize(
    ("capacity", "expected"),
    [
        pytest.param("1Gi", {"a": FITS, "b": NO_STORAGE}, id="enough in zone A"),
        pytest.param("1023Mi", {"a": NO_STORAGE, "b": NO_STORAGE}, id="too little"),
    ],
)
def test_a_driver_that_reports_capacity_needs_enough(capacity: str, expected: dict[str, Answer]) -> None:
    """The claim is for 1Gi, and only zone A reports storage."""
    objects = [
        MADE,
        claim("c", storage_class="made"),
        {"kind": "CSIDriver", "metadata": {"name": "disk"}, "spec": {"storageCapacity": True}},
        {
            "kind": "CSIStorageCapacity",
            "metadata": {"name": "a", "namespace": "default"},
            "storageClassName": "made",
            "nodeTopology": {"matchLabels": {ZONE: "A"}},
            "capacity": capacity,
        },
    ]

    assert expected == filtered("VolumeBinding", pod("p", volumes=using("c")), *NODES, *objects)


@pytest.mark.parametrize(
    ("incoming", "objects", "expected"),
    [
        pytest.param(pod("p"), (), SKIP, id="no claims"),
        pytest.param(
            pod("p", volumes=using("c")),
            (storage_class("now", volumeBindingMode="Immediate"), claim("c", storage_class="now")),
            IMMEDIATE,
            id="a class that binds at once",
        ),
        pytest.param(pod("p", volumes=using("c")), (claim("c", storage_class=""),), IMMEDIATE, id="no class"),
        pytest.param(
            pod("p", volumes=using("c")), (claim("c", storage_class="gone"),), IMMEDIATE, id="an unknown class"
        ),
        pytest.param(
            pod("p", volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {}}}]),
            (),
            UU('waiting for ephemeral volume controller to create the persistentvolumeclaim "p-v"'),
            id="an ephemeral claim that does not exist yet",
        ),
        pytest.param(
            pod("p", volumes=using("c")),
            (claim("c", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),),
            UU('persistentvolumeclaim "c" is being deleted'),
            id="a claim that is being deleted",
        ),
        pytest.param(
            pod("p", volumes=using("c")),
            (claim("c", volume="v") | {"status": {"phase": "Lost"}},),
            UU('persistentvolumeclaim "c" bound to non-existent persistentvolume "v"'),
            id="a lost claim",
        ),
    ],
)
def test_prefilter_answers_for_all_nodes(incoming: Plain, objects: tuple[Plain, ...], expected: Any) -> None:
    """A claim that no node can help is refused at once."""
    assert expected == filtered("VolumeBinding", incoming, *NODES, *objects)
