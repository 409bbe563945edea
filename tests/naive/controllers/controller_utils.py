"""What controllers share: pods of a template, and which pods go first.

Source: pkg/controller/controller_utils.go (v1.36.2). Ages are left out of the order: two pods that differ in nothing
else go in either order.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from tests.naive import objects, selectors
from tests.naive.controllers.world import is_active, is_ready, owner_reference, World

Plain = dict[str, Any]

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
AVAILABLE = "naive/available"


def pod_from_template(owner: Plain, template: Plain, *, labels: Any = None) -> Plain:
    """A pod that a controller is about to create."""
    metadata = template.get("metadata") or {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": f"{owner['metadata']['name']}-",
            "namespace": objects.namespace_of(owner),
            "labels": {**(metadata.get("labels") or {}), **(labels or {})},
            "annotations": dict(metadata.get("annotations") or {}),
            "finalizers": list(metadata.get("finalizers") or []),
            "ownerReferences": [owner_reference(owner)],
        },
        "spec": copy.deepcopy(template.get("spec") or {}),
        "status": {"phase": "Pending"},
    }


def is_available(pod: Plain, min_ready_seconds: int) -> bool:
    if not is_ready(pod):
        return False
    return not min_ready_seconds or AVAILABLE in objects.annotations_of(pod)


def selector_of(owner: Plain) -> selectors.Selector:
    """What a controller selects; a ReplicationController has plain labels."""
    written = owner["spec"].get("selector")
    if owner["kind"] == "ReplicationController":
        template = owner["spec"]["template"]["metadata"].get("labels") or {}
        return selectors.selector_from_set(written or template)
    return selectors.label_selector_as_selector(written)


def active_pods_with_ranks(pod: Plain, rank: int, *, with_cost: bool = True) -> tuple[int, ...]:
    """The order in which pods are deleted, as far as it does not depend on their ages."""
    phase = (pod.get("status") or {}).get("phase")
    cost = objects.annotations_of(pod).get(DELETION_COST, "0")
    return (
        bool(pod["spec"].get("nodeName")),
        {"Pending": 0, "Unknown": 1}.get(phase or "Running", 2),
        is_ready(pod),
        _int32(cost) if with_cost else 0,
        -rank,
    )


def _int32(text: str) -> int:
    if not text.lstrip("-").isdigit() or not -(2**31) <= int(text) < 2**31:
        return 0
    return int(text)


def node_ranks(world: World, owners: list[Plain]) -> Counter[str]:
    """How many active pods that any of the selectors matches are on each node; "" holds those without one."""
    found: Counter[str] = Counter()
    if not owners:
        return found
    wanted = [selector_of(owner) for owner in owners]
    for pod in world.pods(objects.namespace_of(owners[0])):
        labels = objects.labels_of(pod)
        if is_active(pod) and any(selector.matches(labels) for selector in wanted):
            found[pod["spec"].get("nodeName") or ""] += 1
    return found


def victims(
    world: World, pods: list[Plain], count: int, *, order: Callable[[Plain], tuple[int, ...]]
) -> Iterator[list[Plain]]:
    """Every choice of pods to delete: whole classes, and any part of the last one."""
    if count >= len(pods):
        yield list(pods)
        return
    ranked = sorted(pods, key=order)
    limit = order(ranked[count - 1])
    first = [pod for pod in ranked if order(pod) < limit]
    last = [pod for pod in ranked if order(pod) == limit]
    for some in subsets(world, last, count - len(first)):
        yield [*first, *some]


def subsets(world: World, pods: list[Plain], count: int) -> Iterator[list[Plain]]:
    """Every part of that size, alike pods taken as one."""
    alike: dict[int, list[Plain]] = {}
    for pod in pods:
        alike.setdefault(world.settings.class_of(pod), []).append(pod)
    groups = list(alike.values())
    for counts in _parts([len(group) for group in groups], count):
        yield [pod for group, number in zip(groups, counts, strict=True) for pod in group[:number]]


def _parts(sizes: list[int], total: int) -> Iterator[tuple[int, ...]]:
    if not sizes:
        if total == 0:
            yield ()
        return
    rest = sum(sizes[1:])
    for number in range(max(0, total - rest), min(sizes[0], total) + 1):
        for others in _parts(sizes[1:], total - number):
            yield (number, *others)


def scaled(value: Any, total: int, *, up: bool) -> int:
    """`GetScaledValueFromIntOrPercent`."""
    if isinstance(value, int):
        return value
    share = int(str(value).removesuffix("%")) * total
    return math.ceil(share / 100) if up else share // 100
