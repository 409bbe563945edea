"""Quotas that would refuse new pods of a simulation, which creates them all the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Cluster, Controller, OwnerKey
from kubectl_spread.simulate.refusals import QuotaUsage
from kubectl_spread.timeline.setup.reading import max_surge

_MOST_PODS = 10_000


def quota_notes(facts: Cluster, moments: Sequence[Cluster]) -> tuple[str, ...]:
    """Return a note for each workload with replicas of which a ResourceQuota of the cluster facts would refuse pods.

    Args:
        facts: the cluster facts, with the pods that run.
        moments: the cluster as the user has written it: before the first command, and after each.
    """
    namespaces = {quota.namespace for quota in facts.quotas}
    if not namespaces:
        return ()
    pods = OwnedPods(facts)
    found: dict[OwnerKey, str] = {}
    for before, after in zip((facts, *moments[:-1]), moments, strict=True):
        for key, controller in after.controllers.items():
            if key.namespace not in namespaces or controller is before.controllers.get(key) or key in found:
                continue
            running = sum(pod.is_visible for pod in pods.of(key))
            more = _most_pods(before.controllers.get(key), controller) - running
            text = _refusal(QuotaUsage(facts), controller, min(more, _MOST_PODS))
            if text:
                found[key] = f"{key.kind} {key.namespace}/{key.name}: the API server refuses new pods: {text}"
    return tuple(found.values())


def _most_pods(before: Optional[Controller], after: Controller) -> int:
    """Return how many pods a workload has at most after a command."""
    is_rollout = before is not None and before.workload.template != after.workload.template
    return (after.workload.replicas or 0) + (max_surge(after) if is_rollout else 0)


def _refusal(usage: QuotaUsage, controller: Controller, pods: int) -> str:
    """Return the first refusal of some new pods; empty if all are admitted."""
    return next((text for _ in range(pods) if (text := usage.refusal(controller.workload))), "")
