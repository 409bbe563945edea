"""Facts about volumes that no recording shows, and a few that are too easily lost among them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.naive.builders import claim, decide_all, decide_one, LATE, node, Plain, pod, terminating, using, volume


def without(*plugins: str) -> str:
    """A configuration with plug-ins disabled."""
    disabled = ", ".join(f"{{name: {name}}}" for name in plugins)
    return f"profiles:\n- plugins: {{multiPoint: {{disabled: [{disabled}]}}}}\n"


def test_a_single_pod_claim_can_be_preempted() -> None:
    """Evicting its user lets the pod in."""
    objects = [node("a"), pod("low", on="a", volumes=using("c")), volume("v"), LATE]
    objects.append(claim("c", volume="v", modes=["ReadWriteOncePod"]))
    decision = decide_one(objects, pod("p", priority=5, volumes=using("c")), preempt=True)

    assert decision["message"].endswith("access mode already in-use by another pod.")
    assert "a" == decision["nominated"]


@pytest.mark.parametrize(("monitors", "feasible"), [(["m1", "m2"], []), (["m3"], ["a"])])
def test_an_rbd_image_is_known_by_its_monitors(monitors: list[str], feasible: list[str]) -> None:
    """One in common is enough; the pool is `rbd` by default."""
    rbd = {"name": "v", "rbd": {"monitors": ["m1"], "image": "i", "pool": "rbd"}}
    other = {"name": "v", "rbd": {"monitors": monitors, "image": "i"}}

    assert feasible == decide_one([node("a"), pod("r", on="a", volumes=[rbd])], pod("p", volumes=[other]))["feasible"]


def test_a_matched_volume_is_reserved() -> None:
    """A second pod with a claim of its own does not get it."""
    objects = [node("a"), volume("v"), claim("one"), claim("two"), LATE]
    first, second = decide_all(objects, pod("p", volumes=using("one")), pod("q", volumes=using("two")))

    assert "a" == first["placed"]
    assert ["node(s) didn't find available persistent volumes to bind"] == second["rejected"]["a"]["reasons"]


def test_a_held_volume_is_taken_whatever_its_state() -> None:
    """Phase and access modes are not looked at, and the claim can share it with the next pod."""
    held: Plain = {"claimRef": {"namespace": "default", "name": "c", "uid": "c"}, "accessModes": []}
    objects = [node("a"), volume("v", phase="Pending", **held), claim("c"), LATE]

    assert ["a"] == decide_one(objects, pod("p", volumes=using("c")))["feasible"]


@pytest.mark.parametrize(
    "unfit",
    [
        terminating(volume("v", labels={"k": "v"})),
        volume("v", labels={"k": "v"}, phase="Bound"),
        volume("v", labels={"k": "other"}),
        volume("v", labels={"k": "v"}, volumeMode="Block"),
        volume("v", labels={"k": "v"}, storage_class="other"),
    ],
)
def test_a_volume_that_does_not_suit_the_claim_is_passed_over(unfit: Plain) -> None:
    """Terminating, not available, not selected, of another mode or class."""
    objects = [node("a"), unfit, claim("c", selector={"matchLabels": {"k": "v"}}), LATE]

    assert [] == decide_one(objects, pod("p", volumes=using("c")))["feasible"]


def test_the_old_class_annotations_win() -> None:
    """On claims and on volumes."""
    annotations = {"volume.beta.kubernetes.io/storage-class": "late"}
    old_volume = volume("v", storage_class="x")
    old_volume["metadata"]["annotations"] = annotations
    objects = [node("a"), old_volume, claim("c", storage_class="x", metadata={"annotations": annotations}), LATE]

    assert ["a"] == decide_one(objects, pod("p", volumes=using("c")))["feasible"]


def test_an_attached_volume_counts_against_the_limit() -> None:
    """Unless it is one that the pod brings along anyway."""
    limit = {"drivers": [{"name": "disk", "allocatable": {"count": 1}}]}
    source = {"nodeName": "a", "source": {"persistentVolumeName": "v"}}
    objects = [node("a"), LATE, volume("v"), volume("w"), claim("c", volume="v"), claim("d", volume="w")]
    objects.append({"kind": "CSINode", "metadata": {"name": "a"}, "spec": limit})
    objects.append({"kind": "VolumeAttachment", "metadata": {"name": "va"}, "spec": source})
    same, other = decide_all(objects, pod("p", volumes=using("c")), pod("q", volumes=using("d")))

    assert ["a"] == same["feasible"]
    assert ["node(s) exceed max volume count"] == other["rejected"]["a"]["reasons"]


def test_an_ephemeral_claim_has_to_be_the_pods_own() -> None:
    """One of the name that belongs to nobody is refused."""
    volumes = [{"name": "v", "ephemeral": {}}]
    decision = decide_one([node("a"), claim("p-v"), LATE], pod("p", volumes=volumes))

    assert "PVC default/p-v was not created for pod default/p (pod is not owner)" == decision["preFilter"]


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ([], 'persistentvolumeclaim "c" not found'),
        ([claim("c", storage_class="")], "PersistentVolumeClaim had no pv name and storageClass name"),
        ([claim("c", storage_class="x")], 'storageclass.storage.k8s.io "x" not found'),
        ([claim("c"), {**LATE, "volumeBindingMode": "Immediate"}], "PersistentVolume had no name"),
    ],
)
def test_volume_zone_rejects_claims_by_itself(objects: list[Plain], message: str) -> None:
    """Where the plug-ins that would reject them first are disabled."""
    text = without("VolumeRestrictions", "VolumeBinding")

    assert message == decide_one([node("a"), *objects], pod("p", volumes=using("c")), text=text)["preFilter"]
    assert (
        "PersistentVolumeClaim had no name"
        == decide_one([node("a")], pod("p", volumes=using("")), text=text)["preFilter"]
    )


def test_a_missing_claim_is_named_by_whichever_plugin_is_left() -> None:
    """VolumeBinding in PreFilter, NodeVolumeLimits for each node."""
    incoming = pod("p", volumes=using("c"))
    reason = 'persistentvolumeclaim "c" not found'
    by_node = decide_one([node("a")], incoming, text=without("VolumeRestrictions", "VolumeBinding", "VolumeZone"))

    assert reason == decide_one([node("a")], incoming, text=without("VolumeRestrictions"))["preFilter"]
    assert [reason] == by_node["rejected"]["a"]["reasons"]


def test_a_missing_volume_is_named_last() -> None:
    """VolumeZone would reject the pod before that."""
    objects = [node("a"), claim("bound", volume="gone"), claim("late"), LATE]
    decision = decide_one(objects, pod("p", volumes=using("bound", "late")), text=without("VolumeZone"))

    assert [
        "node(s) didn't find available persistent volumes to bind",
        "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
    ] == decision["rejected"]["a"]["reasons"]


def test_claims_that_cannot_be_traced_do_not_count_against_the_limit() -> None:
    """Of pods that are there already: a missing claim, and one without volume or class."""
    limit = {"drivers": [{"name": "disk", "allocatable": {"count": 1}}]}
    objects = [node("a"), LATE, volume("v"), claim("c", volume="v"), claim("x", storage_class="")]
    objects.append({"kind": "CSINode", "metadata": {"name": "a"}, "spec": limit})
    objects.append(pod("r", on="a", volumes=using("gone", "x")))

    assert ["a"] == decide_one(objects, pod("p", volumes=using("c")))["feasible"]


@pytest.mark.parametrize(
    ("capacity", "requested", "feasible"),
    [
        ({"capacity": "1Gi", "nodeTopology": {}}, "1Gi", ["a"]),
        ({"capacity": "1Gi"}, "1Gi", []),
        ({"capacity": "9Gi", "maximumVolumeSize": "1Mi", "nodeTopology": {}}, "1Gi", []),
        ({"capacity": "1Gi", "nodeTopology": {}}, None, ["a"]),
        ({"capacity": "1Gi", "nodeTopology": {"matchLabels": {"k": "v"}}}, None, ["a"]),
    ],
)
def test_capacity_is_what_the_driver_reports(capacity: Plain, requested: Any, feasible: list[str]) -> None:
    """Nobody has access to one without a topology; the largest volume counts before the sum; no request always fits."""
    resources = {"requests": {"storage": requested}} if requested else {}
    objects = [
        node("a"),
        {**LATE, "provisioner": "disk"},
        claim("c", resources=resources),
        {"kind": "CSIDriver", "metadata": {"name": "disk"}, "spec": {"storageCapacity": True}},
        {"kind": "CSIStorageCapacity", "metadata": {"name": "s"}, "storageClassName": "late", **capacity},
    ]

    assert feasible == decide_one(objects, pod("p", volumes=using("c")))["feasible"]


def test_volume_binding_scores_nothing() -> None:
    """Its PreScore skips, and without that the score is 0."""
    text = "profiles:\n- plugins: {preScore: {disabled: [{name: VolumeBinding}]}}\n"

    assert "VolumeBinding" not in decide_one([node("a")], pod("p"))["scores"]["a"]
    assert 0 == decide_one([node("a")], pod("p"), text=text)["scores"]["a"]["VolumeBinding"]
