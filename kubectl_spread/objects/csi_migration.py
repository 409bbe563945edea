"""Disks of in-tree volume plugins, which CSI drivers attach since their migration.

Only the fields that distinguish two volumes are translated. Source: staging/src/k8s.io/csi-translation-lib/plugins,
aws_ebs.go, gce_pd.go, azure_disk.go, openstack_cinder.go; pkg/scheduler/framework/plugins/nodevolumelimits/utils.go,
isCSIMigrationOn, which names these four (v1.36.2).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from kubectl_spread.objects.selectors.labels import Labels, ZONE

Plain = dict[str, Any]

_OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
_UNSPECIFIED = "UNSPECIFIED"


class _Plugin(NamedTuple):
    """The field of a volume, the inner field with the disk's name, the provisioner, and the CSI driver."""

    field: str
    disk: str
    provisioner: str
    driver: str


_PLUGINS = (
    _Plugin("awsElasticBlockStore", "volumeID", "kubernetes.io/aws-ebs", "ebs.csi.aws.com"),
    _Plugin("gcePersistentDisk", "pdName", "kubernetes.io/gce-pd", "pd.csi.storage.gke.io"),
    _Plugin("azureDisk", "diskURI", "kubernetes.io/azure-disk", "disk.csi.azure.com"),
    _Plugin("cinder", "volumeID", "kubernetes.io/cinder", "cinder.csi.openstack.org"),
)
_DRIVERS = {plugin.provisioner: plugin.driver for plugin in _PLUGINS}


def driver_of(provisioner: str) -> str:
    """Return the CSI driver that creates the volumes of a class."""
    return _DRIVERS.get(provisioner, provisioner)


def driver_and_handle(source: Plain, labels: Labels) -> Optional[tuple[str, str]]:
    """Return the driver and the handle of a disk; None for other volumes.

    Args:
        source: the spec of a PersistentVolume, or a pod's volume.
        labels: of the PersistentVolume; a GCE disk's name is unique within one zone.
    """
    for plugin in _PLUGINS:
        if source.get(plugin.field) is not None:
            name = source[plugin.field].get(plugin.disk) or ""
            if plugin.field == "gcePersistentDisk":
                name = f"{labels.get(ZONE) or labels.get(_OLD_ZONE) or _UNSPECIFIED}/{name}"
            elif name.startswith("aws://"):
                name = name.rpartition("/")[2]
            return plugin.driver, name
    return None
