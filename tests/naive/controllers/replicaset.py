"""ReplicaSets and ReplicationControllers.

Source: pkg/controller/replicaset/replica_set.go (v1.36.2). All pods of a sync are created, or deleted, at once. The
status is worked out when somebody asks for it, so that it is never old.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.naive import objects
from tests.naive.controllers import admission, controller_utils
from tests.naive.controllers.controller_utils import selector_of
from tests.naive.controllers.world import delete_pod, is_active, is_owned_by, is_ready, owner_reference, World

Plain = dict[str, Any]


class Status(NamedTuple):
    """Pods by what they are; `replicas` are the active ones."""

    replicas: int
    ready: int
    available: int


def replicas_of(item: Plain) -> int:
    wanted = item["spec"].get("replicas")
    return 1 if wanted is None else int(wanted)


def status_of(world: World, item: Plain) -> Status:
    pods = active_pods(world, item)
    min_ready_seconds = item["spec"].get("minReadySeconds") or 0
    available = sum(controller_utils.is_available(pod, min_ready_seconds) for pod in pods)
    return Status(len(pods), sum(map(is_ready, pods)), available)


def active_pods(world: World, item: Plain) -> list[Plain]:
    return [pod for pod in world.pods(objects.namespace_of(item)) if is_active(pod) and is_owned_by(pod, item)]


def sync(world: World, item: Plain) -> Iterator[World]:
    """What one reconciliation leads to; nothing where there is nothing to do."""
    if objects.is_terminating(item):
        return
    claimed = claim_pods(world, item)
    if claimed is not None:
        yield claimed
        return
    pods = active_pods(world, item)
    diff = len(pods) - replicas_of(item)
    if diff < 0:
        yield from _created(world, item, -diff)
    elif diff > 0:
        for chosen in _victims(world, item, []):
            yield _without(world, chosen)


def _created(world: World, item: Plain, count: int) -> Iterator[World]:
    """Create all pods, or the next one where others may act in between; nothing where none is admitted."""
    after = world.copy()
    is_changed = False
    for _ in range(1 if admission.is_racy(world) else count):
        pod = controller_utils.pod_from_template(item, item["spec"]["template"])
        is_changed = admission.try_create(after, pod) or is_changed
    if is_changed:
        yield after


def _victims(world: World, item: Plain, gone: list[Plain]) -> Iterator[list[Plain]]:
    """Every choice of pods to delete, alone or together with other ReplicaSets of the owner that shrink, too.

    Each ranks pods in its own view of the cluster, which has any part of the deletions of the others.

    Args:
        world: before all of them.
        item: the ReplicaSet.
        gone: what the others delete meanwhile.
    """
    pods = active_pods(world, item)
    done = {objects.controller_of(pod).get("uid") for pod in gone} | {item["metadata"]["uid"]}
    others = [
        other for other in related(world, item) if objects.uid_of(other) not in done and _surplus(world, other) > 0
    ]
    for size in range(len(gone) + 1):
        for seen in controller_utils.subsets(world, gone, size):
            order = _order(_without(world, seen), item)
            for chosen in controller_utils.victims(world, pods, _surplus(world, item), order=order):
                yield [*gone, *chosen]
                for other in others:
                    yield from _victims(world, other, [*gone, *chosen])


def _surplus(world: World, item: Plain) -> int:
    return len(active_pods(world, item)) - replicas_of(item)


def _without(world: World, pods: list[Plain]) -> World:
    after = world.copy()
    for pod in pods:
        delete_pod(after, pod)
    return after


def _order(world: World, item: Plain) -> Any:
    ranks = controller_utils.node_ranks(world, related(world, item))
    return lambda pod: controller_utils.active_pods_with_ranks(pod, ranks[pod["spec"].get("nodeName") or ""])


def related(world: World, item: Plain) -> list[Plain]:
    """`getReplicaSetsWithSameController`."""
    uid = objects.controller_of(item).get("uid")
    if uid is None:
        return [item]
    return [other for other in world.list(item["kind"]) if objects.controller_of(other).get("uid") == uid]


def claim_pods(world: World, item: Plain) -> World | None:
    """Let go of pods that are no longer selected, and adopt orphans that are; None where there are neither."""
    return claim(world, item, [pod for pod in world.pods(objects.namespace_of(item)) if is_active(pod)])


def claim(world: World, item: Plain, candidates: list[Plain]) -> World | None:
    """`ControllerRefManager`: let go of what is no longer selected, and adopt orphans that are; None without either."""
    selector = selector_of(item)
    after = world.copy()
    found = False
    for other in candidates:
        matches, owner = selector.matches(objects.labels_of(other)), objects.controller_of(other)
        if is_owned_by(other, item) and not matches:
            references = [reference for reference in other["metadata"]["ownerReferences"] if reference is not owner]
        elif not owner and matches and item["spec"].get("selector") and not objects.is_terminating(other):
            references = [*(other["metadata"].get("ownerReferences") or []), owner_reference(item)]
        else:
            continue
        after.put({**other, "metadata": {**other["metadata"], "ownerReferences": references}})
        found = True
    return after if found else None
