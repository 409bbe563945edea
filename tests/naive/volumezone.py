"""Bound volumes that carry zone labels.

Source: pkg/scheduler/framework/plugins/volumezone/volume_zone.go (v1.36.2).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from tests.naive import objects
from tests.naive.framework import CycleState, Handle, SKIP, Status, SUCCESS, unresolvable
from tests.naive.nodeinfo import NodeInfo
from tests.naive.volumerestrictions import claim_names

Plain = dict[str, Any]

_GA_LABELS = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
}
TOPOLOGY_LABELS = (*_GA_LABELS, *_GA_LABELS.values())


class PVTopology(NamedTuple):
    """The values of a topology label that a volume can be reached from."""

    key: str
    values: frozenset[str]


class _State(NamedTuple):
    topologies: list[PVTopology]

    def clone(self) -> _State:
        return self


class VolumeZone:
    """Keep to the zones of the pod's volumes."""

    name = "VolumeZone"

    def __init__(self, args: Plain, handle: Handle) -> None:
        self.handle = handle

    def pre_filter(self, state: CycleState, pod: Plain) -> tuple[Optional[frozenset[str]], Status]:
        topologies, status = self.get_pv_by_pod(pod)
        if not status.is_success():
            return None, status
        if not topologies:
            return None, SKIP
        state.values[self.name] = _State(topologies)
        return None, SUCCESS

    def get_pv_by_pod(self, pod: Plain) -> tuple[list[PVTopology], Status]:
        topologies: list[PVTopology] = []
        for name in claim_names(pod):
            if not name:
                return [], unresolvable("PersistentVolumeClaim had no name")
            claim = self.handle.get("PersistentVolumeClaim", name, objects.namespace_of(pod))
            if claim is None:
                return [], unresolvable(f'persistentvolumeclaim "{name}" not found')
            volume_name = claim["spec"].get("volumeName")
            if not volume_name:
                status = self._unbound(claim)
                if not status.is_success():
                    return [], status
                continue
            volume = self.handle.get("PersistentVolume", volume_name)
            if volume is None:
                return [], unresolvable(f'persistentvolume "{volume_name}" not found')
            topologies += get_pv_topologies(volume)
        return topologies, SUCCESS

    def _unbound(self, claim: Plain) -> Status:
        """Whether a claim may be without a volume."""
        class_name = get_persistent_volume_claim_class(claim)
        if not class_name:
            return unresolvable("PersistentVolumeClaim had no pv name and storageClass name")
        storage_class = self.handle.get("StorageClass", class_name)
        if storage_class is None:
            return unresolvable(f'storageclass.storage.k8s.io "{class_name}" not found')
        if (storage_class.get("volumeBindingMode") or "Immediate") == "WaitForFirstConsumer":
            return SUCCESS
        return unresolvable("PersistentVolume had no name")

    def filter(self, state: CycleState, pod: Plain, node: NodeInfo) -> Status:
        if not any(key in node.labels for key in TOPOLOGY_LABELS):
            # A cluster of one zone need not say so.
            return SUCCESS
        for topology in state.read(self.name).topologies:
            value = node.labels.get(topology.key, node.labels.get(_GA_LABELS.get(topology.key, topology.key)))
            if value not in topology.values:
                return unresolvable("node(s) had no available volume zone")
        return SUCCESS


def get_persistent_volume_claim_class(claim: Plain) -> str:
    """The class of a claim; the old annotation wins where it is there."""
    annotations = objects.annotations_of(claim)
    if "volume.beta.kubernetes.io/storage-class" in annotations:
        return annotations["volume.beta.kubernetes.io/storage-class"]
    return claim["spec"].get("storageClassName") or ""


def get_pv_topologies(volume: Plain) -> list[PVTopology]:
    found = []
    labels = objects.labels_of(volume)
    for key in TOPOLOGY_LABELS:
        if key not in labels:
            continue
        values = label_zones_to_set(labels[key])
        if values:
            found.append(PVTopology(key, values))
    return found


def label_zones_to_set(text: str) -> frozenset[str]:
    """Split `a__b`; a label with an empty part is broken and is ignored."""
    parts = [part.strip() for part in text.split("__")]
    return frozenset(parts) if all(parts) else frozenset()
