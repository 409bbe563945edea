"""New pods that the API server refuses: because of a LimitRange, a ResourceQuota or a missing RuntimeClass."""

from __future__ import annotations

from kubectl_spread.cluster.building.stored import limit_ranges
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.admission import limit_errors, pod_usage, Quantities, Quota, quota_error
from kubectl_spread.objects.amounts.resources import is_scheduled
from kubectl_spread.objects.workloads.workload import Workload

_MILLI = 1000


class QuotaUsage:
    """The usage of the quotas of a cluster, new pods included."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._used: dict[tuple[str, str], Quantities] = {}

    def refusal(self, owner: Workload) -> str:
        """Return the API server's message if a quota refuses the next pod of a workload; otherwise charge the quota."""
        spec = owner.template.get("spec") or {}
        own = [quota for quota in self._cluster.quotas if quota.namespace == owner.namespace]
        for quota in sorted(own, key=lambda quota: quota.name):
            problem = quota_error(spec, quota, self._of(quota))
            if problem:
                return problem
        for quota in own:
            used = self._of(quota)
            for name, number in pod_usage(spec).items():
                used[name] = used.get(name, 0) + number
        return ""

    def _of(self, quota: Quota) -> Quantities:
        key = quota.namespace, quota.name
        if key not in self._used:
            self._used[key] = dict(_counted(quota, self._cluster) if quota.used is None else quota.used)
        return self._used[key]


def _counted(quota: Quota, cluster: Cluster) -> Quantities:
    """Return the usage of existing pods for a quota without status, except limits."""
    own = [pod for pod in cluster.pods if pod.namespace == quota.namespace and pod.is_visible]
    used: Quantities = dict.fromkeys(("pods", "count/pods"), len(own) * _MILLI)
    for pod in own:
        for name, number in pod.cls.requests:
            thousandths = number if name == "cpu" else number * _MILLI
            for charged in (name, f"requests.{name}") if is_scheduled(name) else ():
                used[charged] = used.get(charged, 0) + thousandths
    return used


def lasting_refusal(owner: Workload, cluster: Cluster) -> str:
    """Return the API server's message if every new pod of a workload is refused; empty if none is."""
    spec = owner.template.get("spec") or {}
    name = spec.get("runtimeClassName") or ""
    if name and "RuntimeClass" in cluster.complete and name not in cluster.runtime_classes:
        return f'pod rejected: RuntimeClass "{name}" not found'
    errors = limit_errors(spec, limit_ranges(owner.namespace, cluster))
    return errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]" if errors else ""


def unknown_class(owner: Workload, cluster: Cluster) -> str:
    """Return the RuntimeClass that a workload's pods name, if the cluster facts may lack it."""
    name = (owner.template.get("spec") or {}).get("runtimeClassName") or ""
    is_known = name in cluster.runtime_classes or "RuntimeClass" in cluster.complete
    return "" if is_known else str(name)
