"""VolumeRestrictions: inline disks that a node can mount once, and claims that one pod may use.

Source: pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Union

from kubectl_spread.cluster.columns import Columns, Int32s
from kubectl_spread.objects.pod import Pod, PodClass, PodVolume
from kubectl_spread.objects.releases.behaviours import ONE_POD, ONE_POD_REASON, RESTRICTIONS_SKIP
from kubectl_spread.objects.releases.version import Release
from kubectl_spread.objects.storage import READ_WRITE_ONCE_POD
from kubectl_spread.scheduler.framework.plugin import Bits, Code, FilterState, no_bits, Plugin, Reason, Rejection, Skip
from kubectl_spread.scheduler.plugins import names


class VolumeRestrictions(Plugin):
    name = names.VOLUME_RESTRICTIONS

    def pre_filter(self, pod_class: PodClass, columns: Columns) -> Union[FilterState, Skip, Rejection]:
        exclusive = set()
        looks_at_claims = ONE_POD.of(self._release)
        for key, claim in columns.storage.claims_of(pod_class, with_ephemeral=False) if looks_at_claims else ():
            if claim is None:
                return Rejection(f'persistentvolumeclaim "{key.name}" not found')
            if READ_WRITE_ONCE_POD in claim.access_modes:
                exclusive.add(key.name)
        disks = tuple(volume for volume in pod_class.volumes if volume.disk)
        if not exclusive and not disks:
            return Skip()
        return _State(pod_class.namespace, frozenset(exclusive), disks, columns, self._release)


class _State(FilterState):
    def __init__(
        self,
        namespace: str,
        exclusive: frozenset[str],
        disks: tuple[PodVolume, ...],
        columns: Columns,
        release: Release,
    ) -> None:
        self.reasons = (
            Reason("node(s) had no available disk", Code.UNSCHEDULABLE),
            Reason(ONE_POD_REASON.of(release), Code.UNSCHEDULABLE),
        )
        self._skips = RESTRICTIONS_SKIP.of(release)
        self._namespace = namespace
        self._exclusive = exclusive
        self._disks = disks
        self._columns = columns
        self._seen = self._unbound = 0
        self._used: set[str] = set()  # of the claims that one pod may use
        self._bits: Bits = no_bits(columns)

    def filter(self) -> Bits:
        columns = self._columns
        if self._unbound != columns.unbound:
            self._bits, self._used = no_bits(columns), set()
            for node, pods in enumerate(columns.pods):
                self._take(pods, [node] * len(pods))
        else:
            self._take(columns.bound_pods[self._seen :], columns.bound_nodes[self._seen :])
        self._seen, self._unbound = len(columns.bound_pods), columns.unbound
        if self._used:
            self._bits[self._bits == 0] = 2
        return self._bits

    def _take(self, pods: Sequence[Pod], nodes: Union[Sequence[int], Int32s]) -> None:
        """Take in more pods, with the node of each."""
        for at, pod in enumerate(pods):
            if self._disks and self._conflicts((pod,)):
                self._bits[nodes[at]] = 1
        self._used.update(
            volume.claim
            for pod in pods
            if pod.cls.namespace == self._namespace
            for volume in pod.cls.volumes
            if volume.claim in self._exclusive and not volume.is_ephemeral
        )

    def filter_with(self, node: int, removed: Sequence[Pod], added: Sequence[Pod]) -> int:
        """Return the bits; a claim in use counts once at first, then once for each removed or added volume.

        The change compares only the claim's name, not the namespace. A plugin with nothing to check was skipped, and
        no change makes it run.
        """
        self.filter()
        if self._skips and not self._disks and not self._used:
            return 0
        gone = {id(pod) for pod in removed}
        staying = [pod for pod in self._columns.pods[node] if id(pod) not in gone]
        if self._conflicts((*staying, *added)):
            return 1
        return 2 if len(self._used) - self._uses(removed) + self._uses(added) > 0 else 0

    def _uses(self, pods: Iterable[Pod]) -> int:
        return sum(
            volume.claim in self._exclusive and not volume.is_ephemeral for pod in pods for volume in pod.cls.volumes
        )

    def _conflicts(self, pods: Iterable[Pod]) -> bool:
        return any(
            is_conflict(own, other) for pod in pods for other in pod.cls.volumes if other.disk for own in self._disks
        )


def is_conflict(own: PodVolume, other: PodVolume) -> bool:
    """Return whether two volumes are one disk, and one of them writes (EBS: in any case)."""
    kind = own.disk[0]
    if other.disk[0] != kind or (kind != "ebs" and own.read_only and other.read_only):
        return False
    if kind == "rbd":  # pool and image the same, and a monitor in common
        return own.disk[1:3] == other.disk[1:3] and not set(own.disk[3:]).isdisjoint(other.disk[3:])
    return own.disk == other.disk
