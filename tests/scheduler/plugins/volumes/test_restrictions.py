"""VolumeRestrictions, tables of cases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.naive.builders import claim, node, pod, using
from tests.scheduler.plugins.asking import Answer, filtered, FITS, SKIP, U, UU

Plain = dict[str, Any]

BUSY = U("node(s) had no available disk")
ONCE = U(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)


def gce(name: str, *, read_only: bool = False) -> Plain:
    return {"gcePersistentDisk": {"pdName": name, "readOnly": read_only}}


def ebs(name: str, *, read_only: bool = False) -> Plain:
    return {"awsElasticBlockStore": {"volumeID": name, "readOnly": read_only}}


def iscsi(iqn: str, *, read_only: bool = False) -> Plain:
    return {"iscsi": {"targetPortal": "t", "iqn": iqn, "lun": 0, "readOnly": read_only}}


def rbd(image: str, *monitors: str, read_only: bool = False) -> Plain:
    return {"rbd": {"monitors": list(monitors), "pool": "p", "image": image, "readOnly": read_only}}


@pytest.mark.parametrize(
    ("used", "wanted", "expected"),
    [
        pytest.param(gce("d"), gce("d"), BUSY, id="GCE: the same disk"),
        pytest.param(gce("d"), gce("e"), FITS, id="GCE: another disk"),
        pytest.param(gce("d", read_only=True), gce("d", read_only=True), FITS, id="GCE: both read only"),
        pytest.param(gce("d", read_only=True), gce("d"), BUSY, id="GCE: one of them writes"),
        pytest.param(ebs("d", read_only=True), ebs("d", read_only=True), BUSY, id="EBS: even both read only"),
        pytest.param(ebs("d"), gce("d"), FITS, id="EBS and GCE with one name"),
        pytest.param(iscsi("q"), iscsi("q"), BUSY, id="iSCSI: the same target"),
        pytest.param(iscsi("q", read_only=True), iscsi("q", read_only=True), FITS, id="iSCSI: both read only"),
        pytest.param(rbd("i", "m1", "m2"), rbd("i", "m2"), BUSY, id="RBD: one common monitor"),
        pytest.param(rbd("i", "m1"), rbd("i", "m2"), FITS, id="RBD: other monitors"),
        pytest.param(rbd("i", "m"), rbd("j", "m"), FITS, id="RBD: another image"),
    ],
)
def test_a_disk_is_for_one_pod_of_a_node(used: Plain, wanted: Plain, expected: Answer) -> None:
    """A disk that is in use refuses the node until its pod is gone."""
    running = pod("running", on="n", volumes=[{"name": "v", **used}])
    incoming = pod("p", volumes=[{"name": "v", **wanted}])

    assert {"n": expected, "free": FITS} == filtered("VolumeRestrictions", incoming, node("n"), node("free"), running)


@pytest.mark.parametrize(
    ("modes", "user", "expected"),
    [
        pytest.param(["ReadWriteOncePod"], {"on": "n"}, {"n": ONCE, "free": ONCE}, id="in use: every node"),
        pytest.param(["ReadWriteOncePod"], {}, {"n": FITS, "free": FITS}, id="its other user is not bound"),
        pytest.param(["ReadWriteOnce"], {"on": "n"}, SKIP, id="another access mode"),
    ],
)
def test_a_claim_for_one_pod_is_used_once(modes: list[str], user: Any, expected: Any) -> None:
    """ReadWriteOncePod is about the whole cluster, and the eviction of its user helps."""
    objects = [node("n"), node("free"), claim("c", volume="v", modes=modes), pod("user", volumes=using("c"), **user)]

    assert expected == filtered("VolumeRestrictions", pod("p", volumes=using("c")), *objects)


def test_a_missing_claim_refuses_all_nodes() -> None:
    """PreFilter names the claim."""
    answer = filtered("VolumeRestrictions", pod("p", volumes=using("c")), node("n"))

    assert UU('persistentvolumeclaim "c" not found') == answer
