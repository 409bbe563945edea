"""Claims that are yet to be created, and what is left of a pod without the volumes that nobody can tell."""

from __future__ import annotations

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.storage import Claim
from kubectl_spread.objects.storage import ObjectKey
from kubectl_spread.objects.storage import Storage
from kubectl_spread.objects.workload import made_claims
from kubectl_spread.objects.workload import Workload


class NewClaims:
    """What is not known of the claims of one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._storage = cluster.storage
        self._is_blind = cluster.storage == Storage()
        claims = cluster.storage.claims
        self._unbound = {key for key, claim in claims.items() if claim.is_new and not self._is_settled(claim)}

    def without(self, pod: Pod, owner: Workload) -> Pod:
        """The pod without volumes whose claims come with it: where they may be is not known before they exist.

        So is every claim where the cluster facts hold nothing about storage, and one of a manifest that is bound before
        its pod is scheduled, or whose class is not known. The same pod where there are none.
        """
        claims = self._storage.claims
        made = made_claims(owner, pod.name)
        new = []
        for volume in pod.cls.volumes:
            key = ObjectKey(pod.namespace, volume.claim)
            claim = claims.get(key)
            if volume.is_ephemeral:
                if claim is None or claim.owner_uid != volume.pod_uid:  # another pod's, which has to go before
                    new.append(volume)
            elif key in self._unbound or (volume.claim and claim is None and (self._is_blind or volume.claim in made)):
                new.append(volume)
        if not new:
            return pod
        kept = tuple(volume for volume in pod.cls.volumes if volume not in new)
        return pod._replace(cls=pod.cls._replace(volumes=kept))

    def _is_settled(self, claim: Claim) -> bool:
        """Whether a claim that is yet to be created can be told: it has its volume, or gets one with its pod."""
        storage_class = self._storage.classes.get(claim.storage_class)
        return claim.is_bound or (storage_class is not None and storage_class.waits)
