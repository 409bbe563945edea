"""The storage objects of a cluster, with what placed pods have reserved."""

from __future__ import annotations

from typing import Optional

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.objects.keys import NamespacedName
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.storage import Claim, Storage, StorageClass, Volume

Bools = NDArray[np.bool_]


class StorageState:
    """Claims and volumes as the scheduler's assume caches hold them.

    `version` changes with every reservation.
    Source: pkg/scheduler/framework/plugins/volumebinding/binder.go, AssumePodVolumes (v1.36.2).
    """

    def __init__(self, storage: Storage, nodes: tuple[Node, ...]) -> None:
        self.storage = storage
        self.claims = dict(storage.claims)
        self.volumes = dict(storage.volumes)
        self.version = 0
        self._nodes = nodes
        self._masks: dict[str, Bools] = {}

    def claims_of(
        self, pod_class: PodClass, *, with_ephemeral: bool = True
    ) -> list[tuple[NamespacedName, Optional[Claim]]]:
        """Return the claims of a pod in the order of its volumes, None for a claim that does not exist.

        If the facts lack all claims, there are none: see `unsupported_features`.
        """
        keys = pod_class.claims(with_ephemeral=with_ephemeral) if self.storage.has_claims else []
        return [(key, self.claims.get(key)) for key in keys]

    def class_of(self, claim: Claim) -> Optional[StorageClass]:
        """Return the StorageClass of a claim; None if it names none, or if the class does not exist."""
        return self.storage.classes.get(claim.storage_class)

    def waits(self, claim: Claim) -> bool:
        """Return whether the claim is bound only when a pod that uses it is scheduled."""
        storage_class = self.class_of(claim)
        return storage_class is not None and storage_class.waits and not claim.volume_name

    def reachable(self, volume: Volume) -> Bools:
        """Return the nodes that a volume's node affinity allows, bool (N,)."""
        found = self._masks.get(volume.name)
        if found is None:
            allowed = [volume.matches_node(node.labels) for node in self._nodes]
            found = self._masks[volume.name] = np.array(allowed, np.bool_)
        return found

    def reserve(self, claim: Claim, volume: Optional[Volume], node: str) -> None:
        """Reserve a volume for a claim, or its provisioning on a node."""
        self.version += 1
        if volume is not None:
            self.volumes[volume.name] = volume._replace(claim=claim.key, claim_uid=claim.uid)
        else:
            self.claims[claim.key] = claim._replace(selected_node=node)
