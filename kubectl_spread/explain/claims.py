"""Problems of a pod's claims that make the scheduler refuse the pod before it looks at any node."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Cluster, ClusterEvent, OwnerKey
from kubectl_spread.objects.pod import PodClass, PodVolume
from kubectl_spread.objects.storage import Claim, ObjectKey

_CLAIM = "PersistentVolumeClaim"


class ClaimProblem(Enum):
    """Why a claim cannot be used yet."""

    MISSING = "missing"
    NOT_CREATED = "notCreated"  # the controller of ephemeral volumes has not made it yet
    FOREIGN = "foreign"  # it has the name of the pod's ephemeral volume, and belongs to something else
    LOST = "lost"  # its volume is gone
    NO_VOLUME = "noVolume"  # it is bound to a volume that does not exist
    DELETED = "deleted"
    NO_CLASS = "noClass"  # it is not bound, and names a StorageClass that does not exist, or none
    UNBOUND = "unbound"  # its StorageClass binds it at once, and that has not happened
    BINDING = "binding"  # it has a volume, and the volume controller has not finished
    PROVISIONING = "provisioning"  # a node is chosen, and its volume is not there yet


class ClaimTrouble(NamedTuple):
    """A claim and its problem; `event` is the latest event about the claim."""

    problem: ClaimProblem
    key: ObjectKey
    storage_class: str = ""
    provisioner: str = ""
    volume: str = ""
    selected_node: str = ""
    event: Optional[ClusterEvent] = None


def troubles(cls: PodClass, cluster: Cluster) -> tuple[ClaimTrouble, ...]:
    """Return the claims for which the scheduler refuses a pod, or waits, in the order of the pod's volumes."""
    found: dict[ObjectKey, ClaimTrouble] = {}
    for volume in cls.volumes:
        key = ObjectKey(cls.namespace, volume.claim)
        claim = cluster.storage.claims.get(key)
        problem = _problem(volume, claim, cluster) if volume.claim else None
        if problem is not None:
            found.setdefault(key, _trouble(problem, key, claim, cluster))
    return tuple(found.values())


def _problem(volume: PodVolume, claim: Optional[Claim], cluster: Cluster) -> Optional[ClaimProblem]:
    if claim is None:
        return ClaimProblem.NOT_CREATED if volume.is_ephemeral else ClaimProblem.MISSING
    if claim.is_lost:
        return ClaimProblem.LOST
    if claim.is_deleted:
        return ClaimProblem.DELETED
    if volume.is_ephemeral and claim.owner_uid != volume.pod_uid:
        return ClaimProblem.FOREIGN
    if claim.is_bound:
        return None if claim.volume_name in cluster.storage.volumes else ClaimProblem.NO_VOLUME
    if claim.volume_name:
        return ClaimProblem.BINDING
    storage_class = cluster.storage.classes.get(claim.storage_class)
    if storage_class is None:
        return ClaimProblem.NO_CLASS
    if not storage_class.waits:
        return ClaimProblem.UNBOUND
    return ClaimProblem.PROVISIONING if claim.selected_node else None


def _trouble(problem: ClaimProblem, key: ObjectKey, claim: Optional[Claim], cluster: Cluster) -> ClaimTrouble:
    events = cluster.events.get(OwnerKey(_CLAIM, key.namespace, key.name), ())
    trouble = ClaimTrouble(problem, key, event=events[0] if events else None)
    if claim is None:
        return trouble
    storage_class = cluster.storage.classes.get(claim.storage_class)
    return trouble._replace(
        storage_class=claim.storage_class,
        provisioner="" if storage_class is None else storage_class.provisioner,
        volume=claim.volume_name,
        selected_node=claim.selected_node or "",
    )
