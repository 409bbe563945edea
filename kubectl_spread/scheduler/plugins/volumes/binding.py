"""VolumeBinding: bound volumes must reach the node, and unbound claims must find or get one there.

Source: pkg/scheduler/framework/plugins/volumebinding/volume_binding.go, binder.go;
staging/src/k8s.io/component-helpers/storage/volume/pv_helpers.go, FindMatchingVolume (v1.36.2).
Difference: of equally small volumes the first by name is taken; upstream takes any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Optional, Union

import numpy as np

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.storage import StorageState
from kubectl_spread.objects import resources
from kubectl_spread.objects.keys import NamespacedName
from kubectl_spread.objects.pod import Pod, PodClass, PodVolume
from kubectl_spread.objects.releases.behaviours import (
    EPHEMERAL_CLAIM_MESSAGES,
    LOST_CLAIM_IN_PRE_FILTER,
    VOLUME_AFFINITY_REASON,
    VOLUME_BINDING_NARROWS,
    VOLUME_BINDING_SKIPS_SCORE,
    VOLUME_GONE_REASON,
)
from kubectl_spread.objects.releases.version import Release
from kubectl_spread.objects.selectors import HOSTNAME, NodeSelectorTerm
from kubectl_spread.objects.storage import Claim, NO_PROVISIONER, smallest, Volume
from kubectl_spread.scheduler.framework.plugin import (
    bit,
    Bits,
    Code,
    FilterState,
    no_bits,
    Plugin,
    Reason,
    Rejection,
    SameScore,
    ScoreState,
    Skip,
)
from kubectl_spread.scheduler.plugins import names

_UNRESOLVABLE = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
NO_VOLUME_REASON = "node(s) didn't find available persistent volumes to bind"
NO_SPACE_REASON = "node(s) did not have enough free storage"
_AFFINITY, _NO_VOLUME, _NO_SPACE, _NO_SUCH_VOLUME = (1 << at for at in range(4))

UNBOUND_IMMEDIATE = "pod has unbound immediate PersistentVolumeClaims"


class VolumeBinding(Plugin):
    name = names.VOLUME_BINDING

    def pre_filter(self, pod_class: PodClass, columns: Columns) -> Union[FilterState, Skip, Rejection]:
        storage = columns.storage
        volumes = [volume for volume in pod_class.volumes if volume.claim]
        claims: list[Claim] = []
        for volume, (key, claim) in zip(volumes, storage.claims_of(pod_class), strict=storage.storage.has_claims):
            problem = _problem(volume, key, claim, self._release)
            if problem:
                return Rejection(problem)
            assert claim is not None  # noqa: S101 (a missing one is a problem)
            claims.append(claim)
        if not claims:
            return Skip()
        unbound = [claim for claim in claims if not claim.is_bound]
        if not all(storage.waits(claim) for claim in unbound):
            return Rejection(UNBOUND_IMMEDIATE)
        bound = [claim for claim in claims if claim.is_bound]
        return _State(bound, [claim.key for claim in unbound], columns, self._release)

    def pre_score(self, pod_class: PodClass, columns: Columns) -> ScoreState:  # noqa: ARG002
        """Score 0 everywhere, unless storage capacity scoring is switched on, or not at all."""
        return SameScore(None if VOLUME_BINDING_SKIPS_SCORE.of(self._release) else 0)


def _problem(volume: PodVolume, key: NamespacedName, claim: Optional[Claim], release: Release) -> str:
    """Return why a pod cannot be scheduled at all (podHasPVCs); empty if the claim is usable."""
    name = key.name
    if claim is None:
        if volume.is_ephemeral and EPHEMERAL_CLAIM_MESSAGES.of(release):
            return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
        return f'persistentvolumeclaim "{name}" not found'
    if claim.is_lost and LOST_CLAIM_IN_PRE_FILTER.of(release):
        return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{claim.volume_name}"'
    if claim.is_deleted:
        return f'persistentvolumeclaim "{name}" is being deleted'
    if volume.is_ephemeral and claim.owner_uid != volume.pod_uid:
        if not EPHEMERAL_CLAIM_MESSAGES.of(release):
            return f'persistentvolumeclaim "{name}" was not created for the pod'
        own, pod = f"{key.namespace}/{name}", f"{key.namespace}/{volume.pod}"
        return f"PVC {own} was not created for pod {pod} (pod is not owner)"
    return ""


class _Found(NamedTuple):
    """The options of a node for unbound claims: matched volumes, claims to provision, or a reason (bits)."""

    bits: int
    matched: tuple[tuple[Claim, Volume], ...] = ()
    made: tuple[Claim, ...] = ()


class _State(FilterState):
    def __init__(
        self, bound: list[Claim], unbound: Sequence[NamespacedName], columns: Columns, release: Release
    ) -> None:
        texts = (
            VOLUME_AFFINITY_REASON.of(release),
            NO_VOLUME_REASON,
            NO_SPACE_REASON,
            VOLUME_GONE_REASON.of(release),
        )
        self.reasons = tuple(Reason(text, _UNRESOLVABLE) for text in texts)
        self.node_names = _local_nodes(bound, columns.storage) if VOLUME_BINDING_NARROWS.of(release) else None
        self._columns = columns
        self._storage: StorageState = columns.storage
        self._bound = bound
        self._unbound = unbound
        self._version = -1
        self._bits: Bits = no_bits(columns)

    def filter(self) -> Bits:
        if self._version != self._storage.version:
            self._version = self._storage.version
            self._bits = self._bound_bits()
            if self._unbound:
                unbound = [self._find(node).bits for node in range(self._columns.n)]
                self._bits |= np.array(unbound, np.uint64)
        return self._bits

    def filter_with(self, node: int, removed: Sequence[Pod], added: Sequence[Pod]) -> int:  # noqa: ARG002
        return int(self.filter()[node])

    def reserve(self, node: int) -> None:
        """Reserve the volumes that the pod needs on its node (AssumePodVolumes)."""
        name = self._columns.nodes[node].name
        found = self._find(node)
        for claim, volume in found.matched:
            self._storage.reserve(claim, volume, name)
        for claim in found.made:
            self._storage.reserve(claim, None, name)

    def _bound_bits(self) -> Bits:
        bits = no_bits(self._columns)
        for claim in self._bound:
            volume = self._storage.volumes.get(claim.volume_name)
            if volume is None:
                bits[bits == 0] = bit(3)  # report only the first invalid claim
                return bits
            bits[~self._storage.reachable(volume)] = bit(0)
        return bits

    def _find(self, node: int) -> _Found:
        """Return the volumes for the unbound claims on a node, or the reason why there are none.

        Source: binder.go, FindPodVolumes.
        """
        claims = [self._storage.claims[key] for key in self._unbound]
        name = self._columns.nodes[node].name
        selected = [claim for claim in claims if claim.selected_node is not None]
        if any(claim.selected_node != name for claim in selected):
            return _Found(_NO_VOLUME)
        open_claims = sorted(
            (claim for claim in claims if claim.selected_node is None), key=lambda claim: claim.request
        )
        matched: list[tuple[Claim, Volume]] = []
        to_make = list(selected)
        for claim in open_claims:
            # The smallest volume that suits the claim on the node; a volume made for the claim wins.
            of_class = (item for item in self._storage.volumes.values() if item.storage_class == claim.storage_class)
            free = (item for item in of_class if all(item.name != other.name for _, other in matched))
            reachable = self._storage.reachable
            volume = smallest(claim, (item for item in free if item.claim is not None or reachable(item)[node]))
            if volume is None or not reachable(volume)[node]:
                to_make.append(claim)
            else:
                matched.append((claim, volume))
        for claim in to_make:
            refusal = self._refusal(claim, node)
            if refusal:
                return _Found(refusal)
        return _Found(0, tuple(matched), tuple(to_make))

    def _refusal(self, claim: Claim, node: int) -> int:
        """Return the bit why no volume can be provisioned for a claim on a node (checkVolumeProvisions), else 0."""
        storage_class = self._storage.class_of(claim)
        labels = self._columns.nodes[node].labels
        if storage_class is None or storage_class.provisioner in ("", NO_PROVISIONER):
            return _NO_VOLUME
        if not storage_class.allows(labels):
            return _NO_VOLUME
        storage = self._storage.storage
        if not claim.request or storage_class.provisioner not in storage.tracks_capacity:
            return 0
        size = resources.whole_units(claim.request)
        for capacity in storage.capacities:
            fits = capacity.most is not None and capacity.most >= size
            if capacity.storage_class == storage_class.name and fits and capacity.topology.matches(labels):
                return 0
        return _NO_SPACE


def _local_nodes(bound: list[Claim], storage: StorageState) -> Optional[frozenset[str]]:
    """Return the host names that all local volumes have in their node affinity; None if no volume names any.

    Source: binder.go, GetEligibleNodes; pkg/volume/util/util.go, GetLocalPersistentVolumeNodeNames (v1.28.8).
    """
    found: Optional[frozenset[str]] = None
    for claim in bound:
        volume = storage.volumes.get(claim.volume_name)
        if volume is None:
            return None
        named = frozenset[str]().union(*(_host_names(term) for term in volume.terms or ()))
        if named:
            found = named if found is None else found & named
    return found


def _host_names(term: NodeSelectorTerm) -> frozenset[str]:
    sets = [frozenset(item.values) for item in term.match_expressions if item.key == HOSTNAME and item.operator == "In"]
    return frozenset.intersection(*sets) if sets else frozenset()
