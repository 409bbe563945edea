"""Kubelets: bound pods become ready, deleted ones go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.naive import objects
from tests.naive.controllers import job
from tests.naive.controllers.controller_utils import AVAILABLE
from tests.naive.controllers.nodes import is_down, NODE_LOST
from tests.naive.controllers.world import condition, is_ready, terminated, with_condition, World

Plain = dict[str, Any]

READY = "test.kubelet/ready"
TERMINATE = "test.kubelet/terminate"


def sync(world: World, pod: Plain) -> Iterator[World]:
    """What a kubelet does next with one of its pods; nothing where the node is dead or nothing is left to do."""
    node = world.get("Node", pod["spec"].get("nodeName") or "")
    if node is None or is_down(node) or (objects.is_terminated(pod) and not objects.is_terminating(pod)):
        return
    annotations = objects.annotations_of(pod)
    after = world.copy()
    if objects.is_terminating(pod):
        if _is_held(world, pod):
            ended = terminated(pod, phase="Failed")
            if not _is_awaited(world, pod) or ended == pod:
                return
            after.put(ended)
        else:
            after.remove(pod)
    elif needs_start(world, pod):
        is_never = annotations.get(READY) == "never"
        running = with_condition(pod, type="Ready", status="False" if is_never else "True")
        running["status"]["phase"] = "Running"
        after.put(running)
    elif is_ready(pod) and AVAILABLE not in annotations and _is_timed(world, pod):
        metadata = {**pod["metadata"], "annotations": {**annotations, AVAILABLE: "yes"}}
        after.put({**pod, "metadata": metadata})
    else:
        return
    yield after


def _is_held(world: World, pod: Plain) -> bool:
    return objects.annotations_of(pod).get(TERMINATE) == "hold" or bool(pod["metadata"].get("finalizers"))


def _is_awaited(world: World, pod: Plain) -> bool:
    """Whether a Job waits for the end of a pod that only its finalizer holds."""
    if objects.annotations_of(pod).get(TERMINATE) == "hold":
        return False
    reference = objects.controller_of(pod)
    owner = world.get(reference.get("kind") or "", reference.get("name") or "", objects.namespace_of(pod))
    is_last = pod["metadata"].get("finalizers") == [job.FINALIZER]
    return is_last and owner is not None and owner["kind"] == "Job" and job.replaces_failed_only(owner)


def needs_start(world: World, pod: Plain) -> bool:
    """Whether a bound pod is yet to be ready, for the first time or as its node was lost for a while."""
    found = condition(pod, "Ready")
    if pod["metadata"]["uid"] in world.settings.stuck:
        return False
    return found is None or found.get("reason") == NODE_LOST


def _is_timed(world: World, pod: Plain) -> bool:
    """Whether `minReadySeconds` have to pass before the pod is available."""
    reference = objects.controller_of(pod)
    owner = world.get(reference.get("kind") or "", reference.get("name") or "", objects.namespace_of(pod))
    return owner is not None and bool(owner["spec"].get("minReadySeconds"))
