"""Disks of in-tree plugins, as CSI drivers know them."""

from __future__ import annotations

from typing import Any, Optional

import pytest

from kubectl_spread.objects.reading.read import driver_and_handle, driver_of

ZONE = {"topology.kubernetes.io/zone": "a"}


@pytest.mark.parametrize(
    ("source", "labels", "expected"),
    [
        ({"awsElasticBlockStore": {"volumeID": "aws://eu-1a/vol-1"}}, {}, ("ebs.csi.aws.com", "vol-1")),
        ({"awsElasticBlockStore": {"volumeID": "vol-1"}}, {}, ("ebs.csi.aws.com", "vol-1")),
        ({"gcePersistentDisk": {"pdName": "d"}}, ZONE, ("pd.csi.storage.gke.io", "a/d")),
        ({"gcePersistentDisk": {"pdName": "d"}}, {}, ("pd.csi.storage.gke.io", "UNSPECIFIED/d")),
        ({"azureDisk": {"diskName": "d", "diskURI": "/d"}}, {}, ("disk.csi.azure.com", "/d")),
        ({"cinder": {"volumeID": "c"}}, {}, ("cinder.csi.openstack.org", "c")),
        ({"hostPath": {"path": "/"}}, {}, None),
    ],
)
def test_a_disk_has_the_handle_of_its_driver(
    source: dict[str, Any], labels: dict[str, str], expected: Optional[tuple[str, str]]
) -> None:
    assert expected == driver_and_handle(source, labels)


def test_a_provisioner_that_was_migrated_is_its_driver() -> None:
    assert ["ebs.csi.aws.com", "mine"] == [driver_of("kubernetes.io/aws-ebs"), driver_of("mine")]
