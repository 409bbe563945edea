"""DefaultPreemption, as far as it decides the message: a pod that has nobody to evict.

Source: pkg/scheduler/framework/preemption/preemption.go, Preempt; plugins/defaultpreemption/default_preemption.go;
plugins/dynamicresources/dynamicresources.go, PostFilter (v1.36.2).
"""

from __future__ import annotations

from typing import Optional

from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.cycle import Filtered
from kubectl_spread.scheduler.framework.diagnosis import Diagnosis
from kubectl_spread.scheduler.framework.status import Code
from kubectl_spread.scheduler.framework.status import Status

NO_CLAIMS = "no new claims to deallocate"
NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"

# DynamicResources finds its own PreFilter state missing where an earlier plugin's PreFilter rejected the pod.
_STATE_NOT_FOUND = "not found"


def post_filter_message(cls: PodClass, filtered: Filtered) -> Optional[str]:
    """What PostFilter adds to the message of a pod that fits nowhere.

    Returns:
        None where pods of a lower priority run on a node that eviction might free: what happens then is decided
        by a search that is not made here.
    """
    diagnosis = filtered.diagnosis()
    if not diagnosis.node_count:
        return ""
    if filtered.rejection is not None:
        return _STATE_NOT_FOUND
    if cls.preemption_policy == "Never":
        return f"{NO_CLAIMS}, preemption: not eligible due to preemptionPolicy=Never."
    tried = [name for name, status in diagnosis.statuses.items() if status.code is Code.UNSCHEDULABLE]
    columns = filtered.columns
    for name in tried:
        if any(pod.cls.priority < cls.priority for pod in columns.pods[columns.index[name]]):
            return None
    unresolvable = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    statuses = {name: Status(unresolvable, "DefaultPreemption", (NO_VICTIMS,)) for name in tried}
    others = tuple(node.name for node in columns.nodes if node.name not in statuses)
    nested = Diagnosis(
        node_count=diagnosis.node_count,
        statuses=statuses,
        absent=others,
        absent_status=Status(unresolvable, "DefaultPreemption", (NOT_HELPFUL,)),
    )
    return f"{NO_CLAIMS}, preemption: {nested.message()}"
