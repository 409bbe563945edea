"""LimitRanges, ResourceQuotas and RuntimeClasses: the fields that admission adds to new pods, and its refusals.

Source: plugin/pkg/admission/limitranger/admission.go, plugin/pkg/admission/runtimeclass/admission.go,
staging/src/k8s.io/apiserver/pkg/admission/plugin/resourcequota, pkg/quota/v1/evaluator/core/pods.go (v1.36.2).
"""

from __future__ import annotations

from typing import NamedTuple, Optional

from kubectl_spread.objects import resources
from kubectl_spread.objects.reading.plain import fields, mappings, name_of, Plain, strings

Quantities = dict[str, int]  # resource name -> thousandths

_ASKED = ("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")


_OF_CLAIMS = ("requests.storage", "persistentvolumeclaims")
_OF_CLASSES = (".storageclass.storage.k8s.io/requests.storage", ".storageclass.storage.k8s.io/persistentvolumeclaims")


class LimitRangeItem(NamedTuple):
    """An entry of a LimitRange; the texts of quantities by resource."""

    type: str
    default: Plain
    default_request: Plain
    least: Plain
    most: Plain
    ratio: Plain


class LimitRange(NamedTuple):
    """A LimitRange of a namespace."""

    namespace: str
    name: str
    limits: tuple[LimitRangeItem, ...]


class RuntimeClass(NamedTuple):
    """A RuntimeClass: the overhead, labels and tolerations that it adds to the pods that name it."""

    overhead: Plain
    node_selector: dict[str, str]
    tolerations: tuple[Plain, ...]


class Quota(NamedTuple):
    """A ResourceQuota; `used` is None if its controller has not counted yet."""

    namespace: str
    name: str
    hard: Quantities
    used: Optional[Quantities]
    scopes: tuple[str, ...]
    expressions: tuple[tuple[str, str, tuple[str, ...]], ...]  # scope, operator, values


def limit_range(plain: Plain) -> LimitRange:
    """Read a LimitRange, with the defaults that the API server fills in (SetDefaults_LimitRangeItem)."""
    limits = []
    for item in mappings(fields(plain, "spec").get("limits")):
        kind = item.get("type") or ""
        most, least = fields(item, "max"), fields(item, "min")
        default, request = fields(item, "default"), fields(item, "defaultRequest")
        if kind == "Container":
            default = {**most, **default}
            request = {**least, **default, **request}
        limits.append(LimitRangeItem(kind, default, request, least, most, fields(item, "maxLimitRequestRatio")))
    return LimitRange(*name_of(plain), tuple(limits))


def runtime_class(plain: Plain) -> RuntimeClass:
    """Read a RuntimeClass."""
    scheduling = fields(plain, "scheduling")
    return RuntimeClass(
        fields(plain, "overhead", "podFixed"),
        {key: value or "" for key, value in fields(scheduling, "nodeSelector").items()},
        tuple(mappings(scheduling.get("tolerations"))),
    )


def quota(plain: Plain) -> Quota:
    """Read a ResourceQuota."""
    spec, used = fields(plain, "spec"), fields(plain, "status").get("used")
    selected = mappings(fields(spec, "scopeSelector").get("matchExpressions"))
    return Quota(
        *name_of(plain),
        resources.parse_quantities(spec.get("hard")),
        None if used is None else resources.parse_quantities(used),
        strings(spec.get("scopes")),
        tuple(
            (item.get("scopeName") or "", item.get("operator") or "", strings(item.get("values"))) for item in selected
        ),
    )


def with_limits(spec: Plain, ranges: tuple[LimitRange, ...]) -> Plain:
    """Return a pod's spec with the default requests and limits of its namespace's LimitRanges."""
    items = [item for found in ranges for item in found.limits if item.type == "Container"]
    if not any(item.default or item.default_request for item in items):
        return spec
    return {
        **spec,
        **{
            field: [_with_defaults(container, items) for container in mappings(spec[field])]
            for field in ("initContainers", "containers")
            if spec.get(field)
        },
    }


def _with_defaults(container: Plain, items: list[LimitRangeItem]) -> Plain:
    own = fields(container, "resources")
    limits = dict(fields(own, "limits"))
    requests = {**limits, **fields(own, "requests")}
    for item in items:
        limits = {**item.default, **limits}
        requests = {**item.default_request, **requests}
    return {**container, "resources": {**own, "limits": limits, "requests": requests}}


def with_runtime_class(spec: Plain, classes: dict[str, RuntimeClass]) -> Plain:
    """Return a pod's spec with the overhead, nodeSelector and tolerations of its RuntimeClass."""
    found = classes.get(spec.get("runtimeClassName") or "")
    if found is None:
        return spec
    added: Plain = {"overhead": found.overhead} if found.overhead else {}
    if found.node_selector:
        added["nodeSelector"] = {**fields(spec, "nodeSelector"), **found.node_selector}
    if found.tolerations:
        added["tolerations"] = [*(spec.get("tolerations") or ()), *found.tolerations]
    return {**spec, **added}


def limit_errors(spec: Plain, ranges: tuple[LimitRange, ...]) -> list[str]:
    """Return why LimitRanges refuse a pod, in the API server's words; the defaults must be filled in."""
    found = []
    for item in (item for given in ranges for item in given.limits):
        if item.type == "Container":
            for container in _containers(spec):
                own = fields(container, "resources")
                found += _errors(item, *(resources.parse_quantities(own.get(name)) for name in ("requests", "limits")))
        elif item.type == "Pod":
            found += _errors(item, *_totals(spec))
    return found


def _errors(item: LimitRangeItem, requests: Quantities, limits: Quantities) -> list[str]:
    """Return the errors of one container, or of the pod as a whole."""
    found = []
    for name, text in item.least.items():
        least, start = resources.parse(text), f"minimum {name} usage per {item.type} is {text}"
        if name not in requests:
            found.append(f"{start}.  No request is specified")
        elif requests[name] < least:
            found.append(f"{start}, but request is {amount_text(name, requests[name])}")
        elif limits.get(name, least) < least:
            found.append(f"{start}, but limit is {amount_text(name, limits[name])}")
    for name, text in item.most.items():
        most, start = resources.parse(text), f"maximum {name} usage per {item.type} is {text}"
        if name not in limits:
            found.append(f"{start}.  No limit is specified")
        elif limits[name] > most:
            found.append(f"{start}, but limit is {amount_text(name, limits[name])}")
        elif requests.get(name, 0) > most:
            found.append(f"{start}, but request is {amount_text(name, requests[name])}")
    for name, text in item.ratio.items():
        request, limit = requests.get(name, 0), limits.get(name, 0)
        if request and limit and limit * 1000 > resources.parse(text) * request:
            start = f"{name} max limit to request ratio per {item.type} is {text}"
            found.append(f"{start}, but provided ratio is {limit / request:f}")
    return found


def pod_usage(spec: Plain) -> Quantities:
    """Return the usage that a quota charges for a pod."""
    requests, limits = _totals(spec)
    found = {"pods": 1000, "count/pods": 1000}
    for name, number in requests.items():
        found[f"requests.{name}"] = number
        if name in ("cpu", "memory", "ephemeral-storage"):
            found[name] = number
    return {**found, **{f"limits.{name}": number for name, number in limits.items()}}


def limits_claims(found: Quota) -> bool:
    """Return whether a quota limits claims or the storage that they request."""
    return any(name in _OF_CLAIMS or name.endswith(_OF_CLASSES) for name in found.hard)


def quota_error(spec: Plain, found: Quota, used: Quantities, *, usage: Quantities) -> str:
    """Return why a quota refuses a pod, in the API server's words; empty if it admits the pod.

    Args:
        spec: of the pod, with the fields that admission adds.
        found: the quota.
        used: the usage that is already charged to it.
        usage: of the pod.
    """
    if not charges(spec, found):
        return ""
    # The resources that a quota counts and some container does not request
    parts = []
    for name in sorted(set(_ASKED) & found.hard.keys()):
        field, _, resource = name.rpartition(".")
        lacking = [
            container.get("name") or ""
            for container in _containers(spec)
            if resource not in (fields(container, "resources").get(field or "requests") or {})
            and (field == "limits" or resource not in fields(container, "resources", "limits"))
        ]
        if lacking:
            parts.append(f"{name} for: {','.join(sorted(lacking))}")
    missing = "; ".join(parts)
    if missing:
        return f"failed quota: {found.name}: must specify {missing}"
    over = sorted(name for name, most in found.hard.items() if name in usage and used.get(name, 0) + usage[name] > most)
    if not over:
        return ""
    requested, before, limited = (
        ",".join(f"{name}={amount_text(name, amounts.get(name, 0))}" for name in over)
        for amounts in (usage, used, found.hard)
    )
    return f"exceeded quota: {found.name}, requested: {requested}, used: {before}, limited: {limited}"


def charges(spec: Plain, found: Quota) -> bool:
    """Return whether a quota counts a pod, which is then in all of its scopes."""
    expressions = [*((scope, "Exists", ()) for scope in found.scopes), *found.expressions]
    return all(_in_scope(spec, scope, operator, values) for scope, operator, values in expressions)


def _in_scope(spec: Plain, scope: str, operator: str, values: tuple[str, ...]) -> bool:
    if scope == "PriorityClass":
        name = spec.get("priorityClassName") or ""
        if operator in ("In", "NotIn"):
            return (name in values) == (operator == "In")
        return bool(name) == (operator == "Exists")
    is_terminating = spec.get("activeDeadlineSeconds") is not None
    if scope in ("Terminating", "NotTerminating"):
        return is_terminating == (scope == "Terminating")
    if scope in ("BestEffort", "NotBestEffort"):
        return any(_totals(spec)) != (scope == "BestEffort")
    return False  # CrossNamespacePodAffinity, and scopes of later releases


def _containers(spec: Plain) -> list[Plain]:
    return [*mappings(spec.get("containers")), *mappings(spec.get("initContainers"))]


def _totals(spec: Plain) -> tuple[Quantities, Quantities]:
    """Return the requests and the limits of a pod."""
    as_requests: Plain = {**spec, "resources": {}}
    for field in ("containers", "initContainers"):
        as_requests[field] = [
            {**item, "resources": {"requests": fields(item, "resources", "limits")}}
            for item in mappings(spec.get(field))
        ]
    return resources.pod_quantities(spec), resources.pod_quantities(as_requests)


def amount_text(name: str, thousandths: int) -> str:
    """Return an amount of a quota as the API server writes it."""
    resource = name.removeprefix("requests.").removeprefix("limits.")
    number = resources.milli(thousandths) if resource == "cpu" else resources.whole_units(thousandths)
    return resources.amount(resource, number)
