"""VolumeZone: a bound volume's zone and region labels must be the node's.

Source: pkg/scheduler/framework/plugins/volumezone/volume_zone.go (v1.36.2).
"""

from __future__ import annotations

from typing import NamedTuple, Optional, Union

import numpy as np

from kubectl_spread.cluster.columns import Bools, Columns
from kubectl_spread.cluster.storage import StorageState
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.releases.behaviours import VOLUME_ZONE_LOOKS_FIRST, ZONE_LABELS_ARE_ONE
from kubectl_spread.objects.selectors import Labels, LEGACY, REGION, ZONE
from kubectl_spread.objects.storage import Claim
from kubectl_spread.scheduler.framework.plugin import Code, FilterState, FixedState, Plugin, Reason, Rejection, Skip
from kubectl_spread.scheduler.plugins import names

REASONS = (Reason("node(s) had no available volume zone", Code.UNSCHEDULABLE_AND_UNRESOLVABLE),)

# Label -> the one that replaced it; node labels are looked up by both.
_KEYS = {LEGACY[ZONE]: ZONE, LEGACY[REGION]: REGION, ZONE: ZONE, REGION: REGION}


class VolumeTopology(NamedTuple):
    """A label of a volume, and the values that a node may have for it."""

    key: str
    values: frozenset[str]

    def allows(self, labels: Labels, *, labels_are_one: bool = True) -> bool:
        """Return whether a node's label, or the label's successor, has one of the values."""
        value: Optional[str] = labels.get(self.key, labels.get(_KEYS[self.key]) if labels_are_one else None)
        return value in self.values


class VolumeZone(Plugin):
    name = names.VOLUME_ZONE

    def pre_filter(self, pod_class: PodClass, columns: Columns) -> Union[FilterState, Skip, Rejection]:
        topologies: list[VolumeTopology] = []
        for key, claim in columns.storage.claims_of(pod_class, with_ephemeral=False):
            problem = _problem(key.name, claim, columns.storage)
            if problem and VOLUME_ZONE_LOOKS_FIRST.of(self._release):
                return Rejection(problem)
            if problem or claim is None or not claim.volume_name:
                continue
            volume = columns.storage.volumes[claim.volume_name]
            topologies += topologies_of(volume.labels)
        if not topologies:
            return Skip()
        allowed = allowed_nodes(topologies, columns, labels_are_one=ZONE_LABELS_ARE_ONE.of(self._release))
        return FixedState(REASONS, (~allowed).astype(np.uint64))


def _problem(name: str, claim: Optional[Claim], storage: StorageState) -> str:
    """Return why a pod cannot be scheduled (getPVbyPod); by default other plugins reject a bad claim first."""
    if claim is None:
        return f'persistentvolumeclaim "{name}" not found'
    if claim.volume_name:
        return "" if claim.volume_name in storage.volumes else f'persistentvolume "{claim.volume_name}" not found'
    if not claim.storage_class:
        return "PersistentVolumeClaim had no pv name and storageClass name"
    storage_class = storage.class_of(claim)
    if storage_class is None:
        return f'storageclass.storage.k8s.io "{claim.storage_class}" not found'
    return "" if storage_class.waits else "PersistentVolume had no name"


def topologies_of(labels: Labels) -> list[VolumeTopology]:
    """Return the topologies of a volume; a label may name several values, separated by two underscores."""
    found = []
    for key in _KEYS:
        values = [value.strip() for value in labels.get(key, "").split("__")]
        if key in labels and all(values):
            found.append(VolumeTopology(key, frozenset(values)))
    return found


def allowed_nodes(topologies: list[VolumeTopology], columns: Columns, *, labels_are_one: bool = True) -> Bools:
    """Return the nodes in the zones and regions of the volumes, bool (N,); a node without labels takes any volume."""
    allowed = [
        _KEYS.keys().isdisjoint(node.labels)
        or all(topology.allows(node.labels, labels_are_one=labels_are_one) for topology in topologies)
        for node in columns.nodes
    ]
    return np.array(allowed, np.bool_)
