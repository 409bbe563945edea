"""What bounds the workloads of a namespace: LimitRanges, ResourceQuotas and HorizontalPodAutoscalers.

Source: plugin/pkg/admission/limitranger/admission.go, pkg/apis/core/v1/defaults.go (SetDefaults_LimitRangeItem),
staging/src/k8s.io/apiserver/pkg/admission/plugin/resourcequota/controller.go, pkg/quota/v1/evaluator/core/pods.go,
pkg/controller/podautoscaler/horizontal.go (v1.36.2). Nobody knows the metrics of an autoscaler here: it keeps the
number of replicas between its bounds. Limits of pods and of claims, ratios, and scopes of quotas beside BestEffort,
NotBestEffort and PriorityClass are left out.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from tests.naive import objects, requests
from tests.naive.controllers.world import condition, World

Plain = dict[str, Any]


class RefusedError(Exception):
    """The API server refuses to create a pod."""


def check(world: World, pod: Plain) -> Plain:
    """Return a new pod with the defaults of the LimitRanges of its namespace.

    Raises:
        RefusedError: a LimitRange or a quota forbids it.
    """
    pod = copy.deepcopy(pod)
    for item in _in_namespace(world, "LimitRange", pod):
        for limit in item["spec"].get("limits") or []:
            if limit.get("type") == "Container":
                _limited(pod, _defaulted(limit))
    for quota in _in_namespace(world, "ResourceQuota", pod):
        _charge(world, quota, pod)
    return pod


def _in_namespace(world: World, kind: str, pod: Plain) -> list[Plain]:
    return [item for item in world.list(kind) if objects.namespace_of(item) == objects.namespace_of(pod)]


def _defaulted(limit: Plain) -> Plain:
    """A limit as it is stored: what is not written follows from what is."""
    default = {**(limit.get("max") or {}), **(limit.get("default") or {})}
    requested = {**(limit.get("min") or {}), **default, **(limit.get("defaultRequest") or {})}
    return {**limit, "default": default, "defaultRequest": requested}


def _limited(pod: Plain, limit: Plain) -> None:
    for container in [*objects.containers(pod), *objects.init_containers(pod)]:
        resources = container.setdefault("resources", {})
        resources["limits"] = {**limit["default"], **(resources.get("limits") or {})}
        resources["requests"] = {**limit["defaultRequest"], **(resources.get("requests") or {})}
        for bound, fields in (("min", ("requests", "limits")), ("max", ("limits", "requests"))):
            for name, written in (limit.get(bound) or {}).items():
                found = [resources[field].get(name) for field in fields]
                if found[0] is None:
                    raise RefusedError(f"{bound} {name} usage per Container is {written}")
                for value in found:
                    if value is not None and _is_beyond(bound, requests.parse(value), requests.parse(written)):
                        raise RefusedError(f"{bound} {name} usage per Container is {written}, but it is {value}")


def _is_beyond(bound: str, value: int, limit: int) -> bool:
    return value < limit if bound == "min" else value > limit


def _charge(world: World, quota: Plain, pod: Plain) -> None:
    """Refuse a pod that a quota has no room for; all quotas together are asked before anything is charged."""
    if not _is_in_scope(quota, pod):
        return
    hard = quota["spec"].get("hard") or {}
    wanted = _usage(pod)
    used: dict[str, int] = {}
    for other in world.pods(objects.namespace_of(pod)):
        if not objects.is_terminated(other) and not _is_overdue(world, other) and _is_in_scope(quota, other):
            for name, value in _usage(other).items():
                used[name] = used.get(name, 0) + value
    for name, written in hard.items():
        if name not in _KNOWN:
            continue
        if name not in wanted:
            raise RefusedError(f"failed quota: {objects.name_of(quota)}: must specify {name}")
        if wanted[name] and used.get(name, 0) + wanted[name] > requests.parse(written):
            raise RefusedError(f"exceeded quota: {objects.name_of(quota)}, requested {name}, limited: {written}")


def _is_overdue(world: World, pod: Plain) -> bool:
    """Whether a pod should be gone by now, so that nobody is charged for it: no kubelet ends it."""
    node = world.get("Node", pod["spec"].get("nodeName") or "")
    is_up = node is not None and (condition(node, "Ready") or {"status": "True"})["status"] == "True"
    return objects.is_terminating(pod) and not is_up


_KNOWN = frozenset(
    {"pods", "count/pods", "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"}
)


def _usage(pod: Plain) -> dict[str, int]:
    """What a pod counts, in thousandths; a resource that some container does not name is left out."""
    found = {"pods": 1000, "count/pods": 1000}
    for name in ("cpu", "memory"):
        for field in ("requests", "limits"):
            written = [((item.get("resources") or {}).get(field) or {}).get(name) for item in objects.containers(pod)]
            if None not in written:
                found[f"{field}.{name}"] = sum(map(requests.parse, written))
        if f"requests.{name}" in found:
            found[name] = found[f"requests.{name}"]
    return found


def _is_in_scope(quota: Plain, pod: Plain) -> bool:
    spec = quota["spec"]
    is_best_effort = not any(
        (item.get("resources") or {}).get(field) for item in objects.containers(pod) for field in ("requests", "limits")
    )
    scopes = list(spec.get("scopes") or [])
    for term in (spec.get("scopeSelector") or {}).get("matchExpressions") or []:
        if term["scopeName"] != "PriorityClass":
            scopes.append(term["scopeName"])
        elif not _has_class(pod, term):
            return False
    return all({"BestEffort": is_best_effort, "NotBestEffort": not is_best_effort}.get(scope, True) for scope in scopes)


def _has_class(pod: Plain, term: Plain) -> bool:
    name = pod["spec"].get("priorityClassName") or ""
    if term["operator"] in ("In", "NotIn"):
        return (name in (term.get("values") or [])) == (term["operator"] == "In")
    return bool(name) == (term["operator"] == "Exists")


def autoscale(world: World, item: Plain) -> Iterator[World]:
    """Bring the replicas of an autoscaler's target between its bounds; none are wanted where there are 0."""
    spec = item["spec"]
    reference = spec["scaleTargetRef"]
    found = world.get(reference["kind"], reference["name"], objects.namespace_of(item))
    if found is None or objects.is_terminating(found):
        return
    now = found["spec"].get("replicas")
    now = 1 if now is None else int(now)
    least = 1 if spec.get("minReplicas") is None else int(spec["minReplicas"])
    wanted = min(max(now, least), int(spec["maxReplicas"]))
    if now in (0, wanted):
        return
    after = world.copy()
    after.put({**found, "spec": {**found["spec"], "replicas": wanted}})
    yield after
