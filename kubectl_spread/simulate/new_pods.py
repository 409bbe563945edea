"""New pods of a workload, as the engine (`timeline.placements`) places them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Optional

from kubectl_spread.engine.placements import NewPods
from kubectl_spread.engine.refusals import lasting_refusal, usage_at_start
from kubectl_spread.objects.constraints.constraint import SCHEDULE_ANYWAY
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading.plain import mappings
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.plugins.podtopologyspread.common import effective_selector
from kubectl_spread.simulate.pending_claims import NewClaims
from kubectl_spread.simulate.replicas import Rehearsal
from kubectl_spread.simulate.running.controllers import creates_no_pods, missing_replicas

# Labels whose value is different for each pod.
_ITS_OWN = {
    "statefulset.kubernetes.io/pod-name",
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/job-completion-index",
}


def new_pods(rehearsal: Rehearsal, profiles: Mapping[str, Profile], *, all_nodes: bool) -> NewPods:
    """Return the pods that the workload of a rehearsal still lacks; the rehearsal must have only one workload.

    Pods that admission refuses are left out.
    """
    (owner,) = rehearsal.owners
    pods = list(_created(owner, rehearsal))
    are_equal = not pods or not (pods[0].cls.volumes or as_replicaset(pods[0], owner, len(pods)) is None)
    return NewPods(
        rehearsal.cluster,
        profiles,
        pods,
        rehearsal.columns,
        are_equal=are_equal,
        is_ordered=owner.is_ordered,
        all_nodes=all_nodes,
    )


def _created(owner: Workload, rehearsal: Rehearsal) -> Iterator[Pod]:
    """Yield the pods that the controller creates if each finds a node, without volumes that are unknown."""
    claims, quotas = NewClaims(rehearsal.cluster), usage_at_start(rehearsal.cluster, owner.namespace)
    lasting = lasting_refusal(owner, rehearsal.cluster)
    for pod in () if lasting or creates_no_pods(owner, rehearsal.owned) else missing_replicas(owner, rehearsal.owned):
        if not quotas.admit(owner.template.get("spec") or {}):
            yield claims.without(pod, owner)
        elif owner.is_ordered:
            return


def as_replicaset(pod: Pod, owner: Workload, count: int) -> Optional[Workload]:
    """Return a ReplicaSet of pods like one pod, so that no pod has a name or number of its own.

    Returns None if a selector tells the pods apart, or if each pod has claims of its own.
    """
    pod_class = pod.cls
    selectors = [
        *(effective_selector(item, dict(pod_class.labels)) for item in pod_class.constraints),
        *(term.selector for term in (*pod_class.pod_affinity, *pod_class.pod_anti_affinity)),
    ]
    named = {requirement.key for selector in selectors for requirement in selector.requirements or ()}
    if named & _ITS_OWN or owner.claim_templates:
        return None
    template = {**owner.template, "metadata": {"labels": dict(pod_class.labels)}}
    return Workload("ReplicaSet", "apps/v1", owner.namespace, f"{owner.name} recreated", count, template)


def soften(owner: Workload, positions: Iterable[int]) -> Workload:
    """Return the workload with some of its constraints made ScheduleAnyway."""
    spec = owner.template.get("spec") or {}
    written = [dict(item) for item in mappings(spec.get("topologySpreadConstraints"))]
    for position in positions:
        written[position]["whenUnsatisfiable"] = SCHEDULE_ANYWAY
        written[position].pop("minDomains", None)
    return owner._replace(template={**owner.template, "spec": {**spec, "topologySpreadConstraints": written}})
