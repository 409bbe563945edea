"""Resource requests of pods, also by the rules of older releases.

Sums are made of thousandths and converted once, at the end, as the scheduler does with exact quantities.

Source: staging/src/k8s.io/component-helpers/resource/helpers.go, PodRequests; pkg/apis/core/v1/defaults.go,
SetDefaults_Pod; pkg/scheduler/framework/types.go, Resource.Add (v1.36.2).

Older releases add up differently: pkg/scheduler/framework/types.go, calculateResource;
noderesources/resource_allocation.go, calculatePodResourceRequest; pkg/scheduler/util/pod_resources.go,
GetNonzeroRequests (v1.26.15, v1.31.8, v1.32.5).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from kubectl_spread.objects.amounts import quantity
from kubectl_spread.objects.amounts.quantity import Sums
from kubectl_spread.objects.reading.plain import condition, fields, mappings, Plain
from kubectl_spread.objects.selectors import key_errors

Quantities = dict[str, int]  # resource name -> thousandths

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
PODS = "pods"


def is_scheduled(name: str) -> bool:
    """Return whether the scheduler tracks a resource; it silently drops other names."""
    return name in (CPU, MEMORY, EPHEMERAL_STORAGE) or is_scalar(name)


def is_scalar(name: str) -> bool:
    """Return whether a resource is extended, a huge page, an attachable volume or one of `kubernetes.io/`.

    Source: pkg/scheduler/util/utils.go, IsScalarResourceName.
    """
    return name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name or is_extended(name)


@functools.cache  # a cluster has few different resource names
def is_extended(name: str) -> bool:
    """Return whether a name is qualified and not Kubernetes's own (v1/helper/helpers.go, IsExtendedResourceName)."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    return not key_errors(f"requests.{name}")


DEFAULT_MILLI_CPU = 100
DEFAULT_MEMORY = 200 * 1024 * 1024  # bytes
_DEFAULTS: Quantities = {CPU: DEFAULT_MILLI_CPU, MEMORY: DEFAULT_MEMORY * 1000}


Sorted = tuple[tuple[str, int], ...]


class Requests(NamedTuple):
    """Resource requests of a pod, sorted by resource, in the scheduler's units, for each use that it makes of them.

    requests: compared by Filter.
    nonzero: CPU and memory of a bound pod in scores. Containers without a request count with a default.
    scored: the same for a pod that is not scheduled yet. Upstream computes it without pod-level resources.
    balanced: the requests of such a pod in BalancedAllocation.
    """

    requests: Sorted
    nonzero: tuple[int, int]
    scored: Sorted
    balanced: Sorted


Units = dict[str, int]  # resource name -> amount in the scheduler's unit


def requests_of(plain: Units, nonzero: Units, scored: Units, *, balanced: Units) -> Requests:
    """Return a record of the requests by resource."""
    filtered, to_score, to_balance = (tuple(sorted(item.items())) for item in (plain, scored, balanced))
    return Requests(filtered, (nonzero.get(CPU, 0), nonzero.get(MEMORY, 0)), to_score, to_balance)


def pod_requests(spec: Plain, status: Plain) -> Requests:
    """Return a pod's requests; `status` is {} for a pod that is not bound.

    Source: pkg/scheduler/framework/types.go, calculateResource; noderesources/resource_allocation.go,
    calculatePodResourceRequest (v1.36.2).
    """
    pod_level = _pod_level(spec)
    effective = _only_pod_level(_resized(pod_level, status, status)) if pod_level else {}
    plain = _total(spec, status, {}, effective)
    defaults = {name: amount for name, amount in _DEFAULTS.items() if not pod_level or name not in plain}
    nonzero = units(_total(spec, status, defaults, effective))
    counted = units(plain)
    return requests_of(counted, nonzero, units(_total(spec, status, _DEFAULTS, {})), balanced=counted)


def pod_quantities(spec: Plain) -> Quantities:
    """Return the requests of a pod's spec, overhead included, in thousandths."""
    return _total(spec, {}, {}, _pod_level(spec))


def units(quantities: Quantities) -> dict[str, int]:
    """Return CPU in milli-cores and the rest in whole units, without names that the scheduler ignores."""
    return {
        name: quantity.milli(amount) if name == CPU else quantity.whole_units(amount)
        for name, amount in quantities.items()
        if is_scheduled(name)
    }


def allocatable(status: Plain) -> dict[str, int]:
    """Return a node's allocatable, pod slots included."""
    quantities = parse_quantities(status.get("allocatable"))
    return {**units(quantities), PODS: quantity.whole_units(quantities.get(PODS, 0))}


def _total(spec: Plain, status: Plain, defaults: Quantities, pod_level: Quantities) -> Quantities:
    total = _aggregate(spec, status, defaults)
    total.update(pod_level)
    add(total, parse_quantities(spec.get("overhead")))
    return total


def _aggregate(spec: Plain, status: Plain, defaults: Quantities) -> Quantities:
    """Return the sum of the containers' requests (AggregateContainerRequests)."""
    running: Quantities = {}
    statuses = _by_name(status.get("containerStatuses"))
    for container in mappings(spec.get("containers")):
        own = statuses.get(container.get("name") or "", {})
        add(running, {**defaults, **_resized(container_requests(container), own, status)})
    sidecars: Quantities = {}
    peak: Quantities = {}
    statuses = _by_name(status.get("initContainerStatuses"))
    for container in mappings(spec.get("initContainers")):
        is_sidecar = container.get("restartPolicy") == "Always"
        own = statuses.get(container.get("name") or "", {}) if is_sidecar else {}
        requests = {**defaults, **_resized(container_requests(container), own, status)}
        if is_sidecar:
            add(running, requests)
            add(sidecars, requests)
            _raise_to(peak, sidecars)
        else:
            add(requests, sidecars)
            _raise_to(peak, requests)
    _raise_to(running, peak)
    return running


def container_requests(container: Plain) -> Quantities:
    """Return requests, with limits as defaults."""
    resources = fields(container, "resources")
    requests = parse_quantities(resources.get("limits"))
    requests.update(parse_quantities(resources.get("requests")))
    return requests


def _resized(requests: Quantities, own: Plain, status: Plain) -> Quantities:
    """Return the requests that count during a resize: the maximum of requested, used and allocated.

    The new requests do not count if the resize is infeasible.

    Args:
        requests: of a container, or of the pod.
        own: its status.
        status: the pod's.
    """
    if own.get("resources") is None:
        return requests
    most = {} if condition(status, "PodResizePending").get("reason") == "Infeasible" else dict(requests)
    _raise_to(most, parse_quantities(own["resources"].get("requests")))
    _raise_to(most, parse_quantities(own.get("allocatedResources")))
    return most


def _pod_level(spec: Plain) -> Quantities:
    """Return pod-level requests, completed from limits (defaultPodRequests)."""
    resources = fields(spec, "resources")
    requests = parse_quantities(resources.get("requests"))
    limits = parse_quantities(resources.get("limits"))
    if limits:
        overcommitted = {name: amount for name, amount in _aggregate(spec, {}, {}).items() if name in _DEFAULTS}
        requests = {**limits, **overcommitted, **requests}
    return _only_pod_level(requests)


def _only_pod_level(quantities: Quantities) -> Quantities:
    return {name: amount for name, amount in quantities.items() if name in _DEFAULTS or name.startswith("hugepages-")}


def parse_quantities(entries: Any) -> Quantities:
    """Parse the quantities of a resource list."""
    return {name: 0 if value is None else quantity.parse(value) for name, value in (entries or {}).items()}


def _by_name(statuses: Any) -> dict[str, Plain]:
    return {status.get("name") or "": status for status in mappings(statuses)}


def add(total: Quantities, more: Quantities) -> None:
    """Add amounts to a total, in place."""
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def _raise_to(total: Quantities, floor: Quantities) -> None:
    for name, amount in floor.items():
        if name not in total or amount > total[name]:
            total[name] = amount


def amount(resource: str, number: int) -> str:
    """Return an amount as kubectl writes it: (milli-)cores, the largest exact binary unit, or a count.

    An amount near the limit of 64 bits is rounded, such as 9.2e+15 cores.
    """
    if number >= 10**18:
        return f"{number / (1000 if resource == CPU else 1):.2g}"
    if resource == CPU:
        return str(number // 1000) if number % 1000 == 0 else f"{number}m"
    if resource in (MEMORY, EPHEMERAL_STORAGE) or resource.startswith("hugepages-"):
        for unit in ("Ti", "Gi", "Mi", "Ki"):
            size = 1024 ** ("KMGT".index(unit[0]) + 1)
            if number and number % size == 0:
                return f"{number // size}{unit}"
    return str(number)


def older_requests(spec: Plain, status: Plain, latest: Requests) -> tuple[tuple[Sums, Requests], ...]:
    """Return the requests by each way of adding up that leads to others than the latest way."""
    if not _may_differ(spec, status):
        return ()
    per_container = _per_container(spec)
    ways = {
        Sums.PER_CONTAINER: per_container,
        # Scores leave out the overhead: resource_allocation.go, calculatePodResourceRequest; fit.go, NewFit (v1.23.9).
        Sums.WITHOUT_OVERHEAD: per_container._replace(scored=_per_container({**spec, "overhead": None}).scored),
        Sums.EXACT: _exact(spec),
        Sums.SIDECARS: _without_pod_level(spec, {}),
        Sums.RESIZED: _without_pod_level(spec, status),
    }
    return tuple((sums, requests) for sums, requests in ways.items() if requests != latest)


def _may_differ(spec: Plain, status: Plain) -> bool:
    """Return whether a pod has anything that some release counts differently; most pods do not."""
    if spec.get("overhead") or spec.get("resources"):
        return True
    if any(item.get("resources") for item in mappings(status.get("containerStatuses"))):
        return True
    init_containers = mappings(spec.get("initContainers"))
    if any(container.get("restartPolicy") for container in init_containers):
        return True
    # Whether an amount may be fractional; CPU counts in thousandths
    texts = (
        "." if isinstance(value, float) else str(value)
        for container in (*mappings(spec.get("containers")), *init_containers)
        for field in ("requests", "limits")
        for name, value in fields(container, "resources", field).items()
        if name != CPU
    )
    return any(text[-1:] in ("m", "u", "n") or "." in text or "-" in text for text in texts)


def _without_pod_level(spec: Plain, status: Plain) -> Requests:
    """Return the requests without those for the pod as a whole.

    Source: calculateResource (v1.32.5).
    """
    return pod_requests({**spec, "resources": None}, status)


def _exact(spec: Plain) -> Requests:
    """Return the requests; a sidecar counts as an init container in `nonzero`.

    Source: calculateResource, PodRequests (v1.31.8).
    """
    running: Units = {}
    for container in mappings(spec.get("containers")):
        add(running, _with_defaults(container_requests(container)))
    sidecars: Quantities = {}
    for container in mappings(spec.get("initContainers")):
        together = dict(sidecars)  # the usage while it starts: its own requests and those of earlier sidecars
        add(together, container_requests(container))
        if container.get("restartPolicy") == "Always":
            sidecars = together
        _raise_to(running, _with_defaults(together))
    add(running, units(parse_quantities(spec.get("overhead"))))
    return _without_pod_level(spec, {})._replace(nonzero=(running.get(CPU, 0), running.get(MEMORY, 0)))


def _per_container(spec: Plain) -> Requests:
    """Return the requests, with defaults applied to each container.

    Source: calculateResource, calculatePodResourceRequest (v1.26.15).
    """
    overhead = parse_quantities(spec.get("overhead"))
    on_top = units(overhead)
    # CPU in cores, which upstream adds to milli-cores
    unscaled = {**on_top, CPU: quantity.whole_units(overhead[CPU])} if CPU in overhead else on_top

    def summed(convert: Callable[[Quantities], Units], extra: Units) -> Units:
        """Return the sum of the containers, or the maximum of an init container if that is larger."""
        total: Units = {}
        for container in mappings(spec.get("containers")):
            add(total, convert(container_requests(container)))
        for container in mappings(spec.get("initContainers")):
            _raise_to(total, convert(container_requests(container)))
        add(total, extra)
        return total

    return requests_of(
        summed(units, on_top),
        summed(_with_defaults, on_top),
        summed(_with_defaults, unscaled),
        balanced=summed(units, unscaled),
    )


def _with_defaults(requests: Quantities) -> Units:
    return {CPU: DEFAULT_MILLI_CPU, MEMORY: DEFAULT_MEMORY, **units(requests)}
