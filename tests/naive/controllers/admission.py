"""What the API server makes of objects that are created: defaults, admission plug-ins, names.

Source: pkg/registry/core/pod/strategy.go, plugin/pkg/admission/defaulttolerationseconds, plugin/pkg/admission/priority
(v1.36.2).
"""

from __future__ import annotations

import copy
from typing import Any

from tests.naive import objects
from tests.naive.controllers import limits
from tests.naive.controllers.world import CLUSTER_SCOPED, World

Plain = dict[str, Any]

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
_SECONDS = 300


def create(world: World, item: Plain, *, namespace: str = "default") -> Plain:
    """Store a new object as the API server would; returns what is stored.

    Raises:
        limits.RefusedError: a LimitRange or a quota forbids a pod.
    """
    item = copy.deepcopy(item)
    metadata = item.setdefault("metadata", {})
    if item["kind"] not in CLUSTER_SCOPED:
        metadata.setdefault("namespace", namespace)
    if "name" not in metadata:
        metadata["name"] = f"{metadata.pop('generateName')}{world.next_serial():05d}"
    metadata.setdefault("uid", f"uid-{world.next_serial()}")
    metadata.setdefault("labels", {})
    item.setdefault("spec", {})
    if item["kind"] == "Pod":
        item = limits.check(world, admitted(world, item))
    if item["kind"] == "PersistentVolume":
        item.setdefault("status", {}).setdefault("phase", "Available")
    world.put(item)
    return item


def try_create(world: World, item: Plain) -> bool:
    """Create a pod of a controller, which tries again later; return whether it was created."""
    try:
        create(world, item)
    except limits.RefusedError:
        return False
    return True


def is_racy(world: World) -> bool:
    """Whether it matters when a pod is created: quotas are used up, and the scheduler prefers priorities.

    Controllers create pods in batches of 1, 2, 4, ..., and others act between two of them.
    """
    return any(world.kinds.get(kind) for kind in ("PriorityClass", "ResourceQuota"))


def admitted(world: World, pod: Plain) -> Plain:
    """A pod with its priority, its default tolerations, its requests and its selectors filled in."""
    pod = objects.admit(pod)
    spec = pod["spec"]
    if spec.get("priority") is None:
        found = _priority_class(world, spec.get("priorityClassName") or "")
        spec["priority"] = found.get("value", 0)
        if found.get("preemptionPolicy"):
            spec.setdefault("preemptionPolicy", found["preemptionPolicy"])
    default_toleration_seconds(spec)
    return pod


def _priority_class(world: World, name: str) -> Plain:
    if name in ("system-node-critical", "system-cluster-critical"):
        return {"value": 2000001000 if name == "system-node-critical" else 2000000000}
    if name:
        return world.get("PriorityClass", name) or {}
    defaults = [item for item in world.list("PriorityClass") if item.get("globalDefault")]
    return min(defaults, key=lambda item: int(item["value"]), default={})


def default_toleration_seconds(spec: Plain) -> None:
    """Tolerate `not-ready` and `unreachable` for 300 seconds where the pod does not say what to do."""
    tolerations = spec.get("tolerations") or []
    for key in (NOT_READY, UNREACHABLE):
        if not any(_speaks_of(toleration, key) for toleration in tolerations):
            added = {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _SECONDS}
            tolerations = [*tolerations, added]
    spec["tolerations"] = tolerations


def _speaks_of(toleration: Plain, key: str) -> bool:
    return toleration.get("key") in (key, None, "") and toleration.get("effect") in ("NoExecute", None, "")
