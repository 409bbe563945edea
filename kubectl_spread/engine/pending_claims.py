"""Claims that do not exist yet: their likely volumes, and pods without volumes that cannot be predicted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects import storage
from kubectl_spread.objects.keys import NamespacedName
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.storage import Claim, NO_PROVISIONER, Storage, StorageClass, Volume
from kubectl_spread.objects.workloads.workload import claim_names, replica_name, Workload

CLAIM_KIND, VOLUME_KIND = "PersistentVolumeClaim", "PersistentVolume"
_STORAGE_KINDS = frozenset({"StorageClass", VOLUME_KIND})
_DRIVER_KINDS = frozenset({"CSIDriver", "CSINode", VOLUME_KIND})


def with_claims(owners: Iterable[Workload], cluster: Cluster) -> Cluster:
    """Return the cluster with the claims of StatefulSets, and new claims bound as the volume controller does at once.

    Claims that cannot be predicted are left out, or left as they are.
    """
    known = cluster.storage
    claims, volumes = dict(known.claims), dict(known.volumes)
    new = [claim for claim in known.claims.values() if claim.is_new and not claim.is_bound]
    for owner in owners:
        for ordinal in range(owner.replicas or 0 if owner.claims else 0):
            names = claim_names(owner, replica_name(owner, ordinal))
            for name, template in zip(names, owner.claims, strict=True):
                made = storage.claim({**template, "metadata": {"name": name, "namespace": owner.namespace}})
                new += [known.admitted(made)] if made.key not in claims else []
    if not new:
        return cluster
    for claim in new:
        found = _settled(claim, cluster, volumes)
        if found is None:
            continue
        settled, volume = found
        claims[claim.key] = settled
        if volume is not None:
            volumes[volume.name] = volume._replace(claim=claim.key, claim_uid=claim.uid, is_available=False)
    return cluster._replace(storage=known._replace(claims=claims, volumes=volumes))


def _settled(claim: Claim, cluster: Cluster, volumes: dict[str, Volume]) -> Optional[tuple[Claim, Optional[Volume]]]:
    """Return a new claim at the time its pod is scheduled, with its volume; None if that is unknown.

    Source: pkg/controller/volume/persistentvolume/pv_controller.go, syncUnboundClaim (v1.36.2).
    """
    found = cluster.storage.classes.get(claim.storage_class)
    if found is not None and found.waits:
        return claim._replace(is_new=False), None
    if not cluster.complete >= _STORAGE_KINDS:
        return None
    volume = storage.smallest(claim, volumes.values())
    if volume is not None:
        return claim._replace(is_new=False, volume_name=volume.name, is_bind_completed=True), volume
    makes_none = found is None or found.provisioner == NO_PROVISIONER or lacks_provisioner(found, cluster)
    return (claim._replace(is_new=False), None) if makes_none else None


def lacks_provisioner(storage_class: StorageClass, cluster: Cluster) -> bool:
    """Return whether no component in the cluster provisions a class: its CSI driver is not installed.

    By convention the names of CSI drivers have a part `csi`. Other provisioners cannot be detected by an object.
    """
    name = storage_class.provisioner
    is_csi = "csi" in name.replace("/", ".").replace("-", ".").split(".")
    return is_csi and cluster.complete >= _DRIVER_KINDS and not cluster.storage.has_driver(name)


class NewClaims:
    """The claims of one cluster whose volumes cannot be predicted."""

    def __init__(self, cluster: Cluster) -> None:
        self._storage = cluster.storage
        self._is_blind = cluster.storage == Storage() and CLAIM_KIND not in cluster.complete
        # A new claim is predictable if it has a volume, or gets one when its pod is scheduled.
        self._unbound = {
            key
            for key, claim in cluster.storage.claims.items()
            if claim.is_new and not claim.is_bound
            if (found := cluster.storage.classes.get(claim.storage_class)) is None or not found.waits
        }

    def without(self, pod: Pod, owner: Workload) -> Pod:
        """Return the pod without volumes whose claims do not exist yet, because their nodes are unknown.

        This includes all missing claims if the cluster facts lack storage. It also includes a manifest's claim that is
        bound before its pod is scheduled, or whose class is unknown. The pod itself is returned if it has no such
        volume.
        """
        claims = self._storage.claims
        made = claim_names(owner, pod.name)
        new = []
        for volume in pod.cls.volumes:
            key = NamespacedName(pod.namespace, volume.claim)
            claim = claims.get(key)
            if volume.is_ephemeral:
                # The claim belongs to another pod, which must be deleted first.
                if claim is None or claim.owner_uid != volume.pod_uid:
                    new.append(volume)
            elif key in self._unbound or (volume.claim and claim is None and (self._is_blind or volume.claim in made)):
                new.append(volume)
        if not new:
            return pod
        kept = tuple(volume for volume in pod.cls.volumes if volume not in new)
        return pod._replace(cls=pod.cls._replace(volumes=kept))
