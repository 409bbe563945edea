"""Jobs, as long as none of their pods ends by itself.

Source: pkg/controller/job/job_controller.go, indexed_job_utils.go (v1.36.2). Only deleted pods fail. They are replaced
after a back-off of 10 seconds, and keep their finalizer until then.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.naive import objects
from tests.naive.controllers import admission, controller_utils
from tests.naive.controllers.world import delete_pod, is_active, is_owned_by, World

Plain = dict[str, Any]

INDEX = "batch.kubernetes.io/job-completion-index"
BACK_OFF_S = 10


def is_finished(item: Plain) -> bool:
    conditions = (item.get("status") or {}).get("conditions") or []
    return any(found["type"] in ("Complete", "Failed") and found["status"] == "True" for found in conditions)


def is_indexed(item: Plain) -> bool:
    return bool(item["spec"].get("completionMode") == "Indexed")


def active_pods(world: World, item: Plain) -> list[Plain]:
    return [pod for pod in world.pods(objects.namespace_of(item)) if is_active(pod) and is_owned_by(pod, item)]


def wanted_active(item: Plain) -> int:
    spec = item["spec"]
    parallelism = 1 if spec.get("parallelism") is None else int(spec["parallelism"])
    succeeded = (item.get("status") or {}).get("succeeded") or 0
    if spec.get("suspend") or is_finished(item):
        return 0
    if spec.get("completions") is None:
        return 0 if succeeded and not is_indexed(item) else parallelism
    return max(0, min(parallelism, int(spec["completions"]) - succeeded))


def sync(world: World, item: Plain) -> Iterator[World]:
    """What one reconciliation leads to; nothing where there is nothing to do."""
    if objects.is_terminating(item) or is_finished(item):
        return
    pods = active_pods(world, item)
    diff = len(pods) - wanted_active(item)
    if diff < 0 and is_backing_off(world, item):
        return
    if diff < 0:
        yield _created(world, item, pods, -diff)
    elif diff > 0:
        for chosen in controller_utils.victims(world, pods, diff, order=_order):
            after = world.copy()
            for pod in chosen:
                delete_pod(after, pod)
            yield after


def is_backing_off(world: World, item: Plain) -> bool:
    """Whether a pod was deleted, and nobody waits for the end of the back-off."""
    if world.settings.patience_s >= BACK_OFF_S:
        return False
    return any(objects.is_terminating(pod) and is_owned_by(pod, item) for pod in world.pods())


def _order(pod: Plain) -> tuple[int, ...]:
    return controller_utils.active_pods_with_ranks(pod, 0, with_cost=False)


def _created(world: World, item: Plain, pods: list[Plain], count: int) -> World:
    after = world.copy()
    used = {objects.annotations_of(pod).get(INDEX) for pod in pods}
    used |= set(_indexes((item.get("status") or {}).get("completedIndexes") or ""))
    free = (index for index in range(len(used) + count + 1) if str(index) not in used)
    for _ in range(count):
        pod = controller_utils.pod_from_template(item, item["spec"]["template"], labels=_labels(item))
        if is_indexed(item):
            index = str(next(free))
            pod["metadata"]["annotations"][INDEX] = index
            pod["metadata"]["labels"][INDEX] = index
        admission.create(after, pod)
    return after


def _labels(item: Plain) -> dict[str, str]:
    name, uid = item["metadata"]["name"], item["metadata"]["uid"]
    own = {"job-name": name, "controller-uid": uid}
    return {**own, **{f"batch.kubernetes.io/{key}": value for key, value in own.items()}}


def _indexes(text: str) -> Iterator[str]:
    """The indexes that `completedIndexes` lists: 1,3-5."""
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        yield from map(str, range(int(first), int(last or first) + 1))
