"""Rollout settings of a workload, read from its object."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Controller
from kubectl_spread.objects.amounts.int_or_percent import int_or_text, scaled_value
from kubectl_spread.objects.reading.plain import fields

RECREATE, ON_DELETE, ORDERED = "Recreate", "OnDelete", "OrderedReady"
_DEFAULT_SHARE = "25%"


class RolloutSettings(NamedTuple):
    """Rollout settings of a workload, with the API server's defaults for missing fields.

    surge, unavailable: as written, a number or a percentage. partition: of a StatefulSet, the lowest ordinal that is
    replaced. is_ordered: pods of a StatefulSet are replaced one after another.
    """

    type: str = "RollingUpdate"
    surge: Any = _DEFAULT_SHARE
    unavailable: Any = _DEFAULT_SHARE
    partition: int = 0
    is_ordered: bool = True
    is_paused: bool = False

    def limits(self, replicas: int) -> tuple[int, int]:
        """Return how many pods a Deployment may have above its replicas, and how many may be unavailable.

        Source: pkg/controller/deployment/util/deployment_util.go, ResolveFenceposts, MaxUnavailable (v1.36.2).
        """
        surge = scaled_value(self.surge, replicas, round_up=True) or 0
        unavailable = scaled_value(self.unavailable, replicas, round_up=False) or 0
        if not surge and not unavailable:
            unavailable = 1
        return surge, min(unavailable, replicas)

    @property
    def may_surge(self) -> bool:
        """Return whether new pods are created before old ones are deleted."""
        return self.type != RECREATE and not (self.surge in (0, "0", "0%") and self.unavailable not in (0, "0", "0%"))


def settings_of(controller: Optional[Controller], kind: str) -> RolloutSettings:
    """Return the settings of a workload; the defaults of its kind if the cluster facts lack it."""
    spec = {} if controller is None else controller.spec
    strategy = fields(spec.get("updateStrategy" if kind in ("StatefulSet", "DaemonSet") else "strategy"))
    rolling = fields(strategy.get("rollingUpdate"))
    partition = rolling.get("partition")
    usual = (0, 1) if kind == "DaemonSet" else (_DEFAULT_SHARE, _DEFAULT_SHARE)
    return RolloutSettings(
        type=str(strategy.get("type") or "RollingUpdate"),
        surge=int_or_text(rolling.get("maxSurge"), usual[0]),
        unavailable=int_or_text(rolling.get("maxUnavailable"), usual[1]),
        partition=partition if type(partition) is int else 0,
        is_ordered=(spec.get("podManagementPolicy") or ORDERED) == ORDERED,
        is_paused=bool(spec.get("paused")),
    )
