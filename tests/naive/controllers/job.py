"""Jobs, as long as none of their pods ends by itself.

Source: pkg/controller/job/job_controller.go, indexed_job_utils.go, pod_failure_policy.go (v1.36.2). Only deleted pods
fail. They are replaced after a back-off of 10 seconds, and keep their finalizer until then; one too many ends the Job.
`backoffLimitPerIndex` and exit codes are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional

from tests.naive import objects
from tests.naive.controllers import admission, controller_utils
from tests.naive.controllers.world import delete_pod, is_active, is_owned_by, World

Plain = dict[str, Any]

INDEX = "batch.kubernetes.io/job-completion-index"
FINALIZER = "batch.kubernetes.io/job-tracking"
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
    done = _count_successes(world, item)
    if done is not None:
        yield done
        return
    counted = _count_failures(world, item)
    if counted is not None:
        yield counted
        return
    pods = active_pods(world, item)
    diff = len(pods) - wanted_active(item)
    if replaces_failed_only(item):
        diff += sum(objects.is_terminating(pod) and not objects.is_terminated(pod) for pod in owned_pods(world, item))
    if diff < 0 and is_backing_off(world, item):
        return
    if diff < 0:
        yield from _created(world, item, pods, -diff)
    elif diff > 0 and len(pods) > wanted_active(item):
        for chosen in controller_utils.victims(world, pods, len(pods) - wanted_active(item), order=_order):
            after = world.copy()
            for pod in chosen:
                delete_pod(after, without_finalizer(pod))
            yield after


def replaces_failed_only(item: Plain) -> bool:
    """Whether a pod that is being deleted is neither replaced nor failed until it has ended."""
    policy = item["spec"].get("podReplacementPolicy")
    return bool(policy == "Failed" or (policy is None and item["spec"].get("podFailurePolicy")))


def owned_pods(world: World, item: Plain) -> list[Plain]:
    return [pod for pod in world.pods(objects.namespace_of(item)) if is_owned_by(pod, item)]


def is_failed(item: Plain, pod: Plain) -> bool:
    """`isPodFailed`."""
    if (pod.get("status") or {}).get("phase") == "Failed":
        return True
    return objects.is_terminating(pod) and not objects.is_terminated(pod) and not replaces_failed_only(item)


def without_finalizer(pod: Plain) -> Plain:
    kept = [name for name in pod["metadata"].get("finalizers") or [] if name != FINALIZER]
    return {**pod, "metadata": {**pod["metadata"], "finalizers": kept}}


def _count_failures(world: World, item: Plain) -> Optional[World]:
    """Count the pods that have failed since; None where there are none, or nobody waits for the end of the back-off."""
    pods = owned_pods(world, item)
    failed = [pod for pod in pods if FINALIZER in (pod["metadata"].get("finalizers") or []) and is_failed(item, pod)]
    if not failed:
        return None
    actions = [_policy_action(item, pod) for pod in failed]
    status = item.get("status") or {}
    total = (status.get("failed") or 0) + sum(action in ("Count", "FailJob") for action in actions)
    limit = item["spec"].get("backoffLimit")
    is_over = total > (6 if limit is None else limit) or "FailJob" in actions
    if world.settings.patience_s < BACK_OFF_S and not is_over:
        return None
    after = world.copy()
    conditions = [*(status.get("conditions") or []), *([{"type": "Failed", "status": "True"}] if is_over else [])]
    after.put({**item, "status": {**status, "failed": total, "conditions": conditions}})
    for pod in pods if is_over else failed:
        bare = without_finalizer(pod)
        after.put(bare)
        if is_over or not bare["spec"].get("nodeName") or objects.is_terminated(bare):
            _end(after, bare)
    return after


def _count_successes(world: World, item: Plain) -> Optional[World]:
    """Count the pods that have succeeded since, and end the Job with the last of them; None where there are none."""
    found = [pod for pod in owned_pods(world, item) if (pod.get("status") or {}).get("phase") == "Succeeded"]
    found = [pod for pod in found if FINALIZER in (pod["metadata"].get("finalizers") or [])]
    if not found:
        return None
    after = world.copy()
    for pod in found:
        after.put(without_finalizer(pod))
        if objects.is_terminating(pod):
            _end(after, without_finalizer(pod))
    status = {**(item.get("status") or {})}
    status["succeeded"] = (status.get("succeeded") or 0) + len(found)
    done = [objects.annotations_of(pod).get(INDEX, "") for pod in found]
    status["completedIndexes"] = ",".join(filter(None, [status.get("completedIndexes") or "", *done]))
    completions = item["spec"].get("completions")
    if completions is not None and status["succeeded"] >= int(completions):
        status["conditions"] = [*(status.get("conditions") or []), {"type": "Complete", "status": "True"}]
    after.put({**item, "status": status})
    return after


def _end(world: World, pod: Plain) -> None:
    """Delete a pod without the finalizer; one that is being deleted already goes if no kubelet has to end it."""
    is_over = not pod["spec"].get("nodeName") or objects.is_terminated(pod)
    if objects.is_terminating(pod) and is_over and not pod["metadata"]["finalizers"]:
        world.remove(pod)
    else:
        delete_pod(world, pod)


def _policy_action(item: Plain, pod: Plain) -> str:
    """What the first rule of the podFailurePolicy that matches says."""
    there = [found for found in (pod.get("status") or {}).get("conditions") or [] if found.get("status") == "True"]
    types = {found["type"] for found in there}
    for rule in (item["spec"].get("podFailurePolicy") or {}).get("rules") or []:
        if any(found["type"] in types for found in rule.get("onPodConditions") or []):
            return str(rule["action"])
    return "Count"


def is_backing_off(world: World, item: Plain) -> bool:
    """Whether a pod was deleted, and nobody waits for the end of the back-off."""
    if world.settings.patience_s >= BACK_OFF_S:
        return False
    return any(objects.is_terminating(pod) and is_owned_by(pod, item) for pod in world.pods())


def _order(pod: Plain) -> tuple[int, ...]:
    return controller_utils.active_pods_with_ranks(pod, 0, with_cost=False)


def _created(world: World, item: Plain, pods: list[Plain], count: int) -> Iterator[World]:
    after = world.copy()
    is_changed = False
    used = {objects.annotations_of(pod).get(INDEX) for pod in pods}
    used |= set(_indexes((item.get("status") or {}).get("completedIndexes") or ""))
    free = (index for index in range(len(used) + count + 1) if str(index) not in used)
    for _ in range(1 if admission.is_racy(world) else count):
        pod = controller_utils.pod_from_template(item, item["spec"]["template"], labels=_labels(item))
        if is_indexed(item):
            index = str(next(free))
            pod["metadata"]["annotations"][INDEX] = index
            pod["metadata"]["labels"][INDEX] = index
        pod["metadata"]["finalizers"] = [*pod["metadata"]["finalizers"], FINALIZER]
        is_changed = admission.try_create(after, pod) or is_changed
    if is_changed:
        yield after


def _labels(item: Plain) -> dict[str, str]:
    name, uid = item["metadata"]["name"], item["metadata"]["uid"]
    own = {"job-name": name, "controller-uid": uid}
    return {**own, **{f"batch.kubernetes.io/{key}": value for key, value in own.items()}}


def _indexes(text: str) -> Iterator[str]:
    """The indexes that `completedIndexes` lists: 1,3-5."""
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        yield from map(str, range(int(first), int(last or first) + 1))
