"""Deployments.

Source: pkg/controller/deployment/deployment_controller.go, rolling.go, recreate.go, sync.go, util/deployment_util.go
(v1.36.2). Old ReplicaSets are kept whatever `revisionHistoryLimit` says, and the conditions are not written.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from tests.naive import gomath, objects
from tests.naive.controllers import replicaset
from tests.naive.controllers.controller_utils import scaled
from tests.naive.controllers.replicaset import replicas_of, Status
from tests.naive.controllers.world import hashed, is_owned_by, owner_reference, World

Plain = dict[str, Any]

HASH = "pod-template-hash"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MAX = "deployment.kubernetes.io/max-replicas"
REVISION = "deployment.kubernetes.io/revision"


class Sets(NamedTuple):
    """The ReplicaSets of a Deployment, the oldest first; `new` has the template of now."""

    new: Optional[Plain]
    old: list[Plain]
    statuses: dict[str, Status]

    @property
    def all(self) -> list[Plain]:
        return self.old + ([self.new] if self.new is not None else [])

    def available(self, item: Plain) -> int:
        return self.statuses[item["metadata"]["name"]].available

    def active_old(self) -> list[Plain]:
        return [item for item in self.old if replicas_of(item) > 0]


def strategy_of(item: Plain) -> str:
    return (item["spec"].get("strategy") or {}).get("type") or "RollingUpdate"


def fenceposts(item: Plain) -> tuple[int, int]:
    """How many pods there may be too many, and too few."""
    rolling = (item["spec"].get("strategy") or {}).get("rollingUpdate") or {}
    total = replicas_of(item)
    if strategy_of(item) == "Recreate":
        return 0, 0
    surge = scaled(rolling.get("maxSurge", "25%"), total, up=True)
    unavailable = scaled(rolling.get("maxUnavailable", "25%"), total, up=False)
    if surge == 0 and unavailable == 0:
        unavailable = 1
    return surge, min(unavailable, total)


def max_replicas(item: Plain) -> int:
    return replicas_of(item) + fenceposts(item)[0]


def sets_of(world: World, item: Plain) -> Sets:
    found = [other for other in world.list("ReplicaSet") if is_owned_by(other, item)]
    found.sort(key=lambda other: (other["metadata"].get("creationTimestamp") or "", other["metadata"]["name"]))
    statuses = {other["metadata"]["name"]: replicaset.status_of(world, other) for other in found}
    new = next((other for other in found if template_of(other) == template_of(item)), None)
    return Sets(new, [other for other in found if other is not new], statuses)


def template_of(item: Plain) -> Plain:
    """The template without the label that tells revisions apart, and without what is empty."""
    template: Plain = copy.deepcopy(item["spec"].get("template") or {})
    labels = (template.get("metadata") or {}).get("labels") or {}
    labels.pop(HASH, None)
    (template.get("metadata") or {}).pop("creationTimestamp", None)
    _set_defaults(template.get("spec") or {})
    plain: Plain = _without_empty(template)
    return plain


_DEFAULTS = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "terminationGracePeriodSeconds": 30,
}
_CONTAINER_DEFAULTS = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}


def _set_defaults(spec: Plain) -> None:
    """Take out what the API server writes into every template, so that a manifest equals what is stored."""
    for name, value in _DEFAULTS.items():
        if spec.get(name) == value:
            del spec[name]
    for container in objects.containers({"spec": spec}):
        tag = str(container.get("image") or "").rpartition("/")[2].partition(":")[2]
        pulled = "Always" if tag in ("", "latest") else "IfNotPresent"
        for name, value in {**_CONTAINER_DEFAULTS, "imagePullPolicy": pulled}.items():
            if container.get(name) == value:
                del container[name]
        for port in container.get("ports") or []:
            if port.get("protocol") == "TCP":
                del port["protocol"]


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: _without_empty(item) for name, item in value.items()}
        return {name: item for name, item in kept.items() if item not in ({}, [], None)}
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    return value


def sync(world: World, item: Plain) -> Iterator[World]:
    """What one reconciliation leads to; nothing where there is nothing to do."""
    if objects.is_terminating(item):
        return
    namespace = objects.namespace_of(item)
    sets_here = [other for other in world.list("ReplicaSet") if objects.namespace_of(other) == namespace]
    claimed = replicaset.claim(world, item, sets_here)
    if claimed is not None:
        yield claimed
        return
    sets = sets_of(world, item)
    if item["spec"].get("paused") or is_scaling_event(item, sets):
        after = _scale(world, item, sets)
    elif strategy_of(item) == "Recreate":
        after = _recreate(world, item, sets)
    else:
        after = _rolling(world, item, sets)
    if after is not None:
        yield after


def is_scaling_event(item: Plain, sets: Sets) -> bool:
    for other in sets.all:
        desired = objects.annotations_of(other).get(DESIRED)
        if replicas_of(other) > 0 and desired is not None and int(desired) != replicas_of(item):
            return True
    return False


def _resized(world: World, item: Plain, sizes: dict[str, int], *, sets: Sets) -> Optional[World]:
    """Other sizes of ReplicaSets, with the annotations that go with them; None where nothing differs."""
    after = world.copy()
    wanted = {DESIRED: str(replicas_of(item)), MAX: str(max_replicas(item))}
    changed = False
    for other in sets.all:
        size = sizes.get(other["metadata"]["name"])
        if size is None:
            continue
        annotations = {**objects.annotations_of(other), **wanted}
        if size == replicas_of(other) and annotations == objects.annotations_of(other):
            continue
        twin = {**other, "metadata": {**other["metadata"], "annotations": annotations}}
        after.put({**twin, "spec": {**other["spec"], "replicas": size}})
        changed = True
    return after if changed else None


def _rolling(world: World, item: Plain, sets: Sets) -> Optional[World]:
    if sets.new is None:
        return _with_new_set(world, item, sets, size=new_replicas(item, sets))
    return _reconcile_new(world, item, sets) or _reconcile_old(world, item, sets)


def _with_new_set(world: World, item: Plain, sets: Sets, *, size: int) -> World:
    after = world.copy()
    template = copy.deepcopy(item["spec"]["template"])
    short = hashed(template_of(item))
    namespace = objects.namespace_of(item)
    while after.get("ReplicaSet", f"{item['metadata']['name']}-{short}", namespace):
        short += "x"  # Another controller has one of this name: collisionCount grows, and with it the hash changes.
    labels = {**(template.setdefault("metadata", {}).get("labels") or {}), HASH: short}
    template["metadata"]["labels"] = labels
    selector = copy.deepcopy(item["spec"].get("selector") or {})
    selector["matchLabels"] = {**(selector.get("matchLabels") or {}), HASH: short}
    name = f"{item['metadata']['name']}-{short}"
    metadata = {
        "name": name,
        "namespace": objects.namespace_of(item),
        "uid": f"{item['metadata']['uid']}/{short}",
        "labels": labels,
        "annotations": {
            DESIRED: str(replicas_of(item)),
            MAX: str(max_replicas(item)),
            REVISION: str(1 + max((revision_of(other) for other in sets.all), default=0)),
        },
        "creationTimestamp": f"2900-01-01T00:00:{len(sets.all):02d}Z",
        "ownerReferences": [owner_reference(item)],
    }
    spec = {"replicas": size, "selector": selector, "template": template}
    if item["spec"].get("minReadySeconds"):
        spec["minReadySeconds"] = item["spec"]["minReadySeconds"]
    after.put({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": spec})
    return after


def revision_of(item: Plain) -> int:
    return int(objects.annotations_of(item).get(REVISION) or 0)


def new_replicas(item: Plain, sets: Sets) -> int:
    """`NewRSNewReplicas`."""
    wanted = replicas_of(item)
    if strategy_of(item) == "Recreate":
        return wanted
    now = replicas_of(sets.new) if sets.new is not None else 0
    room = max_replicas(item) - sum(replicas_of(other) for other in sets.all)
    return now if room <= 0 else now + min(room, wanted - now)


def _reconcile_new(world: World, item: Plain, sets: Sets) -> Optional[World]:
    assert sets.new is not None
    now, wanted = replicas_of(sets.new), replicas_of(item)
    if now == wanted:
        return None
    size = wanted if now > wanted else new_replicas(item, sets)
    if size == now:
        return None
    return _resized(world, item, {sets.new["metadata"]["name"]: size}, sets=sets)


def _reconcile_old(world: World, item: Plain, sets: Sets) -> Optional[World]:
    """Remove old pods that are not available, and as many others as may be missing, on the same numbers."""
    assert sets.new is not None
    if not sum(replicas_of(other) for other in sets.old):
        return None
    total = sum(replicas_of(other) for other in sets.all)
    min_available = replicas_of(item) - fenceposts(item)[1]
    new_unavailable = replicas_of(sets.new) - sets.available(sets.new)
    most = total - min_available - new_unavailable
    if most <= 0:
        return None
    sizes = {other["metadata"]["name"]: replicas_of(other) for other in sets.active_old()}
    if not _cleanup_unhealthy(sizes, sets, most):
        return None
    _scale_down_old(sizes, sets, sum(map(sets.available, sets.all)) - min_available)
    changed = {name: size for name, size in sizes.items() if size != _size(sets, name)}
    return _resized(world, item, changed, sets=sets)


def _size(sets: Sets, name: str) -> int:
    return next(replicas_of(other) for other in sets.all if other["metadata"]["name"] == name)


def _cleanup_unhealthy(sizes: dict[str, int], sets: Sets, most: int) -> bool:
    """`cleanupUnhealthyReplicas`; False, the error, while a ReplicaSet has yet to delete what it was told to."""
    removed = 0
    for other in sets.active_old():
        name = other["metadata"]["name"]
        unhealthy = replicas_of(other) - sets.available(other)
        if removed >= most:
            break
        if unhealthy < 0:
            return False
        count = min(most - removed, unhealthy)
        sizes[name] -= count
        removed += count
    return True


def _scale_down_old(sizes: dict[str, int], sets: Sets, most: int) -> None:
    """`scaleDownOldReplicaSetsForRollingUpdate`."""
    for other in sets.active_old():
        name = other["metadata"]["name"]
        count = min(sizes[name], most)
        if count > 0:
            sizes[name] -= count
            most -= count


def _recreate(world: World, item: Plain, sets: Sets) -> Optional[World]:
    down = _resized(world, item, {other["metadata"]["name"]: 0 for other in sets.active_old()}, sets=sets)
    if down is not None:
        return down
    if _old_pods_running(world, item, sets):
        return None
    if sets.new is None:
        return _with_new_set(world, item, sets, size=replicas_of(item))
    return _resized(world, item, {sets.new["metadata"]["name"]: replicas_of(item)}, sets=sets)


def _old_pods_running(world: World, item: Plain, sets: Sets) -> bool:
    """Terminating pods count, finished ones do not."""
    uids = {other["metadata"]["uid"] for other in sets.old}
    return any(
        objects.controller_of(pod).get("uid") in uids and not objects.is_terminated(pod)
        for pod in world.pods(objects.namespace_of(item))
    )


def _scale(world: World, item: Plain, sets: Sets) -> Optional[World]:
    """`scale`: the only ReplicaSet there is, or all of them in proportion."""
    active = [other for other in sets.all if replicas_of(other) > 0]
    if len(active) <= 1:
        only = active[0] if active else sets.new or (sets.old[-1] if sets.old else None)
        if only is None or replicas_of(only) == replicas_of(item):
            return None
        return _resized(world, item, {only["metadata"]["name"]: replicas_of(item)}, sets=sets)
    if _is_saturated(item, sets):
        return _resized(world, item, {other["metadata"]["name"]: 0 for other in sets.active_old()}, sets=sets)
    if strategy_of(item) == "Recreate":
        return None
    return _resized(world, item, proportional(world, item, sets, active), sets=sets)


def _is_saturated(item: Plain, sets: Sets) -> bool:
    if sets.new is None or objects.annotations_of(sets.new).get(DESIRED) != str(replicas_of(item)):
        return False
    return replicas_of(sets.new) == replicas_of(item) == sets.available(sets.new)


def proportional(world: World, item: Plain, sets: Sets, active: list[Plain]) -> dict[str, int]:
    allowed = max_replicas(item) if replicas_of(item) > 0 else 0
    to_add = allowed - sum(map(replicas_of, active))
    order = sorted(active, key=lambda other: other["metadata"]["name"])
    order.sort(key=lambda other: other["metadata"].get("creationTimestamp") or "", reverse=to_add > 0)
    order.sort(key=replicas_of, reverse=True)
    given, sizes = 0, {}
    for other in order:
        share = _proportion(world, item, sets, other=other, left=to_add - given) if to_add else 0
        sizes[other["metadata"]["name"]] = replicas_of(other) + share
        given += share
    first = order[0]["metadata"]["name"]
    sizes[first] = max(0, sizes[first] + to_add - given)
    return sizes


def _proportion(world: World, item: Plain, sets: Sets, *, other: Plain, left: int) -> int:
    """`GetReplicaSetProportion`."""
    if left == 0:
        return 0
    size = replicas_of(other)
    if replicas_of(item) == 0:
        fraction = -size
    else:
        before = objects.annotations_of(other).get(MAX)
        total = int(before) if before else sum(status.replicas for status in sets.statuses.values())
        fraction = gomath.round_half_away(size * max_replicas(item) / total) - size
    return min(fraction, left) if left > 0 else max(fraction, left)


def is_complete(world: World, item: Plain) -> bool:
    """`DeploymentComplete`."""
    sets = sets_of(world, item)
    if sets.new is None:
        return replicas_of(item) == 0 and not any(status.replicas for status in sets.statuses.values())
    total = sum(status.replicas for status in sets.statuses.values())
    updated = sets.statuses[sets.new["metadata"]["name"]].replicas
    available = sum(status.available for status in sets.statuses.values())
    return updated == total == available == replicas_of(item)
