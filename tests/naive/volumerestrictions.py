"""Volumes that only one pod, or one node, may have at a time.

Source: pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go (v1.36.2).
"""

from __future__ import annotations

from typing import Any, Optional

from tests.naive import objects
from tests.naive.framework import CycleState, Handle, SKIP, Status, SUCCESS, unresolvable, unschedulable
from tests.naive.nodeinfo import NodeInfo, PodInfo

Plain = dict[str, Any]


class PreFilterState:
    """The pod's ReadWriteOncePod claims, and how many uses of them there are."""

    def __init__(self, claims: frozenset[str], conflicting_pvc_ref_count: int) -> None:
        self.read_write_once_pod_pvcs = claims
        self.conflicting_pvc_ref_count = conflicting_pvc_ref_count

    def clone(self) -> PreFilterState:
        return PreFilterState(self.read_write_once_pod_pvcs, self.conflicting_pvc_ref_count)

    def update_with_pod(self, changed: PodInfo, sign: int) -> None:
        self.conflicting_pvc_ref_count += sign * self.conflicting_pvc_ref_count_for_pod(changed.pod)

    def conflicting_pvc_ref_count_for_pod(self, pod: Plain) -> int:
        # Claims are compared by name only: a pod of another namespace counts, too.
        return sum(1 for name in claim_names(pod) if name in self.read_write_once_pod_pvcs)


class VolumeRestrictions:
    """Keep off nodes, or out, while another pod has the volume."""

    name = "VolumeRestrictions"

    def __init__(self, args: Plain, handle: Handle) -> None:
        self.handle = handle

    def pre_filter(self, state: CycleState, pod: Plain) -> tuple[Optional[frozenset[str]], Status]:
        has_inline = any(needs_restrictions_check(volume) for volume in pod["spec"].get("volumes") or [])
        claims = set()
        for name in claim_names(pod):
            claim = self.handle.get("PersistentVolumeClaim", name, objects.namespace_of(pod))
            if claim is None:
                return None, unresolvable(f'persistentvolumeclaim "{name}" not found')
            if "ReadWriteOncePod" in (claim["spec"].get("accessModes") or []):
                claims.add(name)
        count = self.cal_pre_filter_state(pod, frozenset(claims))
        if not has_inline and count == 0:
            return None, SKIP
        state.values[self.name] = PreFilterState(frozenset(claims), count)
        return None, SUCCESS

    def cal_pre_filter_state(self, pod: Plain, claims: frozenset[str]) -> int:
        """How many of the pod's single-pod claims some pod uses already."""
        used = set()
        for node in self.handle.node_infos:
            for existing in node.pods:
                if objects.namespace_of(existing.pod) == objects.namespace_of(pod):
                    used.update(claim_names(existing.pod))
        return len(claims & used)

    def add_pod(self, state: CycleState, pod: Plain, added: PodInfo, *, node: NodeInfo) -> None:
        state.read(self.name).update_with_pod(added, 1)

    def remove_pod(self, state: CycleState, pod: Plain, removed: PodInfo, *, node: NodeInfo) -> None:
        state.read(self.name).update_with_pod(removed, -1)

    def filter(self, state: CycleState, pod: Plain, node: NodeInfo) -> Status:
        if not satisfy_volume_conflicts(pod, node):
            return unschedulable("node(s) had no available disk")
        if state.read(self.name).conflicting_pvc_ref_count > 0:
            return unschedulable(
                "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
                "already in-use by another pod"
            )
        return SUCCESS


def claim_names(pod: Plain) -> list[str]:
    """Claims named by a volume; ephemeral ones are not asked about here."""
    volumes = pod["spec"].get("volumes") or []
    return [volume["persistentVolumeClaim"]["claimName"] for volume in volumes if volume.get("persistentVolumeClaim")]


def needs_restrictions_check(volume: Plain) -> bool:
    return any(volume.get(kind) for kind in ("gcePersistentDisk", "awsElasticBlockStore", "rbd", "iscsi"))


def satisfy_volume_conflicts(pod: Plain, node: NodeInfo) -> bool:
    for volume in pod["spec"].get("volumes") or []:
        if needs_restrictions_check(volume) and any(is_volume_conflict(volume, other.pod) for other in node.pods):
            return False
    return True


def is_volume_conflict(volume: Plain, pod: Plain) -> bool:
    return any(_conflict(volume, existing) for existing in pod["spec"].get("volumes") or [])


def _conflict(volume: Plain, existing: Plain) -> bool:
    """Whether two inline volumes are the same disk; two readers may share all but an EBS volume."""
    for kind, same in (
        ("gcePersistentDisk", _same("pdName")),
        ("awsElasticBlockStore", _same("volumeID")),
        ("iscsi", _same("iqn")),
        ("rbd", _same_rbd),
    ):
        one, other = volume.get(kind), existing.get(kind)
        if not one or not other or not same(one, other):
            continue
        if kind == "awsElasticBlockStore" or not (one.get("readOnly") and other.get("readOnly")):
            return True
    return False


def _same(field: str) -> Any:
    return lambda one, other: one.get(field) == other.get(field)


def _same_rbd(one: Plain, other: Plain) -> bool:
    if not set(one.get("monitors") or []) & set(other.get("monitors") or []):
        return False
    return (one.get("pool") or "rbd") == (other.get("pool") or "rbd") and one.get("image") == other.get("image")
