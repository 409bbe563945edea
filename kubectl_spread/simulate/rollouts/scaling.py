"""Running pods that a scale-down leaves, in every outcome."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Optional

from kubectl_spread.cluster.snapshot import Cluster, Controller, OwnerKey
from kubectl_spread.cluster.tables.columns import Columns
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.timeline import steps
from kubectl_spread.timeline.run import Limits, play

_LIMITS = Limits(max_states=200, samples=1, seconds=1.0, has_messages=False, first_run_s=0)
_MOST_PODS = 40


def remaining(
    workload: Workload, replicas: int, cluster: Cluster, profiles: Mapping[str, Profile], *, bound: Columns
) -> Optional[list[list[str]]]:
    """Return the nodes of the pods that are left, for each outcome; None if there may be outcomes that were not found.

    Args:
        workload: with all its pods running.
        replicas: the new number of pods.
        cluster: the cluster of the pods.
        profiles: of the scheduler.
        bound: the bound pods of the cluster.
    """
    key = OwnerKey(workload.kind, workload.namespace, workload.name)
    if (workload.replicas or 0) > _MOST_PODS:
        return None
    controllers = {key: Controller(workload), **cluster.controllers}
    known = cluster._replace(controllers=controllers)
    found = play(known, profiles, [steps.Scale(key, replicas)], limits=_LIMITS, bound=bound).last
    if not found.is_exact:
        return None
    return [
        [pod.node for pod in outcome.pods if pod.owner == key and pod.node and not pod.is_terminating]
        for outcome in found.outcomes
    ]
