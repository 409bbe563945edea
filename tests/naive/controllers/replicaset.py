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
        yield _created(world, item, -diff)
    elif diff > 0:
        order = _order(world, item)
        for chosen in controller_utils.victims(world, pods, diff, order=order):
            after = world.copy()
            for pod in chosen:
                delete_pod(after, pod)
            yield after


def _created(world: World, item: Plain, count: int) -> World:
    after = world.copy()
    for _ in range(count):
        admission.create(after, controller_utils.pod_from_template(item, item["spec"]["template"]))
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
    selector = selector_of(item)
    after = world.copy()
    found = False
    for pod in world.pods(objects.namespace_of(item)):
        if not is_active(pod):
            continue
        matches, owner = selector.matches(objects.labels_of(pod)), objects.controller_of(pod)
        if is_owned_by(pod, item) and not matches:
            references = [other for other in pod["metadata"]["ownerReferences"] if other is not owner]
        elif not owner and matches and item["spec"].get("selector"):
            references = [*(pod["metadata"].get("ownerReferences") or []), owner_reference(item)]
        else:
            continue
        after.put({**pod, "metadata": {**pod["metadata"], "ownerReferences": references}})
        found = True
    return after if found else None
