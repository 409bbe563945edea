"""What a pod asks for.

Source: staging/src/k8s.io/component-helpers/resource/helpers.go, pkg/apis/core/v1/helper/helpers.go (v1.36.2).
Quantities are integers in thousandths of the unit, rounded up entry by entry, and summed before they are rounded
to whole units.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Optional

from kubectl_spread.objects import resources

_PREFIX = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")

Plain = dict[str, Any]
ResourceList = dict[str, int]  # thousandths

DEFAULT_MILLI_CPU_REQUEST = 100  # thousandths of a CPU
DEFAULT_MEMORY_REQUEST = 200 * 1024 * 1024 * 1000  # thousandths of a byte
NON_ZERO_DEFAULTS = {"cpu": DEFAULT_MILLI_CPU_REQUEST, "memory": DEFAULT_MEMORY_REQUEST}


@cache
def parse(text: Any) -> int:
    return resources.parse(text)


def resource_list(written: Any) -> ResourceList:
    return {name: parse(text) for name, text in (written or {}).items()}


def value(name: str, thousandths: int) -> int:
    """Milli-units of CPU, whole units of anything else."""
    return resources.milli(thousandths) if name == "cpu" else resources.whole_units(thousandths)


def is_supported_pod_level_resource(name: str) -> bool:
    return name in ("cpu", "memory") or name.startswith("hugepages-")


def is_scalar_resource_name(name: str) -> bool:
    return (
        is_extended_resource_name(name)
        or "kubernetes.io/" in name
        or name.startswith(("hugepages-", "attachable-volumes-"))
    )


def is_extended_resource_name(name: str) -> bool:
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    prefix, _, last = f"requests.{name}".partition("/")
    is_qualified = _PREFIX.fullmatch(prefix) is not None and len(prefix) <= 253
    return is_qualified and _NAME.fullmatch(last) is not None and len(last) <= 63


def is_pod_level_requests_set(pod: Plain) -> bool:
    wanted = (pod["spec"].get("resources") or {}).get("requests") or {}
    return any(is_supported_pod_level_resource(name) for name in wanted)


def pod_requests(
    pod: Plain,
    non_missing: Optional[ResourceList] = None,
    *,
    use_status: bool = False,
    skip_pod_level: bool = False,
) -> ResourceList:
    """Sum up a pod's requests.

    Args:
        pod: admitted.
        non_missing: what a container that does not name a resource is taken to request of it.
        use_status: let the status of a running pod raise what its spec says.
        skip_pod_level: leave pod-level requests out.
    """
    total = aggregate_container_requests(pod, non_missing, use_status=use_status)
    if not skip_pod_level and is_pod_level_requests_set(pod):
        for name, wanted in _pod_level_requests(pod, use_status=use_status).items():
            if is_supported_pod_level_resource(name):
                total[name] = wanted
    _add_resource_list(total, resource_list(pod["spec"].get("overhead")))
    return total


def aggregate_container_requests(
    pod: Plain, non_missing: Optional[ResourceList] = None, *, use_status: bool = False
) -> ResourceList:
    total: ResourceList = {}
    for container in pod["spec"].get("containers") or []:
        _add_resource_list(total, _container_requests(pod, container, non_missing=non_missing, use_status=use_status))
    sidecars: ResourceList = {}
    peak: ResourceList = {}
    for container in pod["spec"].get("initContainers") or []:
        restartable = container.get("restartPolicy") == "Always"
        own = _container_requests(pod, container, non_missing=non_missing, use_status=use_status and restartable)
        if restartable:
            _add_resource_list(total, own)
            _add_resource_list(sidecars, own)
            candidate = sidecars
        else:
            # It runs beside the sidecars that were started before it, and only those.
            candidate = dict(own)
            _add_resource_list(candidate, sidecars)
        _max_resource_list(peak, candidate)
    _max_resource_list(total, peak)
    return total


def _container_requests(
    pod: Plain, container: Plain, *, non_missing: Optional[ResourceList], use_status: bool
) -> ResourceList:
    wanted = resource_list((container.get("resources") or {}).get("requests"))
    if use_status:
        for status in _container_statuses(pod):
            if status.get("name") == container.get("name") and status.get("resources") is not None:
                wanted = determine_container_reqs(pod, wanted, status=status)
    return {**(non_missing or {}), **wanted}


def _container_statuses(pod: Plain) -> list[Plain]:
    status = pod.get("status") or {}
    return [*(status.get("containerStatuses") or []), *(status.get("initContainerStatuses") or [])]


def determine_container_reqs(pod: Plain, wanted: ResourceList, *, status: Plain) -> ResourceList:
    highest = {} if is_pod_resize_infeasible(pod) else dict(wanted)
    _max_resource_list(highest, resource_list(status["resources"].get("requests")))
    _max_resource_list(highest, resource_list(status.get("allocatedResources")))
    return highest


def is_pod_resize_infeasible(pod: Plain) -> bool:
    for condition in (pod.get("status") or {}).get("conditions") or []:
        if condition.get("type") == "PodResizePending":
            return bool(condition.get("reason") == "Infeasible")
    return False


def _pod_level_requests(pod: Plain, *, use_status: bool) -> ResourceList:
    wanted = resource_list(pod["spec"]["resources"].get("requests"))
    status = pod.get("status") or {}
    if use_status and status.get("resources") is not None:
        return determine_container_reqs(pod, wanted, status=status)
    return wanted


def _add_resource_list(total: ResourceList, added: ResourceList) -> None:
    for name, amount in added.items():
        total[name] = total.get(name, 0) + amount


def _max_resource_list(highest: ResourceList, other: ResourceList) -> None:
    for name, amount in other.items():
        highest[name] = max(highest.get(name, amount), amount)
