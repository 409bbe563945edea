"""NodeVolumeLimits: how many volumes of a CSI driver a node can attach.

Source: pkg/scheduler/framework/plugins/nodevolumelimits/csi.go (v1.36.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Optional, Union

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.reading.read import driver_of
from kubectl_spread.objects.storage import Claim
from kubectl_spread.scheduler.framework.plugin import Bits, Code, FilterState, no_bits, Plugin, Reason, Skip
from kubectl_spread.scheduler.plugins import names

REASONS = (Reason("node(s) exceed max volume count", Code.UNSCHEDULABLE),)

_Attached = tuple[str, str]  # driver, volume handle


class NodeVolumeLimits(Plugin):
    name = names.NODE_VOLUME_LIMITS

    def pre_filter(self, pod_class: PodClass, columns: Columns) -> Union[FilterState, Skip]:
        return _State(pod_class, columns) if any(volume.claim or volume.csi for volume in pod_class.volumes) else Skip()


class _State(FilterState):
    reasons = REASONS

    def __init__(self, pod_class: PodClass, columns: Columns) -> None:
        self._cls = pod_class
        self._columns = columns
        self._state = (-1, -1)
        self._bits: Bits = no_bits(columns)
        self._limited = [
            (at, limits)
            for at, node in enumerate(columns.nodes)
            if (limits := columns.storage.storage.limits.get(node.name))
        ]

    def filter(self) -> Bits:
        state = (len(self._columns.bound_pods), self._columns.storage.version)
        if self._state != state:
            self._state, self._bits = state, no_bits(self._columns)
            for node, limits in self._limited:
                self._bits[node] = self._exceeds(node, limits, self._columns.pods[node])
        return self._bits

    def filter_with(self, node: int, removed: Sequence[Pod], added: Sequence[Pod]) -> int:
        limits = self._columns.storage.storage.limits.get(self._columns.nodes[node].name)
        if not limits:
            return 0
        gone = {id(pod) for pod in removed}
        staying = [pod for pod in self._columns.pods[node] if id(pod) not in gone]
        return int(self._exceeds(node, limits, (*staying, *added)))

    def _exceeds(self, node: int, limits: dict[str, int], pods: Iterable[Pod]) -> bool:
        name, storage = self._columns.nodes[node].name, self._columns.storage
        volumes = [storage.volumes.get(volume) for at, volume in storage.storage.attachments if at == name]
        attached = {volume.csi for volume in volumes if volume is not None and volume.csi is not None}
        attached.update(volume for pod in pods for volume in self._attachable(pod.cls))
        wanted = set(self._attachable(self._cls)) - attached
        used = Counter(driver for driver, _ in attached)
        more = Counter(driver for driver, _ in wanted)
        return any(used[driver] + count > limits[driver] for driver, count in more.items() if driver in limits)

    def _attachable(self, pod_class: PodClass) -> list[_Attached]:
        claims = self._columns.storage.claims_of(pod_class) if pod_class.volumes else ()
        found = [self._identity(claim) for _, claim in claims if claim is not None]
        found += [volume.csi for volume in pod_class.volumes]
        return [identity for identity in found if identity is not None]

    def _identity(self, claim: Claim) -> Optional[_Attached]:
        """Return the volume of a claim; a volume to be provisioned is identified by its class and its claim."""
        storage = self._columns.storage
        volume = storage.volumes.get(claim.volume_name) if claim.volume_name else None
        if volume is not None:
            return volume.csi
        storage_class = storage.class_of(claim)
        if storage_class is None:
            return None
        return driver_of(storage_class.provisioner), f"claim {claim.key.namespace}/{claim.key.name}"
