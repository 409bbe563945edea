"""Pod requests by the rules of older releases, if they differ from today's.

Source: pkg/scheduler/framework/types.go, calculateResource; noderesources/resource_allocation.go,
calculatePodResourceRequest; pkg/scheduler/util/pod_resources.go, GetNonzeroRequests (v1.26.15, v1.31.8, v1.32.5).
"""

from __future__ import annotations

from kubectl_spread.objects.amounts import quantity, resources
from kubectl_spread.objects.amounts.quantity import Sums
from kubectl_spread.objects.amounts.resources import (
    CPU,
    DEFAULT_MEMORY,
    DEFAULT_MILLI_CPU,
    MEMORY,
    Quantities,
    Requests,
    Units,
    units,
)
from kubectl_spread.objects.reading.plain import fields, mappings, Plain


def older_requests(spec: Plain, status: Plain, latest: Requests) -> tuple[tuple[Sums, Requests], ...]:
    """Return the requests by each way of adding up that leads to others than the latest way."""
    if not _may_differ(spec, status):
        return ()
    ways = {
        Sums.PER_CONTAINER: _per_container(spec),
        Sums.WITHOUT_OVERHEAD: _without_overhead(spec),
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
    return any(_has_fraction(container) for container in (*mappings(spec.get("containers")), *init_containers))


def _has_fraction(container: Plain) -> bool:
    """Return whether an amount may be fractional; CPU counts in thousandths."""
    written = fields(container, "resources")
    return any(
        name != CPU and not (isinstance(value, int) or (isinstance(value, str) and _is_whole(value)))
        for entries in (written.get("requests"), written.get("limits"))
        for name, value in (entries or {}).items()
    )


def _is_whole(text: str) -> bool:
    return text[-1:] not in ("m", "u", "n") and "." not in text and "-" not in text


def _without_pod_level(spec: Plain, status: Plain) -> Requests:
    """Return the requests without those for the pod as a whole.

    Source: calculateResource (v1.32.5).
    """
    return resources.pod_requests({**spec, "resources": None}, status)


def _exact(spec: Plain) -> Requests:
    """Return the requests; a sidecar counts as an init container in `nonzero`.

    Source: calculateResource, PodRequests (v1.31.8).
    """
    found = _without_pod_level(spec, {})
    running = [_nonzero(resources.container_requests(item)) for item in mappings(spec.get("containers"))]
    most = [_nonzero(requests) for requests in _starting(spec)]
    overhead = units(resources.parse_quantities(spec.get("overhead")))
    cpu, memory = (
        max(sum(amounts[at] for amounts in running), max((amounts[at] for amounts in most), default=0)) for at in (0, 1)
    )
    return found._replace(nonzero=(cpu + overhead.get(CPU, 0), memory + overhead.get(MEMORY, 0)))


def _starting(spec: Plain) -> list[Quantities]:
    """Return the usage while each init container starts: its own requests and those of earlier sidecars."""
    sidecars: Quantities = {}
    found = []
    for container in mappings(spec.get("initContainers")):
        requests = resources.container_requests(container)
        together = dict(sidecars)
        resources.add(together, requests)
        if container.get("restartPolicy") == "Always":
            sidecars = together
        found.append(together)
    return found


def _nonzero(requests: Quantities) -> tuple[int, int]:
    """Return CPU and memory, with defaults for missing requests."""
    found = units(requests)
    return found.get(CPU, DEFAULT_MILLI_CPU), found.get(MEMORY, DEFAULT_MEMORY)


def _per_container(spec: Plain) -> Requests:
    """Return the requests, with defaults applied to each container.

    Source: calculateResource, calculatePodResourceRequest (v1.26.15).
    """
    containers = [resources.container_requests(item) for item in mappings(spec.get("containers"))]
    starting = [resources.container_requests(item) for item in mappings(spec.get("initContainers"))]
    overhead = resources.parse_quantities(spec.get("overhead"))
    plain = _summed(list(map(units, containers)), list(map(units, starting)))
    scored = _summed(list(map(_with_defaults, containers)), list(map(_with_defaults, starting)))
    on_top, unscaled = units(overhead), _unscaled(overhead)
    total, nonzero = _plus(plain, on_top), _plus(scored, on_top)
    return resources.requests_of(total, nonzero, _plus(scored, unscaled), balanced=_plus(plain, unscaled))


def _without_overhead(spec: Plain) -> Requests:
    """Return the requests; scores leave out the overhead.

    Source: resource_allocation.go, calculatePodResourceRequest; fit.go, NewFit (v1.23.9).
    """
    return _per_container(spec)._replace(scored=_per_container({**spec, "overhead": None}).scored)


def _with_defaults(requests: Quantities) -> Units:
    cpu, memory = _nonzero(requests)
    return {**units(requests), CPU: cpu, MEMORY: memory}


def _unscaled(overhead: Quantities) -> Units:
    """Return the overhead in whole units, CPU in cores, which upstream adds to milli-cores."""
    found = units(overhead)
    return {**found, CPU: quantity.whole_units(overhead[CPU])} if CPU in overhead else found


def _summed(containers: list[Units], starting: list[Units]) -> Units:
    """Return the sum of the containers, or the maximum of an init container if that is larger."""
    total: Units = {}
    for requests in containers:
        total = _plus(total, requests)
    for requests in starting:
        total = {name: max(total.get(name, 0), requests.get(name, 0)) for name in {**total, **requests}}
    return total


def _plus(total: Units, more: Units) -> Units:
    return {name: total.get(name, 0) + more.get(name, 0) for name in {**total, **more}}
