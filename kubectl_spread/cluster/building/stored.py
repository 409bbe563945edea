"""Workloads as the API server stores them: with the fields of its release, and the fields that admission adds."""

from __future__ import annotations

from typing import Any

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects import admission
from kubectl_spread.objects.admission import LimitRange
from kubectl_spread.objects.releases import field_versions
from kubectl_spread.objects.workloads.workload import Workload

Plain = dict[str, Any]


def stored_workload(owner: Workload, minor: int) -> Workload:
    """Return the workload without the fields of its pods that the API server of a release drops."""
    spec = field_versions.stored_spec(owner.template.get("spec") or {}, minor).spec
    return owner._replace(template={**owner.template, "spec": spec})


def admitted_workload(owner: Workload, cluster: Cluster) -> Workload:
    """Return the workload with the fields that the admission plugins LimitRanger, Priority and RuntimeClass add.

    Source: pkg/kubeapiserver/options/plugins.go, AllOrderedPlugins (v1.36.2).
    """
    spec = owner.template.get("spec") or {}
    ranges = limit_ranges(owner.namespace, cluster)
    changed = admission.with_limits(spec, ranges) if ranges else spec
    changed = admission.with_runtime_class(_with_priority(changed, cluster), cluster.runtime_classes)
    return owner if changed is spec else owner._replace(template={**owner.template, "spec": changed})


def limit_ranges(namespace: str, cluster: Cluster) -> tuple[LimitRange, ...]:
    """Return the LimitRanges of a namespace, in the order of their names."""
    found = [item for item in cluster.limit_ranges if item.namespace == namespace]
    return tuple(sorted(found, key=lambda item: item.name))


def _with_priority(spec: Plain, cluster: Cluster) -> Plain:
    """Return a pod's spec with the priority of its class.

    Source: plugin/pkg/admission/priority/admission.go, admitPod (v1.36.2).
    """
    classes = cluster.priority_classes
    name = spec.get("priorityClassName") or ""
    defaults = [item for item in classes.values() if item.is_default]
    found = classes.get(name) if name else min(defaults, default=None)  # of several the lowest
    if found is None or spec.get("priority") is not None:
        return spec
    policy = {"preemptionPolicy": found.preemption_policy} if found.preemption_policy else {}
    return {**policy, **spec, "priority": found.value}
