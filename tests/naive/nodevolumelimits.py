"""How many volumes of a CSI driver a node takes.

Source: pkg/scheduler/framework/plugins/nodevolumelimits/csi.go (v1.36.2). In-tree volumes are not translated to the
drivers that replaced them.
"""

from __future__ import annotations

from typing import Any, Optional

from tests.naive import objects
from tests.naive.framework import CycleState, Handle, SKIP, Status, SUCCESS, unresolvable, unschedulable
from tests.naive.nodeinfo import NodeInfo
from tests.naive.volumebinding import pod_claim_names
from tests.naive.volumezone import get_persistent_volume_claim_class

Plain = dict[str, Any]
Volumes = dict[tuple[str, str], str]  # the driver, by (driver, handle)


class NodeVolumeLimits:
    """Keep off a node that has as many volumes as it takes."""

    name = "NodeVolumeLimits"

    def __init__(self, args: Plain, handle: Handle) -> None:
        self.handle = handle

    def pre_filter(self, state: CycleState, pod: Plain) -> tuple[Optional[frozenset[str]], Status]:
        return None, SUCCESS if pod_claim_names(pod) else SKIP

    def filter(self, state: CycleState, pod: Plain, node: NodeInfo) -> Status:
        for name, _ in pod_claim_names(pod):
            if self.handle.get("PersistentVolumeClaim", name, objects.namespace_of(pod)) is None:
                return unresolvable(f'persistentvolumeclaim "{name}" not found')
        new_volumes: Volumes = {}
        self.filter_attachable_volumes(pod, new_volumes)
        limits = get_volume_limits(self.handle.get("CSINode", node.name))
        if not new_volumes or not limits:
            return SUCCESS
        attached = self.get_node_volume_attachment_info(node.name)
        for existing in node.pods:
            self.filter_attachable_volumes(existing.pod, attached)
        for driver, limit in limits.items():
            current = sum(1 for other in attached.values() if other == driver)
            added = sum(1 for volume, other in new_volumes.items() if other == driver and volume not in attached)
            if added and current + added > limit:
                return unschedulable("node(s) exceed max volume count")
        return SUCCESS

    def filter_attachable_volumes(self, pod: Plain, result: Volumes) -> None:
        """Collect the volumes of a pod; a claim that is not there is not counted."""
        for name, _ in pod_claim_names(pod):
            claim = self.handle.get("PersistentVolumeClaim", name, objects.namespace_of(pod))
            if claim is None:
                continue
            driver, volume_handle = self.get_csi_driver_info(claim)
            if driver and volume_handle:
                result[driver, volume_handle] = driver

    def get_csi_driver_info(self, claim: Plain) -> tuple[str, str]:
        volume = self.handle.get("PersistentVolume", claim["spec"].get("volumeName") or "")
        if volume is None:
            return self.get_csi_driver_info_from_sc(claim)
        source = volume["spec"].get("csi") or {}
        return source.get("driver") or "", source.get("volumeHandle") or ""

    def get_csi_driver_info_from_sc(self, claim: Plain) -> tuple[str, str]:
        """What a claim without a volume will take: one of its provisioner, its own."""
        storage_class = self.handle.get("StorageClass", get_persistent_volume_claim_class(claim))
        if storage_class is None:
            return "", ""
        # No volume can be called this, as upstream's random prefix makes sure of.
        return storage_class.get("provisioner") or "", f"\0{objects.key_of(claim)}"

    def get_node_volume_attachment_info(self, node_name: str) -> Volumes:
        """What is attached to the node, used or not."""
        found: Volumes = {}
        for attachment in self.handle.list("VolumeAttachment"):
            spec = attachment["spec"]
            volume = self.handle.get("PersistentVolume", (spec.get("source") or {}).get("persistentVolumeName") or "")
            source = ((volume or {}).get("spec") or {}).get("csi")
            if spec.get("nodeName") == node_name and source:
                found[source["driver"], source["volumeHandle"]] = source["driver"]
        return found


def get_volume_limits(csi_node: Optional[Plain]) -> dict[str, int]:
    """Limits by driver; a count of 0 is one."""
    limits = {}
    for driver in ((csi_node or {}).get("spec") or {}).get("drivers") or []:
        count = (driver.get("allocatable") or {}).get("count")
        if count is not None:
            limits[driver["name"]] = count
    return limits
