"""What a pod requests.

Sums are made of thousandths and converted once, at the end, as the scheduler does with exact quantities.

Source: staging/src/k8s.io/component-helpers/resource/helpers.go, PodRequests; pkg/apis/core/v1/defaults.go,
SetDefaults_Pod; pkg/scheduler/framework/types.go, Resource.Add (v1.36.2).
"""

from __future__ import annotations

from typing import Any
from typing import NamedTuple

from kubectl_spread.objects import quantity
from kubectl_spread.objects.plain import mappings

Quantities = dict[str, int]  # resource name -> thousandths

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
PODS = "pods"


def is_scheduled(name: str) -> bool:
    """Whether the scheduler keeps an account of a resource; it drops other names in silence."""
    return name in (CPU, MEMORY, EPHEMERAL_STORAGE) or is_scalar(name)


def is_scalar(name: str) -> bool:
    """Source: pkg/scheduler/util/utils.go, IsScalarResourceName."""
    if name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name:
        return True
    return "/" in name and not name.startswith("requests.")


DEFAULT_MILLI_CPU = 100
DEFAULT_MEMORY = 200 * 1024 * 1024  # bytes
_DEFAULTS: Quantities = {CPU: DEFAULT_MILLI_CPU, MEMORY: DEFAULT_MEMORY * 1000}


class Requests(NamedTuple):
    """What a pod requests, in the scheduler's units, for each of its three accounts.

    plain: what Filter compares. nonzero: CPU and memory where containers that ask for none count with a default;
    what a bound pod weighs in scores. scored: the same of a pod that is yet to be scheduled, which upstream computes
    without pod-level resources.
    """

    plain: dict[str, int]
    nonzero: tuple[int, int]
    scored: dict[str, int]


def pod_requests(spec: dict[str, Any], status: dict[str, Any]) -> Requests:
    """A pod's requests; `status` is {} for a pod that is not bound.

    Source: pkg/scheduler/framework/types.go, calculateResource; noderesources/resource_allocation.go,
    calculatePodResourceRequest (v1.36.2).
    """
    plain = _total(spec, status, {}, pod_level=True)
    defaults = _DEFAULTS
    if any(map(_is_pod_level, _parsed((spec.get("resources") or {}).get("requests")))):
        defaults = {name: amount for name, amount in _DEFAULTS.items() if name not in plain}
    nonzero = units(_total(spec, status, defaults, pod_level=True))
    scored = _total(spec, status, _DEFAULTS, pod_level=False)
    return Requests(units(plain), (nonzero.get(CPU, 0), nonzero.get(MEMORY, 0)), units(scored))


def units(quantities: Quantities) -> dict[str, int]:
    """CPU in milli-cores, the rest in whole units; names the scheduler does not know left out."""
    return {
        name: quantity.milli(amount) if name == CPU else quantity.whole(amount)
        for name, amount in quantities.items()
        if is_scheduled(name)
    }


def allocatable(status: dict[str, Any]) -> dict[str, int]:
    """A node's allocatable, pod slots included."""
    quantities = _parsed(status.get("allocatable"))
    found = units(quantities)
    found[PODS] = quantity.whole(quantities.get(PODS, 0))
    return found


def _total(spec: dict[str, Any], status: dict[str, Any], defaults: Quantities, *, pod_level: bool) -> Quantities:
    running: Quantities = {}
    statuses = _by_name(status.get("containerStatuses"))
    for container in mappings(spec.get("containers")):
        _add(running, {**defaults, **container_requests(container, statuses.get(container.get("name") or "", {}))})
    sidecars: Quantities = {}
    peak: Quantities = {}
    statuses = _by_name(status.get("initContainerStatuses"))
    for container in mappings(spec.get("initContainers")):
        is_sidecar = container.get("restartPolicy") == "Always"
        of_status = statuses.get(container.get("name") or "", {}) if is_sidecar else {}
        requests = {**defaults, **container_requests(container, of_status)}
        if is_sidecar:
            _add(running, requests)
            _add(sidecars, requests)
            _raise_to(peak, sidecars)
        else:
            _add(requests, sidecars)
            _raise_to(peak, requests)
    _raise_to(running, peak)
    if pod_level:
        running.update(_pod_level(spec, running))
    _add(running, _parsed(spec.get("overhead")))
    return running


def container_requests(container: dict[str, Any], status: dict[str, Any]) -> Quantities:
    """Requests with limits filled in; a bound container counts the most of what it asks, uses and was given."""
    resources = container.get("resources") or {}
    requests = _parsed(resources.get("limits"))
    requests.update(_parsed(resources.get("requests")))
    if status.get("resources") is not None:
        _raise_to(requests, _parsed(status["resources"].get("requests")))
        _raise_to(requests, _parsed(status.get("allocatedResources")))
    return requests


def _pod_level(spec: dict[str, Any], aggregated: Quantities) -> Quantities:
    """Pod-level requests, defaulted from pod-level limits (SetDefaults_PodSpec)."""
    resources = spec.get("resources") or {}
    requests = _parsed(resources.get("requests"))
    for name, limit in _parsed(resources.get("limits")).items():
        if _is_pod_level(name) and name not in requests:
            overcommits = not name.startswith("hugepages-")
            requests[name] = aggregated[name] if overcommits and name in aggregated else limit
    return {name: amount for name, amount in requests.items() if _is_pod_level(name)}


def _is_pod_level(name: str) -> bool:
    return name in (CPU, MEMORY) or name.startswith("hugepages-")


def _parsed(entries: Any) -> Quantities:
    return {name: 0 if value is None else quantity.parse(value) for name, value in (entries or {}).items()}


def _by_name(statuses: Any) -> dict[str, dict[str, Any]]:
    return {status.get("name") or "": status for status in mappings(statuses)}


def _add(total: Quantities, more: Quantities) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def _raise_to(total: Quantities, floor: Quantities) -> None:
    for name, amount in floor.items():
        if name not in total or amount > total[name]:
            total[name] = amount
