"""Workloads as the API server stores them: fields of its release, and the priority of their class."""

from __future__ import annotations

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects import history
from kubectl_spread.objects.workload import Workload


def as_stored(owner: Workload, minor: int) -> Workload:
    """Return the workload without the fields of its pods that the API server of a release drops."""
    spec = history.stored(owner.template.get("spec") or {}, minor).spec
    return owner._replace(template={**owner.template, "spec": spec})


def admitted(owner: Workload, cluster: Cluster) -> Workload:
    """Return the workload with the priority of its pods' class, as the Priority admission plugin writes it.

    Source: plugin/pkg/admission/priority/admission.go, admitPod (v1.36.2).
    """
    spec, classes = owner.template.get("spec") or {}, cluster.priority_classes
    name = spec.get("priorityClassName") or ""
    defaults = [item for item in classes.values() if item.is_default]
    found = classes.get(name) if name else min(defaults, default=None)  # of several the lowest
    if found is None or spec.get("priority") is not None:
        return owner
    policy = {"preemptionPolicy": found.preemption_policy} if found.preemption_policy else {}
    return owner._replace(template={**owner.template, "spec": {**policy, **spec, "priority": found.value}})
