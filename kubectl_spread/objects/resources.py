"""Resource quantities, exact, and durations; resource requests of pods, also by the rules of older releases.

A quantity is an int in thousandths of its unit. The API server, too, rounds every entry of a resource list up to a
thousandth before it adds entries (`SetDefaults_ResourceList`). Sums are made of thousandths and converted once, at the
end, as the scheduler does with exact quantities.

Source: staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go, suffix.go;
staging/src/k8s.io/apimachinery/pkg/util/intstr/intstr.go, GetScaledValueFromIntOrPercent (v1.36.2).
Difference: an invalid value is None, not an error.

Source: staging/src/k8s.io/component-helpers/resource/helpers.go, PodRequests; pkg/apis/core/v1/defaults.go,
SetDefaults_Pod; pkg/scheduler/framework/types.go, Resource.Add (v1.36.2).

Older releases add up differently: pkg/scheduler/framework/types.go, calculateResource;
noderesources/resource_allocation.go, calculatePodResourceRequest; pkg/scheduler/util/pod_resources.go,
GetNonzeroRequests (v1.26.15, v1.31.8, v1.32.5).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple, Optional, Union

from kubectl_spread.objects.reading.plain import condition, fields, mappings, Plain
from kubectl_spread.objects.selectors import key_errors

FORMAT_WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
NUMERIC_WRONG = "unable to parse numeric part of quantity"
SUFFIX_WRONG = "unable to parse quantity's suffix"

_DIGITS = "0123456789"
_IN_SUFFIXES = "eEinumkKMGTP"
_EXPONENT = r"[eE]([-+]?)0*([0-9]{1,18})\Z"
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_NEED_DIGITS = ("Pi", "Ei")  # and exponents below -9
_LONGEST = 1000  # digits; the API server has no limit
_MAX = (2**63 - 1) * 1000  # quantities are capped at this and at its negative


class QuantityError(ValueError):
    """Not a quantity; the text is the API server's."""


def parse(value: Any) -> int:
    """Return thousandths of the unit, rounded away from zero.

    The API server's scanner takes a number without digits for zero: `+`, `.` and `m` are quantities.

    Args:
        value: a string, or a JSON number (which the API server accepts as its text).

    Raises:
        QuantityError: with the API server's words.
    """
    if isinstance(value, str):
        return _parse(value.strip(" "))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise QuantityError(FORMAT_WRONG)
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e21
    return _parse(str(int(value)) if is_whole else repr(value))


@functools.lru_cache(maxsize=4096)  # a cluster has few different quantities
def _parse(text: str) -> int:
    sign = text[: text.startswith(("+", "-"))]
    whole = _leading_digits(text[len(sign) :])
    rest = text[len(sign) + len(whole) :]
    fraction = _leading_digits(rest[1:]) if rest.startswith(".") else ""
    suffix = rest[1 + len(fraction) :] if rest.startswith(".") else rest
    if not text or not _has_form(suffix):
        raise QuantityError(FORMAT_WRONG)
    power = _power(suffix)
    digits = whole + fraction
    if len(digits) > _LONGEST or (not digits and (suffix in _NEED_DIGITS or power < -9)):
        raise QuantityError(NUMERIC_WRONG)
    number = (-int(digits or "0") if sign == "-" else int(digits or "0")) << _BINARY.get(suffix, 0)
    power += 3 - len(fraction)
    number = number * 10**power if power >= 0 else _divide_up(number, 10**-power)
    return max(-_MAX, min(_MAX, number))


def _leading_digits(text: str) -> str:
    return text[: len(text) - len(text.lstrip(_DIGITS))]


def _has_form(suffix: str) -> bool:
    """Return whether a suffix matches `[eEinumkKMGTP]*[-+]?[0-9]*`; to compile the pattern takes longer."""
    exponent = suffix.lstrip(_IN_SUFFIXES)
    return not exponent[exponent.startswith(("+", "-")) :].strip(_DIGITS)


def milli(thousandths: int) -> int:
    """Return CPU in milli-units (`MilliValue`)."""
    return _int64(thousandths)


def whole_units(thousandths: int) -> int:
    """Return whole units, rounded away from zero (`Value`)."""
    return _int64(_divide_up(thousandths, 1000))


def _power(suffix: str) -> int:
    """Return the power of ten that a suffix means, 0 for a power of two."""
    if suffix in _BINARY:
        return 0
    if suffix in _DECIMAL:
        return _DECIMAL[suffix]
    exponent = re.match(_EXPONENT, suffix)
    if exponent is None:
        raise QuantityError(SUFFIX_WRONG)
    power = min(2 * _LONGEST, int(exponent[2]))
    return -power if exponent[1] == "-" else power


def _divide_up(number: int, by: int) -> int:
    """Divide, rounding away from zero."""
    up = -(-abs(number) // by)
    return -up if number < 0 else up


def _int64(number: int) -> int:
    return max(-(2**63), min(2**63 - 1, number))


class Sums(Enum):
    """The way to add up the requests of a pod's containers. Each name is the feature that its release introduced."""

    PER_CONTAINER = 1  # each amount rounded up; the overhead's CPU of a pod to be placed in whole cores
    WITHOUT_OVERHEAD = 2  # as PER_CONTAINER, and the overhead of a pod to be placed does not score
    EXACT = 3  # exact; for scores the containers and the init containers of a bound pod apart
    SIDECARS = 4  # the sidecars of bound pods count in scores
    RESIZED = 5  # a resize counts with the maximum of its requests
    POD_LEVEL = 6  # the pod's own resources come before those of its containers


_PERCENT = r"([0-9]{1,9})%\Z"  # compiled on first use


def percentage(value: Any) -> Optional[int]:
    """Return the number of a text like `25%`; None for anything else."""
    match = re.match(_PERCENT, value) if isinstance(value, str) else None
    return None if match is None else int(match[1])


def int_or_text(value: Any, default: Union[int, str]) -> Union[int, str]:
    """Return a number or a text as it is; the default for anything else, which no API server stores."""
    return value if isinstance(value, str) or type(value) is int else default


def scaled_value(value: Any, total: int, *, round_up: bool) -> Optional[int]:
    """Return a number, at least 0, or a percentage of a total."""
    if isinstance(value, int) and not isinstance(value, bool):
        return max(0, value)
    percent = percentage(value)
    if percent is None:
        return None
    return -(-total * percent // 100) if round_up else total * percent // 100


_UNITS_S = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}
_MAX_S = (2**63 - 1) / 1e9  # a time.Duration counts nanoseconds in 64 bits
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(h|ms|m|s|us|µs|μs|ns)", re.ASCII)


def seconds(text: str) -> Optional[float]:
    """Return a duration in seconds, 0 for none; a bare integer is in seconds. Returns None if it is invalid.

    Source: k8s.io/client-go/tools/clientcmd/config.go, ParseTimeout; Go's time.ParseDuration.
    """
    if re.fullmatch(r"[0-9]{1,9}", text, re.ASCII):
        return float(text)
    at, total = 0, 0.0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            return None
        total += float(part[1]) * _UNITS_S[part[2]]
        at = part.end()
    return total if text and total <= _MAX_S else None


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
        name: milli(amount) if name == CPU else whole_units(amount)
        for name, amount in quantities.items()
        if is_scheduled(name)
    }


def allocatable(status: Plain) -> dict[str, int]:
    """Return a node's allocatable, pod slots included."""
    quantities = parse_quantities(status.get("allocatable"))
    return {**units(quantities), PODS: whole_units(quantities.get(PODS, 0))}


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
    return {name: 0 if value is None else parse(value) for name, value in (entries or {}).items()}


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
    unscaled = {**on_top, CPU: whole_units(overhead[CPU])} if CPU in overhead else on_top

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
