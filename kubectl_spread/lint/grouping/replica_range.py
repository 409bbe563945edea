"""Replica counts of a workload: from its autoscaler, from overlays of kustomize, or from the manifest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

from kubectl_spread.lint.grouping.kustomization import ReplicasOrigin, SetReplicas, UnknownReplicas
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.workloads.manifest import Manifest

_KEDA_MINIMUM, _KEDA_MAXIMUM = 0, 100  # of a ScaledObject that names none


class ReplicaRange(NamedTuple):
    """The fewest and the most replicas of a workload; None if unknown.

    `autoscaler` is the HorizontalPodAutoscaler or ScaledObject that sets them. `written` is the number in the manifest,
    which an overlay may replace. `origins` are the places in kustomizations that set the number.
    """

    minimum: Optional[int]
    maximum: Optional[int]
    autoscaler: Optional[Manifest] = None
    written: Optional[int] = None
    origins: tuple[ReplicasOrigin, ...] = ()

    @property
    def likely(self) -> Optional[int]:
        """Return the maximum; the number in the manifest if the maximum is unknown."""
        return self.written if self.maximum is None else self.maximum


def whole_number(value: Any, default: Optional[int]) -> Optional[int]:
    """Return a whole number, 3.0 as well as 3, or the default."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value // 1:
        return default
    return int(value)


def of_autoscaler(autoscaler: Manifest) -> ReplicaRange:
    spec = fields(autoscaler.plain.get("spec"))
    if autoscaler.kind == "ScaledObject":
        least = whole_number(spec.get("minReplicaCount"), _KEDA_MINIMUM)
        return ReplicaRange(least, whole_number(spec.get("maxReplicaCount"), _KEDA_MAXIMUM), autoscaler)
    most = whole_number(spec.get("maxReplicas"), None)
    return ReplicaRange(whole_number(spec.get("minReplicas"), 1), most, autoscaler)


def of_overlay(overlay: SetReplicas, written: Optional[int]) -> ReplicaRange:
    """Return the replicas that an overlay sets; those in the manifest if it sets none."""
    count, origin = overlay
    if isinstance(count, UnknownReplicas):
        return ReplicaRange(None, None, written=written)
    if count is None:
        return ReplicaRange(written, written, written=written)
    return ReplicaRange(count, count, written=written, origins=() if origin is None else (origin,))


def widest_range(ranges: Sequence[ReplicaRange]) -> ReplicaRange:
    """Return the range of a workload that several roots or overlays have, from the least to the most."""
    if len(ranges) == 1:
        return ranges[0]
    least = [item.minimum for item in ranges if item.minimum is not None]
    most = [item.maximum for item in ranges if item.maximum is not None]
    autoscaler = next((item.autoscaler for item in ranges if item.autoscaler is not None), None)
    written = [item.written for item in ranges if item.written is not None]
    return ReplicaRange(
        min(least) if len(least) == len(ranges) else None,
        max(most) if len(most) == len(ranges) else None,
        autoscaler,
        max([*written, *most], default=None),
        tuple(dict.fromkeys(origin for item in ranges for origin in item.origins)),
    )


def times(groups: ReplicaRange, size: int) -> ReplicaRange:
    """Return the range of pods in so many groups."""
    if size == 1:
        return groups
    least, most = (None if number is None else number * size for number in groups[:2])
    written = None if groups.written is None else groups.written * size
    return groups._replace(minimum=least, maximum=most, written=written)
