"""Prefer nodes that have the pod's images.

Source: pkg/scheduler/framework/plugins/imagelocality/image_locality.go (v1.36.2).
"""

from __future__ import annotations

from typing import Any

from tests.naive import objects
from tests.naive.framework import CycleState, Handle, MAX_NODE_SCORE
from tests.naive.nodeinfo import Image, NodeInfo

Plain = dict[str, Any]

_MB = 1024 * 1024
MIN_THRESHOLD = 23 * _MB
MAX_CONTAINER_THRESHOLD = 1000 * _MB


class ImageLocality:
    """Score the bytes that need not be pulled."""

    name = "ImageLocality"

    def __init__(self, args: Plain, handle: Handle) -> None:
        self.handle = handle

    def score(self, state: CycleState, pod: Plain, node: NodeInfo) -> int:
        image_scores = sum_image_scores(node, pod, len(self.handle.node_infos))
        return calculate_priority(image_scores, len(objects.init_containers(pod)) + len(objects.containers(pod)))


def calculate_priority(sum_scores: int, num_containers: int) -> int:
    max_threshold = MAX_CONTAINER_THRESHOLD * num_containers
    clamped = max(MIN_THRESHOLD, min(sum_scores, max_threshold))
    return MAX_NODE_SCORE * (clamped - MIN_THRESHOLD) // (max_threshold - MIN_THRESHOLD)


def sum_image_scores(node: NodeInfo, pod: Plain, total_num_nodes: int) -> int:
    names = [item.get("image") or "" for item in objects.init_containers(pod) + objects.containers(pod)]
    for volume in pod["spec"].get("volumes") or []:
        if volume.get("image") is not None:
            names.append(volume["image"].get("reference") or "")
    total = 0
    for name in names:
        state = node.image_states.get(normalized_image_name(name))
        if state is not None:
            total += scaled_image_score(state, total_num_nodes)
    return total


def scaled_image_score(state: Image, total_num_nodes: int) -> int:
    spread = len(state.nodes) / total_num_nodes
    return int(float(state.size_bytes) * spread)


def normalized_image_name(name: str) -> str:
    if name.rfind(":") <= name.rfind("/"):
        return f"{name}:latest"
    return name
